// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "edition/edition.h"
#include "sched/drawing.h"
#include "sched/sched_handle.h"
#include "sched/positions.h"
#include "sched/supplying.h"
#include "supply/supply.h"

#include <errno.h>
#include <string.h>

/* Opens samples for other daemons, without a position, an epoch or the job's engine. */

/* Finds a part, of any job, with this dataset and preparation, or NULL. */
static const struct part *find_prepared_locked(
	const struct sched *sched, const struct dataset *dataset, const char *preparation)
{
	struct sched_job *job;
	lock_assert_held(&sched->lock);
	TAILQ_FOREACH (job, &sched->jobs, link) {
		const struct part *part = edition_part_of(job->is.now, dataset);
		if (part && strcmp(part->space->text, preparation) == 0)
			return part;
	}
	return NULL;
}

/* Attaches the handle to the sample. Returns 0 if the open is finished, or if it has to wait
 * (HANDLE_PARKING). -EAGAIN: the sample is being fetched from another daemon. */
static int ask_sample_locked(struct sched_handle *handle, const struct part *part,
	sample_id sample, struct aftermath *aftermath)
{
	const struct wanted *wanted = wanted_find(part->space, sample);
	lock_assert_held(&handle->job->sched->lock);
	if (handle->job->sched->stopping)
		return -ENODEV;
	if (wanted && wanted->fetching)
		return -EAGAIN;
	handle->bare = true;
	handle->answered = true;
	handle->request.sample = part->first + sample;
	int err = handle_attach_locked(handle);
	if (err)
		return err;
	if (handle->wanted)
		handle->wanted->here = true;
	return handle_settle_locked(handle, aftermath);
}

/* Notes that another daemon asks for a sample. Returns false if the cache is full and lacks the
 * sample, and only the asking training needs it. Then the other daemon prepares the sample itself,
 * which saves the transfer. Always returns true for a dataset with a tier, because the tier may
 * have the sample. */
static bool is_given_locked(
	const struct space *space, sample_id sample, struct aftermath *aftermath)
{
	const struct sched *sched = sched_of_source(space->source);
	lock_assert_held(&sched->lock);
	const struct cache_usage *usage = cache_usage(sched->cache);
	uint64_t bytes = memory_tensor_bytes(
		&sched->supply, space->source->dataset, &space->preparation, sample);
	return !draw_fetched_locked(space, sample, aftermath) || space->source->tier ||
	       space_has(space, sample) || cache_need(space->cache, sample) > 0 ||
	       usage->live_bytes + bytes <= usage->capacity;
}

int sched_open_sample(struct sched *sched, const struct dataset *dataset,
	const char *preparation, sample_id sample,
	const struct sched_open_callbacks *callbacks)
{
	struct sched_handle *handle = NULL;
	struct aftermath aftermath;
	if (sample >= dataset_ids(dataset))
		return -EINVAL;
	sched_lock(sched, &aftermath);
	const struct part *part = find_prepared_locked(sched, dataset, preparation);
	int err = part ? -ENOMEM : -ENOENT;
	if (part && !is_given_locked(part->space, sample, &aftermath))
		err = -ENOSPC;
	else if (part &&
		 (handle = handle_new(sched_job_of(part->edition->job), 0, 0, callbacks)))
		err = ask_sample_locked(handle, part, sample, &aftermath);
	if (handle)
		handle_asked(handle, err, &aftermath);
	else
		sched_unlock(&aftermath);
	return err;
}
