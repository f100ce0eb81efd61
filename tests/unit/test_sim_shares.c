// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "../../tools/sim/training.h"

#include <criterion/criterion.h>
#include <math.h>

/* joader-sim shares: its model has the paper's figures, its policies do what the paper says, and
 * the daemon's allocator comes close to the optimum. */

static const bool all[TRAININGS_MOST] = {true, true, true, true, true, true, true, true};

static void expect_workers(enum worker_policy policy, const struct workload *workload,
	const unsigned *expected)
{
	unsigned workers[TRAININGS_MOST];
	workers_allocate(policy, workload, all, workers);
	for (size_t i = 0; i < workload->n; i++)
		cr_expect_eq(workers[i], expected[i], "policy %d, training %zu: %u",
			policy, i, workers[i]);
}

Test(sim_shares, the_model_has_the_figures_of_the_papers_text)
{
	const struct training *two = workload_static.trainings;
	cr_expect_float_eq(workers_rate(10), 1391, 2, "IV.D");
	cr_expect_float_eq(workers_rate(18), 1660, 1, "Fig. 3, balance");
	cr_expect_eq(workers_rate(30), workers_rate(24), "Fig. 5");
	cr_expect_eq(ceil(workers_needed(&two[0])), 8, "IV.B: Resnet18");
	cr_expect_eq(
		ceil(workers_needed(&workload_dynamic.trainings[3])), 4, "IV.C: VGG13");
	struct workload_outcome is = {0};
	fluid_workers(&workload_static, WORKERS_BALANCE, false, &is);
	cr_expect_float_eq(is.makespan, 132, 3, "Table II");
	fluid_workers(&workload_dynamic, WORKERS_REQUESTED, false, &is);
	cr_expect_float_eq(is.makespan, 1200, 5, "Fig. 8");
}

Test(sim_shares, waa_allocates_as_in_the_paper)
{
	static const unsigned fig_7[] = {2, 8, 8};
	expect_workers(WORKERS_WAA, &workload_static, fig_7);
	expect_workers(WORKERS_WAA_MENDED, &workload_static, fig_7);
}

/* Three trainings need 8, 14 and 15 workers; a round does not end at 18. */
Test(sim_shares, waa_as_printed_takes_one_worker_too_many)
{
	const struct training needs[] = {{"a", 1.8, 11.7, 128, 500, 6, 0, 1},
		{"b", .3, 1.8, 128, 500, 6, 0, 1}, {"c", .2, .9, 128, 500, 6, 0, 1.03}};
	const struct workload workload = {.trainings = needs, .n = 3};
	static const unsigned printed[] = {2, 7, 8}, mended[] = {2, 7, 9};
	cr_assert_eq(ceil(workers_needed(&needs[2])), 15);
	expect_workers(WORKERS_WAA, &workload, printed);
	expect_workers(WORKERS_WAA_MENDED, &workload, mended);
}

Test(sim_shares, the_other_policies_divide_all_workers)
{
	static const unsigned balance[] = {6, 6, 6}, proportion[] = {12, 4, 2},
			      inverse[] = {2, 4, 12};
	expect_workers(WORKERS_BALANCE, &workload_static, balance);
	expect_workers(WORKERS_PROPORTION, &workload_static, proportion);
	expect_workers(WORKERS_INVERSE, &workload_static, inverse);
	for (int policy = WORKERS_BALANCE; policy <= WORKERS_INVERSE; policy++) {
		unsigned workers[TRAININGS_MOST], sum = 0;
		workers_allocate(
			(enum worker_policy)policy, &workload_dynamic, all, workers);
		for (size_t i = 0; i < workload_dynamic.n; i++) {
			cr_expect_geq(workers[i], 1);
			sum += workers[i];
		}
		cr_expect_eq(sum, WORKERS);
	}
}

Test(sim_shares, whoever_is_through_has_no_workers)
{
	static const bool one[TRAININGS_MOST] = {false, true};
	for (int policy = WORKERS_REQUESTED; policy <= WORKERS_WAA_MENDED; policy++) {
		unsigned workers[TRAININGS_MOST];
		workers_allocate(
			(enum worker_policy)policy, &workload_static, one, workers);
		cr_expect_eq(workers[0] + workers[2], 0);
		cr_expect_geq(workers[1], 1);
	}
}

/* Compares the daemon's allocator, image by image and with measured needs, with the optimum for
 * known needs. */
static void compare(
	const struct workload *workload, enum share_policy policy, double most_off)
{
	struct workload_outcome known = {0}, found = {0};
	fluid_granted(workload, policy, &known);
	cr_assert_eq(pool_run(workload, policy, &found), 0);
	cr_expect_float_eq(found.rates / known.rates, 1, most_off, "policy %d: %g",
		policy, found.rates / known.rates);
	cr_expect_float_eq(found.makespan / known.makespan, 1, most_off);
	cr_expect_float_eq(found.slowdown / known.slowdown, 1, most_off, "%g %g",
		found.slowdown, known.slowdown);
}

Test(sim_shares, the_pool_does_what_the_optimum_says)
{
	compare(&workload_static, SHARE_FAIR, .02);
	compare(&workload_dynamic, SHARE_FAIR, .02);
	compare(&workload_static, SHARE_SLOWDOWN, .05);
	compare(&workload_dynamic, SHARE_SLOWDOWN, .05);
}

/* A mutant that ignores needs. */
Test(sim_shares, shares_without_needs_are_not_that_optimum)
{
	struct workload_outcome known = {0}, mutant = {0};
	fluid_granted(&workload_dynamic, SHARE_SLOWDOWN, &known);
	cr_assert_eq(pool_run(&workload_dynamic, SHARE_FAIR, &mutant), 0);
	cr_expect_gt(mutant.slowdown / known.slowdown, 1.2);
}
