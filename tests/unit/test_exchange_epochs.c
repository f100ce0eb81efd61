// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include <criterion/criterion.h>

#include "exchange_simulation.h"
#include <math.h>

/*
 * The correlation of a sample's positions in two consecutive epochs of a job. There is none with
 * isa and dsa, and none with exchange if the job is alone. Beside another job at a fixed lag the
 * same samples keep coming first, which is the price of sharing.
 */

#define IDS 2000
#define EPOCHS 21

static double correlation(const uint32_t *a, const uint32_t *b)
{
	double mean = (IDS - 1) / 2.;
	double variance = ((double)IDS * IDS - 1) / 12;
	double sum = 0;
	for (int id = 0; id < IDS; id++)
		sum += (a[id] - mean) * (b[id] - mean);
	return sum / IDS / variance;
}

/* Returns the mean correlation over the first job's epochs. Other jobs start half an epoch
 * later. */
static double mean_correlation(enum sampler_kind kind, int jobs)
{
	static uint32_t position[2][IDS];
	struct sim sim;
	double sum = 0;
	sim_new(&sim, kind, 11, IDS, IDS / 20, NULL);
	for (int j = 0; j < jobs; j++)
		sim_join(&sim, j, sim_range(0, IDS));
	for (uint32_t step = 0; step < EPOCHS * IDS; step++) {
		unsigned epoch = step / IDS;
		unsigned late = step >= IDS / 2 ? ~0U : 1;
		sim_run_on(&sim, late & ((1U << jobs) - 1));
		position[epoch % 2][sim.job[0].given] = step % IDS;
		if (step % IDS == IDS - 1 && epoch)
			sum += correlation(position[0], position[1]);
	}
	sim_free(&sim);
	return sum / (EPOCHS - 1);
}

/* Returns the bound of the two-sided 99.9 % interval of the mean, for independent epochs. */
static double interval(void)
{
	return 3.29 / sqrt((IDS - 1.) * (EPOCHS - 1.));
}

static void check_independent(enum sampler_kind kind, int jobs)
{
	double r = mean_correlation(kind, jobs);
	cr_assert_lt(fabs(r), interval(), "%d: r = %.4f", kind, r);
}

Test(exchange_epochs, of_isa_are_independent)
{
	check_independent(SAMPLER_ISA, 2);
}

Test(exchange_epochs, of_dsa_are_independent)
{
	check_independent(SAMPLER_DSA, 2);
}

Test(exchange_epochs, of_a_job_alone_are_independent)
{
	check_independent(SAMPLER_EXCHANGE, 1);
}

/* The measure sees dependence, and its size is known. */
Test(exchange_epochs, of_jobs_at_a_fixed_lag_are_not)
{
	double r = mean_correlation(SAMPLER_EXCHANGE, 2);
	cr_assert_gt(r, .5, "r = %.4f", r);
}
