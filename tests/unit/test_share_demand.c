// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "share/share.h"

#include <criterion/criterion.h>
#include <math.h>

/* Passes a window of a second to the demand. Alone, the job could get 1000 samples/s. */
static void see(struct share_demand *demand, double samples, double waited)
{
	struct share_window window = {
		.seconds = 1, .waited = waited, .samples = samples, .most = 1000};
	share_demand_update(demand, &window);
}

Test(share_demand, who_never_waits_needs_what_it_gets)
{
	struct share_demand demand = {0};
	see(&demand, 80, 0);
	cr_expect_float_eq(demand.rate, 80, 1e-9);
	cr_expect_not(demand.at_least);
}

/* A thread computes for 10 ms after each sample, whatever rate it gets. */
Test(share_demand, what_a_thread_computes_between_its_waits_tells_its_need)
{
	struct share_demand demand = {0};
	for (double rate = 20; rate < 100; rate += 5) {
		see(&demand, rate, 1 - rate * .01);
		cr_expect_float_eq(demand.rate, 100, 1e-6, "at %g", rate);
	}
}

Test(share_demand, who_gets_what_it_seems_to_need_and_never_idles_needs_more)
{
	struct share_demand demand = {.rate = 50};
	see(&demand, 50, 1);
	cr_expect(demand.at_least);
	cr_expect_float_eq(demand.rate, 65, 1e-9);
	see(&demand, 64, 1);
	cr_expect_float_eq(demand.rate, 83.2, 1e-9);
}

/* Decoders are short, so the job's waits say nothing about its need. */
Test(share_demand, who_gets_less_than_it_needs_needs_what_it_did)
{
	struct share_demand demand = {.rate = 50};
	for (int i = 0; i < 10; i++)
		see(&demand, 30, 1);
	cr_expect_float_eq(demand.rate, 50, 1e-9);
	cr_expect(demand.at_least);
}

/* The job has many reading threads, which never all idle while it is short, so its need shows only
 * when it is met. */
Test(share_demand, probing_ends_about_the_need)
{
	struct share_demand demand = {.rate = 50};
	double most = 0, least = HUGE_VAL;
	for (int i = 0; i < 60; i++) {
		double got = fmin(demand.rate, 200);
		see(&demand, got, got < 200 ? 1 : 0);
		if (i < 20)
			continue;
		most = fmax(most, demand.rate);
		least = fmin(least, demand.rate);
	}
	cr_expect_gt(least, 180);
	cr_expect_lt(most, 200 * 1.3);
}

Test(share_demand, nobody_needs_more_than_all_decoders)
{
	struct share_demand demand = {.rate = 900};
	for (int i = 0; i < 10; i++)
		see(&demand, 990, 1);
	cr_expect_float_eq(demand.rate, 1000, 1e-9);
	cr_expect(demand.at_least);
}

Test(share_demand, a_pause_says_nothing)
{
	struct share_demand demand = {.rate = 120};
	see(&demand, 0, 0);
	cr_expect_float_eq(demand.rate, 120, 1e-9);
}

Test(share_demand, a_need_that_falls_is_followed)
{
	struct share_demand demand = {.rate = 400};
	for (int i = 0; i < 8; i++)
		see(&demand, 100, 0);
	cr_expect_float_eq(demand.rate, 100, 2);
}

/* Four threads read ahead for a model. One of them often waits, whatever the model needs. */
Test(share_demand, a_need_that_was_shown_stays_while_the_job_is_short)
{
	struct share_demand demand = {0};
	for (int i = 0; i < 5; i++)
		see(&demand, 200, .05);
	double shown = demand.rate;
	cr_expect_float_eq(shown, 200 / .95, 1);
	for (int i = 0; i < 20; i++)
		see(&demand, 150, i % 2 ? .6 : .95);
	cr_expect_float_eq(demand.rate, shown, 1e-9);
	see(&demand, 300, .6);
	cr_expect_gt(demand.rate, 260, "it takes more than that");
}
