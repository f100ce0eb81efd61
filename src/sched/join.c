// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "sched/sched_internal.h"

#include <errno.h>

/* How a job comes to its sampler: sampler_joining_prepare runs between the two, without
 * the lock. */

static struct sampler *sampler_of(const struct sched_job *job)
{
	if (job_is_fed(job))
		return NULL;
	switch (job_kind(job)) {
	case EPOCHS_DRAWN:
		return job->source->shuffled;
	case EPOCHS_DRAWN_AT_OPEN:
		return job->source->labelled;
	case EPOCHS_FIXED:
	case EPOCHS_MIRRORED:
		break;
	}
	return NULL;
}

/* With the same seed as before, a daemon that is started again would draw again the
 * numbers that the epochs so far were drawn with. */
static void stir_locked(struct sched_job *job)
{
	struct epochs_status epochs;
	lock_assert_held(&job->sched->lock);
	epochs_status(job->epochs, &epochs);
	if (!epochs.started)
		return;
	uint64_t progress = (uint64_t)epochs.bound << 32 | epochs.consumed;
	uint64_t where = rng_mix(epochs.epoch, progress);
	sampler_stir(job->sampler, rng_mix(job->id, where));
}

int join_finish_locked(struct sched_job *job, struct sampler_joining *joining)
{
	struct sampler *sampler = sampler_of(job);
	lock_assert_held(&job->sched->lock);
	if (!sampler)
		return 0;
	int err = sampler_join_prepared(sampler, job->id, job->space->number, joining);
	if (err)
		return err;
	job->sampler = sampler;
	stir_locked(job);
	return 0;
}

static int get_space(struct sched_job *job)
{
	struct space *spare = NULL;
	int err = space_make(job->source, &job->config.preparation, &spare);
	if (err)
		return err;
	lock_take(&job->sched->lock);
	job->space = space_get_locked(&spare);
	lock_release(&job->sched->lock);
	space_free(spare);
	return 0;
}

int join_begin(struct sched_job *job, struct sampler_joining **ret)
{
	const struct sampler *sampler = sampler_of(job);
	int err = job->space ? 0 : get_space(job);
	if (err)
		return err;
	LOCK_SCOPE(&job->sched->lock);
	return sampler ? sampler_joining_new(
				 sampler, job->space->number, job->selection, ret)
		       : 0;
}
