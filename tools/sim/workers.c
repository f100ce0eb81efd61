// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "training.h"

#include <math.h>

static size_t count(const bool *runs, size_t n)
{
	size_t running = 0;
	for (size_t i = 0; i < n; i++)
		running += runs[i];
	return running;
}

static unsigned sum_of(const unsigned *workers, size_t n)
{
	unsigned sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += workers[i];
	return sum;
}

/* Divides all workers by weight: each training gets one; then the training with the fewest workers
 * relative to its weight gets the next, and so on. The weight is a power of the model's size. */
static void divide(const struct workload *workload, const bool *runs, double power,
	unsigned *workers)
{
	size_t n = workload->n, running = count(runs, n);
	for (size_t i = 0; i < n; i++)
		workers[i] = runs[i];
	for (size_t left = running; running > 0 && left < WORKERS; left++) {
		size_t poorest = n;
		double least = HUGE_VAL;
		for (size_t i = 0; i < n; i++) {
			double share = workers[i] /
				       pow(workload->trainings[i].parameters, power);
			if (!runs[i] || share >= least)
				continue;
			poorest = i;
			least = share;
		}
		workers[poorest]++;
	}
}

/* Gives each running training the number of workers that the paper's Table II has for it; the
 * workers of finished trainings are idle. Without a table, divides the workers. */
static void by_size(const struct workload *workload, const bool *runs,
	const unsigned *table, double power, unsigned *workers)
{
	if (!table) {
		divide(workload, runs, power, workers);
		return;
	}
	for (size_t i = 0; i < workload->n; i++)
		workers[i] = runs[i] ? table[i] : 0;
}

double workers_needed(const struct training *training)
{
	return training_demand(training) * training->cost /
	       (workers_rate(WORKERS) / WORKERS);
}

/* Sorts the trainings as in line 8 of Algorithm 1: the most over-provisioned one first. */
static size_t sort(const struct workload *workload, const bool *runs, size_t *order)
{
	double over[TRAININGS_MOST];
	size_t n = 0;
	for (size_t i = 0; i < workload->n; i++) {
		double needed = workers_needed(&workload->trainings[i]);
		over[i] = ceil(needed) - needed;
		if (!runs[i])
			continue;
		size_t at = n++;
		for (; at > 0 && over[order[at - 1]] < over[i]; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	return n;
}

/* Runs Algorithm 1, which takes workers from trainings until the sum of all workers is at most C
 * (WORKERS). The paper's loop tests `sum < C`, so it may end with C - 1 workers. mended: the loop
 * tests `sum <= C`. */
static void waa(
	const struct workload *workload, const bool *runs, bool mended, unsigned *workers)
{
	size_t order[TRAININGS_MOST], n = sort(workload, runs, order);
	for (size_t i = 0; i < workload->n; i++)
		workers[i] =
			runs[i] ? (unsigned)ceil(workers_needed(&workload->trainings[i]))
				: 0;
	while (sum_of(workers, workload->n) > WORKERS) {
		for (size_t i = 0; i < n; i++) {
			unsigned sum = sum_of(workers, workload->n);
			if (mended ? sum <= WORKERS : sum < WORKERS)
				return;
			if (workers[order[i]] > 1)
				workers[order[i]]--;
		}
	}
}

void workers_allocate(enum worker_policy policy, const struct workload *workload,
	const bool *runs, unsigned *ret_workers)
{
	switch (policy) {
	case WORKERS_REQUESTED:
		for (size_t i = 0; i < workload->n; i++)
			ret_workers[i] = runs[i] ? workload->trainings[i].workers : 0;
		return;
	case WORKERS_BALANCE:
		divide(workload, runs, 0, ret_workers);
		return;
	case WORKERS_PROPORTION:
		by_size(workload, runs, workload->proportion, 1, ret_workers);
		return;
	case WORKERS_INVERSE:
		by_size(workload, runs, workload->inverse, -1, ret_workers);
		return;
	case WORKERS_WAA:
	case WORKERS_WAA_MENDED:
		waa(workload, runs, policy == WORKERS_WAA_MENDED, ret_workers);
		return;
	}
}
