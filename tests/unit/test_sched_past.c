// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "sched/gauges.h"
#include "sched/sched_internal.h"
#include "watch/watch.h"
#include "world.h"

/* The last hour, as the scheduler reports it. The jobs are mirrors, which get the samples that
 * they open, in this order. */

#define N 12

static struct sched_job *add_mirror(struct world *world, const char *name)
{
	char copy[LAST_HOUR_NAME];
	snprintf(copy, sizeof(copy), "%s", name);
	struct job_config config = world_job_config(copy);
	config.layout = LAYOUT_MIRROR;
	return world_add_config(world, &config);
}

static void read_some(struct sched_job *job, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++)
		(void)world_read(job, 0, i);
}

static void remove_job(struct world *world, struct sched_job *job)
{
	char name[LAST_HOUR_NAME];
	snprintf(name, sizeof(name), "%s", sched_job_config(job)->name);
	sched_job_put(job);
	cr_assert_eq(0, sched_job_remove(world->sched, name));
}

static struct last_hour *past_of(struct world *world)
{
	struct last_hour *past = NULL;
	cr_assert_eq(0, sched_past(world->sched, &past));
	return past;
}

static size_t place_of(const struct last_hour *past, const char *name)
{
	for (size_t i = 0; i < HISTORY_JOBS; i++)
		if (strcmp(past->jobs[i].name, name) == 0)
			return i;
	return HISTORY_JOBS;
}

static uint64_t prepared_for(struct world *world, const char *job, const char *other)
{
	struct last_hour *past = past_of(world);
	size_t place = place_of(past, job);
	cr_assert_lt(place, HISTORY_JOBS, "%s is not told", job);
	uint64_t n = past->jobs[place].prepared_for[place_of(past, other)];
	free(past);
	return n;
}

Test(sched_past, a_sample_counts_as_prepared_for_the_job_that_asked_first)
{
	struct world world;
	world_begin(&world, N, N);
	struct sched_job *a = add_mirror(&world, "a"), *b = add_mirror(&world, "b");
	read_some(a, 0, 8);
	read_some(b, 4, N);
	read_some(a, 8, N);
	cr_expect_eq(8, prepared_for(&world, "a", "a"));
	cr_expect_eq(4, prepared_for(&world, "a", "b"));
	cr_expect_eq(4, prepared_for(&world, "b", "a"));
	cr_expect_eq(4, prepared_for(&world, "b", "b"));
	sched_job_put(a);
	sched_job_put(b);
	world_end(&world);
}

Test(sched_past, a_job_that_has_gone_is_told_for_an_hour)
{
	const uint64_t hour_ns = UINT64_C(3600000000000);
	struct world world;
	world_begin(&world, N, N);
	struct sched_job *a = add_mirror(&world, "a"), *b = add_mirror(&world, "b");
	read_some(a, 0, 5);
	read_some(b, 0, 3);
	remove_job(&world, a);
	read_some(b, 3, N);
	struct last_hour *past = past_of(&world);
	size_t place = place_of(past, "a");
	cr_assert_lt(place, HISTORY_JOBS);
	cr_expect_neq(0, past->jobs[place].gone_ns);
	cr_expect_eq(5, past->readings[past->n - 1].jobs[place].served);
	cr_expect_eq(0, past->untold);
	free(past);
	cr_expect_eq(5, prepared_for(&world, "b", "a"));
	reading_take(world.sched, clock_now_ns() + hour_ns - HISTORY_STEP_NS);
	cr_expect_eq(5, prepared_for(&world, "b", "a"));
	reading_take(world.sched, clock_now_ns() + hour_ns + HISTORY_STEP_NS);
	cr_expect_eq(5, prepared_for(&world, "b", "others"));
	cr_expect_eq(N - 5, prepared_for(&world, "b", "b"));
	sched_job_put(b);
	world_end(&world);
}

/* The job existed before, under the same number. */
Test(sched_past, a_job_that_comes_again_begins_at_nothing)
{
	struct world world;
	world_begin(&world, N, N);
	struct sched_job *a = add_mirror(&world, "a"), *b = add_mirror(&world, "b");
	read_some(a, 0, N);
	read_some(b, 0, 7);
	sched_job_put(a);
	cr_assert_eq(0, sched_job_withdraw(world.sched, "a"));
	a = add_mirror(&world, "a");
	read_some(a, 0, 2);
	struct last_hour *past = past_of(&world);
	size_t place = place_of(past, "a");
	cr_assert_lt(place, HISTORY_JOBS);
	cr_expect_eq(0, past->jobs[place].gone_ns);
	cr_expect_eq(2, past->readings[past->n - 1].jobs[place].served);
	cr_expect_eq(2, past->jobs[place].prepared_for[place]);
	free(past);
	cr_expect_eq(7, prepared_for(&world, "b", "others"));
	sched_job_put(a);
	sched_job_put(b);
	world_end(&world);
}

Test(sched_past, jobs_without_a_place_are_counted)
{
	static char names[HISTORY_JOBS + 2][16];
	struct sched_job *jobs[HISTORY_JOBS + 2];
	struct world world;
	world_begin(&world, N, N);
	for (int i = 0; i < HISTORY_JOBS + 2; i++)
		snprintf(names[i], sizeof(names[i]), "j%d", i);
	for (int i = 0; i < HISTORY_JOBS + 1; i++)
		jobs[i] = add_mirror(&world, names[i]);
	read_some(jobs[HISTORY_JOBS], 0, 3);
	read_some(jobs[0], 0, 5);
	struct last_hour *past = past_of(&world);
	cr_expect_eq(1, past->untold);
	cr_expect_eq(HISTORY_JOBS, place_of(past, names[HISTORY_JOBS]));
	free(past);
	cr_expect_eq(3, prepared_for(&world, "j0", "others"));
	cr_expect_eq(2, prepared_for(&world, "j0", "j0"));
	/* The place of a removed job is given to another one. */
	read_some(jobs[7], 5, 6);
	read_some(jobs[0], 5, 6);
	remove_job(&world, jobs[7]);
	cr_expect_eq(1, prepared_for(&world, "j0", "j7"));
	jobs[7] = add_mirror(&world, names[HISTORY_JOBS + 1]);
	cr_expect_eq(4, prepared_for(&world, "j0", "others"));
	cr_expect_eq(0, prepared_for(&world, names[HISTORY_JOBS + 1], "j0"));
	for (int i = 0; i < HISTORY_JOBS + 1; i++)
		sched_job_put(jobs[i]);
	world_end(&world);
}

Test(sched_past, readings_are_taken_every_ten_seconds)
{
	struct world world;
	world_begin(&world, N, N);
	struct sched_job *a = add_mirror(&world, "a");
	read_some(a, 0, 4);
	struct last_hour *past = past_of(&world);
	cr_assert_eq(2, past->n, "%zu: the beginning, and now", past->n);
	cr_expect_eq(0, past->readings[0].jobs[place_of(past, "a")].served);
	cr_expect_eq(4, past->readings[1].jobs[place_of(past, "a")].served);
	uint64_t begin_ns = past->readings[0].ns;
	free(past);
	for (uint64_t s = 1; s <= 30; s++)
		reading_take(world.sched, begin_ns + s * 1000000000);
	past = past_of(&world);
	/* the present reading replaces the last one */
	cr_assert_eq(4, past->n, "%zu", past->n);
	for (size_t i = 1; i < 3; i++)
		cr_expect_eq(past->readings[i].ns, begin_ns + i * HISTORY_STEP_NS);
	free(past);
	sched_job_put(a);
	world_end(&world);
}
