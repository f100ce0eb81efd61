// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "engine.h"

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

/* Of an epoch of time. */
static double ticks(const struct sim_scenario *scenario)
{
	uint32_t size = 0;
	for (size_t i = 0; i < scenario->n_datasets; i++)
		if (scenario->datasets[i].size > size)
			size = scenario->datasets[i].size;
	return size;
}

static int runner_init(struct sim_engine *engine, size_t i)
{
	const struct sim_scenario *scenario = engine->scenario;
	const struct sim_job *job = &scenario->jobs[i];
	struct runner *runner = &engine->runners[i];
	runner->job = (job_id)i;
	runner->stream = (stream_id)i;
	runner->selection = sim_dataset_ids(scenario, job->dataset, engine->setup->seed);
	runner->size = scenario->datasets[job->dataset].size;
	runner->speed = job->speed / fastest(scenario);
	runner->start = (uint64_t)llround(job->start * ticks(scenario));
	runner->room = scenario->lookahead ? scenario->lookahead : 1;
	runner->queue = calloc(runner->room, sizeof(*runner->queue));
	if (engine->labels)
		runner->opens = calloc(runner->size, sizeof(*runner->opens));
	bool made =
		runner->selection && runner->queue && (runner->opens || !engine->labels);
	return made ? 0 : -ENOMEM;
}

static int runners_new(struct sim_engine *engine)
{
	size_t n = engine->scenario->n_jobs;
	engine->runners = calloc(n, sizeof(*engine->runners));
	engine->readers = calloc(n, sizeof(struct runner *));
	engine->round = calloc(n, sizeof(struct runner *));
	engine->round_ids = calloc(n, sizeof(*engine->round_ids));
	engine->round_samples = calloc(n, sizeof(*engine->round_samples));
	if (!engine->runners || !engine->readers || !engine->round ||
		!engine->round_ids || !engine->round_samples)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		int err = runner_init(engine, i);
		if (err)
			return err;
	}
	engine->n_waiting = n;
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

static int labels_new(struct sim_engine *engine)
{
	const struct sim_scenario *scenario = engine->scenario;
	if (!scenario->labels || engine->setup->sampler != SAMPLER_EXCHANGE)
		return 0;
	uint32_t n = n_ids(scenario);
	engine->labels = calloc(n, sizeof(*engine->labels));
	if (!engine->labels)
		return -ENOMEM;
	for (uint32_t id = 0; id < n; id++)
		engine->labels[id] = id % scenario->labels;
	return 0;
}

/* The union of what the jobs read, and the cache's size as a part of it. */
static int measure(struct sim_engine *engine)
{
	const struct sim_size *size = &engine->setup->cache;
	struct sim_result *result = &engine->result;
	roaring_bitmap_t *all = roaring_bitmap_create();
	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < engine->scenario->n_jobs; i++)
		roaring_bitmap_or_inplace(all, engine->runners[i].selection);
	result->all = (uint32_t)roaring_bitmap_get_cardinality(all);
	roaring_bitmap_free(all);
	double capacity = size->fraction ? round(size->value * result->all) : size->value;
	result->capacity = capacity < 1 ? 1 : (uint32_t)capacity;
	return 0;
}

static void gone(void *context, struct cache_space *space, sample_id sample)
{
	struct sim_engine *engine = context;
	(void)space;
	sim_sampler_evicted(&engine->sampler, 0, sample);
}

static int cache_init(struct sim_engine *engine)
{
	uint64_t seed = rng_mix(engine->setup->seed, 0x6361636865);
	int err = cache_new(
		engine->result.capacity, engine->setup->eviction, seed, &engine->cache);
	if (err)
		return err;
	cache_on_gone(engine->cache, gone, engine);
	return cache_space_new(engine->cache, n_ids(engine->scenario), &engine->space);
}

static int sampler_init(struct sim_engine *engine)
{
	uint64_t seed = rng_mix(engine->setup->seed, 0x73616d706c6572);
	if (engine->labels)
		return sim_sampler_new_labelled(
			seed, engine->labels, n_ids(engine->scenario), &engine->sampler);
	return sim_sampler_new(engine->setup->sampler, seed, &engine->sampler);
}

int sim_engine_new(const struct sim_scenario *scenario, const struct sim_setup *setup,
	struct sim_engine **ret)
{
	struct sim_engine *engine = calloc(1, sizeof(*engine));
	if (!engine)
		return -ENOMEM;
	engine->scenario = scenario;
	engine->setup = setup;
	rng_seed(&engine->rng, rng_mix(setup->seed, 0x736372697074));
	engine->count_from = (uint64_t)llround(scenario->warmup * ticks(scenario));
	if (scenario->length > 0)
		engine->end = engine->count_from +
			      (uint64_t)llround(scenario->length * ticks(scenario));
	int err = labels_new(engine);
	err = err ? err : runners_new(engine);
	err = err ? err : measure(engine);
	err = err ? err : sampler_init(engine);
	err = err ? err : cache_init(engine);
	if (err)
		sim_engine_free(&engine);
	*ret = engine;
	return err;
}

void sim_engine_free(struct sim_engine **engine)
{
	struct sim_engine *e = *engine;
	if (!e)
		return;
	for (size_t i = 0; e->runners && i < e->scenario->n_jobs; i++) {
		if (e->runners[i].selection)
			roaring_bitmap_free(e->runners[i].selection);
		free(e->runners[i].queue);
		free(e->runners[i].opens);
	}
	if (e->cache)
		cache_free(&e->cache);
	sim_sampler_free(&e->sampler);
	free(e->runners);
	free(e->readers);
	free(e->round);
	free(e->round_ids);
	free(e->round_samples);
	free(e->labels);
	free(e);
	*engine = NULL;
}
