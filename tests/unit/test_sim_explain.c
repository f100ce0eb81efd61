// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "../../tools/ctl/explain_internal.h"

#include <criterion/criterion.h>

/* The conclusions of joaderctl explain from measured and simulated figures. */

static const struct timed_outcome simulated = {.epoch = 2, .least = 1.6, .most = 2.5};

static double factor(double measured)
{
	struct explain_job job = {.seconds = measured};
	return explain_factor(&job, &simulated);
}

Test(sim_explain, what_chance_makes_of_a_run_corrects_nothing)
{
	cr_assert_eq(factor(2), 1);
	cr_assert_eq(factor(1.6), 1);
	cr_assert_eq(factor(2.5), 1);
}

Test(sim_explain, what_is_beyond_all_runs_is_corrected)
{
	cr_assert_float_eq(factor(3), 3 / 2.5, 1e-12);
	cr_assert_float_eq(factor(1.2), 1.2 / 1.6, 1e-12);
}

Test(sim_explain, what_was_not_simulated_has_no_prediction)
{
	struct explain_job job = {.seconds = 1};
	struct timed_outcome absent = {.epoch = 0};
	cr_assert_eq(explain_factor(&job, &absent), 0);
}
