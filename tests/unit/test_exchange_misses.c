// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include <criterion/criterion.h>

#include "effort.h"
#include "exchange_simulation.h"

/* How often exchange loads samples. The minimum is once per sample, for all jobs together. */

/* Returns `size` random ids below `universe`. */
static roaring_bitmap_t *random_subset(struct rng *rng, uint32_t universe, uint32_t size)
{
	roaring_bitmap_t *ids = roaring_bitmap_create();
	for (uint32_t id = 0; id < universe; id++)
		if (rng_below(rng, universe - id) < size) {
			roaring_bitmap_add(ids, id);
			size--;
		}
	return ids;
}

/* Returns misses / union of four random subsets of 10,000 out of 13,333 ids in one epoch. */
static double subsets(enum sampler_kind kind, uint64_t seed, uint32_t slots)
{
	struct sim sim;
	sim_new(&sim, kind, seed, 13333, slots, NULL);
	roaring_bitmap_t *all = roaring_bitmap_create();
	for (int j = 0; j < SIM_JOBS; j++) {
		sim_join(&sim, j, random_subset(&sim.rng, 13333, 10000));
		roaring_bitmap_or_inplace(all, sim.job[j].set);
	}
	for (int j = 0; j < SIM_JOBS; j++)
		sim_begin(&sim, j);
	while (sim_round(&sim, ~0U))
		;
	cr_assert_eq(sim.served, 40000);
	double misses = (double)sim.misses / (double)roaring_bitmap_get_cardinality(all);
	roaring_bitmap_free(all);
	sim_free(&sim);
	return misses;
}

/* Returns the mean over several seeds. Figures of single seeds vary by .01, because subsets drift
 * apart differently. */
static double mean_of_subsets(uint32_t slots)
{
	const unsigned n = effort(5, 16);
	double sum = 0;
	for (unsigned seed = 0; seed < n; seed++)
		sum += subsets(SAMPLER_EXCHANGE, seed, slots);
	return sum / n;
}

Test(exchange_misses, four_random_subsets_are_loaded_once)
{
	double slot = mean_of_subsets(1);
	double half = mean_of_subsets(66);
	double one = mean_of_subsets(133);
	cr_assert_leq(slot, 1.32, "%.4f", slot);
	cr_assert_leq(half, 1.012, "%.4f", half);
	cr_assert_leq(one, 1.003, "%.4f", one);
}

Test(exchange_misses, four_staggered_jobs_share_everything)
{
	double misses = sim_staggered(SAMPLER_EXCHANGE, 20000, .005, NULL);
	cr_assert_leq(misses, .26, "%.4f", misses);
}

/* Returns misses per served sample of jobs at speeds 1, .73, .41 and .22 that run on. */
static double speeds(enum sampler_kind kind)
{
	static const double speed[SIM_JOBS] = {1, .73, .41, .22};
	const uint32_t n = 20000;
	double due[SIM_JOBS] = {0};
	struct sim sim;
	sim_new(&sim, kind, 7, n, n / 100, NULL);
	for (int j = 0; j < SIM_JOBS; j++)
		sim_join(&sim, j, sim_range(0, n));
	for (uint32_t step = 0; step < 10 * n; step++) {
		unsigned who = 0;
		for (int j = 0; j < SIM_JOBS; j++) {
			due[j] += speed[j];
			who |= due[j] >= 1 ? 1U << j : 0;
			due[j] -= due[j] >= 1;
		}
		if (step == n)
			sim.served = sim.misses = 0;
		sim_run_on(&sim, who);
	}
	double misses = (double)sim.misses / (double)sim.served;
	sim_free(&sim);
	return misses;
}

Test(exchange_misses, jobs_of_other_speeds_share_with_the_fastest)
{
	double misses = speeds(SAMPLER_EXCHANGE);
	cr_assert_leq(misses, .44, "%.4f", misses);
}

/* There are 100 labels, and each job asks for labels in its own order. */
Test(exchange_misses, jobs_share_within_labels)
{
	static const struct {
		double cache;
		double misses;
	} expected[] = {{.02, .38}, {.05, .30}, {.10, .28}};
	static uint32_t labels[20000];
	for (uint32_t id = 0; id < 20000; id++)
		labels[id] = id / 200;
	for (int i = 0; i < 3; i++) {
		double misses =
			sim_staggered(SAMPLER_EXCHANGE, 20000, expected[i].cache, labels);
		cr_assert_lt(misses, expected[i].misses + .01, "%.2f: %.4f",
			expected[i].cache, misses);
	}
}

/* The measure sees the difference: independent sampling shares only by chance. */
Test(exchange_misses, isa_and_dsa_load_more)
{
	cr_assert_gt(subsets(SAMPLER_ISA, 3, 133), 2.8);
	cr_assert_gt(subsets(SAMPLER_DSA, 3, 133), 1.6);
	cr_assert_gt(sim_staggered(SAMPLER_ISA, 20000, .005, NULL), .98);
	cr_assert_gt(sim_staggered(SAMPLER_DSA, 20000, .005, NULL), .6);
}
