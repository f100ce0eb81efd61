// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "world.h"

/* Scripts that know one directory and many epochs. Readers have numbers. */

#define N 80
#define EPOCHS 3
#define WINDOW (N / 4) /* the "few dozen" of an epoch of this length */

static char name[] = "job";

struct script {
	struct world world;
	struct sched_job *job;
	sample_id samples[EPOCHS][N]; /* by the script's number of the epoch */
};

static void begin_with(struct script *script, const struct job_config *config)
{
	world_begin(&script->world, N, 100);
	script->job = world_add_config(&script->world, config);
}

static void begin(struct script *script)
{
	struct job_config config = world_job_config(name);
	begin_with(script, &config);
}

static void end(struct script *script)
{
	sched_job_put(script->job);
	world_end(&script->world);
}

static sample_id open_current(
	const struct script *script, uint32_t position, uint64_t reader)
{
	return world_read_by(script->job, SCHED_CURRENT, position, reader);
}

static void read_range(struct script *script, uint32_t epoch, uint32_t from, uint32_t to,
	uint64_t reader)
{
	for (uint32_t i = from; i < to; i++)
		script->samples[epoch][i] = open_current(script, i, reader);
}

static uint32_t running_epoch(const struct script *script)
{
	struct sched_job_status status;
	sched_job_status(script->job, &status);
	return status.epoch;
}

static void check_order(const struct script *script, uint32_t epoch)
{
	world_check_permutation(script->samples[epoch], N);
	for (uint32_t i = 0; i < N; i++)
		cr_assert_eq(
			script->samples[epoch][i], sched_bound(script->job, epoch, i));
}

Test(sched_current, goes_through_all_epochs_and_reads_the_last_one_again)
{
	struct script script;
	begin(&script);
	for (uint32_t epoch = 0; epoch < EPOCHS; epoch++) {
		read_range(&script, epoch, 0, N, 1);
		cr_assert_eq(epoch, running_epoch(&script));
		check_order(&script, epoch);
	}
	cr_assert_neq(0,
		memcmp(script.samples[0], script.samples[1], sizeof(script.samples[0])));
	for (uint32_t i = 0; i < N; i++)
		cr_assert_eq(script.samples[EPOCHS - 1][i], open_current(&script, i, 1));
	world_check_nothing_held(&script.world);
	end(&script);
}

Test(sched_current, an_unknown_reader_gets_each_sample_once_per_epoch_too)
{
	struct script script;
	begin(&script);
	for (uint32_t epoch = 0; epoch < EPOCHS; epoch++) {
		read_range(&script, epoch, 0, N, 0);
		check_order(&script, epoch);
	}
	end(&script);
}

Test(sched_current, a_handle_knows_its_epoch)
{
	struct script script;
	struct sched_handle *handle = NULL;
	begin(&script);
	read_range(&script, 0, 0, N, 1);
	cr_assert_eq(0, world_open_by(script.job, SCHED_CURRENT, 0, 1, &handle));
	cr_assert_eq(1, sched_handle_epoch(handle));
	sched_release(handle);
	cr_assert_eq(0, world_open(script.job, 0, 0, &handle));
	cr_assert_eq(0, sched_handle_epoch(handle));
	sched_release(handle);
	end(&script);
}

/* Lets reader 1 get far into the next epoch while reader 2 still has the end of this one. */
static void overtake(struct script *script, uint64_t first, uint64_t second)
{
	read_range(script, 0, 0, N - 6, first);
	if (second != first)
		script->samples[0][N - 5] = open_current(script, N - 5, second);
	read_range(script, 0, N - 6, N - 5, first);
	read_range(script, 1, 0, WINDOW - 5, first);
	read_range(script, 0, N - 4, N, second);
	if (second == first)
		script->samples[0][N - 5] = open_current(script, N - 5, second);
	read_range(script, 1, WINDOW - 5, N, first);
	check_order(script, 0);
	check_order(script, 1);
}

/* The reader's opens in the next epoch end the epoch that it reads by its number. */
Test(sched_current, who_reads_from_the_last_epoch_by_its_number_when_all_have_left_it)
{
	struct script script;
	begin(&script);
	read_range(&script, 0, 0, N - 10, 0);
	read_range(&script, 1, 0, WINDOW, 0);
	cr_assert_eq(1, running_epoch(&script));
	sample_id sample = world_read(script.job, 0, N - 1);
	cr_assert_eq(sample, sched_bound(script.job, 0, N - 1));
	end(&script);
}

Test(sched_current, readers_that_are_not_known_may_overtake_each_other)
{
	struct script script;
	begin(&script);
	overtake(&script, 0, 0);
	end(&script);
}

Test(sched_current, what_drop_last_leaves_is_let_go)
{
	struct script script;
	struct sched_handle *handle = NULL;
	begin(&script);
	for (uint32_t epoch = 0; epoch < EPOCHS; epoch++) {
		read_range(&script, epoch, 0, N - 7, 1);
		for (uint32_t i = 0; i < N - 7; i++)
			cr_assert_eq(script.samples[epoch][i],
				sched_bound(script.job, epoch, i));
		cr_assert_eq(SAMPLE_NONE, sched_bound(script.job, epoch, N - 1));
	}
	cr_assert_eq(-ESTALE, world_open(script.job, 1, N - 1, &handle));
	cr_assert_eq(0, sched_job_remove(script.world.sched, name));
	world_check_nothing_held(&script.world);
	end(&script);
}

/* Reads as a script that shuffles; `in` is the number of its pass. */
static void read_shuffled(struct script *script, uint32_t epoch, uint32_t n, uint64_t in)
{
	struct rng rng;
	uint32_t positions[N];
	rng_seed(&rng, in);
	for (uint32_t i = 0; i < N; i++)
		positions[i] = i;
	rng_shuffle(&rng, positions, N);
	for (uint32_t i = 0; i < n; i++)
		script->samples[epoch][positions[i]] =
			open_current(script, positions[i], 10 * in + i % 3);
}

/* Each start reads less than half of an epoch, and together they read more. */
Test(sched_current, a_script_that_shuffles_may_be_started_again_before_half)
{
	struct script script;
	struct job_config config = world_job_config(name);
	config.layout = LAYOUT_CLASSES;
	begin_with(&script, &config);
	read_shuffled(&script, 0, N / 2 - 8, 1);
	read_shuffled(&script, 0, N / 2 - 8, 2);
	read_shuffled(&script, 0, N, 3);
	check_order(&script, 0);
	cr_assert_eq(0, running_epoch(&script));
	read_shuffled(&script, 1, N, 4);
	check_order(&script, 1);
	end(&script);
}

Test(sched_current, goes_on_after_a_restart_of_the_daemon)
{
	struct script script;
	begin(&script);
	read_range(&script, 0, 0, N, 1);
	read_range(&script, 1, 0, N / 4, 1);
	sched_job_put(script.job);
	world_stop(&script.world);
	world_start(&script.world);
	script.job = world_add(&script.world, name);
	cr_assert_eq(script.samples[1][3], open_current(&script, 3, 1));
	read_range(&script, 1, N / 4, N, 2);
	check_order(&script, 1);
	read_range(&script, 2, 0, N, 2);
	check_order(&script, 2);
	end(&script);
}

static sample_id label_of(const struct script *script, uint32_t i, uint64_t reader)
{
	sample_id sample = SAMPLE_NONE;
	uint32_t epoch = 0;
	struct sched_reader by = {.who = world_reader(reader)};
	cr_assert_eq(
		0, sched_bind_for(script->job, SCHED_CURRENT, i, &by, &sample, &epoch));
	cr_assert_eq(sample, sched_bound(script->job, epoch, i));
	return sample;
}

/* Another thread reads the label, also when others have read on meanwhile. */
Test(sched_current, the_label_may_be_read_by_another_thread)
{
	struct script script;
	begin(&script);
	read_range(&script, 0, 0, N, 1);
	cr_assert_eq(script.samples[0][N - 1], label_of(&script, N - 1, 2));
	read_range(&script, 1, 0, 3, 1);
	cr_assert_eq(script.samples[0][N - 2], label_of(&script, N - 2, 2));
	end(&script);
}

/* One thread reads images and another one labels. percent: chance that the label comes first; see
 * the loop. */
static void read_halves(unsigned percent)
{
	struct script script;
	struct rng rng;
	rng_seed(&rng, percent);
	begin(&script);
	for (uint32_t epoch = 0; epoch < EPOCHS; epoch++) {
		for (uint32_t i = 0; i < N; i++) {
			bool first = rng_below(&rng, 100) < percent;
			sample_id label = first ? label_of(&script, i, 2) : 0;
			script.samples[epoch][i] = open_current(&script, i, 1);
			if (!first)
				label = label_of(&script, i, 2);
			cr_assert_eq(label, script.samples[epoch][i]);
		}
		check_order(&script, epoch);
	}
	end(&script);
}

Test(sched_current, another_thread_reads_a_label_before_the_image_or_after)
{
	for (unsigned percent = 10; percent <= 100; percent += 10)
		read_halves(percent);
}

Test(sched_current, asking_for_what_is_bound_changes_nothing)
{
	struct script script;
	struct sched_job_status status;
	begin(&script);
	for (uint32_t i = 0; i < N; i++)
		cr_assert_eq(SAMPLE_NONE, sched_bound(script.job, SCHED_CURRENT, i));
	sched_job_status(script.job, &status);
	cr_assert_not(status.started);
	read_range(&script, 0, 0, N, 1);
	/* positions of an epoch that has not begun */
	for (uint32_t i = 0; i < N - WINDOW; i++)
		cr_assert_eq(SAMPLE_NONE, sched_bound(script.job, SCHED_CURRENT, i));
	cr_assert_eq(0, running_epoch(&script));
	cr_assert_eq(SAMPLE_NONE, sched_bound(script.job, SCHED_CURRENT, N));
	end(&script);
}

Test(sched_current, an_idle_job_goes_on_in_the_epoch_that_it_was_in, .timeout = 600)
{
	struct script script;
	struct sched_job_status status;
	struct job_config config = world_job_config(name);
	config.idle_s = 1;
	begin_with(&script, &config);
	read_range(&script, 0, 0, N - 6, 1);
	open_current(&script, N - 5, 2);
	read_range(&script, 0, N - 6, N - 5, 1);
	read_range(&script, 1, 0, 4, 1);
	do {
		usleep(100000);
		sched_job_status(script.job, &status);
	} while (!status.parked_idle);
	world_check_nothing_held(&script.world);
	cr_assert_eq(label_of(&script, N - 4, 2), sched_bound(script.job, 0, N - 4));
	read_range(&script, 1, 4, N, 1);
	check_order(&script, 1);
	end(&script);
}

static void two_epochs_of_several(struct script *script)
{
	struct job_config other = world_job_config((char[]){"other"});
	struct sched_job *second = world_add_config(&script->world, &other);
	overtake(script, 1, 2);
	for (uint32_t i = 0; i < 2 * N; i++)
		world_read_by(second, SCHED_CURRENT, i % N, 7);
	world_check_nothing_held(&script->world);
	sched_job_put(second);
}

Test(sched_current, an_epoch_drains_with_exchange_too)
{
	struct script script;
	begin(&script);
	sched_job_put(script.job);
	world_stop(&script.world);
	script.world.config.sampler = SAMPLER_EXCHANGE;
	world_start(&script.world);
	script.job = world_add(&script.world, name);
	two_epochs_of_several(&script);
	end(&script);
}
