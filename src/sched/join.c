// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/sched_internal.h"

#include <errno.h>

/* How a job comes to its sampler: sampler_joining_prepare runs between the two, without
 * the lock. */

static struct sampler *sampler_of(const struct sched_job *job)
{
	switch (job_kind(job)) {
	case EPOCHS_DRAWN:
		return job->config.order == ORDER_SEQUENTIAL ? job->source->sequential
							     : job->source->shuffled;
	case EPOCHS_DRAWN_AT_OPEN:
		return job->source->labelled;
	case EPOCHS_FIXED:
	case EPOCHS_MIRRORED:
		break;
	}
	return NULL;
}

int join_finish_locked(struct sched_job *job, struct sampler_joining *joining)
{
	struct sampler *sampler = sampler_of(job);
	lock_assert_held(&job->sched->lock);
	if (!sampler)
		return 0;
	int err = sampler_join_prepared(sampler, job->id, job->space->number, joining);
	if (!err)
		job->sampler = sampler;
	return err;
}

int join_begin(struct sched_job *job, struct sampler_joining **ret)
{
	const struct sampler *sampler = sampler_of(job);
	LOCK_SCOPE(&job->sched->lock);
	if (!job->space)
		job->space = space_get_locked(job->source, &job->config.preparation);
	if (!job->space)
		return -ENOMEM;
	return sampler ? sampler_joining_new(
				 sampler, job->space->number, job->selection, ret)
		       : 0;
}
