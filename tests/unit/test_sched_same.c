// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/datasets.h"
#include "sched/sched_internal.h"
#include "world.h"

/* Two datasets of one directory. After each step, world_read checks pins, need, and what the
 * scheduler knows about images that both datasets have. */

#define N 24

struct twice {
	struct world world;
	struct dataset_config config;
	struct sched_job *one, *other;
};

static struct sched_job *add_job(
	struct twice *twice, char *name, char *dataset, uint32_t crop)
{
	struct job_config config = world_job_config(name);
	config.dataset = dataset;
	config.layout = LAYOUT_MIRROR;
	config.preparation.crop_width = config.preparation.crop_height = crop;
	return world_add_config(&twice->world, &config);
}

static void begin(struct twice *twice, uint64_t tensors)
{
	static char again[] = "again";
	static char names[2][2] = {"a", "b"};
	struct dataset *dataset;
	struct world *world = &twice->world;
	world_begin(world, N, tensors);
	twice->config = world->dataset_config;
	twice->config.name = again;
	cr_assert_eq(
		0, dataset_open(&twice->config, world->config.state, NULL, &dataset));
	cr_assert_eq(0, sched_dataset_add(world->sched, dataset, &twice->config));
	dataset_close(&dataset);
	twice->one = add_job(twice, names[0], world->dataset_config.name, WORLD_SIDE);
	twice->other = add_job(twice, names[1], again, WORLD_SIDE);
}

static void end(struct twice *twice)
{
	sched_job_put(twice->one);
	sched_job_put(twice->other);
	world_check_nothing_held(&twice->world);
	world_end(&twice->world);
}

/* Checks that the pixels are those of the job's own sample. */
static void read_one(struct sched_job *job, uint32_t position)
{
	struct sched_handle *handle = NULL;
	cr_assert_eq(0, world_open(job, 0, position, &handle));
	sched_validate(world_of);
	sample_id sample = sched_handle_sample(handle);
	auto_edition *edition = sched_edition(job, 0);
	struct dataset_sample row;
	cr_assert_eq(0, dataset_get(edition->dataset, sample, &row));
	unsigned value = 0;
	cr_assert_eq(1, sscanf(strrchr(row.path, '/'), "/%u.png", &value));
	cr_assert_eq(value, sched_handle_tensor(handle)->data[5]);
	dataset_sample_free(&row);
	sched_release(handle);
	sched_validate(world_of);
}

static bool is_shared(struct twice *twice, uint32_t position)
{
	struct sched_handle *a = NULL, *b = NULL;
	cr_assert_eq(0, world_open(twice->one, 0, position, &a));
	cr_assert_eq(0, world_open(twice->other, 0, position, &b));
	bool same = sched_handle_tensor(a) == sched_handle_tensor(b);
	sched_release(a);
	sched_validate(world_of);
	sched_release(b);
	sched_validate(world_of);
	return same;
}

Test(sched_same, one_file_in_two_datasets_is_decoded_once)
{
	struct twice twice;
	begin(&twice, 2 * N);
	uint64_t decodes = stats_get(STAT_DECODES);
	for (uint32_t i = 0; i < N; i++)
		read_one(i % 3 ? twice.one : twice.other, i);
	for (uint32_t i = 0; i < N; i++)
		read_one(i % 3 ? twice.other : twice.one, i);
	cr_expect_eq(N, stats_get(STAT_DECODES) - decodes);
	cr_expect_eq(N, stats_get(STAT_SAME));
	for (uint32_t i = 0; i < N; i++)
		cr_expect(is_shared(&twice, i));
	end(&twice);
}

Test(sched_same, other_tensors_are_others)
{
	static char name[] = "c";
	struct twice twice;
	begin(&twice, 3 * N);
	struct sched_job *small = add_job(&twice, name, twice.config.name, 4);
	for (uint32_t i = 0; i < N; i++) {
		struct sched_handle *handle = NULL;
		read_one(twice.one, i);
		cr_assert_eq(0, world_open(small, 0, i, &handle));
		cr_expect_eq(4 * 4 * 3, sched_handle_tensor(handle)->bytes);
		sched_release(handle);
	}
	cr_expect_eq(0, stats_get(STAT_SAME));
	sched_job_put(small);
	end(&twice);
}

/* A tensor that one dataset's part of the cache has lost is still in the other's part. */
Test(sched_same, a_tensor_lives_as_long_as_either_holds_it)
{
	struct twice twice;
	struct sched_handle *held = NULL;
	begin(&twice, 4);
	read_one(twice.one, 0);
	cr_assert_eq(0, world_open(twice.other, 0, 0, &held));
	for (uint32_t i = 1; i < N; i++)
		read_one(twice.one, i);
	cr_expect_eq(1, stats_get(STAT_SAME));
	uint64_t decodes = stats_get(STAT_DECODES);
	read_one(twice.one, 0);
	cr_expect_eq(decodes, stats_get(STAT_DECODES), "it is decoded again");
	cr_expect_eq(2, stats_get(STAT_SAME));
	sched_release(held);
	for (uint32_t round = 0; round < 4; round++)
		for (uint32_t i = 0; i < N; i++)
			read_one((i * 7 + round) % 3 ? twice.one : twice.other,
				(i * 5 + round) % N);
	end(&twice);
}

/* Jobs also leave while tensors are held. */
Test(sched_same, a_dataset_without_jobs_leaves_nothing)
{
	struct twice twice;
	struct sched_handle *held = NULL;
	begin(&twice, 2 * N);
	read_one(twice.one, 3);
	cr_assert_eq(0, world_open(twice.other, 0, 3, &held));
	sched_job_put(twice.one);
	cr_assert_eq(0, sched_job_remove(twice.world.sched, "a"));
	sched_validate(world_of);
	cr_expect_eq(6, sched_handle_tensor(held)->data[5], "class0/0006.png");
	sched_release(held);
	sched_job_put(twice.other);
	cr_assert_eq(0, sched_job_remove(twice.world.sched, "b"));
	sched_validate(world_of);
	cr_expect_null(twice.world.sched->supply.same);
	cr_expect_null(twice.world.sched->supply.same_places);
	world_end(&twice.world);
}
