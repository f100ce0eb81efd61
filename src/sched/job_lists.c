// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "draw/draw.h"
#include "edition/edition.h"
#include "sched/datasets.h"
#include "sched/jobs.h"
#include "sched/skipping.h"

#include <errno.h>
#include <string.h>

static void job_free(struct sched_job *job)
{
	struct edition *edition;
	epochs_free(&job->is.epochs);
	journal_close(&job->is.journal);
	while ((edition = TAILQ_FIRST(&job->is.editions))) {
		TAILQ_REMOVE(&job->is.editions, edition, link);
		edition_free(edition);
	}
	sched_after(job->sched);
	feeds_free(&job->feeds);
	free(job->watch.trace);
	skip_free(job);
	config_job_free(&job->is.config);
	free(job->is.directory);
	free(job);
}

struct sched_job *sched_job_hold(struct sched_job *job)
{
	atomic_fetch_add(&job->references, 1);
	return job;
}

void sched_job_put(struct sched_job *job)
{
	if (atomic_fetch_sub(&job->references, 1) == 1)
		job_free(job);
}

struct sched_job *job_find_locked(struct sched *sched, const char *name, job_id id)
{
	struct sched_job *job;
	lock_assert_held(&sched->lock);
	TAILQ_FOREACH (job, &sched->jobs, link) {
		if (name ? strcmp(job->is.config.name, name) == 0 : job->is.id == id)
			return job;
	}
	return NULL;
}

struct sched_job *sched_job_find(struct sched *sched, const char *name)
{
	LOCK_SCOPE(&sched->lock);
	struct sched_job *job = job_find_locked(sched, name, 0);
	return job ? sched_job_hold(job) : NULL;
}

struct sched_job *sched_job_find_id(struct sched *sched, job_id id)
{
	LOCK_SCOPE(&sched->lock);
	struct sched_job *job = job_find_locked(sched, NULL, id);
	return job ? sched_job_hold(job) : NULL;
}

int sched_job_ids(struct sched *sched, job_id **ret, size_t *ret_n)
{
	LOCK_SCOPE(&sched->lock);
	job_id *ids = calloc(sched->n_jobs + 1, sizeof(*ids));
	struct sched_job *job;
	size_t n = 0;
	if (!ids)
		return -ENOMEM;
	TAILQ_FOREACH (job, &sched->jobs, link)
		ids[n++] = job->is.id;
	*ret = ids;
	*ret_n = n;
	return 0;
}

void jobs_visit(struct sched *sched, void visit(struct sched_job *job))
{
	auto_free job_id *ids = NULL;
	size_t n = 0;
	if (sched_job_ids(sched, &ids, &n) != 0)
		return;
	for (size_t i = 0; i < n; i++) {
		auto_job *job = sched_job_find_id(sched, ids[i]);
		if (job)
			visit(job);
	}
}

job_id sched_job_id(const struct sched_job *job)
{
	return job->is.id;
}

const struct job_config *sched_job_config(const struct sched_job *job)
{
	return &job->is.config;
}

uint32_t sched_dataset_jobs(struct sched *sched, const struct dataset *dataset)
{
	LOCK_SCOPE(&sched->lock);
	const struct sched_job *job;
	uint32_t n = 0;
	TAILQ_FOREACH (job, &sched->jobs, link)
		n += edition_part_of(job->is.now, dataset) != NULL;
	return n;
}

void clerk_request_locked(struct sched_job *job)
{
	struct sched *sched = job->sched;
	lock_assert_held(&sched->lock);
	if (job->clerk_wanted)
		return;
	(void)sched_job_hold(job);
	job->clerk_wanted = true;
	TAILQ_INSERT_TAIL(&sched->for_clerk, job, clerk_link);
	pthread_cond_signal(&sched->clerk_cond);
}

void clerk_wait_for_last(struct sched_job *job)
{
	LOCK_SCOPE(&job->sched->lock);
	while (job->clerk_wanted)
		lock_wait(&job->sched->lock, &job->sched->clerk_done_cond);
}
