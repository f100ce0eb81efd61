// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "sched/positions.h"
#include "sched/sched_internal.h"
#include "sched/section_internal.h"

/* Positions that readers had opened of a daemon before this one. */

#define CONSUMED_AT_ONCE 64

static void consume_some(
	struct sched_job *job, uint32_t epoch, uint32_t position, uint32_t n)
{
	struct aftermath aftermath;
	aftermath_init(&aftermath);
	lock_take(&job->sched->lock);
	for (uint32_t i = 0; i < n; i++) {
		struct effects effects;
		effects_init(&effects);
		epochs_released_before(
			job->epochs, epoch, position + i, clock_now_ns(), &effects);
		effects_execute_locked(job, &effects, &aftermath);
	}
	if (job->journal)
		aftermath.flush = job;
	sched_unlock(job->sched, &aftermath);
}

void sched_consume(struct sched_job *job, uint32_t epoch, uint32_t position, uint32_t n)
{
	while (n > 0) {
		uint32_t some = n < CONSUMED_AT_ONCE ? n : CONSUMED_AT_ONCE;
		consume_some(job, epoch, position, some);
		position += some;
		n -= some;
	}
}
