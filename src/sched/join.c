// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "sched/sched_internal.h"

#include <errno.h>

/* How a job comes to its sampler: sampler_joining_prepare runs between the two, without
 * the lock. */

static struct sampler *sampler_of(const struct edition *edition)
{
	const struct sched_job *job = edition->job;
	if (job_is_fed(job))
		return NULL;
	switch (job_kind(job)) {
	case EPOCHS_DRAWN:
		return edition->source->shuffled;
	case EPOCHS_DRAWN_AT_OPEN:
		return edition->source->labelled;
	case EPOCHS_FIXED:
	case EPOCHS_MIRRORED:
		break;
	}
	return NULL;
}

/* With the same seed as before, a daemon that is started again would draw again the
 * numbers that the epochs so far were drawn with. */
static void stir_locked(const struct edition *edition)
{
	const struct sched_job *job = edition->job;
	struct epochs_status epochs;
	lock_assert_held(&job->sched->lock);
	epochs_status(job->epochs, &epochs);
	if (!epochs.started)
		return;
	uint64_t progress = (uint64_t)epochs.bound << 32 | epochs.consumed;
	uint64_t where = rng_mix(epochs.epoch, progress);
	sampler_stir(edition->sampler, rng_mix(job->id, where));
}

int join_finish_locked(struct edition *edition, struct sampler_joining *joining)
{
	struct sampler *sampler = sampler_of(edition);
	lock_assert_held(&edition->job->sched->lock);
	if (!sampler)
		return 0;
	int err = sampler_join_prepared(
		sampler, edition->job->id, edition->space->number, joining);
	if (err)
		return err;
	edition->sampler = sampler;
	edition->joined = true;
	stir_locked(edition);
	return 0;
}

static int get_space(struct edition *edition)
{
	struct sched *sched = edition->job->sched;
	struct space *spare = NULL;
	int err = space_make(edition->source, &edition->job->config.preparation, &spare);
	if (err)
		return err;
	lock_take(&sched->lock);
	edition->space = space_get_locked(&spare);
	lock_release(&sched->lock);
	space_free(spare);
	return 0;
}

int join_begin(struct edition *edition, struct sampler_joining **ret)
{
	const struct sampler *sampler = sampler_of(edition);
	int err = edition->space ? 0 : get_space(edition);
	if (err)
		return err;
	LOCK_SCOPE(&edition->job->sched->lock);
	return sampler ? sampler_joining_new(
				 sampler, edition->space->number, edition->selection, ret)
		       : 0;
}

static int finish(struct edition *edition, struct sampler_joining *joining)
{
	LOCK_SCOPE(&edition->job->sched->lock);
	return join_finish_locked(edition, joining);
}

/* Begun again when another job was faster. */
int join(struct edition *edition)
{
	int err;
	do {
		struct sampler_joining *joining = NULL;
		err = join_begin(edition, &joining);
		if (!err && joining)
			err = sampler_joining_prepare(joining);
		if (!err)
			err = finish(edition, joining);
		sampler_joining_free(&joining);
	} while (err == -EAGAIN);
	return err;
}
