// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "sched/gauges.h"
#include "sched/sched_internal.h"
#include "stats/stats.h"
#include "watch/watch.h"

#include <errno.h>
#include <string.h>

_Static_assert(HISTORY_NEEDS == SCHED_NEEDS, "needs are kept as the cache counts them");

static void read_jobs_locked(struct sched *sched, struct history_reading *ret)
{
	struct sched_job *job;
	lock_assert_held(&sched->lock);
	past_begin_locked(sched->past, ret);
	TAILQ_FOREACH (job, &sched->jobs, link) {
		job_count_waits_locked(job, clock_now_ns());
		past_read_locked(sched->past, &job->watch, ret);
	}
}

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

void reading_take(struct sched *sched, uint64_t now_ns)
{
	struct history_reading reading;
	if (!past_is_due(sched->past, now_ns))
		return;
	read_daemon(sched, &reading);
	reading.ns = now_ns;
	lock_take(&sched->lock);
	read_jobs_locked(sched, &reading);
	lock_release(&sched->lock);
	past_add(sched->past, &reading);
}

static uint32_t read_now(
	struct sched *sched, struct last_hour *past, struct history_reading *ret)
{
	read_daemon(sched, ret);
	LOCK_SCOPE(&sched->lock);
	ret->ns = clock_now_ns();
	read_jobs_locked(sched, ret);
	return sched->n_jobs - past_copy_places_locked(sched->past, past);
}

int sched_past(struct sched *sched, struct last_hour **ret)
{
	struct history_reading now;
	struct last_hour *past = calloc(1, sizeof(*past));
	if (!past)
		return -ENOMEM;
	past_copy_readings(sched->past, past);
	past->untold = read_now(sched, past, &now);
	/* A very recent last reading is replaced by `now`: a rate over so short a time would rest
	 * on hardly any samples. */
	if (past->n > 1 && now.ns < past->readings[past->n - 1].ns + HISTORY_STEP_NS / 4)
		past->n--;
	past->readings[past->n++] = now;
	*ret = past;
	return 0;
}
