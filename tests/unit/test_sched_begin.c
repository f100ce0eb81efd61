// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/fault.h"
#include "world.h"

#include <semaphore.h>

/* How epochs begin, beside other epochs and after a restart. */

#define N 48

static char a_name[] = "a", b_name[] = "b", holder_name[] = "holder";

/* Opens of an epoch that has not begun, none of which waits for another. */
struct several {
	struct world_open open[N];
	struct sched_handle *handle[N];
};

static void open_several(struct sched_job *job, struct several *several)
{
	for (uint32_t i = 0; i < N; i++) {
		struct world_open *open = &several->open[i];
		pthread_mutex_init(&open->mutex, NULL);
		pthread_cond_init(&open->cond, NULL);
		struct sched_open_callbacks callbacks = {
			.opened = world_opened, .context = open};
		cr_assert_eq(0, sched_open(job, 0, i, &callbacks));
	}
}

static void wait_for_several(struct several *several, int status)
{
	for (uint32_t i = 0; i < N; i++) {
		struct world_open *open = &several->open[i];
		pthread_mutex_lock(&open->mutex);
		while (!open->done)
			pthread_cond_wait(&open->cond, &open->mutex);
		pthread_mutex_unlock(&open->mutex);
		cr_assert_eq(status, open->result.status);
		several->handle[i] = open->result.handle;
	}
}

/* There is no memory for the stream of the next epoch. */
static void fail_to_begin(void)
{
	fault_clear();
	cr_assert_eq(0, fault_add("sched.stream:ENOMEM:times=1"));
}

Test(sched_begin, opens_that_come_while_an_epoch_begins_get_its_samples_in_their_order)
{
	static struct several several;
	struct world world;
	sample_id samples[N];
	world_begin(&world, N, 2 * N);
	struct sched_job *job = world_add(&world, a_name);
	open_several(job, &several);
	wait_for_several(&several, 0);
	for (uint32_t i = 0; i < N; i++) {
		struct binding binding;
		samples[i] = sched_handle_sample(several.handle[i]);
		cr_assert(sched_binding(job, 0, i, &binding));
		cr_assert_eq(i, binding.position);
		cr_assert_eq(samples[i], binding.sample);
		sched_release(several.handle[i]);
	}
	world_check_permutation(samples, N);
	world_check_nothing_held(&world);
	sched_job_put(job);
	world_end(&world);
}

Test(sched_begin, opens_of_a_job_that_leaves_while_its_epoch_begins_are_answered)
{
	static struct several several;
	struct world world;
	char directory[128];
	world_begin(&world, N, 2 * N);
	snprintf(directory, sizeof(directory), "%s/jobs/a", world.config.state);
	for (int i = 0; i < 20; i++) {
		struct sched_job *job = world_add(&world, a_name);
		memset(&several, 0, sizeof(several));
		open_several(job, &several);
		cr_assert_eq(0, sched_job_remove(world.sched, a_name));
		for (uint32_t k = 0; k < N; k++) {
			struct world_open *open = &several.open[k];
			pthread_mutex_lock(&open->mutex);
			while (!open->done)
				pthread_cond_wait(&open->cond, &open->mutex);
			pthread_mutex_unlock(&open->mutex);
			if (open->result.status == 0)
				sched_release(open->result.handle);
			else
				cr_assert_eq(-ENODEV, open->result.status);
		}
		sched_job_put(job);
		sched_validate(world.sched);
		cr_assert_neq(0, access(directory, F_OK), "its files are left");
	}
	world_check_nothing_held(&world);
	world_end(&world);
}

Test(sched_begin, opens_are_answered_when_the_daemon_stops_while_an_epoch_begins)
{
	static struct several several;
	struct world world;
	world_begin(&world, N, 2 * N);
	struct sched_job *job = world_add(&world, a_name);
	open_several(job, &several);
	sched_stop(world.sched);
	for (uint32_t i = 0; i < N; i++) {
		cr_assert(several.open[i].done);
		if (several.open[i].result.status == 0)
			sched_release(several.open[i].result.handle);
	}
	sched_job_put(job);
	world_end(&world);
}

Test(sched_begin, what_cannot_begin_is_told_to_all_who_wait)
{
	static struct several several;
	struct world world;
	world_begin(&world, N, 2 * N);
	struct sched_job *job = world_add(&world, a_name);
	/* Opens that come after the first failure fail, too. */
	cr_assert_eq(0, fault_add("sched.stream:ENOMEM"));
	open_several(job, &several);
	wait_for_several(&several, -ENOMEM);
	sample_id sample;
	cr_assert_eq(-ENOMEM, sched_bind(job, 0, 0, &sample));
	fault_clear();
	world_check_nothing_held(&world);
	sched_job_put(job);
	world_end(&world);
}

Test(sched_begin, a_job_that_leaves_in_the_middle_gives_back_what_it_needed)
{
	struct world world;
	world_begin(&world, N, 2 * N);
	struct sched_job *a = world_add(&world, a_name), *b = world_add(&world, b_name);
	for (uint32_t i = 0; i < N / 3; i++) {
		world_read(a, 0, i);
		world_read(b, 0, i);
	}
	cr_assert_eq(0, sched_job_remove(world.sched, a_name));
	sched_validate(world.sched);
	cr_assert_eq(0, sched_job_remove(world.sched, b_name));
	sched_validate(world.sched);
	world_check_nothing_held(&world);
	sched_job_put(a);
	sched_job_put(b);
	world_end(&world);
}

Test(sched_begin, after_a_restart_epochs_that_are_over_have_their_order_and_samples)
{
	struct world world;
	struct binding before[N], after[N];
	world_begin(&world, N, 2 * N);
	struct sched_job *job = world_add(&world, a_name);
	for (uint32_t epoch = 0; epoch < 2; epoch++)
		for (uint32_t i = 0; i < N; i++)
			world_read(job, epoch, (i * 5 + 1) % N);
	cr_assert_eq(N, sched_bindings(job, 0, 0, N, before));
	sched_job_put(job);
	world_stop(&world);
	world_start(&world);
	job = world_add(&world, a_name);
	cr_assert(sched_has_order(job, 0));
	cr_assert(sched_has_order(job, 1));
	cr_assert_not(sched_has_order(job, 2));
	cr_assert_eq(before[0].sample, sched_bound(job, 0, before[0].position));
	cr_assert_eq(before[7].sample, world_read(job, 0, before[7].position));
	cr_assert_eq(N, sched_bindings(job, 0, 0, N, after));
	for (uint32_t k = 0; k < N; k++) {
		cr_assert_eq(before[k].position, after[k].position);
		cr_assert_eq(before[k].sample, after[k].sample);
		cr_assert_eq(before[k].served, after[k].served);
	}
	sched_job_put(job);
	world_end(&world);
}

/*
 * Holds up the thread in which epochs begin: this thread calls hold_opened, which does not return,
 * to report that the epoch can't begin.
 */
struct hold {
	struct sched_job *job;
	pthread_t caller;
	bool missed; /* the epoch failed first, so the caller called hold_opened */
	sem_t held, go;
};

static void hold_opened(void *context, const struct sched_opened *opened)
{
	struct hold *hold = context;
	cr_assert_eq(-ENOMEM, opened->status);
	hold->missed = pthread_equal(hold->caller, pthread_self());
	if (hold->missed)
		return;
	sem_post(&hold->held);
	sem_wait(&hold->go);
}

static void hold_begin(struct hold *hold, struct world *world)
{
	struct sched_open_callbacks callbacks = {.opened = hold_opened, .context = hold};
	hold->job = world_add(world, holder_name);
	hold->caller = pthread_self();
	sem_init(&hold->held, 0, 0);
	sem_init(&hold->go, 0, 0);
	do {
		hold->missed = false;
		fail_to_begin();
		cr_assert_eq(0, sched_open(hold->job, 0, 0, &callbacks));
	} while (hold->missed);
	sem_wait(&hold->held);
}

static void hold_end(struct hold *hold)
{
	sem_post(&hold->go);
	sched_job_put(hold->job);
}

static uint64_t last_ticket;

static void note_ticket(void *context, uint64_t ticket)
{
	(void)context;
	last_ticket = ticket;
}

Test(sched_begin, who_gives_up_while_an_epoch_begins_is_answered_at_once)
{
	struct world world;
	struct hold hold;
	struct world_open open = {
		.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
	struct sched_open_callbacks callbacks = {
		.opened = world_opened, .parking = note_ticket, .context = &open};
	world_begin(&world, N, 2 * N);
	struct sched_job *job = world_add(&world, a_name);
	hold_begin(&hold, &world);
	cr_assert_eq(0, sched_open(job, 0, 0, &callbacks));
	cr_assert_not(open.done);
	sched_cancel(world.sched, last_ticket);
	cr_assert(open.done);
	cr_assert_eq(-EINTR, open.result.status);
	cr_assert_eq(SAMPLE_NONE, sched_bound(job, 0, 0));
	hold_end(&hold);
	world_read(job, 0, 0);
	sched_job_put(job);
	world_end(&world);
}

static void *remove_a(void *sched)
{
	cr_assert_eq(0, sched_job_remove(sched, a_name));
	return NULL;
}

static void *stop(void *sched)
{
	sched_stop(sched);
	return NULL;
}

/* Checks that opens that wait for job a's epoch are answered before the thread gets to it. */
static void expect_answers_when(void *(*leave)(void *))
{
	static struct several several;
	struct world world;
	struct hold hold;
	pthread_t thread;
	world_begin(&world, N, 2 * N);
	struct sched_job *job = world_add(&world, a_name);
	hold_begin(&hold, &world);
	open_several(job, &several);
	cr_assert_eq(0, pthread_create(&thread, NULL, leave, world.sched));
	wait_for_several(&several, -ENODEV);
	hold_end(&hold);
	pthread_join(thread, NULL);
	sched_job_put(job);
	world_check_nothing_held(&world);
	world_end(&world);
}

Test(sched_begin, a_job_that_leaves_while_its_epoch_waits_to_begin_answers_its_readers)
{
	expect_answers_when(remove_a);
}

Test(sched_begin, a_daemon_that_stops_while_epochs_wait_to_begin_answers_its_readers)
{
	expect_answers_when(stop);
}

static void *replace_a(void *world)
{
	cr_assert_eq(0, sched_job_remove(((struct world *)world)->sched, a_name));
	sched_job_put(world_add(world, a_name));
	return NULL;
}

/* The pause gives the fault a chance: files of the old job in the directory of the new one. */
Test(sched_begin, a_job_of_the_same_name_has_nothing_of_one_that_left_as_it_began)
{
	static struct several several;
	struct world world;
	struct hold hold;
	pthread_t thread;
	char path[160];
	world_begin(&world, N, 2 * N);
	struct sched_job *job = world_add(&world, a_name);
	hold_begin(&hold, &world);
	open_several(job, &several);
	cr_assert_eq(0, pthread_create(&thread, NULL, replace_a, &world));
	wait_for_several(&several, -ENODEV);
	usleep(50000);
	hold_end(&hold);
	pthread_join(thread, NULL);
	sched_job_put(job);
	sched_stop(world.sched);
	snprintf(path, sizeof(path), "%s/jobs/a/journal-0000", world.config.state);
	cr_assert_neq(0, access(path, F_OK));
	world_end(&world);
}

Test(sched_begin, a_label_is_told_once_the_epoch_has_begun_and_nobody_waits_in_a_call)
{
	struct world world;
	struct hold hold;
	struct world_open open = {
		.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
	struct sched_open_callbacks callbacks = {
		.opened = world_opened, .context = &open, .label = true};
	world_begin(&world, N, 2 * N);
	struct sched_job *job = world_add(&world, a_name);
	hold_begin(&hold, &world);
	cr_assert_eq(0, sched_open(job, 0, 3, &callbacks));
	cr_assert_not(open.done);
	hold_end(&hold);
	pthread_mutex_lock(&open.mutex);
	while (!open.done)
		pthread_cond_wait(&open.cond, &open.mutex);
	pthread_mutex_unlock(&open.mutex);
	cr_assert_eq(0, open.result.status);
	sample_id sample = sched_handle_sample(open.result.handle);
	cr_assert_null(sched_handle_tensor(open.result.handle));
	sched_undo(open.result.handle);
	cr_assert_eq(sample, sched_bound(job, 0, 3));
	struct sched_job_status status;
	sched_job_status(job, &status);
	cr_assert_eq(0, status.consumed);
	cr_assert_eq(sample, world_read(job, 0, 3));
	sched_job_put(job);
	world_end(&world);
}
