// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "../../tools/sim/timed.h"

#include <criterion/criterion.h>
#include <math.h>

/* Jobs with a clock: where the answer is known without a simulation, it is that. */

#define SAMPLES 500
#define BYTES 1000.

static struct timed_job jobs[3];
static struct timed_part parts[2];

static struct timed_world world_of(size_t n)
{
	for (size_t i = 0; i < n; i++)
		jobs[i] = (struct timed_job){.readers = 2,
			.think = .004,
			.cpu = 1e-6,
			.read = .0001,
			.decode = .001,
			.bytes = BYTES,
			.most_reads = 8};
	parts[0] =
		(struct timed_part){.jobs = (UINT64_C(1) << n) - 1, .samples = SAMPLES};
	return (struct timed_world){.jobs = jobs,
		.n_jobs = n,
		.parts = parts,
		.n_parts = 1,
		.sampler = SAMPLER_DSA,
		.eviction = EVICTION_REFCNT,
		.share = SHARE_FIFO,
		.lookahead = 64,
		.cache = BYTES * SAMPLES / 20,
		.workers = 2,
		.cpus = 8,
		.seed = 1};
}

static double epoch_of(const struct timed_world *world, size_t job, double *ret_loads)
{
	struct timed_outcome outcomes[TIMED_JOBS];
	double loads;
	cr_assert_eq(timed_run(world, outcomes, ret_loads ? ret_loads : &loads), 0);
	return outcomes[job].epoch;
}

static void near(double is, double expected, double percent)
{
	cr_assert(fabs(is / expected - 1) <= percent / 100, "%f, expected %f", is,
		expected);
}

Test(sim_timed, readers_that_have_enough_take_what_they_think)
{
	struct timed_world world = world_of(1);
	near(epoch_of(&world, 0, NULL), SAMPLES * .004 / 2, 2);
}

Test(sim_timed, decoders_are_the_limit)
{
	struct timed_world world = world_of(1);
	jobs[0].decode = .006;
	near(epoch_of(&world, 0, NULL), SAMPLES * .006 / 2, 6);
	world.workers = 3;
	near(epoch_of(&world, 0, NULL), SAMPLES * .006 / 3, 10);
}

Test(sim_timed, one_more_decoder_does_not_help_without_a_processor)
{
	struct timed_world world = world_of(1);
	jobs[0].decode = .006;
	world.cpus = 2;
	double two = epoch_of(&world, 0, NULL);
	world.workers = 3;
	near(epoch_of(&world, 0, NULL), two, 3);
}

Test(sim_timed, what_is_cached_is_not_decoded)
{
	struct timed_world world = world_of(1);
	jobs[0].decode = .02;
	double loads, small = epoch_of(&world, 0, NULL);
	world.cache = BYTES * SAMPLES;
	near(epoch_of(&world, 0, &loads), SAMPLES * .004 / 2, 2);
	near(loads, 1. / 4, 1); /* in the first of four epochs */
	cr_assert_gt(small, 3 * SAMPLES * .004 / 2);
}

Test(sim_timed, the_storage_is_the_limit)
{
	struct timed_world world = world_of(1);
	jobs[0].read = .02;
	world.reads = 4;
	near(epoch_of(&world, 0, NULL), SAMPLES * .02 / 4, 6);
	world.reads = 2;
	near(epoch_of(&world, 0, NULL), SAMPLES * .02 / 2, 6);
}

Test(sim_timed, jobs_that_begin_together_share_all)
{
	struct timed_world world = world_of(2);
	double loads;
	jobs[0].decode = jobs[1].decode = .006;
	double both = epoch_of(&world, 0, &loads);
	near(loads, .5, 3);
	near(both, SAMPLES * .006 / 2, 5);
}

Test(sim_timed, jobs_of_nothing_in_common_share_nothing)
{
	struct timed_world world = world_of(2);
	double loads;
	jobs[0].decode = jobs[1].decode = .006;
	parts[0] = (struct timed_part){.jobs = 1, .samples = SAMPLES};
	parts[1] = (struct timed_part){.jobs = 2, .samples = SAMPLES};
	world.n_parts = 2;
	near(epoch_of(&world, 0, &loads), 2 * SAMPLES * .006 / 2, 8);
	cr_assert_gt(loads, .85); /* but for what is in the cache */
}

Test(sim_timed, processors_are_shared)
{
	struct timed_world world = world_of(2);
	for (int i = 0; i < 2; i++)
		jobs[i].cpu = jobs[i].think;
	world.cache = BYTES * SAMPLES;
	world.cpus = 2; /* for four readers */
	near(epoch_of(&world, 0, NULL), 2 * SAMPLES * .004 / 2, 3);
}

Test(sim_timed, a_job_that_is_absent_reads_nothing)
{
	struct timed_world world = world_of(2);
	struct timed_outcome outcomes[TIMED_JOBS];
	double loads;
	jobs[1].absent = true;
	cr_assert_eq(timed_run(&world, outcomes, &loads), 0);
	cr_assert_eq(outcomes[1].laps, 0);
	cr_assert_gt(outcomes[0].laps, 2);
}

Test(sim_timed, scripts_that_shuffle_get_samples_of_their_labels)
{
	struct timed_world world = world_of(2);
	double loads;
	world.labels = 10;
	world.sampler = SAMPLER_EXCHANGE;
	jobs[1].start = 1;
	epoch_of(&world, 1, &loads);
	cr_assert_lt(loads, .75);
}
