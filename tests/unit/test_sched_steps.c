// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "world.h"

#include <sched.h>
#include <stdatomic.h>

/*
 * With this many samples, epochs begin and end in steps, between which others take the lock. The
 * state that they find must be right.
 */

#define N 40000
#define CACHE 2000
#define ROUNDS 4
#define READS 40

static struct world world;
static char a_name[] = "a", b_name[] = "b", c_name[] = "c";
static atomic_bool done;

/* Makes one image with many names. */
static void start(enum sampler_kind sampler)
{
	char first[128], path[128];
	world_begin(&world, 2, CACHE);
	world_stop(&world);
	world_image_path(&world, 0, first);
	for (unsigned i = 2; i < N; i++) {
		world_image_path(&world, i, path);
		cr_assert_eq(0, link(first, path));
	}
	world.config.sampler = sampler;
	world_start(&world);
	atomic_store(&done, false);
}

static sample_id read_one(struct sched_job *job, uint32_t epoch, uint32_t position)
{
	struct sched_handle *handle = NULL;
	cr_assert_eq(0, world_open(job, epoch, position, &handle));
	sample_id sample = sched_handle_sample(handle);
	sched_release(handle);
	return sample;
}

static void open_and_forget(void *context, const struct sched_opened *opened)
{
	(void)context;
	if (opened->status == 0)
		sched_undo(opened->handle);
}

/* Adds a job, and removes it before, while or after its epoch begins. */
static void come_and_go(char *name, int round)
{
	struct sched_open_callbacks callbacks = {.opened = open_and_forget};
	struct sched_job *job = world_add(&world, name);
	cr_assert_eq(0, sched_open(job, 0, 0, &callbacks));
	for (int i = 0; i < round * 100; i++)
		sched_yield();
	for (int i = 0; round == ROUNDS - 1 && i < READS; i++)
		read_one(job, 0, (uint32_t)i);
	cr_assert_eq(0, sched_job_remove(world.sched, name));
	sched_job_put(job);
}

static void *keep_coming(void *name)
{
	for (int round = 0; round < ROUNDS; round++)
		come_and_go(name, round);
	atomic_store(&done, true);
	return NULL;
}

/* Counts need anew each time. Each read of job a must give another sample. */
static void look_while_jobs_come_and_go(struct sched_job *a)
{
	static bool seen[N];
	pthread_t thread;
	memset(seen, 0, sizeof(seen));
	cr_assert_eq(0, pthread_create(&thread, NULL, keep_coming, b_name));
	for (uint32_t i = 0; !atomic_load(&done) || i < READS; i++) {
		sched_validate(world.sched);
		sample_id sample = read_one(a, 0, i);
		cr_assert_not(seen[sample]);
		seen[sample] = true;
	}
	pthread_join(thread, NULL);
}

static void expect_right_between_steps(enum sampler_kind sampler)
{
	start(sampler);
	struct sched_job *a = world_add(&world, a_name);
	look_while_jobs_come_and_go(a);
	sched_validate(world.sched);
	cr_assert_eq(0, sched_job_remove(world.sched, a_name));
	sched_validate(world.sched);
	world_check_nothing_held(&world);
	sched_job_put(a);
	world_end(&world);
}

Test(sched_steps, what_is_needed_is_right_between_steps_with_dsa)
{
	expect_right_between_steps(SAMPLER_DSA);
}

Test(sched_steps, what_is_needed_is_right_between_steps_with_exchange)
{
	expect_right_between_steps(SAMPLER_EXCHANGE);
}

Test(sched_steps, a_daemon_that_stops_in_the_middle_of_beginnings_leaves_nothing)
{
	struct sched_open_callbacks callbacks = {.opened = open_and_forget};
	start(SAMPLER_DSA);
	for (int round = 0; round < ROUNDS; round++) {
		struct sched_job *b = world_add(&world, b_name);
		struct sched_job *c = world_add(&world, c_name);
		cr_assert_eq(0, sched_open(b, 0, 0, &callbacks));
		cr_assert_eq(0, sched_open(c, 0, 0, &callbacks));
		for (int i = 0; i < round * 100; i++)
			sched_yield();
		sched_stop(world.sched);
		sched_validate(world.sched);
		sched_job_put(b);
		sched_job_put(c);
		world_stop(&world);
		world_start(&world);
	}
	world_end(&world);
}
