// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sim.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Makes scenarios smaller. The loads per sample depend on the ratios between cache, look-ahead and
 * datasets. They hardly depend on the number of samples, if there are thousands. */

/* a scenario with more reads in all its runs takes too long for a waiting user */
#define LARGE 1e7
#define ENOUGH 5e6   /* a larger scenario is scaled down to about this many reads */
#define LEAST 10000u /* least number of samples of the largest dataset */

/* Returns the number of samples that all runs of the scenario read. */
static double reads_of(const struct sim_scenario *scenario)
{
	double ticks = sim_ticks(scenario), fastest = 0, sum = 0;
	double end =
		scenario->length > 0 ? scenario->warmup + scenario->length : HUGE_VAL;
	for (size_t i = 0; i < scenario->n_jobs; i++)
		fastest = fmax(fastest, scenario->jobs[i].speed);
	for (size_t i = 0; i < scenario->n_jobs; i++) {
		const struct sim_job *job = &scenario->jobs[i];
		double size = scenario->datasets[job->dataset].size;
		double all = job->epochs ? job->epochs * size : HUGE_VAL;
		double time = fmax(end - job->start, 0) * ticks * job->speed / fastest;
		sum += fmin(all, time);
	}
	return sum * (double)scenario->n_samplers * (double)scenario->n_evictions *
	       (double)scenario->n_caches * scenario->runs;
}

uint32_t sim_scale_choose(const struct sim_scenario *scenario)
{
	double reads = reads_of(scenario), most = sim_ticks(scenario) / LEAST;
	if (reads <= LARGE || most < 2)
		return 1;
	return (uint32_t)fmin(ceil(reads / ENOUGH), most);
}

static uint32_t part(uint32_t n, uint32_t scale)
{
	return n == 0 ? 0 : n / scale > 0 ? n / scale : 1;
}

static void *copy(const void *items, size_t n, size_t size)
{
	void *ret = n ? malloc(n * size) : NULL;
	if (ret)
		memcpy(ret, items, n * size);
	return ret;
}

#define COPY(list, n) ret->list = copy(scenario->list, scenario->n, sizeof(*ret->list))

static int copy_lists(const struct sim_scenario *scenario, struct sim_scenario *ret)
{
	COPY(samplers, n_samplers);
	COPY(evictions, n_evictions);
	COPY(caches, n_caches);
	COPY(datasets, n_datasets);
	COPY(jobs, n_jobs);
	return ret->samplers && ret->evictions && ret->caches && ret->datasets &&
			       ret->jobs
		       ? 0
		       : -ENOMEM;
}

static void scale_dataset(struct sim_dataset *dataset, uint32_t scale)
{
	dataset->name = NULL;
	dataset->first /= scale;
	dataset->end /= scale;
	if (dataset->end == dataset->first)
		dataset->end++;
	dataset->size = dataset->sample ? part(dataset->size, scale)
					: dataset->end - dataset->first;
}

int sim_scaled(
	const struct sim_scenario *scenario, uint32_t scale, struct sim_scenario *ret)
{
	*ret = *scenario;
	ret->name = ret->title = ret->note = NULL;
	int err = copy_lists(scenario, ret);
	for (size_t i = 0; i < ret->n_datasets && ret->datasets; i++)
		scale_dataset(&ret->datasets[i], scale);
	for (size_t i = 0; i < ret->n_jobs && ret->jobs; i++)
		ret->jobs[i].name = ret->jobs[i].dataset_name = NULL;
	if (err) {
		sim_scenario_free(ret);
		return err;
	}
	for (size_t i = 0; i < ret->n_caches; i++)
		if (!ret->caches[i].fraction && !ret->caches[i].bytes)
			ret->caches[i].value =
				fmax(1, floor(ret->caches[i].value / scale));
	ret->sample_bytes *= scale;
	ret->labels = part(scenario->labels, scale);
	ret->lookahead = part(scenario->lookahead, scale);
	return 0;
}

static void enlarge(const struct sim_scenario *scenario, uint32_t scale,
	struct sim_curve *curves, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		curves[i].scenario = scenario;
		for (size_t j = 0; j < curves[i].n_points; j++) {
			struct sim_point *point = &curves[i].points[j];
			point->capacity *= scale;
			point->all *= scale;
			point->served *= scale;
			point->misses *= scale;
			point->deviation *= scale;
		}
	}
}

static int run_part(const struct sim_scenario *scenario, uint32_t scale,
	struct sim_progress *progress, struct sim_curve **ret, size_t *ret_n)
{
	struct sim_scenario small;
	int err = sim_scaled(scenario, scale, &small);
	if (err)
		return err;
	err = sim_sweep(&small, progress, ret, ret_n);
	sim_scenario_free(&small);
	if (!err)
		enlarge(scenario, scale, *ret, *ret_n);
	return err;
}

static double difference(const struct sim_point *a, const struct sim_point *b)
{
	return a->served > 0 && b->served > 0
		       ? fabs(a->misses / a->served - b->misses / b->served)
		       : 0;
}

static int compare_half(const struct sim_scenario *scenario, uint32_t scale,
	struct sim_progress *progress, const struct sim_curve *curves, double *ret_off)
{
	struct sim_curve *half;
	size_t n;
	int err = run_part(scenario, 2 * scale, progress, &half, &n);
	*ret_off = 0;
	if (err)
		return err;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < half[i].n_points; j++)
			*ret_off = fmax(*ret_off,
				difference(&half[i].points[j], &curves[i].points[j]));
	sim_curves_free(half, n);
	return 0;
}

int sim_sweep_scaled(const struct sim_scenario *scenario, uint32_t scale, FILE *out,
	struct sim_curve **ret, size_t *ret_n, struct sim_trust *trust)
{
	struct sim_progress progress;
	double all = reads_of(scenario) / scale;
	*trust = (struct sim_trust){
		.scale = scale, .samples = part(sim_ticks(scenario), scale)};
	sim_progress_begin(&progress, out, scale > 1 ? 1.5 * all : all);
	int err = run_part(scenario, scale, &progress, ret, ret_n);
	if (!err && scale > 1) {
		err = compare_half(scenario, scale, &progress, *ret, &trust->off);
		if (err)
			sim_curves_free(*ret, *ret_n);
	}
	sim_progress_end(&progress);
	return err;
}
