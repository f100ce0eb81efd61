// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "base/rng.h"
#include "randomness.h"
#include "sim.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* name, what, {first, end, speed, start} of each job, number of jobs, cache, slots */
const struct setting settings[] = {
	{"alone", "one job", {{0, 4, 1, 0}}, 1, .4, 2},
	{"lockstep", "two jobs, the same samples, step by step together",
		{{0, 4, 1, 0}, {0, 4, 1, 0}}, 2, .4, 2},
	{"nested", "three jobs, each with a part of the samples of the one before",
		{{0, 5, 1, 0}, {0, 4, 1, 0}, {0, 3, 1, 0}}, 3, .4, 2},
	{"overlapping", "two jobs that have half of their samples in common",
		{{0, 4, 1, 0}, {2, 6, 1, 0}}, 2, .4, 2},
	{"staggered", "two jobs, the same samples, half an epoch apart",
		{{0, 4, 1, 0}, {0, 4, 1, .5}}, 2, .4, 2},
	{"speeds", "three jobs, the same samples, at speeds of 1, 0.73 and 0.41",
		{{0, 4, 1, 0}, {0, 4, .73, 0}, {0, 4, .41, 0}}, 3, .4, 2},
	{"small-cache",
		"three jobs at different times and speeds, two with the same samples, "
		"one with half of them; a small cache",
		{{0, 4, 1, 0}, {0, 4, .8, .5}, {2, 6, .9, .25}}, 3, .1, 1},
	{.name = NULL},
};

struct world {
	struct sim_scenario scenario;
	struct sim_dataset datasets[RANDOMNESS_JOBS];
	struct sim_job jobs[RANDOMNESS_JOBS];
	const struct setting_run *run;
	struct places *places;
	uint32_t current; /* number of the run */
};

/* Returns the first id of the sets. Samplers store ids in blocks of 65536. The sets lie across the
 * border of two blocks, the smaller part below it. This detects a sampler that gives two blocks
 * equal chances although their numbers of samples differ. */
static uint32_t first_id(const struct setting_run *run)
{
	return 65536 - run->unit;
}

/* Returns the length of a run in epochs of time (sim.h): until the last job has read its epochs,
 * and one epoch of time more. */
static double length(const struct setting_run *run)
{
	const struct setting *setting = run->setting;
	double fastest = 0, largest = 0, latest = 0;
	for (size_t j = 0; j < setting->n_jobs; j++) {
		fastest = fmax(fastest, setting->job[j].speed);
		largest = fmax(largest, setting->job[j].end - setting->job[j].first);
	}
	for (size_t j = 0; j < setting->n_jobs; j++) {
		double size = setting->job[j].end - setting->job[j].first;
		double speed = setting->job[j].speed / fastest;
		latest = fmax(latest,
			setting->job[j].start + run->epochs * size / largest / speed);
	}
	return latest + 1;
}

static void world_init(struct world *world, const struct setting_run *run)
{
	const struct setting *setting = run->setting;
	memset(world, 0, sizeof(*world));
	world->run = run;
	for (size_t j = 0; j < setting->n_jobs; j++) {
		uint32_t first = first_id(run) + setting->job[j].first * run->unit;
		uint32_t end = first_id(run) + setting->job[j].end * run->unit;
		world->datasets[j] = (struct sim_dataset){
			.first = first, .end = end, .size = end - first};
		world->jobs[j] = (struct sim_job){.dataset = j,
			.speed = setting->job[j].speed,
			.start = setting->job[j].start};
	}
	world->scenario = (struct sim_scenario){
		.datasets = world->datasets,
		.n_datasets = setting->n_jobs,
		.jobs = world->jobs,
		.n_jobs = setting->n_jobs,
		.length = length(run),
	};
}

static int places_new(struct world *world)
{
	for (size_t j = 0; j < world->scenario.n_jobs; j++) {
		const struct sim_dataset *set = &world->datasets[j];
		struct places *places = &world->places[j];
		*places = (struct places){.first = set->first,
			.n = set->size,
			.runs = world->run->runs,
			.epochs = world->run->epochs};
		size_t n = (size_t)places->runs * places->epochs * places->n;
		places->at = malloc(n * sizeof(*places->at));
		if (!places->at)
			return -ENOMEM;
		memset(places->at, 0xff, n * sizeof(*places->at));
	}
	return 0;
}

static void note(void *context, const struct sim_read *read)
{
	struct world *world = context;
	struct places *places = &world->places[read->job];
	if (read->epoch >= places->epochs)
		return;
	uint32_t *at = places_of(places, world->current, read->epoch);
	ensure(at[read->sample - places->first] == UINT32_MAX);
	at[read->sample - places->first] = read->position;
}

/* Aborts unless each epoch has each sample; otherwise the figures would be meaningless. */
static void check(const struct places *places)
{
	size_t n = (size_t)places->runs * places->epochs * places->n;
	for (size_t i = 0; i < n; i++)
		ensure(places->at[i] < places->n);
}

static double slots(const struct setting_run *run)
{
	if (run->unit == 1)
		return run->setting->slots;
	return round(run->setting->cache * run->unit);
}

static int run_all(struct world *world)
{
	const struct setting_run *run = world->run;
	struct sim_result result;
	for (world->current = 0; world->current < run->runs; world->current++) {
		struct sim_setup setup = {
			.sampler = run->sampler,
			.eviction = EVICTION_REFCNT,
			.cache.value = slots(run),
			.seed = rng_mix(run->seed, world->current),
			.observer = note,
			.context = world,
		};
		int err = sim_run(&world->scenario, &setup, &result);
		if (err)
			return err;
	}
	return 0;
}

int setting_places(const struct setting_run *run, struct places ret[RANDOMNESS_JOBS])
{
	struct world world;
	memset(ret, 0, RANDOMNESS_JOBS * sizeof(*ret));
	world_init(&world, run);
	world.places = ret;
	int err = places_new(&world);
	if (!err)
		err = run_all(&world);
	for (size_t j = 0; j < run->setting->n_jobs && !err; j++)
		check(&ret[j]);
	for (size_t j = 0; j < run->setting->n_jobs && err; j++) {
		free(ret[j].at);
		ret[j].at = NULL;
	}
	return err;
}
