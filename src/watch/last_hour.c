// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "sched/gauges.h"
#include "sched/last_hour.h"
#include "sched/sched_internal.h"
#include "watch/watch.h"
#include "stats/stats.h"

#include <errno.h>
#include <string.h>

#define HOUR_NS UINT64_C(3600000000000)

_Static_assert(HISTORY_CAUSES == WAIT_CAUSES, "all causes of waits are kept");
_Static_assert(HISTORY_NEEDS == SCHED_NEEDS, "needs are kept as the cache counts them");

struct place {
	struct sched_past_job is;
	struct history_job last; /* last figures of a removed job */
};

struct past {
	struct history *history;
	uint64_t due_ns; /* time of the next reading; only the housekeeper uses it */
	job_id ids[HISTORY_JOBS]; /* (sched's lock) jobs in the places; 0: free */
	struct place places[HISTORY_JOBS]; /* (sched's lock) */
};

int past_new(struct past **ret)
{
	const struct history_reading first = {.ns = clock_now_ns()};
	struct past *past = calloc(1, sizeof(*past));
	if (!past || history_new(&past->history) != 0) {
		free(past);
		return -ENOMEM;
	}
	history_add(past->history, &first);
	past->due_ns = first.ns + HISTORY_STEP_NS;
	*ret = past;
	return 0;
}

void past_free(struct past **past)
{
	if (!*past)
		return;
	history_free(&(*past)->history);
	free(*past);
	*past = NULL;
}

/* --- places ----------------------------------------------------------------------------- */

/* Returns the job's place; HISTORY_JOBS: it has none. */
static size_t place_of(const struct past *past, job_id id)
{
	/* The search begins at the place where most jobs are: ids begin at 1. */
	for (size_t i = 0; id != 0 && i < HISTORY_JOBS; i++) {
		size_t place = (id - 1 + i) % HISTORY_JOBS;
		if (past->ids[place] == id)
			return place;
	}
	return HISTORY_JOBS;
}

/* Frees a place. From now on, tensors prepared for its job count as prepared for a job
 * without a place. */
static void vacate(struct past *past, size_t place)
{
	for (size_t i = 0; i < HISTORY_JOBS; i++) {
		uint64_t *prepared_for = past->places[i].is.prepared_for;
		prepared_for[HISTORY_JOBS] += prepared_for[place];
		prepared_for[place] = 0;
	}
	past->ids[place] = 0;
	past->places[place] = (struct place){0};
}

/* Tells whether `place` suits a new job better than `other`: it is free, or its job was
 * removed earlier. */
static bool is_better(const struct past *past, size_t place, size_t other)
{
	const struct sched_past_job *job = &past->places[place].is;
	const struct sched_past_job *best = &past->places[other].is;
	if (past->ids[place] == 0 || past->ids[other] == 0)
		return past->ids[other] != 0;
	return job->gone_ns != 0 && (best->gone_ns == 0 || job->gone_ns < best->gone_ns);
}

void past_join_locked(const struct sched_job *job)
{
	struct past *past = job->sched->past;
	size_t place = place_of(past, job->id); /* of the last job with this id */
	lock_assert_held(&job->sched->lock);
	if (place == HISTORY_JOBS) {
		place = 0;
		for (size_t i = 1; i < HISTORY_JOBS; i++)
			if (is_better(past, i, place))
				place = i;
		if (past->ids[place] != 0 && past->places[place].is.gone_ns == 0)
			return;
	}
	struct sched_past_job *is = &past->places[place].is;
	vacate(past, place);
	past->ids[place] = job->id;
	is->added_ns = clock_now_ns();
	snprintf(is->name, sizeof(is->name), "%s", job->config.name);
	snprintf(is->dataset, sizeof(is->dataset), "%s", job->config.dataset);
}

static void read_job_locked(struct sched_job *job, struct history_job *ret)
{
	lock_assert_held(&job->sched->lock);
	*ret = (struct history_job){.served = job->totals.served,
		.decoded = job->totals.decoded,
		.shared = job->totals.shared,
		.hit = job->totals.hit};
	waits_count_locked(job, clock_now_ns());
	waits_exposed_locked(job, ret->exposed_ns);
}

void past_leave_locked(struct sched_job *job)
{
	struct past *past = job->sched->past;
	size_t place = place_of(past, job->id);
	lock_assert_held(&job->sched->lock);
	if (place == HISTORY_JOBS)
		return;
	past->places[place].is.gone_ns = clock_now_ns();
	read_job_locked(job, &past->places[place].last);
}

void past_given_locked(const struct sched_job *job, uint32_t made_for)
{
	struct past *past = job->sched->past;
	size_t place = place_of(past, job->id);
	lock_assert_held(&job->sched->lock);
	if (place < HISTORY_JOBS)
		past->places[place].is.prepared_for[place_of(past, made_for)]++;
}

/* --- readings --------------------------------------------------------------------------- */

static void forget_locked(struct sched *sched, uint64_t now_ns)
{
	struct past *past = sched->past;
	lock_assert_held(&sched->lock);
	for (size_t i = 0; i < HISTORY_JOBS; i++) {
		uint64_t gone_ns = past->places[i].is.gone_ns;
		if (gone_ns != 0 && now_ns - gone_ns > HOUR_NS)
			vacate(past, i);
	}
}

static void read_jobs_locked(struct sched *sched, struct history_reading *ret)
{
	const struct past *past = sched->past;
	struct sched_job *job;
	lock_assert_held(&sched->lock);
	for (size_t i = 0; i < HISTORY_JOBS; i++)
		ret->jobs[i] = past->places[i].last;
	TAILQ_FOREACH (job, &sched->jobs, link) {
		size_t place = place_of(past, job->id);
		if (place < HISTORY_JOBS)
			read_job_locked(job, &ret->jobs[place]);
	}
}

/* Reads the figures of the daemon as a whole, without the jobs. */
static void read_daemon(struct sched *sched, struct history_reading *ret)
{
	struct sched_cache cache;
	sched_cache(sched, &cache);
	*ret = (struct history_reading){.served = stats_get(STAT_SERVED),
		.decodes = stats_get(STAT_DECODES),
		.cache_held = cache.held,
		.cache_pinned = cache.pinned};
	if (cache.by_need)
		memcpy(ret->cache_needed, cache.needed, sizeof(ret->cache_needed));
}

void past_pass(struct sched *sched, uint64_t now_ns)
{
	struct history_reading reading;
	if (now_ns < sched->past->due_ns)
		return;
	sched->past->due_ns = now_ns + HISTORY_STEP_NS;
	read_daemon(sched, &reading);
	reading.ns = now_ns;
	lock_take(&sched->lock);
	forget_locked(sched, now_ns);
	read_jobs_locked(sched, &reading);
	lock_release(&sched->lock);
	history_add(sched->past->history, &reading);
}

static uint32_t read_now(
	struct sched *sched, struct sched_past *past, struct history_reading *ret)
{
	uint32_t here = 0;
	read_daemon(sched, ret);
	LOCK_SCOPE(&sched->lock);
	ret->ns = clock_now_ns();
	read_jobs_locked(sched, ret);
	for (size_t i = 0; i < HISTORY_JOBS; i++) {
		past->jobs[i] = sched->past->places[i].is;
		here += past->jobs[i].name[0] != '\0' && past->jobs[i].gone_ns == 0;
	}
	return sched->n_jobs - here;
}

int sched_past(struct sched *sched, struct sched_past **ret)
{
	struct history_reading now;
	struct sched_past *past = calloc(1, sizeof(*past));
	if (!past)
		return -ENOMEM;
	past->n = history_copy(sched->past->history, past->readings);
	past->untold = read_now(sched, past, &now);
	/* Two readings in quick succession would give a rate from hardly any samples. */
	if (past->n > 1 && now.ns < past->readings[past->n - 1].ns + HISTORY_STEP_NS / 4)
		past->n--;
	past->readings[past->n++] = now;
	*ret = past;
	return 0;
}
