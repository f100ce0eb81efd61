// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "world.h"

#define N 24

static char a_name[] = "a", b_name[] = "b";

Test(sched, an_epoch_gives_each_sample_once_and_the_order_says_so)
{
	struct world world;
	sample_id samples[N];
	world_begin(&world, N, 100);
	struct sched_job *job = world_add(&world, a_name);
	for (uint32_t i = 0; i < N; i++)
		samples[i] = world_read(job, 0, i);
	world_check_permutation(samples, N);
	for (uint32_t k = 0; k < N; k++) {
		struct binding binding;
		cr_assert(sched_binding(job, 0, k, &binding));
		cr_assert_eq(k, binding.position);
		cr_assert_eq(samples[k], binding.sample);
	}
	struct sched_job_status status;
	sched_job_status(job, &status);
	cr_assert_eq(N, status.consumed);
	cr_assert_eq(N, status.served);
	cr_assert_eq(N, status.decoded + status.shared + status.hit);
	cr_assert_not(status.running);
	world_check_nothing_held(&world);
	sched_job_put(job);
	world_end(&world);
}

Test(sched, positions_may_be_opened_in_any_order)
{
	struct world world;
	sample_id samples[N];
	world_begin(&world, N, 3);
	struct sched_job *job = world_add(&world, a_name);
	for (uint32_t i = 0; i < N; i++)
		samples[(i * 7 + 5) % N] = world_read(job, 0, (i * 7 + 5) % N);
	world_check_permutation(samples, N);
	sched_job_put(job);
	world_end(&world);
}

Test(sched, a_bound_position_keeps_its_sample)
{
	struct world world;
	struct sched_handle *first = NULL, *second = NULL;
	world_begin(&world, N, 100);
	struct sched_job *job = world_add(&world, a_name);
	cr_assert_eq(SAMPLE_NONE, sched_bound(job, 0, 3));
	cr_assert_eq(0, world_open(job, 0, 3, &first));
	cr_assert_eq(0, world_open(job, 0, 3, &second));
	sample_id sample = sched_handle_sample(first);
	cr_assert_eq(sample, sched_handle_sample(second));
	cr_assert_eq(sample, sched_bound(job, 0, 3));
	sched_release(first);
	sched_release(second);
	cr_assert_eq(sample, world_read(job, 0, 3));
	sched_job_put(job);
	world_end(&world);
}

Test(sched, a_label_binds_and_does_not_consume)
{
	struct world world;
	sample_id sample;
	struct sched_job_status status;
	world_begin(&world, N, 100);
	struct sched_job *job = world_add(&world, a_name);
	cr_assert_eq(0, sched_bind(job, 0, 5, &sample));
	cr_assert_eq(sample, sched_bound(job, 0, 5));
	sched_job_status(job, &status);
	cr_assert_eq(1, status.bound);
	cr_assert_eq(0, status.consumed);
	cr_assert_eq(sample, world_read(job, 0, 5));
	sched_job_put(job);
	world_end(&world);
}

Test(sched, an_undone_open_consumes_nothing)
{
	struct world world;
	struct sched_handle *handle = NULL;
	struct sched_job_status status;
	world_begin(&world, N, 100);
	struct sched_job *job = world_add(&world, a_name);
	cr_assert_eq(0, world_open(job, 0, 0, &handle));
	sched_undo(handle);
	sched_job_status(job, &status);
	cr_assert_eq(0, status.consumed);
	cr_assert_eq(1, status.bound);
	sched_job_put(job);
	world_end(&world);
}

Test(sched, epochs_begin_after_half_and_end_for_good)
{
	struct world world;
	struct sched_handle *handle = NULL;
	world_begin(&world, N, 100);
	struct sched_job *job = world_add(&world, a_name);
	for (uint32_t i = 0; i < N / 2; i++)
		world_read(job, 0, i);
	cr_assert_eq(-EAGAIN, world_open(job, 1, 0, &handle));
	cr_assert_eq(-ENOENT, world_open(job, 2, 0, &handle));
	sample_id sample = world_read(job, 0, N / 2);
	world_read(job, 1, 0);
	world_read(job, 0, N - 2); /* epoch 0 continues until half of epoch 1 was read */
	for (uint32_t i = 1; i <= N / 2 + 1; i++)
		world_read(job, 1, i);
	cr_assert_eq(-ESTALE, world_open(job, 0, N - 1, &handle));
	cr_assert_eq(sample, world_read(job, 0, N / 2));
	cr_assert_eq(-ENOENT, world_open(job, 3, 0, &handle));
	cr_assert_eq(-ENOENT, world_open(job, 1, N, &handle));
	sched_job_put(job);
	world_end(&world);
}

Test(sched, two_jobs_in_step_decode_each_sample_once)
{
	struct world world;
	world_begin(&world, N, 100);
	struct sched_job *a = world_add(&world, a_name);
	struct sched_job *b = world_add(&world, b_name);
	uint64_t before = stats_get(STAT_DECODES);
	for (uint32_t i = 0; i < N; i++) {
		world_read(a, 0, i);
		world_read(b, 0, i);
	}
	cr_assert_eq(N, stats_get(STAT_DECODES) - before);
	world_check_nothing_held(&world);
	sched_job_put(a);
	sched_job_put(b);
	world_end(&world);
}

Test(sched, a_sequential_job_gets_dataset_order)
{
	struct world world;
	world_begin(&world, N, 100);
	struct job_config config = world_job_config(a_name);
	config.order = ORDER_SEQUENTIAL;
	struct sched_job *job = world_add_config(&world, &config);
	for (uint32_t i = 0; i < N; i++)
		cr_assert_eq(i, world_read(job, 0, i));
	sched_job_put(job);
	world_end(&world);
}

Test(sched, a_cache_of_one_tensor_serves_everybody)
{
	struct world world;
	sample_id sa[N], sb[N];
	world_begin(&world, N, 1);
	struct sched_job *a = world_add(&world, a_name);
	struct sched_job *b = world_add(&world, b_name);
	for (uint32_t i = 0; i < N; i++) {
		struct sched_handle *ha = NULL, *hb = NULL;
		cr_assert_eq(0, world_open(a, 0, i, &ha));
		cr_assert_eq(0, world_open(b, 0, i, &hb));
		sa[i] = sched_handle_sample(ha);
		sb[i] = sched_handle_sample(hb);
		sched_release(ha);
		sched_release(hb);
		sched_stats(world.sched);
		cr_assert_leq(stats_get(STAT_CACHE_BYTES), 1 * WORLD_TENSOR);
	}
	/* One tensor of capacity, and two that the readers held open. */
	cr_assert_leq(stats_get(STAT_CACHE_PEAK), 3 * WORLD_TENSOR);
	world_check_permutation(sa, N);
	world_check_permutation(sb, N);
	world_check_nothing_held(&world);
	sched_job_put(a);
	sched_job_put(b);
	world_end(&world);
}

/* Samples that another job has drawn stay pinned, but not beyond the memory. */
Test(sched, beyond_capacity_is_only_what_readers_hold_open)
{
	struct world world;
	struct sched_handle *first = NULL, *second = NULL;
	sample_id sample;
	world_begin(&world, N, 1);
	struct job_config config = world_job_config(a_name);
	config.order = ORDER_SEQUENTIAL;
	struct sched_job *a = world_add_config(&world, &config);
	config.name = b_name;
	struct sched_job *b = world_add_config(&world, &config);
	cr_assert_eq(0, sched_bind(b, 0, 0, &sample));
	cr_assert_eq(0, sched_bind(b, 0, 1, &sample));
	cr_assert_eq(0, world_open(a, 0, 0, &first));
	cr_assert_eq(0, world_open(a, 0, 1, &second));
	sched_stats(world.sched);
	cr_assert_geq(stats_get(STAT_CACHE_BYTES), 2 * WORLD_TENSOR);
	sched_release(first);
	sched_release(second);
	sched_stats(world.sched);
	cr_assert_leq(stats_get(STAT_CACHE_BYTES), 1 * WORLD_TENSOR);
	cr_assert_eq(0, world_read(b, 0, 0));
	cr_assert_eq(1, world_read(b, 0, 1));
	sched_job_put(a);
	sched_job_put(b);
	world_end(&world);
}

Test(sched, a_position_of_an_epoch_that_is_over_leaves_no_pin)
{
	struct world world;
	struct sched_handle *handle = NULL;
	world_begin(&world, N, 100);
	struct sched_job *job = world_add(&world, a_name);
	cr_assert_eq(0, world_open(job, 0, 0, &handle));
	for (uint32_t i = 1; i < N; i++)
		world_read(job, 0, i);
	for (uint32_t i = 0; i < N; i++)
		world_read(job, 1, i);
	sched_undo(handle);
	world_check_nothing_held(&world);
	sched_job_put(job);
	world_end(&world);
}

Test(sched, a_restart_goes_on_with_the_same_order)
{
	struct world world;
	sample_id samples[N];
	world_begin(&world, N, 100);
	struct sched_job *job = world_add(&world, a_name);
	job_id id = sched_job_id(job);
	for (uint32_t i = 0; i < N / 2; i++)
		samples[i] = world_read(job, 0, i);
	sched_job_put(job);
	world_stop(&world);
	world_start(&world);
	job = world_add(&world, a_name);
	cr_assert_eq(id, sched_job_id(job));
	for (uint32_t i = 0; i < N / 2; i++)
		cr_assert_eq(samples[i], sched_bound(job, 0, i));
	cr_assert_eq(samples[3], world_read(job, 0, 3));
	for (uint32_t i = N / 2; i < N; i++)
		samples[i] = world_read(job, 0, i);
	world_check_permutation(samples, N);
	sched_job_put(job);
	world_end(&world);
}

Test(sched, a_job_whose_selection_changed_begins_again)
{
	struct world world;
	static char where[] = "label = 0";
	world_begin(&world, N, 100);
	struct sched_job *job = world_add(&world, a_name);
	world_read(job, 0, 0);
	sched_job_put(job);
	world_stop(&world);
	world_start(&world);
	struct job_config config = world_job_config(a_name);
	config.where = where;
	job = world_add_config(&world, &config);
	cr_assert_eq(N / 2, sched_job_samples(job, 0));
	cr_assert_eq(SAMPLE_NONE, sched_bound(job, 0, 0));
	sched_job_put(job);
	world_end(&world);
}

/* A position of a label holds only samples of this label. */
Test(sched, a_job_whose_layout_changed_begins_again)
{
	struct world world;
	const enum view_layout layouts[] = {LAYOUT_CLASSES, LAYOUT_MIRROR, LAYOUT_FLAT};
	world_begin(&world, N, 100);
	struct sched_job *job = world_add(&world, a_name);
	for (uint32_t i = 0; i < N; i += 2)
		world_read(job, 0, i);
	for (size_t i = 0; i < 3; i++) {
		sched_job_put(job);
		world_stop(&world);
		world_start(&world);
		struct job_config config = world_job_config(a_name);
		config.layout = layouts[i];
		job = world_add_config(&world, &config);
		cr_assert(layouts[i] == LAYOUT_MIRROR ||
			  sched_bound(job, 0, 0) == SAMPLE_NONE);
		for (uint32_t k = 0; k < N; k++)
			world_read(job, 0, k);
	}
	sched_job_put(job);
	world_end(&world);
}

Test(sched, a_persistent_job_is_there_after_a_restart)
{
	struct world world;
	world_begin(&world, N, 100);
	struct job_config config = world_job_config(a_name);
	cr_assert_eq(
		0, sched_job_add(world.sched, &config, true, world_unexpected, NULL));
	world_stop(&world);
	world_start(&world);
	cr_assert_null(sched_job_find(world.sched, a_name));
	sched_jobs_restore(world.sched);
	struct sched_job *job = sched_job_find(world.sched, a_name);
	cr_assert_not_null(job);
	cr_assert_eq(4, sched_job_config(job)->lookahead);
	sched_job_put(job);
	world_end(&world);
}

Test(sched, a_removed_job_gives_back_what_it_pinned)
{
	struct world world;
	struct sched_handle *handle = NULL, *other = NULL;
	world_begin(&world, N, 100);
	struct sched_job *job = world_add(&world, a_name);
	cr_assert_eq(0, world_open(job, 0, 0, &handle));
	cr_assert_eq(0, sched_job_remove(world.sched, a_name));
	cr_assert_eq(-ENOENT, sched_job_remove(world.sched, a_name));
	cr_assert_eq(-ENODEV, world_open(job, 0, 1, &other));
	cr_assert_eq(WORLD_TENSOR, sched_handle_tensor(handle)->bytes);
	sched_release(handle);
	world_check_nothing_held(&world);
	sched_job_put(job);
	world_end(&world);
}

Test(sched, an_idle_job_is_parked_and_goes_on_when_it_reads_again, .timeout = 600)
{
	struct world world;
	sample_id samples[N];
	struct sched_job_status status;
	world_begin(&world, N, 100);
	struct job_config config = world_job_config(a_name);
	config.idle_s = 1;
	struct sched_job *job = world_add_config(&world, &config);
	for (uint32_t i = 0; i < 5; i++)
		samples[i] = world_read(job, 0, i);
	do {
		usleep(100000);
		sched_job_status(job, &status);
	} while (!status.parked_idle);
	world_check_nothing_held(&world);
	for (uint32_t i = 5; i < N; i++)
		samples[i] = world_read(job, 0, i);
	world_check_permutation(samples, N);
	sched_job_put(job);
	world_end(&world);
}

Test(sched, a_bad_sample_fails_alone)
{
	struct world world;
	char path[128];
	world_begin(&world, N, 100);
	world_image_path(&world, 7, path);
	FILE *file = fopen(path, "r+");
	cr_assert(file && fputs("no image", file) > 0 && fclose(file) == 0);
	struct sched_job *job = world_add(&world, a_name);
	int failed = 0;
	for (uint32_t i = 0; i < N; i++) {
		struct sched_handle *handle = NULL;
		int err = world_open(job, 0, i, &handle);
		cr_assert(err == 0 || err == -EIO);
		failed += err != 0;
		if (!err)
			sched_release(handle);
	}
	cr_assert_eq(1, failed);
	sched_job_put(job);
	world_end(&world);
}

struct giving_up {
	struct sched *sched;
	struct world_open open;
};

static void give_up(void *context, uint64_t ticket)
{
	struct giving_up *giving_up = context;
	sched_cancel(giving_up->sched, ticket);
}

static void given_up(void *context, const struct sched_opened *opened)
{
	world_opened(&((struct giving_up *)context)->open, opened);
}

Test(sched, a_reader_that_gives_up_gets_eintr_and_the_position_can_be_read)
{
	struct world world;
	world_begin(&world, N, 100);
	struct sched_job *job = world_add(&world, a_name);
	struct giving_up giving_up = {.sched = world.sched,
		.open = {.mutex = PTHREAD_MUTEX_INITIALIZER,
			.cond = PTHREAD_COND_INITIALIZER}};
	struct sched_open_callbacks callbacks = {
		.opened = given_up, .parking = give_up, .context = &giving_up};
	/* The first open of an epoch waits until the epoch has begun. */
	cr_assert_eq(0, sched_open(job, 0, 0, &callbacks));
	cr_assert(giving_up.open.done);
	cr_assert_eq(-EINTR, giving_up.open.result.status);
	cr_assert_null(giving_up.open.result.handle);
	/* The position may have been bound before the reader gave up. */
	sample_id before = sched_bound(job, 0, 0), sample = world_read(job, 0, 0);
	cr_assert(before == SAMPLE_NONE || before == sample);
	cr_assert_eq(sample, sched_bound(job, 0, 0));
	sched_cancel(world.sched, 12345); /* no open has this ticket */
	sched_job_put(job);
	world_end(&world);
}

/* Two jobs with the same preparation and one with another size read through one small cache. */
Test(sched, need_and_pins_are_exact_after_every_event)
{
	struct world world;
	static char where[] = "label = 0", c_name[] = "c";
	world_begin(&world, N, 6);
	struct job_config part = world_job_config(b_name);
	struct job_config other = world_job_config(c_name);
	part.where = where;
	other.preparation.resize_width = other.preparation.resize_height = 8;
	struct sched_job *a = world_add(&world, a_name);
	struct sched_job *b = world_add_config(&world, &part);
	struct sched_job *c = world_add_config(&world, &other);
	for (uint32_t i = 0; i < N; i++) {
		world_read(a, i < 2 * N / 3 ? 0 : 1, i);
		if (i < N / 2)
			world_read(b, 0, i);
		if (i % 3 == 0)
			world_read(c, 0, N - 1 - i);
		if (i == N / 2) {
			sample_id sample;
			cr_assert_eq(0, sched_bind(c, 0, 0, &sample));
			cr_assert_eq(0, sched_job_remove(world.sched, b_name));
		}
		sched_validate(world.sched);
	}
	sched_job_put(a);
	sched_job_put(b);
	sched_job_put(c);
	world_end(&world);
}

/* A sample that a round gives to both jobs is read and decoded once. Alone they would decode 2
 * N. */
Test(sched, jobs_of_other_sizes_share_the_decode)
{
	struct world world;
	struct sched_handle *handle = NULL;
	world_begin(&world, N, 100);
	struct job_config config = world_job_config(a_name);
	struct sched_job *a = world_add_config(&world, &config);
	config.name = b_name;
	config.preparation.resize_width = config.preparation.resize_height = 4;
	struct sched_job *b = world_add_config(&world, &config);
	sample_id sample;
	uint64_t before = stats_get(STAT_DECODES);
	/* Both streams begin before anything can be prepared for one of them alone. */
	cr_assert_eq(0, sched_bind(a, 0, 0, &sample));
	cr_assert_eq(0, sched_bind(b, 0, 0, &sample));
	for (uint32_t i = 0; i < N; i++) {
		world_read(a, 0, i);
		cr_assert_eq(0, world_open(b, 0, i, &handle));
		cr_assert_eq(4 * 4 * 3, sched_handle_tensor(handle)->bytes);
		sched_release(handle);
		sched_validate(world.sched);
	}
	uint64_t decodes = stats_get(STAT_DECODES) - before;
	cr_assert_leq(decodes, 2 * N - N / 4, "%d decodes", (int)decodes);
	world_check_nothing_held(&world);
	sched_job_put(a);
	sched_job_put(b);
	world_end(&world);
}

static void remember(void *context, const char *message)
{
	snprintf(context, 512, "%s", message);
}

Test(sched, jobs_that_cannot_be_are_refused_with_a_reason)
{
	struct world world;
	char message[512] = "";
	static char where[] = "label = 99", unknown[] = "tinny";
	world_begin(&world, N, 100);
	struct job_config config = world_job_config(a_name);
	config.where = where;
	cr_assert_eq(
		-EINVAL, sched_job_add(world.sched, &config, false, remember, message));
	cr_assert(strstr(message, "selects none"), "%s", message);
	config = world_job_config(a_name);
	config.dataset = unknown;
	cr_assert_eq(
		-EINVAL, sched_job_add(world.sched, &config, false, remember, message));
	cr_assert(strstr(message, "did you mean \"tiny\"?"), "%s", message);
	struct sched_job *job = world_add(&world, a_name);
	config = world_job_config(a_name);
	cr_assert_eq(
		-EEXIST, sched_job_add(world.sched, &config, false, remember, message));
	sched_job_put(job);
	world_end(&world);
}
