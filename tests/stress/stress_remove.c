// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/*
 * A job, now and then one of two datasets, is removed and added while readers read it. Each open
 * holds its reader's only reference to the job, and gives it back when it gets its answer, as a
 * mount does. So the job ends in the middle of other work. With a look-ahead of one, each open
 * draws. In the end no pin and no need may be left.
 */

#include "../tiny_dataset.h"
#include "base/rng.h"
#include "sched/gauges.h"
#include "sched/jobs.h"
#include "sched/positions.h"
#include "sched/sched.h"
#include "stats/stats.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define SAMPLES 60
#define SIDE 8
#define READERS 3
#define REMOVALS 150
#define MOST_OPEN 16

static struct dataset *datasets[2];
static struct sched *sched;
static atomic_bool done;
static atomic_uint open_now, opened_at_all, given_up;

static void on_opened(void *context, const struct sched_opened *opened)
{
	struct sched_job *job = context;
	if (opened->status == 0)
		sched_release(opened->handle);
	else
		atomic_fetch_add(&given_up, 1);
	sched_job_put(job);
	atomic_fetch_add(&opened_at_all, 1);
	atomic_fetch_sub(&open_now, 1);
}

static bool is_expected(int err)
{
	return err == -ENODEV || err == -ESTALE || err == -EAGAIN;
}

static void open_one(struct sched_job *job, uint32_t position, uint64_t reader)
{
	struct sched_open_callbacks callbacks = {.opened = on_opened,
		.context = job,
		.reader.who = {.thread = reader, .rank = 1, .script = 1}};
	atomic_fetch_add(&open_now, 1);
	int err = sched_open(job, SCHED_CURRENT, position, &callbacks);
	if (!err)
		return;
	ensure(is_expected(err));
	atomic_fetch_sub(&open_now, 1);
	sched_job_put(job);
}

static void *read_on(void *context)
{
	static atomic_uint next;
	uint64_t reader = (uintptr_t)context;
	while (!atomic_load(&done)) {
		struct sched_job *job = NULL;
		if (atomic_load(&open_now) < MOST_OPEN)
			job = sched_job_find(sched, "job");
		if (job)
			open_one(job, atomic_fetch_add(&next, 1) % SAMPLES, reader);
		else
			sched_yield();
	}
	return NULL;
}

static void report(void *context, const char *message)
{
	(void)context;
	fprintf(stderr, "%s\n", message);
}

static void add_job(uint32_t i)
{
	static char file[] = "stress.ini", name[] = "job", of[] = "tiny", raw[] = "raw";
	static char mixed[] = "tiny,more", half[] = "id % 2 = 0";
	bool mixes = i % 4 == 2;
	struct job_config config = {.file = file,
		.weight = 1,
		.name = name,
		.dataset = mixes ? mixed : of,
		.where = mixes ? half : NULL,
		.extension = raw,
		.format = FORMAT_RAW,
		.layout = i % 4 == 3 ? LAYOUT_CLASSES : LAYOUT_FLAT,
		.epochs = 9,
		.idle_s = 600,
		.lookahead = 1 + i % 3,
		.keep_epochs = 2};
	ensure(sched_job_add(sched, &config, false, report, NULL) == 0);
}

static void remove_again_and_again(void)
{
	struct rng rng;
	rng_seed(&rng, 1);
	for (uint32_t i = 0; i < REMOVALS; i++) {
		unsigned enough = atomic_load(&opened_at_all) +
				  (unsigned)rng_below(&rng, 2 * SAMPLES);
		add_job(i);
		while (atomic_load(&opened_at_all) < enough)
			sched_yield();
		ensure(sched_job_remove(sched, "job") == 0);
	}
}

static void run_with(const struct daemon_config *config)
{
	pthread_t readers[READERS];
	struct daemon_config own = *config;
	ensure(sched_new(&own, datasets, 2, &sched) == 0);
	atomic_store(&done, false);
	for (uintptr_t i = 0; i < READERS; i++)
		ensure(pthread_create(&readers[i], NULL, read_on, (void *)(i + 1)) == 0);
	remove_again_and_again();
	atomic_store(&done, true);
	for (int i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	while (atomic_load(&open_now) > 0)
		sched_yield();
	sched_validate(sched);
	sched_stats(sched);
	ensure(stats_get(STAT_CACHE_PINS) == 0 && stats_get(STAT_CACHE_NEED) == 0);
	sched_stop(sched);
	sched_free(&sched);
}

int main(void)
{
	char directory[] = "/tmp/joaderfs-stress.XXXXXX", path[64], state[64];
	char name[] = "tiny", other[] = "more", extensions[] = "png";
	ensure(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/data", directory);
	snprintf(state, sizeof(state), "%s/state", directory);
	struct dataset_config dataset_config = {
		.name = name, .path = path, .extensions = extensions};
	struct daemon_config config = {.cache_bytes = 12 * 3 * SIDE * SIDE,
		.eviction = EVICTION_REFCNT,
		.sampler = SAMPLER_DSA,
		.workers = 2,
		.seed = 1,
		.state = state};
	tiny_dataset(path, 3, SAMPLES, SIDE);
	ensure(mkdir(state, 0755) == 0);
	ensure(dataset_open(&dataset_config, state, NULL, &datasets[0]) == 0);
	dataset_config.name = other;
	ensure(dataset_open(&dataset_config, state, NULL, &datasets[1]) == 0);
	run_with(&config);
	config.sampler = SAMPLER_EXCHANGE;
	run_with(&config);
	dataset_close(&datasets[0]);
	dataset_close(&datasets[1]);
	tiny_remove(directory);
	printf("stress_remove: %u opens, %u of a removed job\n", opened_at_all, given_up);
	return 0;
}
