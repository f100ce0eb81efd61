// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "share/share.h"

#include <math.h>

/*
 * All figures are decode time per second. A job can use cost x demand: the decode time of a sample,
 * times the samples per second that the job could read. SHARE_FAIR and SHARE_SLOWDOWN divide the
 * decode time as if it were water. Each job has a vessel that holds cost x demand. All vessels
 * stand side by side, and are filled to one common level. When a vessel is full, the others get the
 * rest.
 *
 *  |       |  |    |          The width of a vessel is the job's weight (SHARE_FAIR),
 *  |~~~~~~~|  |~~~~|   |~|    or weight x (cost x demand) (SHARE_SLOWDOWN).
 *  |_______|  |____|   |_|
 */

/* SHARE_THROUGHPUT divides this part of the decode time among all jobs, so that each makes
 * progress. The rest goes to the jobs with the highest weight / cost. */
#define CERTAIN_PART .05

#define OPEN (-1) /* in `rates`: the job's rate is not determined yet */

static double could_use(const struct share_claim *claim)
{
	return claim->cost * claim->demand;
}

static double width_of(const struct share_claim *claim, bool by_need)
{
	return by_need ? claim->weight * could_use(claim) : claim->weight;
}

/* Grants the whole demand to each job whose vessel is full at this level. Returns false if no
 * further vessel is full. */
static bool fill_lowest(const struct share_claim *claims, size_t n, bool by_need,
	double level, double *capacity, double *rates)
{
	bool any = false;
	for (size_t i = 0; i < n; i++) {
		const struct share_claim *claim = &claims[i];
		if (rates[i] != OPEN ||
			could_use(claim) > width_of(claim, by_need) * level)
			continue;
		rates[i] = claim->demand;
		*capacity -= could_use(claim);
		any = true;
	}
	return any;
}

static void pour(const struct share_claim *claims, size_t n, bool by_need,
	double capacity, double *rates)
{
	double level;
	for (size_t i = 0; i < n; i++)
		rates[i] = could_use(&claims[i]) > 0 ? OPEN : claims[i].demand;
	do {
		double width = 0;
		for (size_t i = 0; i < n; i++)
			width += rates[i] == OPEN ? width_of(&claims[i], by_need) : 0;
		level = width > 0 ? fmax(capacity, 0) / width : 0;
	} while (fill_lowest(claims, n, by_need, level, &capacity, rates));
	for (size_t i = 0; i < n; i++)
		if (rates[i] == OPEN)
			rates[i] = width_of(&claims[i], by_need) * level / claims[i].cost;
}

/* Finds the job with the highest weight / cost whose rate is below its demand; n: there is none. */
static size_t best_of(const struct share_claim *claims, size_t n, const double *rates)
{
	size_t best = n;
	for (size_t i = 0; i < n; i++)
		if (rates[i] < claims[i].demand &&
			(best == n || claims[i].weight * claims[best].cost >
					      claims[best].weight * claims[i].cost))
			best = i;
	return best;
}

static void most_samples(
	const struct share_claim *claims, size_t n, double capacity, double *rates)
{
	size_t best;
	pour(claims, n, false, capacity * CERTAIN_PART, rates);
	for (size_t i = 0; i < n; i++)
		capacity -= claims[i].cost * rates[i];
	while (capacity > 0 && (best = best_of(claims, n, rates)) < n) {
		const struct share_claim *claim = &claims[best];
		double lacks = claim->demand - rates[best];
		if (claim->cost * lacks > capacity) {
			rates[best] += capacity / claim->cost;
			return;
		}
		rates[best] = claim->demand;
		capacity -= claim->cost * lacks;
	}
}

void share_grant(enum share_policy policy, const struct share_claim *claims, size_t n,
	double capacity, double *ret_rates)
{
	if (policy == SHARE_FIFO) {
		for (size_t i = 0; i < n; i++)
			ret_rates[i] = claims[i].demand;
	} else if (policy == SHARE_THROUGHPUT) {
		most_samples(claims, n, capacity, ret_rates);
	} else {
		pour(claims, n, policy == SHARE_SLOWDOWN, capacity, ret_rates);
	}
}
