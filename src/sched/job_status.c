// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "edition/edition.h"
#include "sched/gauges.h"
#include "sched/sched_internal.h"
#include "watch/watch.h"
#include "epoch/questions.h"

#include <string.h>

void job_status_locked(struct sched_job *job, struct sched_job_status *ret)
{
	struct epochs_status epochs;
	lock_assert_held(&job->sched->lock);
	epochs_status(job->is.epochs, &epochs);
	*ret = job->totals;
	shares_status_locked(job, &ret->share);
	waits_status_locked(job, ret);
	ret->fixed = job->is.fixed;
	ret->all_bytes = job->is.now->all_bytes;
	ret->sample_bytes = job->is.now->sample_bytes;
	ret->samples = epochs_set(job->is.epochs, epochs.epoch)->positions;
	ret->rate = job_rate_locked(job);
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
