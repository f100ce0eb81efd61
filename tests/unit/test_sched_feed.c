// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/ranks.h"
#include "world.h"

#include <errno.h>

/* A job that reads the samples of one rank, which are drawn elsewhere and fed to it. */

#define N 24
#define RANKS 2

static char a_name[] = "a", b_name[] = "b";

static struct job_config rank_config(char *name)
{
	struct job_config config = world_job_config(name);
	config.training = name;
	config.ranks = RANKS;
	config.rank = 1;
	config.global_batch = 4;
	return config;
}

static struct sched_job *add_rank(struct world *world, char *name)
{
	struct job_config config = rank_config(name);
	return world_add_config(world, &config);
}

static struct sched_feed_state state_of(struct sched_job *job)
{
	struct sched_feed_state state;
	sched_feed_state(job, &state);
	return state;
}

static void feed(struct sched_job *job, uint32_t epoch, uint32_t base, uint32_t n,
	const sample_id *ids)
{
	cr_assert_eq(0, sched_feed(job, epoch, base, ids + base, n));
}

static void begin_open(
	struct sched_job *job, uint32_t epoch, uint32_t position, struct world_open *open)
{
	*open = (struct world_open){0};
	pthread_mutex_init(&open->mutex, NULL);
	pthread_cond_init(&open->cond, NULL);
	struct sched_open_callbacks callbacks = {
		.opened = world_opened, .parking = world_parking, .context = open};
	cr_assert_eq(0, sched_open(job, epoch, position, &callbacks));
}

static struct sched_opened wait_for(struct world_open *open)
{
	pthread_mutex_lock(&open->mutex);
	while (!open->done)
		pthread_cond_wait(&open->cond, &open->mutex);
	pthread_mutex_unlock(&open->mutex);
	return open->result;
}

static sample_id read_one(struct sched_job *job, uint32_t epoch, uint32_t position)
{
	struct world_open open;
	begin_open(job, epoch, position, &open);
	struct sched_opened opened = wait_for(&open);
	cr_assert_eq(0, opened.status);
	sample_id sample = sched_handle_sample(opened.handle);
	sched_release(opened.handle);
	return sample;
}

/* Waits until the epoch has begun, which another thread does. */
static void begin_epoch(struct sched_job *job, uint32_t epoch, const sample_id *first,
	struct world_open *open)
{
	begin_open(job, epoch, 0, open);
	while (!state_of(job).started || state_of(job).newest != epoch)
		sched_yield();
	feed(job, epoch, 0, 1, first);
}

static const sample_id order[3][N / RANKS] = {
	{3, 1, 4, 15, 9, 2, 6, 5, 23, 8, 7, 0},
	{2, 7, 1, 8, 22, 18, 4, 5, 9, 0, 3, 6},
	{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
};

Test(sched_feed, positions_get_what_is_fed_in_its_order_when_it_comes)
{
	struct world world;
	world_begin(&world, N, 2 * N);
	struct sched_job *job = add_rank(&world, a_name);
	cr_assert_eq(N / RANKS, sched_job_samples(job, 0));
	for (uint32_t epoch = 0; epoch < 3; epoch++) {
		struct world_open open;
		begin_epoch(job, epoch, order[epoch], &open);
		struct sched_opened opened = wait_for(&open);
		cr_expect_eq(order[epoch][0], sched_handle_sample(opened.handle));
		sched_release(opened.handle);
		for (uint32_t k = 1; k < N / RANKS; k += 2) {
			/* Samples that came before are ignored. */
			feed(job, epoch, 0, k + 1, order[epoch]);
			cr_expect_eq(order[epoch][k], read_one(job, epoch, k));
			if (k + 1 == N / RANKS)
				break;
			begin_open(job, epoch, k + 1, &open);
			cr_expect_not(open.done, "nobody has fed it");
			feed(job, epoch, k + 1, 1, order[epoch]);
			opened = wait_for(&open);
			cr_expect_eq(
				order[epoch][k + 1], sched_handle_sample(opened.handle));
			sched_release(opened.handle);
		}
		cr_expect_eq(N / RANKS, state_of(job).consumed);
		sched_validate(world.sched);
	}
	sched_job_put(job);
	world_end(&world);
}

Test(sched_feed, what_does_not_fit_is_refused)
{
	static const sample_id foreign[] = {N + 3};
	struct world world;
	struct world_open open;
	world_begin(&world, N, 2 * N);
	struct sched_job *job = add_rank(&world, a_name);
	cr_expect_eq(-EAGAIN, sched_feed(job, 0, 0, order[0], 1));
	begin_epoch(job, 0, order[0], &open);
	cr_expect_eq(-EINVAL, sched_feed(job, 0, 2, order[0] + 2, 1), "a gap");
	cr_expect_eq(-EINVAL, sched_feed(job, 0, 1, foreign, 1));
	cr_expect_eq(-EINVAL, sched_feed(job, 0, 0, order[0], N / RANKS + 1));
	cr_expect_eq(-EAGAIN, sched_feed(job, 1, 0, order[1], 1));
	sched_release(wait_for(&open).handle);
	cr_expect_eq(1, state_of(job).next);
	sched_job_put(job);
	world_end(&world);
}

Test(sched_feed, a_reader_that_waits_can_give_up_and_a_job_that_leaves_lets_it_go)
{
	struct world world;
	struct world_open open[2];
	world_begin(&world, N, 2 * N);
	struct sched_job *job = add_rank(&world, a_name);
	begin_epoch(job, 0, order[0], &open[0]);
	sched_release(wait_for(&open[0]).handle);
	begin_open(job, 0, 5, &open[0]);
	begin_open(job, 0, 6, &open[1]);
	sched_cancel(world.sched, open[0].ticket);
	cr_expect_eq(-EINTR, wait_for(&open[0]).status);
	/* No sample is bound for a reader that gave up. */
	feed(job, 0, 1, 1, order[0]);
	struct sched_opened opened = wait_for(&open[1]);
	cr_expect_eq(order[0][1], sched_handle_sample(opened.handle));
	sched_release(opened.handle);
	begin_open(job, 0, 7, &open[0]);
	cr_assert_eq(0, sched_job_remove(world.sched, a_name));
	cr_expect_eq(-ENODEV, wait_for(&open[0]).status);
	cr_expect_eq(0, sched_feed(job, 0, 2, order[0] + 2, 1), "it is gone");
	sched_job_put(job);
	world_check_nothing_held(&world);
	world_end(&world);
}

Test(sched_feed, after_a_restart_it_goes_on_where_the_journal_ends)
{
	struct world world;
	struct world_open open;
	world_begin(&world, N, 2 * N);
	struct sched_job *job = add_rank(&world, a_name);
	begin_epoch(job, 0, order[0], &open);
	sched_release(wait_for(&open).handle);
	feed(job, 0, 1, 6, order[0]);
	begin_open(job, 0, 1, &open); /* bound, and not consumed */
	wait_for(&open);
	for (uint32_t k = 2; k < 4; k++)
		read_one(job, 0, k);
	cr_expect_eq(7, state_of(job).next);
	cr_expect_eq(1, state_of(job).consumed);
	sched_release(open.result.handle);
	cr_expect_eq(4, state_of(job).consumed);
	sched_job_put(job);
	world_stop(&world);
	world_start(&world);
	job = add_rank(&world, a_name);
	cr_expect_eq(4, state_of(job).next);
	cr_expect_eq(4, state_of(job).consumed);
	begin_open(job, 0, 4, &open);
	feed(job, 0, 3, 4, order[0]);
	struct sched_opened opened = wait_for(&open);
	cr_expect_eq(order[0][4], sched_handle_sample(opened.handle));
	sched_release(opened.handle);
	sched_job_put(job);
	world_end(&world);
}

/* The previous epoch is not forgotten while files of it are left. */
Test(sched_feed, slow_workers_get_the_rest_of_the_epoch_before)
{
	struct world world;
	struct world_open open;
	world_begin(&world, N, 2 * N);
	struct sched_job *job = add_rank(&world, a_name);
	begin_epoch(job, 0, order[0], &open);
	sched_release(wait_for(&open).handle);
	feed(job, 0, 1, 9, order[0]);
	for (uint32_t k = 1; k < 8; k++)
		read_one(job, 0, k);
	begin_open(job, 1, 0, &open);
	while (state_of(job).newest != 1)
		sched_yield();
	cr_expect_eq(0, state_of(job).epoch, "it drains");
	cr_expect_eq(10, state_of(job).next);
	feed(job, 0, 10, 2, order[0]);
	feed(job, 1, 0, 3, order[1]);
	sched_release(wait_for(&open).handle);
	for (uint32_t k = 8; k < N / RANKS; k++)
		cr_expect_eq(order[0][k], read_one(job, 0, k));
	cr_expect_eq(order[1][1], read_one(job, 1, 1));
	sched_validate(world.sched);
	sched_job_put(job);
	world_end(&world);
}

/* The rank had come to its second sample, with more samples at hand, when another daemon began to
 * serve it. Now this daemon gets the rank back. */
Test(sched_feed, what_another_daemon_had_is_read_whatever_was_at_hand)
{
	struct world world;
	struct world_open open;
	struct binding binding;
	world_begin(&world, N, 2 * N);
	struct sched_job *job = add_rank(&world, a_name);
	begin_epoch(job, 0, order[0], &open);
	sched_release(wait_for(&open).handle);
	feed(job, 0, 1, 8, order[0]);
	cr_expect_eq(order[0][1], read_one(job, 0, 3));
	cr_assert_eq(0, sched_feed_go_on(job, 0, 6));
	cr_expect_eq(6, state_of(job).consumed);
	cr_expect_eq(9, state_of(job).next);
	for (uint32_t k = 0; k < 6; k++) {
		static const uint32_t positions[] = {0, 3, 1, 2, 4, 5};
		cr_assert(sched_binding(job, 0, k, &binding));
		cr_expect_eq(order[0][k], binding.sample);
		cr_expect_eq(positions[k], binding.position);
	}
	sched_validate(world.sched);
	for (uint32_t k = 6; k < 9; k++)
		cr_expect_eq(order[0][k], read_one(job, 0, k));
	feed(job, 0, 9, 3, order[0]);
	/* The other daemon read the rest of the epoch, all of the next one, and a part of epoch
	 * 2. */
	cr_assert_eq(0, sched_feed_go_on(job, 2, 2));
	feed(job, 2, 0, 3, order[2]);
	cr_expect_eq(2, state_of(job).epoch);
	cr_expect_eq(2, state_of(job).consumed);
	cr_expect_eq(order[2][2], read_one(job, 2, 2));
	sched_validate(world.sched);
	sched_job_put(job);
	world_end(&world);
}

/* The group has no more samples for the epochs before. The draining one ends, too. */
Test(sched_feed, an_open_of_an_epoch_that_gets_no_more_samples_fails_at_once)
{
	struct world world;
	struct world_open open, late;
	world_begin(&world, N, 2 * N);
	struct sched_job *job = add_rank(&world, a_name);
	begin_epoch(job, 0, order[0], &open);
	sched_release(wait_for(&open).handle);
	begin_open(job, 0, 1, &late);
	cr_assert_eq(0, sched_feed_go_on(job, 1, 0));
	cr_expect_eq(-ESTALE, wait_for(&late).status);
	feed(job, 1, 0, 9, order[1]);
	for (uint32_t k = 0; k < 9; k++)
		cr_expect_eq(order[1][k], read_one(job, 1, k));
	begin_epoch(job, 2, order[2], &open);
	sched_release(wait_for(&open).handle);
	begin_open(job, 1, 9, &late);
	cr_expect_not(late.done, "it drains");
	cr_assert_eq(0, sched_feed_go_on(job, 2, 0));
	cr_expect_eq(-ESTALE, wait_for(&late).status);
	sched_validate(world.sched);
	sched_job_put(job);
	world_end(&world);
}

Test(sched_feed, another_job_of_the_dataset_draws_as_ever)
{
	struct world world;
	struct world_open open;
	sample_id samples[N];
	world_begin(&world, N, N / 2);
	struct sched_job *job = add_rank(&world, a_name),
			 *other = world_add(&world, b_name);
	begin_epoch(job, 0, order[0], &open);
	sched_release(wait_for(&open).handle);
	feed(job, 0, 1, N / RANKS - 1, order[0]);
	for (uint32_t k = 0; k < N; k++) {
		samples[k] = read_one(other, 0, k);
		if (k > 0 && k < N / RANKS)
			cr_expect_eq(order[0][k], read_one(job, 0, k));
		sched_validate(world.sched);
	}
	world_check_permutation(samples, N);
	sched_job_put(job);
	sched_job_put(other);
	world_end(&world);
}

/* Samples that have come are given to readers. Other opens are given up, and succeed when the
 * samples are fed. */
Test(sched_feed, opens_are_given_up_while_nobody_can_feed)
{
	struct world world;
	struct world_open first, second;
	const struct sched_open_callbacks callbacks = {
		.opened = world_opened, .context = &second};
	sample_id ids[N / RANKS];
	struct sched_job_status status;
	world_begin(&world, N, 2 * N);
	struct sched_job *job = add_rank(&world, a_name);
	for (uint32_t i = 0; i < N / RANKS; i++)
		ids[i] = i;
	begin_epoch(job, 0, ids, &first);
	sched_release(wait_for(&first).handle);
	begin_open(job, 0, 1, &second);
	sched_feed_away(job, 1, false);
	sched_job_status(job, &status);
	cr_assert(status.unfed_ns > 0 && !status.gives_up);
	cr_assert_not(second.done);
	sched_feed_away(job, 1, true);
	cr_assert_eq(wait_for(&second).status, -ETIMEDOUT);
	cr_assert_eq(sched_open(job, 0, 2, &callbacks), -ETIMEDOUT);
	cr_assert_eq(read_one(job, 0, 0), ids[0]);
	sched_feed_away(job, 0, false);
	begin_open(job, 0, 1, &second);
	feed(job, 0, 1, 1, ids);
	sched_release(wait_for(&second).handle);
	sched_job_status(job, &status);
	cr_assert(status.unfed_ns == 0 && status.bound == 2);
	sched_job_put(job);
	world_end(&world);
}
