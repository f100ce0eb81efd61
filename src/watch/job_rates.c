// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "edition/edition.h"
#include "sched/gauges.h"
#include "sched/sched_internal.h"
#include "watch/watch.h"

#include <string.h>

#define SECOND_NS UINT64_C(1000000000)

/* Advances the ring of counts per second to now, and clears the seconds without a count. */
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

double job_rate_locked(struct sched_job *job)
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
