// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "share/share.h"
#include "effort.h"

#include <criterion/criterion.h>
#include <math.h>

/*
 * The optimum is checked in two ways: by the conditions of Karush, Kuhn and Tucker, which only the
 * optimum fulfils, and by a search through all divisions of the decode time on a grid. Both reject
 * mutants.
 */

#define MOST 4
#define GRID 24
#define CERTAIN_PART .05 /* the constant of grant.c */

struct instance {
	struct share_claim claims[MOST];
	size_t n;
	double capacity;
};

static double uniform(struct rng *rng, double low, double high)
{
	return low + (high - low) * (double)rng_below(rng, 1000001) / 1000000;
}

/* Makes an instance. Some have more capacity than all jobs need, most have less. */
static struct instance random_instance(struct rng *rng)
{
	struct instance instance = {.n = 2 + rng_below(rng, MOST - 1)};
	double need = 0;
	for (size_t i = 0; i < instance.n; i++) {
		instance.claims[i] =
			(struct share_claim){.weight = exp(uniform(rng, -1, 1)),
				.cost = .001 * exp(uniform(rng, 0, 3)),
				.demand = exp(uniform(rng, 3, 7))};
		need += instance.claims[i].cost * instance.claims[i].demand;
	}
	instance.capacity = need * uniform(rng, .1, 1.1);
	return instance;
}

typedef void allocator(enum share_policy policy, const struct share_claim *claims,
	size_t n, double capacity, double *ret_rates);

/* --- mutants ---------------------------------------------------------------------------- */

/* A mutant: capacity that demands leave over is lost. */
static void mutant_no_rest(enum share_policy policy, const struct share_claim *claims,
	size_t n, double capacity, double *rates)
{
	double sum = 0;
	(void)policy;
	for (size_t i = 0; i < n; i++)
		sum += claims[i].weight;
	for (size_t i = 0; i < n; i++)
		rates[i] = fmin(claims[i].demand,
			capacity * claims[i].weight / sum / claims[i].cost);
}

/* Grants for changed claims. */
static void changed(
	enum share_policy policy, const struct instance *instance, double *rates)
{
	share_grant(policy, instance->claims, instance->n, instance->capacity, rates);
}

static void mutant_no_weights(enum share_policy policy, const struct share_claim *claims,
	size_t n, double capacity, double *rates)
{
	struct instance other = {.n = n, .capacity = capacity};
	for (size_t i = 0; i < n; i++) {
		other.claims[i] = claims[i];
		other.claims[i].weight = 1;
	}
	changed(policy, &other, rates);
}

/* A mutant: all samples take equally long. */
static void mutant_no_costs(enum share_policy policy, const struct share_claim *claims,
	size_t n, double capacity, double *rates)
{
	struct instance other = {.n = n, .capacity = capacity};
	double mean = 0, used = 0, need = 0;
	for (size_t i = 0; i < n; i++)
		mean += claims[i].cost / (double)n;
	for (size_t i = 0; i < n; i++) {
		other.claims[i] = claims[i];
		other.claims[i].cost = mean;
	}
	changed(policy, &other, rates);
	for (size_t i = 0; i < n; i++) {
		used += claims[i].cost * rates[i];
		need += claims[i].cost * claims[i].demand;
	}
	for (size_t i = 0; i < n; i++)
		rates[i] = fmin(rates[i] * fmin(capacity, need) / used, claims[i].demand);
}

/* A mutant: follows another policy. */
static void mutant_other_policy(enum share_policy policy,
	const struct share_claim *claims, size_t n, double capacity, double *rates)
{
	share_grant(policy == SHARE_FAIR ? SHARE_SLOWDOWN : SHARE_FAIR, claims, n,
		capacity, rates);
}

/* --- Karush, Kuhn and Tucker ------------------------------------------------------------ */

/* Returns the level, which is equal for all jobs that could use more. The higher it is, the less a
 * bit more is worth. */
static double level_of(
	enum share_policy policy, const struct share_claim *claim, double rate)
{
	switch (policy) {
	case SHARE_SLOWDOWN:
		return rate / (claim->weight * claim->demand);
	case SHARE_FAIR:
		return rate * claim->cost / claim->weight;
	default:
		return claim->cost / claim->weight;
	}
}

static bool is_content(const struct share_claim *claim, double rate)
{
	return rate > claim->demand * (1 - 1e-9);
}

/* Returns the rates that jobs have under SHARE_THROUGHPUT whatever their worth. */
static void certain_rates(const struct instance *instance, double *rates)
{
	share_grant(SHARE_FAIR, instance->claims, instance->n,
		CERTAIN_PART * instance->capacity, rates);
}

/* Returns the error in the used capacity: capacity that is left although a job could use it, or
 * too much use. */
static double capacity_residual(const struct instance *instance, const double *rates)
{
	double used = 0, need = 0;
	for (size_t i = 0; i < instance->n; i++) {
		used += instance->claims[i].cost * rates[i];
		need += instance->claims[i].cost * instance->claims[i].demand;
	}
	return fabs(used - fmin(need, instance->capacity)) / instance->capacity;
}

/* Returns 0 at the optimum, where no job has a higher level than a job that could use more. */
static double residual(
	enum share_policy policy, const struct instance *instance, const double *rates)
{
	double worst = capacity_residual(instance, rates), least[MOST] = {0};
	if (policy == SHARE_THROUGHPUT)
		certain_rates(instance, least);
	for (size_t i = 0; i < instance->n; i++) {
		const struct share_claim *claim = &instance->claims[i];
		worst = fmax(worst, rates[i] / claim->demand - 1);
		worst = fmax(
			worst, 1 - rates[i] / fmax(least[i], 1e-12) - (least[i] <= 0));
		if (rates[i] <= least[i] * (1 + 1e-9))
			continue;
		double level = level_of(policy, claim, rates[i]);
		for (size_t j = 0; j < instance->n; j++)
			if (!is_content(&instance->claims[j], rates[j]))
				worst = fmax(
					worst, 1 - level_of(policy, &instance->claims[j],
							   rates[j]) /
							       level);
	}
	return worst;
}

/* --- the grid --------------------------------------------------------------------------- */

/* Returns the utility; more is better. SHARE_SLOWDOWN: the worst job decides, and the others count
 * only a little. */
static double utility(
	enum share_policy policy, const struct instance *instance, const double *rates)
{
	double sum = 0, worst = HUGE_VAL;
	for (size_t i = 0; i < instance->n; i++) {
		const struct share_claim *claim = &instance->claims[i];
		worst = fmin(worst, rates[i] / (claim->weight * claim->demand));
		sum += claim->weight *
		       (policy == SHARE_FAIR ? log(fmax(rates[i], 1e-9)) : rates[i]);
	}
	return policy == SHARE_SLOWDOWN ? worst : sum;
}

/* Returns the highest utility of all divisions on the grid, from job i on. */
static double search(enum share_policy policy, const struct instance *instance,
	const double *least, double *rates, size_t i, int left)
{
	const struct share_claim *claim = &instance->claims[i];
	double best = -HUGE_VAL;
	if (i == instance->n)
		return utility(policy, instance, rates);
	for (int part = 0; part <= left; part++) {
		double time = instance->capacity * part / GRID;
		rates[i] = fmin(claim->demand, time / claim->cost);
		if (rates[i] < least[i])
			continue;
		best = fmax(
			best, search(policy, instance, least, rates, i + 1, left - part));
	}
	return best;
}

/* Returns how much better a division on the grid is than the granted one; 0: none is better. */
static double better_on_grid(
	enum share_policy policy, const struct instance *instance, const double *granted)
{
	double rates[MOST + 1], least[MOST] = {0};
	if (policy == SHARE_THROUGHPUT)
		certain_rates(instance, least);
	double best = search(policy, instance, least, rates, 0, GRID);
	double mine = utility(policy, instance, granted);
	return fmax(0, (best - mine) / fmax(fabs(best), 1));
}

/* --- tests ------------------------------------------------------------------------------ */

static const enum share_policy policies[] = {
	SHARE_SLOWDOWN, SHARE_FAIR, SHARE_THROUGHPUT};

/* Returns the worst of many instances, by the conditions or by the grid. */
static double worst_of(
	allocator *allocate, enum share_policy policy, unsigned n, bool by_grid)
{
	struct rng rng;
	double worst = 0;
	rng_seed(&rng, 7);
	for (unsigned i = 0; i < n; i++) {
		struct instance instance = random_instance(&rng);
		double rates[MOST];
		allocate(policy, instance.claims, instance.n, instance.capacity, rates);
		worst = fmax(worst, by_grid ? better_on_grid(policy, &instance, rates)
					    : residual(policy, &instance, rates));
	}
	return worst;
}

Test(share_grant, what_is_granted_is_the_optimum)
{
	for (size_t i = 0; i < 3; i++)
		cr_expect_lt(
			worst_of(share_grant, policies[i], effort(2000, 100000), false),
			1e-6, "policy %d", policies[i]);
}

Test(share_grant, no_division_on_a_grid_is_better)
{
	for (size_t i = 0; i < 3; i++)
		cr_expect_lt(worst_of(share_grant, policies[i], effort(60, 2000), true),
			1e-6, "policy %d", policies[i]);
}

Test(share_grant, mutants_are_rejected)
{
	static allocator *const mutants[] = {
		mutant_no_rest, mutant_no_weights, mutant_no_costs, mutant_other_policy};
	for (size_t m = 0; m < 4; m++) {
		for (size_t i = 0; i < 3; i++) {
			cr_expect_gt(worst_of(mutants[m], policies[i], 60, false), .1,
				"KKT: mutant %zu, policy %d", m, policies[i]);
			/* For the policy of equal slowdown costs change nothing, as long as the
			 * same capacity is used. */
			if (m == 2 && policies[i] == SHARE_SLOWDOWN)
				continue;
			cr_expect_gt(worst_of(mutants[m], policies[i], 60, true), 1e-3,
				"grid: mutant %zu, policy %d", m, policies[i]);
		}
	}
}

Test(share_grant, who_rides_on_others_decodes_gets_all_it_can_use)
{
	const struct share_claim claims[] = {{1, .01, 100}, {1, 0, 700}};
	double rates[2];
	for (size_t i = 0; i < 3; i++) {
		share_grant(policies[i], claims, 2, .5, rates);
		cr_expect_float_eq(rates[0], 50, 1e-9);
		cr_expect_float_eq(rates[1], 700, 1e-9);
	}
}

Test(share_grant, who_is_worth_least_still_has_a_part)
{
	const struct share_claim claims[] = {{1, .001, 5000}, {1, .1, 50}};
	double rates[2];
	share_grant(SHARE_THROUGHPUT, claims, 2, 2, rates);
	cr_expect_float_eq(rates[1], CERTAIN_PART * 2 / 2 / .1, 1e-9);
	cr_expect_float_eq(rates[0], (2 - CERTAIN_PART) / .001, 1e-6);
}

Test(share_grant, first_in_first_out_grants_what_is_asked_for)
{
	const struct share_claim claims[] = {{1, .01, 100}, {9, .1, 700}};
	double rates[2];
	share_grant(SHARE_FIFO, claims, 2, 1, rates);
	cr_expect_eq(rates[0], 100);
	cr_expect_eq(rates[1], 700);
}
