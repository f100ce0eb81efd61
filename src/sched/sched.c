// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "base/clock.h"
#include "base/ensure.h"
#include "base/kept.h"
#include "base/own_directory.h"
#include "base/signals.h"
#include "draw/draw.h"
#include "sched/sched_handle.h"
#include "sched/jobs.h"
#include "supply/quarantine.h"
#include "sched/sched.h"
#include "sched/supplying.h"
#include "supply/supply.h"

#include <errno.h>
#include <sys/random.h>

static int make_jobs_directory(const char *state)
{
	auto_free char *path = aprintf("%s/jobs", state);
	return path ? own_directory(path, false) : -ENOMEM;
}

static struct sched *sched_alloc(const struct daemon_config *config)
{
	struct sched *sched = calloc(1, sizeof(*sched));
	if (!sched)
		return NULL;
	sched->config = config;
	lock_init(&sched->lock, LOCK_RANK_SCHED, "sched");
	lock_measure(&sched->lock);
	sched->window_ns = clock_now_ns();
	condition_init(&sched->house_cond);
	condition_init(&sched->clerk_cond);
	condition_init(&sched->clerk_done_cond);
	TAILQ_INIT(&sched->jobs);
	draw_init(&sched->draw);
	TAILQ_INIT(&sched->for_clerk);
	supply_init(&sched->supply, config);
	TAILQ_INIT(&sched->postponed);
	return sched;
}

static int start_threads(struct sched *sched)
{
	struct load_callbacks callbacks = {.next_read = sched_next_read,
		.read = sched_read,
		.next_decode = sched_next_decode,
		.done = sched_load_done,
		.context = sched,
		.next_run = sched_next_run,
		.programs = sched->programs};
	struct load_pool *pool;
	int err = load_pool_new(storage_most_reads(&sched->supply),
		sched->config->workers, &callbacks, &pool);
	if (err)
		return err;
	sched->pool = pool;
	err = signals_thread(&sched->housekeeper, sched_keep_house, sched);
	sched->keeps_house = err == 0;
	if (!err)
		err = signals_thread(&sched->clerk, sched_clerk, sched);
	sched->has_clerk = err == 0;
	return err;
}

static int make_program_loads(struct sched *sched)
{
	size_t n = programs_count(sched->programs);
	struct program_load *loads = calloc(n + 1, sizeof(*loads));
	for (size_t i = 0; loads && i < n; i++)
		loads[i].processes = programs_processes(sched->programs, i);
	sched->supply.program_loads = loads;
	return loads ? 0 : -ENOMEM;
}

int sched_new(const struct daemon_config *config, struct dataset **datasets,
	size_t n_datasets, struct sched **ret)
{
	struct sched *sched = sched_alloc(config);
	if (!sched)
		return -ENOMEM;
	uint64_t seed = config->seed;
	int err = past_new(&sched->lock, &sched->past);
	if (!err && seed == 0 && getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		err = -EIO;
	if (!err)
		err = make_jobs_directory(config->state);
	if (!err)
		err = cache_new(
			config->cache_bytes, config->eviction, seed, &sched->cache);
	sched->supply.cache = sched->cache;
	phases_init(sched);
	if (!err)
		err = quarantine_open(
			config->state, datasets, n_datasets, &sched->quarantine);
	if (!err)
		err = programs_new(config, !kept_is_again(), &sched->programs);
	if (!err)
		err = make_program_loads(sched);
	if (!err)
		err = sources_init(sched, datasets, n_datasets, seed);
	sched->draw.seed = seed;
	if (!err)
		cache_on_gone(sched->cache, sched_cache_gone, sched);
	if (!err)
		err = start_threads(sched);
	if (err) {
		if (sched->cache)
			sched_stop(sched);
		sched_free(&sched);
		return err;
	}
	*ret = sched;
	return 0;
}

void sched_use_backings(
	struct sched *sched, struct backings *backings, sched_head_of *head_of)
{
	LOCK_SCOPE(&sched->lock);
	ensure(sched->n_jobs == 0);
	sched->backings = backings;
	sched->supply.copies = backings != NULL;
	sched->head_of = head_of;
}

void sched_stop(struct sched *sched)
{
	struct aftermath aftermath;
	struct sched_job *job;
	sched_lock(sched, &aftermath);
	sched->stopping = sched->supply.stopping = true;
	pthread_cond_broadcast(&sched->house_cond);
	pthread_cond_broadcast(&sched->clerk_cond);
	TAILQ_FOREACH (job, &sched->jobs, link) {
		struct sched_handle *handle, *next;
		for (handle = TAILQ_FIRST(&job->parked); handle; handle = next) {
			next = TAILQ_NEXT(handle, job_link);
			handle_give_up_locked(handle, -ENODEV, &aftermath);
		}
	}
	sched_unlock(&aftermath);
	if (sched->keeps_house)
		pthread_join(sched->housekeeper, NULL);
	sched->keeps_house = false;
	if (sched->has_clerk)
		pthread_join(sched->clerk, NULL);
	sched->has_clerk = false;
	if (sched->programs)
		programs_stop(sched->programs);
	load_pool_free(&sched->pool);
	tiers_close(sched);
}

static void leave_all_jobs(struct sched *sched)
{
	struct sched_job *job;
	for (;;) {
		struct aftermath aftermath;
		sched_lock(sched, &aftermath);
		job = TAILQ_FIRST(&sched->jobs);
		if (job)
			job_leave_locked(job, &aftermath);
		sched_unlock(&aftermath);
		if (!job)
			return;
		sched_job_put(job);
	}
}

void sched_free(struct sched **sched_pointer)
{
	struct sched *sched = *sched_pointer;
	if (!sched)
		return;
	ensure(sched->pool == NULL); /* sched_stop was called */
	if (sched->cache)
		leave_all_jobs(sched);
	sources_free(sched);
	quarantine_free(&sched->quarantine);
	cache_free(&sched->cache);
	supply_end(&sched->supply);
	free(sched->sources);
	programs_free(&sched->programs);
	past_free(&sched->past);
	draw_free(&sched->draw);
	pthread_cond_destroy(&sched->house_cond);
	pthread_cond_destroy(&sched->clerk_cond);
	pthread_cond_destroy(&sched->clerk_done_cond);
	lock_destroy(&sched->lock);
	free(sched);
	*sched_pointer = NULL;
}
