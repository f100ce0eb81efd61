// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "timed_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define UNITS 32 /* size of the smallest tensor, in units */

static uint32_t samples_of(const struct timed_world *world)
{
	uint32_t n = 0;
	for (size_t i = 0; i < world->n_parts; i++)
		n += world->parts[i].samples;
	return n;
}

uint32_t timed_job_samples(const struct timed_world *world, size_t job)
{
	uint32_t n = 0;
	for (size_t i = 0; i < world->n_parts; i++)
		if (world->parts[i].jobs & UINT64_C(1) << job)
			n += world->parts[i].samples;
	return n;
}

static void take_part(
	struct timed_run *run, const struct timed_part *part, uint32_t begin)
{
	const struct timed_world *world = run->world;
	uint32_t end = begin + part->samples;
	for (size_t j = 0; j < world->n_jobs; j++) {
		if (world->jobs[j].absent || !(part->jobs & UINT64_C(1) << j))
			continue;
		roaring_bitmap_add_range(run->scripts[j].selection, begin, end);
		uint64_t bytes = (uint64_t)fmax(world->jobs[j].bytes / run->unit, 1);
		for (uint32_t id = begin; id < end; id++) {
			run->bytes[id] = bytes;
			run->first_job[id] = (uint8_t)j;
		}
	}
}

static int make_ids(struct timed_run *run)
{
	const struct timed_world *world = run->world;
	uint32_t at = 0;
	run->n_ids = samples_of(world);
	run->bytes = calloc(run->n_ids + 1, sizeof(*run->bytes));
	run->first_job = calloc(run->n_ids + 1, sizeof(*run->first_job));
	run->read = calloc(run->n_ids + 1, sizeof(*run->read));
	if (!run->bytes || !run->first_job || !run->read)
		return -ENOMEM;
	run->unit = HUGE_VAL;
	for (size_t j = 0; j < world->n_jobs; j++) {
		run->scripts[j].selection = roaring_bitmap_create();
		if (!run->scripts[j].selection)
			return -ENOMEM;
		run->unit = fmin(run->unit, world->jobs[j].bytes / UNITS);
	}
	for (size_t i = 0; i < world->n_parts; i++) {
		take_part(run, &world->parts[i], at);
		at += world->parts[i].samples;
	}
	if (!world->labels)
		return 0;
	run->id_labels = sim_labels_new(run->n_ids, world->labels);
	return run->id_labels ? 0 : -ENOMEM;
}

static int make_readers(struct timed_run *run)
{
	const struct timed_world *world = run->world;
	size_t n = 0;
	for (size_t j = 0; j < world->n_jobs; j++)
		n += world->jobs[j].readers;
	run->readers = calloc(n + 1, sizeof(*run->readers));
	run->decoders = calloc(world->workers + 1, sizeof(*run->decoders));
	if (!run->readers || !run->decoders)
		return -ENOMEM;
	for (size_t i = 0; i < world->workers; i++)
		run->decoders[i].sample = SAMPLE_NONE;
	for (size_t j = 0; j < world->n_jobs; j++) {
		const struct timed_job *job = &world->jobs[j];
		struct timed_script *script = &run->scripts[j];
		script->samples = timed_job_samples(world, j);
		script->begins = job->absent || !script->samples ? HUGE_VAL : job->start;
		for (unsigned i = 0; i < job->readers; i++)
			run->readers[run->n_readers++].job = j;
		int err = world->labels ? sim_positions_new(script->selection,
						  script->samples, run->id_labels,
						  &script->labels, &script->opens)
					: 0;
		if (err)
			return err;
	}
	return 0;
}

static double mean_decode(const struct timed_world *world)
{
	double sum = 0;
	for (size_t j = 0; j < world->n_jobs; j++)
		sum += world->jobs[j].decode;
	return sum / (double)world->n_jobs;
}

static int make_sched(struct timed_run *run)
{
	const struct timed_world *world = run->world;
	struct sim_sched_config config = {.sampler = world->sampler,
		.eviction = world->eviction,
		.capacity = (uint64_t)fmax(world->cache / run->unit, 1),
		.sampler_seed = rng_mix(world->seed, 0x73616d706c6572),
		.cache_seed = rng_mix(world->seed, 0x6361636865),
		.n_ids = run->n_ids,
		.labels = run->id_labels,
		.lookahead = world->lookahead,
		.timed = true,
		.share = world->share,
		.cost_ns = (uint64_t)fmax(mean_decode(world) * 1e9, 1),
		.bytes = run->bytes};
	return sim_sched_new(&config, &run->sched);
}

int timed_run_new(const struct timed_world *world, struct timed_run **ret)
{
	struct timed_run *run = calloc(1, sizeof(*run));
	*ret = NULL;
	if (!run)
		return -ENOMEM;
	run->world = world;
	run->window = 1;
	rng_seed(&run->rng, rng_mix(world->seed, 0x736372697074));
	flight_init(&run->flight, world->reads, TIMED_READS);
	if (!world->reads)
		run->flight.limit = run->flight.settled = world->jobs[0].most_reads;
	int err = make_ids(run);
	err = err ? err : make_readers(run);
	err = err ? err : make_sched(run);
	for (size_t j = 0; j < world->n_jobs && !err; j++)
		if (run->scripts[j].begins < HUGE_VAL)
			err = sim_sched_join(run->sched, (job_id)j,
				run->scripts[j].selection, run->scripts[j].labels,
				&run->scripts[j].job);
	if (err)
		timed_run_free(&run);
	*ret = run;
	return err;
}

void timed_run_free(struct timed_run **run_pointer)
{
	struct timed_run *run = *run_pointer;
	if (!run)
		return;
	sim_sched_free(&run->sched);
	for (size_t j = 0; j < run->world->n_jobs; j++) {
		bitmap_free(&run->scripts[j].selection);
		free(run->scripts[j].labels);
		free(run->scripts[j].opens);
	}
	free(run->bytes);
	free(run->first_job);
	free(run->id_labels);
	free(run->read);
	free(run->readers);
	free(run->decoders);
	free(run);
	*run_pointer = NULL;
}
