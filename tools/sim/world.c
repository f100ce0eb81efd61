// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static double fastest(const struct sim_scenario *scenario)
{
	double speed = 0;
	for (size_t i = 0; i < scenario->n_jobs; i++)
		speed = fmax(speed, scenario->jobs[i].speed);
	return speed;
}

uint32_t sim_ticks(const struct sim_scenario *scenario)
{
	uint32_t size = 0;
	for (size_t i = 0; i < scenario->n_datasets; i++)
		if (scenario->datasets[i].size > size)
			size = scenario->datasets[i].size;
	return size;
}

static int script_init(struct sim_run *run, size_t i)
{
	const struct sim_scenario *scenario = run->scenario;
	const struct sim_job *job = &scenario->jobs[i];
	struct script *script = &run->scripts[i];
	script->number = i;
	script->selection = sim_dataset_ids(scenario, job->dataset, run->setup->seed);
	script->size = scenario->datasets[job->dataset].size;
	script->speed = job->speed / fastest(scenario);
	script->start = (uint64_t)llround(job->start * sim_ticks(scenario));
	script->n_all = job->epochs ? (uint64_t)job->epochs * script->size : UINT64_MAX;
	if (!script->selection)
		return -ENOMEM;
	return run->labels ? sim_positions_new(script->selection, script->size,
				     run->labels, &script->labels, &script->opens)
			   : 0;
}

static int scripts_new(struct sim_run *run)
{
	size_t n = run->scenario->n_jobs;
	run->scripts = calloc(n, sizeof(*run->scripts));
	run->readers = calloc(n, sizeof(struct script *));
	run->opens = calloc(n, sizeof(struct sim_open *));
	if (!run->scripts || !run->readers || !run->opens)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		int err = script_init(run, i);
		if (err)
			return err;
	}
	run->n_waiting = n;
	return 0;
}

static uint32_t n_ids(const struct sim_scenario *scenario)
{
	uint32_t n = 0;
	for (size_t i = 0; i < scenario->n_datasets; i++)
		if (scenario->datasets[i].end > n)
			n = scenario->datasets[i].end;
	return n;
}

static int labels_new(struct sim_run *run)
{
	const struct sim_scenario *scenario = run->scenario;
	if (!scenario->labels || run->setup->sampler != SAMPLER_EXCHANGE)
		return 0;
	run->labels = sim_labels_new(n_ids(scenario), scenario->labels);
	return run->labels ? 0 : -ENOMEM;
}

/* Computes the number of different samples that the jobs read, and the capacity of the cache. */
static int measure(struct sim_run *run)
{
	const struct sim_size *size = &run->setup->cache;
	struct sim_result *result = &run->result;
	auto_bitmap roaring_bitmap_t *all = roaring_bitmap_create();
	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < run->scenario->n_jobs; i++)
		roaring_bitmap_or_inplace(all, run->scripts[i].selection);
	result->all = (uint32_t)roaring_bitmap_get_cardinality(all);
	double capacity = size->fraction ? round(size->value * result->all)
			  : size->bytes ? floor(size->value / run->scenario->sample_bytes)
					: size->value;
	result->capacity = (uint32_t)fmin(fmax(capacity, 1), UINT32_MAX);
	return 0;
}

static int sched_init(struct sim_run *run)
{
	uint64_t seed = run->setup->seed;
	struct sim_sched_config config = {
		.sampler = run->setup->sampler,
		.eviction = run->setup->eviction,
		.capacity = run->result.capacity,
		.sampler_seed = rng_mix(seed, 0x73616d706c6572),
		.cache_seed = rng_mix(seed, 0x6361636865),
		.n_ids = n_ids(run->scenario),
		.labels = run->labels,
		.lookahead = run->scenario->lookahead,
	};
	return sim_sched_new(&config, &run->sched);
}

int sim_run_new(const struct sim_scenario *scenario, const struct sim_setup *setup,
	struct sim_run **ret)
{
	struct sim_run *run = calloc(1, sizeof(*run));
	if (!run)
		return -ENOMEM;
	run->scenario = scenario;
	run->setup = setup;
	rng_seed(&run->rng, rng_mix(setup->seed, 0x736372697074));
	run->count_from = (uint64_t)llround(scenario->warmup * sim_ticks(scenario));
	if (scenario->length > 0)
		run->end = run->count_from +
			   (uint64_t)llround(scenario->length * sim_ticks(scenario));
	int err = labels_new(run);
	err = err ? err : scripts_new(run);
	err = err ? err : measure(run);
	err = err ? err : sched_init(run);
	if (err)
		sim_run_free(&run);
	*ret = run;
	return err;
}

void sim_run_free(struct sim_run **run)
{
	struct sim_run *e = *run;
	if (!e)
		return;
	sim_sched_free(&e->sched);
	for (size_t i = 0; e->scripts && i < e->scenario->n_jobs; i++) {
		bitmap_free(&e->scripts[i].selection);
		free(e->scripts[i].labels);
		free(e->scripts[i].opens);
	}
	free(e->scripts);
	free(e->readers);
	free(e->opens);
	free(e->labels);
	free(e);
	*run = NULL;
}
