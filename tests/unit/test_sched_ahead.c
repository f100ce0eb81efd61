// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "world.h"

#include <unistd.h>

/* How far ahead streams draw, and that this keeps jobs of one speed together. */

#define N 240
#define LOOKAHEAD 16

static char a_name[] = "a", b_name[] = "b";

static struct sched_job *add(struct world *world, char *name)
{
	struct job_config config = world_job_config(name);
	config.lookahead = LOOKAHEAD;
	return world_add_config(world, &config);
}

static uint32_t drawn(struct sched_job *job)
{
	struct sched_job_status status;
	sched_job_status(job, &status);
	return status.drawn;
}

static void read_some(struct sched_job *job, uint32_t *position, uint32_t n)
{
	for (; n > 0 && *position < N; n--)
		world_read(job, 0, (*position)++);
}

/* Two jobs begin together; then each reads `burst` samples at a time. */
static uint64_t decodes_in_bursts(uint32_t burst)
{
	struct world world;
	uint32_t at_a = 0, at_b = 0;
	struct sched_handle *first_a = NULL, *first_b = NULL;
	world_begin(&world, N, 4 * LOOKAHEAD);
	struct sched_job *a = add(&world, a_name), *b = add(&world, b_name);
	uint64_t before = stats_get(STAT_DECODES);
	cr_assert_eq(0, world_open(a, 0, at_a++, &first_a));
	cr_assert_eq(0, world_open(b, 0, at_b++, &first_b));
	sched_release(first_a);
	sched_release(first_b);
	while (at_a < N || at_b < N) {
		read_some(a, &at_a, burst);
		read_some(b, &at_b, burst);
	}
	uint64_t decodes = stats_get(STAT_DECODES) - before;
	sched_job_put(a);
	sched_job_put(b);
	world_end(&world);
	return decodes;
}

/* The first look-ahead of the one that begins is its own; no other is. */
Test(sched_ahead, jobs_of_one_speed_that_read_in_bursts_share_their_draws)
{
	for (uint32_t burst = 1; burst <= LOOKAHEAD / 2; burst++) {
		uint64_t decodes = decodes_in_bursts(burst);
		cr_expect_leq(decodes, N + 2 * LOOKAHEAD, "bursts of %u: %u decodes",
			burst, (unsigned)decodes);
	}
}

Test(sched_ahead, a_job_draws_as_far_ahead_as_it_may)
{
	struct world world;
	world_begin(&world, N, N);
	struct sched_job *a = add(&world, a_name);
	world_read(a, 0, 0);
	/* The clerk, who began the epoch, may still be at it. */
	for (int i = 0; drawn(a) < LOOKAHEAD - 1 && i < 10000; i++)
		usleep(1000);
	cr_assert_geq(drawn(a), LOOKAHEAD - 1);
	sched_job_put(a);
	world_end(&world);
}

/* The cache has 16 places. */
Test(sched_ahead, what_is_drawn_ahead_takes_half_of_the_cache)
{
	struct world world;
	world_begin(&world, N, LOOKAHEAD);
	struct sched_job *a = add(&world, a_name);
	for (uint32_t i = 0; i < N / 2; i++) {
		world_read(a, 0, i);
		cr_assert_leq(drawn(a), LOOKAHEAD / 2);
	}
	sched_job_put(a);
	world_end(&world);
}

/* One has drawn what fills the half, and does not read on. */
Test(sched_ahead, a_job_that_stands_still_leaves_others_their_share)
{
	struct world world;
	uint32_t least = N;
	world_begin(&world, N, LOOKAHEAD);
	struct sched_job *a = add(&world, a_name), *b = add(&world, b_name);
	world_read(a, 0, 0);
	for (uint32_t i = 0; i < N / 2; i++) {
		world_read(b, 0, i);
		if (i > 0 && drawn(b) < least)
			least = drawn(b);
	}
	cr_assert_geq(least, 1);
	sched_job_put(a);
	sched_job_put(b);
	world_end(&world);
}
