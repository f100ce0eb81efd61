// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "run.h"

static roaring_bitmap_t *random_subset(const struct sim_dataset *dataset, uint64_t seed)
{
	struct rng rng;
	rng_seed(&rng, seed);
	roaring_bitmap_t *ids = roaring_bitmap_create();
	uint32_t size = dataset->size;
	for (uint32_t id = dataset->first; ids && size > 0; id++)
		if (rng_below(&rng, dataset->end - id) < size) {
			roaring_bitmap_add(ids, id);
			size--;
		}
	return ids;
}

roaring_bitmap_t *sim_dataset_ids(
	const struct sim_scenario *scenario, size_t dataset, uint64_t seed)
{
	const struct sim_dataset *d = &scenario->datasets[dataset];
	if (d->sample)
		return random_subset(d, rng_mix(seed, dataset));
	return roaring_bitmap_from_range(d->first, d->end, 1);
}

static int begin_due(struct sim_run *run)
{
	for (size_t i = 0; i < run->scenario->n_jobs; i++) {
		struct script *script = &run->scripts[i];
		if (script->start != run->tick)
			continue;
		int err = sim_sched_join(run->sched, (job_id)i, script->selection,
			script->labels, &script->job);
		if (err)
			return err;
		run->n_waiting--;
		run->n_running++;
	}
	return 0;
}

/* Returns the number of samples that the script should have read by the end of this tick. */
static uint64_t due(const struct sim_run *run, const struct script *script)
{
	double ticks = (double)(run->tick - script->start);
	return (uint64_t)(script->speed * ticks + 1e-9) + 1;
}

static size_t find_readers(struct sim_run *run)
{
	size_t n = 0;
	for (size_t i = 0; i < run->scenario->n_jobs; i++) {
		struct script *script = &run->scripts[i];
		if (script->job && due(run, script) > script->n_read)
			run->readers[n++] = script;
	}
	return n;
}

static void leave_done(struct sim_run *run, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct script *script = run->readers[i];
		if (script->n_read < script->n_all)
			continue;
		sim_sched_leave(script->job);
		script->job = NULL;
		run->n_running--;
	}
}

static int tick(struct sim_run *run)
{
	bool together = !run->scenario->lookahead && !run->labels;
	int err = begin_due(run);
	if (err)
		return err;
	if (run->tick == run->count_from)
		run->loads_before = sim_sched_loads(run->sched);
	size_t n = find_readers(run);
	if (run->setup->progress)
		sim_progress_add(run->setup->progress, n);
	err = together ? sim_read_together(run, run->readers, n)
		       : sim_read_in_turn(run, run->readers, n);
	if (!err)
		leave_done(run, n);
	return err;
}

static int run_all(struct sim_run *run)
{
	for (run->tick = 0; run->n_running + run->n_waiting > 0; run->tick++) {
		if (run->end && run->tick >= run->end)
			break;
		int err = tick(run);
		if (err)
			return err;
	}
	run->result.misses = sim_sched_loads(run->sched) - run->loads_before;
	return 0;
}

int sim_run(const struct sim_scenario *scenario, const struct sim_setup *setup,
	struct sim_result *ret)
{
	struct sim_run *run;
	int err = sim_run_new(scenario, setup, &run);
	if (err)
		return err;
	err = run_all(run);
	*ret = run->result;
	sim_run_free(&run);
	return err;
}
