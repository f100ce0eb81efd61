// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/cleanup.h"
#include "base/rng.h"
#include "timed.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RUNS 8
#define LEAST_RUNS 3
#define MOST_LAPS 12
#define LEAST_LAPS 4
#define READS 250000. /* reads of all runs; a million takes a second or two */

static double reads_of_a_lap(const struct timed_world *world)
{
	double sum = 0;
	for (size_t j = 0; j < world->n_jobs; j++)
		if (!world->jobs[j].absent)
			sum += timed_job_samples(world, j);
	return fmax(sum, 1);
}

static double within(double least, double value, double most)
{
	return fmin(fmax(value, least), most);
}

/* The first run has the starts of the world. In each other run, each start is multiplied by a
 * factor between one half and one and a half. */
static void change_run(
	const struct timed_world *world, struct timed_world *ret, unsigned number)
{
	ret->seed = number == 0 ? world->seed : rng_mix(world->seed, number);
	for (size_t j = 0; j < world->n_jobs && number > 0; j++) {
		double part = (double)(rng_mix(ret->seed, j) >> 11) * 0x1p-53;
		ret->jobs[j].start = world->jobs[j].start * (.5 + part);
	}
}

static void add(
	struct timed_outcome *sums, const struct timed_outcome *one, size_t n, bool first)
{
	for (size_t j = 0; j < n; j++) {
		struct timed_outcome *sum = &sums[j];
		sum->least = first ? one[j].epoch : fmin(sum->least, one[j].epoch);
		sum->most = fmax(sum->most, one[j].epoch);
		sum->epoch += one[j].epoch;
		sum->laps += one[j].laps;
	}
}

int timed_runs(
	const struct timed_world *world, struct timed_outcome *ret, double *ret_loads)
{
	struct timed_outcome one[TIMED_JOBS];
	struct timed_world changed = *world;
	double lap = reads_of_a_lap(world), loads;
	unsigned runs = (unsigned)within(LEAST_RUNS, READS / lap / LEAST_LAPS, MOST_RUNS);
	auto_free struct timed_job *jobs = calloc(world->n_jobs + 1, sizeof(*jobs));
	int err = jobs ? 0 : -ENOMEM;
	if (!err)
		memcpy(jobs, world->jobs, world->n_jobs * sizeof(*jobs));
	changed.jobs = jobs;
	changed.laps = (unsigned)within(LEAST_LAPS, READS / lap / runs, MOST_LAPS);
	memset(ret, 0, world->n_jobs * sizeof(*ret));
	*ret_loads = 0;
	for (unsigned i = 0; i < runs && !err; i++) {
		change_run(world, &changed, i);
		err = timed_run(&changed, one, &loads);
		if (err)
			break;
		add(ret, one, world->n_jobs, i == 0);
		*ret_loads += loads / runs;
	}
	for (size_t j = 0; j < world->n_jobs; j++)
		ret[j].epoch /= runs;
	return err;
}
