// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "edition/edition.h"
#include "sched/gauges.h"
#include "sched/sched_internal.h"
#include "watch/watch.h"

#include <string.h>

/* What a job tells of itself, and how fast it reads. */

#define SECOND_NS UINT64_C(1000000000)

/* A ring of counts per second; seconds in which nothing happened are cleared. */
static void advance_rate_locked(struct sched_job *job, uint64_t now_ns)
{
	lock_assert_held(&job->sched->lock);
	uint64_t second = now_ns / SECOND_NS;
	uint64_t first = job->rate_second + 1;
	if (second >= first + RATE_SECONDS)
		first = second - RATE_SECONDS + 1;
	for (uint64_t i = first; i <= second; i++)
		job->rate[i % RATE_SECONDS] = 0;
	job->rate_second = second;
}

void job_count_consumed_locked(struct sched_job *job, uint64_t now_ns)
{
	lock_assert_held(&job->sched->lock);
	advance_rate_locked(job, now_ns);
	job->rate[job->rate_second % RATE_SECONDS]++;
	job->watched.last_ns = now_ns;
}

static double rate_locked(struct sched_job *job)
{
	lock_assert_held(&job->sched->lock);
	uint64_t now_ns = clock_now_ns();
	advance_rate_locked(job, now_ns);
	uint64_t n = 0;
	for (int i = 0; i < RATE_SECONDS; i++)
		n += job->rate[i];
	double seconds =
		RATE_SECONDS - 1 + (double)(now_ns % SECOND_NS) / (double)SECOND_NS;
	return (double)n / seconds;
}

void job_status_locked(struct sched_job *job, struct sched_job_status *ret)
{
	struct epochs_status epochs;
	lock_assert_held(&job->sched->lock);
	epochs_status(job->epochs, &epochs);
	*ret = job->totals;
	shares_status_locked(job, &ret->share);
	waits_status_locked(job, ret);
	ret->fixed = job->fixed;
	ret->all_bytes = job->now->all_bytes;
	ret->sample_bytes = job->now->sample_bytes;
	ret->samples = epochs_set(job->epochs, epochs.epoch)->positions;
	ret->rate = rate_locked(job);
	ret->parked_idle = epochs.idle;
	ret->drawn = epochs.ahead;
	ret->started = epochs.started;
	ret->running = epochs.running;
	ret->epoch = epochs.epoch;
	ret->bound = epochs.bound;
	ret->consumed = epochs.consumed;
	skip_status_locked(job, ret);
	if (job->unfed_since_ns)
		ret->unfed_ns = clock_now_ns() - job->unfed_since_ns;
	ret->gives_up = job->gives_up;
	memcpy(ret->programs, job->programs, sizeof(ret->programs));
	if (job->watched.last_ns)
		ret->read_ns = clock_now_ns() - job->watched.last_ns;
}

void sched_job_status(struct sched_job *job, struct sched_job_status *ret)
{
	LOCK_SCOPE(&job->sched->lock);
	job_status_locked(job, ret);
}
