// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "world.h"

#include <time.h>

/* The worth of samples, as the scheduler tells it to a tier, seen by the samples that are fetched
 * afterwards. */

#define IMAGES 300
#define ROOM ((uint64_t)1 << 20) /* room for 236 samples, each with a block and a name */

static struct world world;
static char directory[80];

static struct tier_status status(void)
{
	struct tier_status ret;
	const char *found;
	cr_assert(sched_tier(world.sched, world.dataset, &ret, &found));
	cr_assert_str_eq(found, directory);
	return ret;
}

static void settle(void)
{
	const struct timespec while_ = {.tv_nsec = 100000};
	while (!status().ready || status().queued > 0)
		nanosleep(&while_, NULL);
}

static void begin(void)
{
	world_begin(&world, IMAGES, 16);
	world_stop(&world);
	snprintf(directory, sizeof(directory), "%s/tier", world.directory);
	world.dataset_config.tier =
		(struct tier_config){.directory = directory, .bytes = ROOM};
	world.dataset_config.sampler = SAMPLER_ISA;
	world.config.datasets = &world.dataset_config;
	world.config.n_datasets = 1;
	world_start(&world);
	settle();
}

static void end(void)
{
	world_end(&world);
}

TestSuite(sched_tier, .init = begin, .fini = end, .timeout = 600);

static void read_one(struct sched_job *job, uint32_t epoch, uint32_t position)
{
	world_read(job, epoch, position);
	settle();
}

/* Two jobs read in different orders. At most half of the samples were read by one and are needed
 * by the other. */
Test(sched_tier, two_jobs_fetch_each_sample_once)
{
	static char a[] = "a", b[] = "b";
	struct sched_job *jobs[] = {world_add(&world, a), world_add(&world, b)};
	for (uint32_t position = 0; position < IMAGES; position++)
		for (int i = 0; i < 2; i++)
			read_one(jobs[i], 0, position);
	cr_expect_eq(IMAGES, status().misses, "%d were fetched", (int)status().misses);
	cr_expect_gt(status().evicted, IMAGES / 10);
	cr_expect_eq(0, status().damaged);
	sched_job_put(jobs[0]);
	sched_job_put(jobs[1]);
}

Test(sched_tier, one_job_finds_in_later_epochs_what_fits)
{
	static char a[] = "a";
	struct sched_job *job = world_add(&world, a);
	for (uint32_t epoch = 0; epoch < 3; epoch++)
		for (uint32_t position = 0; position < IMAGES; position++)
			read_one(job, epoch, position);
	struct tier_status found = status();
	cr_expect_eq(0, found.evicted);
	cr_expect_gt(found.samples, 200);
	cr_expect_geq(found.hits, 2 * (found.samples - 16), "%d", (int)found.hits);
	sched_job_put(job);
}

/* Samples of a job that has left give way to those of a job that reads. */
Test(sched_tier, what_nobody_reads_gives_way)
{
	static char a[] = "a", b[] = "b", first[] = "id < 250", last[] = "id >= 250";
	struct job_config config = world_job_config(a);
	config.where = first;
	struct sched_job *job = world_add_config(&world, &config);
	for (uint32_t position = 0; position < 250; position++)
		read_one(job, 0, position);
	cr_assert_eq(0, status().evicted);
	sched_job_put(job);
	cr_assert_eq(0, sched_job_remove(world.sched, a));
	config = world_job_config(b);
	config.where = last;
	config.epochs = 0;
	job = world_add_config(&world, &config);
	/* A full tier looks for such samples once a second. */
	for (uint32_t epoch = 0; status().evicted < 30; epoch++)
		for (uint32_t position = 0; position < 50; position++)
			read_one(job, epoch, position);
	sched_job_put(job);
}
