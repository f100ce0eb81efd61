// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "run.h"

static void choose_position(struct sim_run *run, struct script *script)
{
	uint32_t epoch = (uint32_t)(script->n_read / script->size);
	uint32_t k = (uint32_t)(script->n_read % script->size);
	if (script->opens && k == 0) {
		for (uint32_t i = 0; i < script->size; i++)
			script->opens[i] = i;
		sim_shuffle(&run->rng, script->opens, script->size);
	}
	script->open =
		sim_open_of(script->job, epoch, script->opens ? script->opens[k] : k);
	script->reads = true;
	script->n_read++;
}

static void tell(const struct sim_run *run, const struct script *script)
{
	const struct open_request *request = &script->open.request;
	struct sim_read read = {run->tick, script->number, request->found_epoch,
		request->position, request->sample, script->open.miss};
	if (run->setup->observer)
		run->setup->observer(run->setup->context, &read);
}

static int read_opened(struct sim_run *run, struct script *script)
{
	int err = sim_sched_load(&script->open);
	if (err)
		return err;
	script->reads = false;
	if (run->tick >= run->count_from)
		run->result.served++;
	tell(run, script);
	return sim_sched_release(&script->open);
}

static int open_all(struct sim_run *run, struct script *const *readers, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		choose_position(run, readers[i]);
		run->opens[i] = &readers[i]->open;
	}
	return sim_sched_open(run->sched, run->opens, n);
}

/* Reads the sample of readers[first] in all scripts that have opened it, one directly after
 * another. So these scripts share one load, even if the cache has only one slot. */
static int read_same(
	struct sim_run *run, struct script *const *readers, size_t n, size_t first)
{
	sample_id sample = readers[first]->open.request.sample;
	int err = 0;
	for (size_t i = first; i < n && !err; i++)
		if (readers[i]->reads && readers[i]->open.request.sample == sample)
			err = read_opened(run, readers[i]);
	return err;
}

/* Cached samples are read first, before loads of other samples can evict them. */
int sim_read_together(struct sim_run *run, struct script *const *readers, size_t n)
{
	int err = open_all(run, readers, n);
	for (size_t i = 0; i < n && !err; i++)
		if (sim_sched_has(run->sched, readers[i]->open.request.sample))
			err = read_opened(run, readers[i]);
	for (size_t i = 0; i < n && !err; i++)
		if (readers[i]->reads)
			err = read_same(run, readers, n, i);
	return err;
}

int sim_read_in_turn(struct sim_run *run, struct script *const *readers, size_t n)
{
	int err = 0;
	for (size_t i = 0; i < n && !err; i++)
		err = sim_read_together(run, &readers[i], 1);
	return err;
}
