// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/*
 * A small world for tests of the scheduler: an ImageFolder of tiny PNGs in a temporary directory,
 * its catalogue, and a scheduler over it. world_end removes all of it.
 */

#include "../sched_bind.h"
#include "dataset/dataset.h"
#include "sched/gauges.h"
#include "sched/jobs.h"
#include "sched/sched.h"
#include "stats/stats.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <png.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

struct sched;
struct sched_handle;
struct sched_job;

#define WORLD_SIDE 8 /* pixels; a tensor has 192 bytes */
#define WORLD_TENSOR (WORLD_SIDE * WORLD_SIDE * 3)

struct world {
	char directory[64];
	struct daemon_config config;
	struct dataset_config dataset_config;
	struct dataset *dataset;
	struct sched *sched;
};

static inline void world_write_png(const char *path, unsigned value)
{
	uint8_t pixels[WORLD_TENSOR];
	memset(pixels, (int)(value & 0xff), sizeof(pixels));
	pixels[0] = (uint8_t)(value >> 8);
	png_image image = {.version = PNG_IMAGE_VERSION,
		.width = WORLD_SIDE,
		.height = WORLD_SIDE,
		.format = PNG_FORMAT_RGB};
	cr_assert(png_image_write_to_file(&image, path, 0, pixels, 0, NULL));
}

static inline void world_image_path(
	const struct world *world, unsigned i, char path[static 128])
{
	snprintf(path, 128, "%s/data/class%u/%04u.png", world->directory, i % 2, i);
}

static struct sched *world_of; /* the running scheduler, whose invariants are checked */

static inline void world_start(struct world *world)
{
	cr_assert_eq(0, dataset_open(&world->dataset_config, world->config.state, NULL,
				&world->dataset));
	cr_assert_eq(0, sched_new(&world->config, &world->dataset, 1, &world->sched));
	world_of = world->sched;
}

static inline void world_stop(struct world *world)
{
	sched_stop(world->sched);
	sched_free(&world->sched);
	dataset_close(&world->dataset);
}

/* Makes a world of n images with a cache of this many tensors. */
static inline void world_begin(struct world *world, unsigned n, uint64_t tensors)
{
	char path[128];
	*world = (struct world){.directory = "/tmp/joaderfs-test.XXXXXX"};
	cr_assert(mkdtemp(world->directory));
	for (const char *const *name = (const char *const[]){"/data", "/state",
		     "/data/class0", "/data/class1", NULL};
		*name; name++) {
		snprintf(path, sizeof(path), "%s%s", world->directory, *name);
		cr_assert_eq(0, mkdir(path, 0755));
	}
	for (unsigned i = 0; i < n; i++) {
		world_image_path(world, i, path);
		world_write_png(path, i);
	}
	world->config = (struct daemon_config){
		.cache_bytes = tensors * WORLD_TENSOR, .workers = 2, .seed = 1};
	cr_assert(asprintf(&world->config.state, "%s/state", world->directory) > 0);
	world->dataset_config = (struct dataset_config){
		.name = strdup("tiny"), .extensions = strdup("png")};
	cr_assert(asprintf(&world->dataset_config.path, "%s/data", world->directory) > 0);
	world_start(world);
}

static inline void world_end(struct world *world)
{
	char command[128];
	world_stop(world);
	snprintf(command, sizeof(command), "rm -rf '%s'", world->directory);
	cr_assert_eq(0, system(command));
	free(world->config.state);
	free(world->dataset_config.name);
	free(world->dataset_config.path);
	free(world->dataset_config.extensions);
}

static inline void world_unexpected(void *context, const char *message)
{
	(void)context;
	cr_assert_fail("reported: %s", message);
}

static inline struct job_config world_job_config(char *name)
{
	static char file[] = "job.ini", dataset[] = "tiny", extension[] = "ppm";
	return (struct job_config){.file = file,
		.weight = 1,
		.name = name,
		.dataset = dataset,
		.extension = extension,
		.epochs = 3,
		.idle_s = 600,
		.keep_epochs = 10,
		.lookahead = 4,
		.batch = 64};
}

static inline struct sched_job *world_add_config(
	struct world *world, const struct job_config *config)
{
	cr_assert_eq(
		0, sched_job_add(world->sched, config, false, world_unexpected, NULL));
	return sched_job_find(world->sched, config->name);
}

static inline struct sched_job *world_add(struct world *world, char *name)
{
	struct job_config config = world_job_config(name);
	return world_add_config(world, &config);
}

/* An open that the test waits for. */
struct world_open {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	bool done;
	struct sched_opened result;
	uint64_t ticket; /* ticket of an open that had to wait */
};

static inline void world_opened(void *context, const struct sched_opened *opened)
{
	struct world_open *open = context;
	pthread_mutex_lock(&open->mutex);
	open->result = *opened;
	open->done = true;
	pthread_cond_signal(&open->cond);
	pthread_mutex_unlock(&open->mutex);
}

static inline void world_parking(void *context, uint64_t ticket)
{
	struct world_open *open = context;
	open->ticket = ticket;
}

/* Makes a reader. Threads with numbers of the same hundred belong to one script. */
static inline struct reader world_reader(uint64_t thread)
{
	return (struct reader){
		.thread = thread, .rank = 1 + thread / 100, .script = 1 + thread / 100};
}

static inline int world_open_by(struct sched_job *job, uint32_t epoch, uint32_t position,
	uint64_t reader, struct sched_handle **ret)
{
	struct world_open open = {
		.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
	struct sched_open_callbacks callbacks = {.opened = world_opened,
		.context = &open,
		.reader.who = world_reader(reader)};
	int err = sched_open(job, epoch, position, &callbacks);
	if (err)
		return err;
	pthread_mutex_lock(&open.mutex);
	while (!open.done)
		pthread_cond_wait(&open.cond, &open.mutex);
	pthread_mutex_unlock(&open.mutex);
	*ret = open.result.handle;
	return open.result.status;
}

static inline int world_open(struct sched_job *job, uint32_t epoch, uint32_t position,
	struct sched_handle **ret)
{
	return world_open_by(job, epoch, position, 0, ret);
}

/* Opens a position, checks its sample, releases it, and returns the sample. */
static inline sample_id world_read_by(
	struct sched_job *job, uint32_t epoch, uint32_t position, uint64_t reader)
{
	struct sched_handle *handle = NULL;
	cr_assert_eq(0, world_open_by(job, epoch, position, reader, &handle));
	sched_validate(world_of);
	sample_id sample = sched_handle_sample(handle);
	cr_assert_eq(WORLD_TENSOR, sched_handle_tensor(handle)->bytes);
	sched_release(handle);
	sched_validate(world_of);
	return sample;
}

static inline sample_id world_read(
	struct sched_job *job, uint32_t epoch, uint32_t position)
{
	return world_read_by(job, epoch, position, 0);
}

/* Checks that every sample came exactly once. */
static inline void world_check_permutation(const sample_id *samples, uint32_t n)
{
	bool *seen = calloc(n, sizeof(*seen));
	for (uint32_t i = 0; i < n; i++) {
		cr_assert_lt(samples[i], n);
		cr_assert_not(seen[samples[i]], "sample %u twice", samples[i]);
		seen[samples[i]] = true;
	}
	free(seen);
}

static inline void world_check_nothing_held(struct world *world)
{
	sched_stats(world->sched);
	cr_assert_eq(0, stats_get(STAT_CACHE_PINS), "%d pins",
		(int)stats_get(STAT_CACHE_PINS));
	cr_assert_eq(0, stats_get(STAT_CACHE_NEED));
	cr_assert_eq(0, stats_get(STAT_STREAMS));
}
