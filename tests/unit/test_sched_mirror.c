// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "world.h"

#define N 24

static char a_name[] = "a", b_name[] = "b";

static struct sched_job *add_mirror(struct world *world, char *name, char *where)
{
	struct job_config config = world_job_config(name);
	config.layout = LAYOUT_MIRROR;
	config.where = where;
	return world_add_config(world, &config);
}

Test(sched_mirror, a_position_is_always_the_sample_of_that_rank)
{
	struct world world;
	static char where[] = "id >= 4 and id <> 10";
	world_begin(&world, N, 3);
	struct sched_job *job = add_mirror(&world, a_name, where);
	uint32_t n = sched_job_samples(job, 0);
	cr_assert_eq(N - 5, n);
	for (uint32_t i = 0; i < 3 * n; i++) {
		uint32_t position = i * 7 % n;
		sample_id expected = 4 + position + (position >= 6);
		cr_assert_eq(expected, world_read(job, i % 3, position));
		cr_assert_eq(expected, world_read(job, SCHED_CURRENT, position));
		cr_assert_eq(expected, sched_bound(job, 2, position));
	}
	sched_job_put(job);
	world_end(&world);
}

Test(sched_mirror, nothing_is_drawn_needed_or_consumed)
{
	struct world world;
	struct sched_job_status status;
	struct binding binding;
	sample_id sample;
	world_begin(&world, N, 100);
	struct sched_job *job = add_mirror(&world, a_name, NULL);
	for (uint32_t i = 0; i < N; i++) {
		world_read(job, 0, i);
		cr_assert_eq(0, sched_bind(job, 0, i, &sample));
		cr_assert_eq(i, sample);
	}
	sched_job_status(job, &status);
	cr_assert_not(status.started);
	cr_assert_eq(0, status.consumed);
	cr_assert_eq(N, status.served);
	cr_assert_eq(N, status.decoded + status.hit + status.shared);
	cr_assert_not(sched_binding(job, 0, 0, &binding));
	world_check_nothing_held(&world);
	sched_job_put(job);
	world_end(&world);
}

Test(sched_mirror, a_place_that_is_not_there_is_refused)
{
	struct world world;
	struct sched_handle *handle = NULL;
	sample_id sample;
	world_begin(&world, N, 100);
	struct sched_job *job = add_mirror(&world, a_name, NULL);
	cr_assert_eq(-ENOENT, world_open(job, 0, N, &handle));
	cr_assert_eq(-ENOENT, world_open(job, 3, 0, &handle));
	cr_assert_eq(-ENOENT, sched_bind(job, SCHED_CURRENT, N, &sample));
	cr_assert_eq(0, sched_job_remove(world.sched, a_name));
	cr_assert_eq(-ENODEV, world_open(job, 0, 0, &handle));
	sched_job_put(job);
	world_end(&world);
}

Test(sched_mirror, an_open_file_keeps_its_tensor_and_a_removed_job_its_open_files)
{
	struct world world;
	struct sched_handle *first = NULL, *second = NULL;
	world_begin(&world, N, 1);
	struct sched_job *job = add_mirror(&world, a_name, NULL);
	cr_assert_eq(0, world_open(job, 0, 3, &first));
	cr_assert_eq(0, world_open(job, SCHED_CURRENT, 3, &second));
	cr_assert_eq(0, sched_handle_epoch(second));
	cr_assert_eq(sched_handle_tensor(first), sched_handle_tensor(second));
	sched_undo(first);
	world_read(job, 0, 4);
	cr_assert_eq(0, sched_job_remove(world.sched, a_name));
	cr_assert_eq(WORLD_TENSOR, sched_handle_tensor(second)->bytes);
	sched_release(second);
	world_check_nothing_held(&world);
	sched_job_put(job);
	world_end(&world);
}

Test(sched_mirror, decoding_is_shared_with_a_job_that_samples)
{
	struct world world;
	world_begin(&world, N, 100);
	struct sched_job *mirror = add_mirror(&world, a_name, NULL);
	struct sched_job *shuffled = world_add(&world, b_name);
	uint64_t before = stats_get(STAT_DECODES);
	for (uint32_t i = 0; i < N; i++) {
		world_read(shuffled, 0, i);
		world_read(mirror, 0, N - 1 - i);
	}
	cr_assert_eq(N, stats_get(STAT_DECODES) - before);
	sched_job_put(mirror);
	sched_job_put(shuffled);
	world_end(&world);
}

Test(sched_mirror, a_bad_sample_fails_each_time_and_alone)
{
	struct world world;
	struct sched_handle *handle = NULL;
	char path[128];
	world_begin(&world, N, 100);
	world_image_path(&world, 0, path); /* the first sample of the first class */
	FILE *file = fopen(path, "r+");
	cr_assert(file && fputs("no image", file) > 0 && fclose(file) == 0);
	struct sched_job *job = add_mirror(&world, a_name, NULL);
	cr_assert_eq(-EIO, world_open(job, 0, 0, &handle));
	cr_assert_eq(-EIO, world_open(job, 0, 0, &handle));
	for (uint32_t i = 1; i < N; i++)
		world_read(job, 0, i);
	world_check_nothing_held(&world);
	sched_job_put(job);
	world_end(&world);
}
