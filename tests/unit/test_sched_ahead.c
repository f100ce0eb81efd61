// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "world.h"

#include <unistd.h>

/* How far ahead streams draw, and that look-ahead keeps jobs of one speed together, also jobs that
 * open batches larger than the cache. */

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

/* Two jobs begin together, and then each reads `burst` samples at a time. Returns the number of
 * decodes. */
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

/* Only the first look-ahead of the job that begins is not shared. */
Test(sched_ahead, jobs_of_one_speed_that_read_in_bursts_share_their_draws)
{
	for (uint32_t burst = 1; burst <= LOOKAHEAD / 2; burst++) {
		uint64_t decodes = decodes_in_bursts(burst);
		cr_expect_leq(decodes, N + 2 * LOOKAHEAD, "bursts of %u: %u decodes",
			burst, (unsigned)decodes);
	}
}

#define BATCH 24
#define BATCH_JOBS 4

struct batch_job {
	struct sched_job *job;
	struct sched_handle *handles[BATCH];
};

/* Opens the samples of the batch from one of them on. */
static void open_batch(struct batch_job *job, uint32_t batch, uint32_t from)
{
	for (uint32_t i = from; i < BATCH; i++)
		cr_assert_eq(
			0, world_open(job->job, 0, batch * BATCH + i, &job->handles[i]));
	sched_validate(world_of);
}

static void close_batch(struct batch_job *job)
{
	for (uint32_t i = 0; i < BATCH; i++)
		sched_release(job->handles[i]);
	sched_validate(world_of);
}

/* Returns the number of decodes of jobs that begin together, and open each batch one after the
 * other, and then close it. The last `still` jobs keep the first batch open. The cache has room
 * for one batch. */
static uint64_t decodes_of_batches(size_t still)
{
	static char names[BATCH_JOBS][2] = {"a", "b", "c", "d"};
	struct batch_job jobs[BATCH_JOBS];
	struct world world;
	world_begin(&world, N, BATCH);
	for (size_t k = 0; k < BATCH_JOBS; k++) {
		struct job_config config = world_job_config(names[k]);
		config.layout = LAYOUT_BATCH;
		config.batch = BATCH;
		config.lookahead = 2 * BATCH;
		jobs[k].job = world_add_config(&world, &config);
	}
	uint64_t before = stats_get(STAT_DECODES);
	for (size_t k = 0; k < BATCH_JOBS; k++)
		cr_assert_eq(0, world_open(jobs[k].job, 0, 0, &jobs[k].handles[0]));
	for (uint32_t batch = 0; batch < N / BATCH; batch++) {
		size_t n = batch == 0 ? BATCH_JOBS : BATCH_JOBS - still;
		for (size_t k = 0; k < n; k++)
			open_batch(&jobs[k], batch, batch == 0);
		for (size_t k = 0; k < BATCH_JOBS - still; k++)
			close_batch(&jobs[k]);
	}
	uint64_t decodes = stats_get(STAT_DECODES) - before;
	for (size_t k = BATCH_JOBS - still; k < BATCH_JOBS; k++)
		close_batch(&jobs[k]);
	for (size_t k = 0; k < BATCH_JOBS; k++)
		sched_job_put(jobs[k].job);
	world_end(&world);
	return decodes;
}

Test(sched_ahead, jobs_that_open_the_same_batches_share_their_draws)
{
	uint64_t decodes = decodes_of_batches(0);
	cr_assert_leq(decodes, 3 * N / 2, "%u decodes", (unsigned)decodes);
}

Test(sched_ahead, so_they_do_beside_one_that_stands_still)
{
	uint64_t decodes = decodes_of_batches(1);
	cr_assert_leq(decodes, 2 * N, "%u decodes", (unsigned)decodes);
}

Test(sched_ahead, a_job_draws_as_far_ahead_as_it_may)
{
	struct world world;
	world_begin(&world, N, N);
	struct sched_job *a = add(&world, a_name);
	world_read(a, 0, 0);
	/* The clerk, who began the epoch, may still draw. */
	for (int i = 0; drawn(a) < LOOKAHEAD - 1 && i < 10000; i++)
		usleep(1000);
	cr_assert_geq(drawn(a), LOOKAHEAD - 1);
	sched_job_put(a);
	world_end(&world);
}

/* The cache has room for 16 tensors. */
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

/* Job a has drawn half of the cache, and does not read on. */
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

/* Lets the storages have this many reads in flight. Returns how many samples one open has drawn
 * ahead, once they are as many as expected, or ten seconds have passed. */
static uint32_t drawn_with_reads(unsigned reads, uint32_t lookahead, uint32_t expected)
{
	const unsigned samples = 600;
	struct world world;
	struct sched_handle *handle = NULL;
	world_begin(&world, samples, 4 * samples);
	world_stop(&world);
	world.config.reads = reads;
	world_start(&world);
	struct job_config config = world_job_config(a_name);
	config.lookahead = lookahead;
	struct sched_job *job = world_add_config(&world, &config);
	cr_assert_eq(0, world_open(job, 0, 0, &handle));
	for (int i = 0; i < 1000 && drawn(job) < expected; i++)
		(void)usleep(10000);
	uint32_t found = drawn(job);
	sched_release(handle);
	sched_job_put(job);
	world_end(&world);
	return found;
}

Test(sched_ahead, look_ahead_grows_with_the_reads_that_the_storage_rewards)
{
	static const struct {
		unsigned reads;
		uint32_t lookahead, expected;
	} rows[] = {{8, 0, 128}, {250, 0, 500}, {250, LOOKAHEAD, LOOKAHEAD}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t found = drawn_with_reads(
			rows[i].reads, rows[i].lookahead, rows[i].expected);
		cr_assert_eq(
			found, rows[i].expected, "%u reads: %u", rows[i].reads, found);
	}
}
