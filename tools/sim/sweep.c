// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "sim.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Adds run number n, from 1 on: updates the means, and the sum of squared deviations of the misses
 * (Welford, 1962). The sum is in `deviation` until run_point has added all runs. */
static void add_run(struct sim_point *point, const struct sim_result *result, uint32_t n)
{
	double before = (double)result->misses - point->misses;
	point->capacity += (result->capacity - point->capacity) / n;
	point->all += (result->all - point->all) / n;
	point->served += ((double)result->served - point->served) / n;
	point->misses += before / n;
	point->deviation += before * ((double)result->misses - point->misses);
}

static int run_point(const struct sim_curve *curve, struct sim_size size,
	struct sim_progress *progress, struct sim_point *ret)
{
	const struct sim_scenario *scenario = curve->scenario;
	for (uint32_t run = 0; run < scenario->runs; run++) {
		struct sim_setup setup = {.sampler = curve->sampler,
			.eviction = curve->eviction,
			.cache = size,
			.seed = rng_mix(scenario->seed, run),
			.progress = progress};
		struct sim_result result;
		int err = sim_run(scenario, &setup, &result);
		if (err)
			return err;
		add_run(ret, &result, run + 1);
	}
	if (scenario->runs > 1)
		ret->deviation = sqrt(ret->deviation / (scenario->runs - 1));
	return 0;
}

static int run_curve(struct sim_curve *curve, struct sim_progress *progress)
{
	const struct sim_scenario *scenario = curve->scenario;
	curve->points = calloc(scenario->n_caches, sizeof(*curve->points));
	if (!curve->points)
		return -ENOMEM;
	curve->n_points = scenario->n_caches;
	for (size_t i = 0; i < curve->n_points; i++) {
		int err = run_point(
			curve, scenario->caches[i], progress, &curve->points[i]);
		if (err)
			return err;
	}
	return 0;
}

int sim_sweep(const struct sim_scenario *scenario, struct sim_progress *progress,
	struct sim_curve **ret, size_t *ret_n)
{
	size_t n = scenario->n_samplers * scenario->n_evictions;
	struct sim_curve *curves = calloc(n, sizeof(*curves));
	if (!curves)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		curves[i].scenario = scenario;
		curves[i].sampler = scenario->samplers[i / scenario->n_evictions];
		curves[i].eviction = scenario->evictions[i % scenario->n_evictions];
		int err = run_curve(&curves[i], progress);
		if (err) {
			sim_curves_free(curves, n);
			return err;
		}
	}
	*ret = curves;
	*ret_n = n;
	return 0;
}

void sim_curves_free(struct sim_curve *curves, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(curves[i].points);
	free(curves);
}
