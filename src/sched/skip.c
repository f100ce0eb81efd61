// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/log.h"
#include "edition/edition.h"
#include "sched/positions.h"
#include "sched/skipping.h"
#include "stats/stats.h"
#include "epoch/questions.h"

#include <errno.h>
#include <inttypes.h>

#define STEP_SAMPLES 64

/* Tells whether samples can still be left out of the epoch: its stream is being made, and no reader
 * has bound a position. Two kinds of positions are bound without a reader: the `done` positions
 * that were already left out, and positions that keep the sample of the previous epoch. */
static bool may_skip_locked(const struct sched_job *job, uint32_t epoch, uint32_t done)
{
	lock_assert_held(&job->sched->lock);
	return !job->removed && !job->sched->stopping &&
	       edition_of_locked(&job->is, epoch) == job->is.now &&
	       epochs_wants_stream_of(job->is.epochs, epoch) &&
	       epochs_order(job->is.epochs, epoch).bound ==
		       done + epochs_adopted(job->is.epochs, epoch);
}

static uint32_t skip_locked(
	struct sched_job *job, uint32_t epoch, struct aftermath *aftermath)
{
	const struct skip_plan *plan = job->skips.plan;
	uint32_t done = 0;
	lock_assert_held(&job->sched->lock);
	for (uint32_t i = 0; plan && i < plan->n && may_skip_locked(job, epoch, done);
		i++) {
		struct effects effects;
		effects_init(&effects);
		int err = epochs_skip(job->is.epochs, epoch, plan->bindings[i].position,
			plan->bindings[i].sample, &effects);
		if (err == -EEXIST)
			continue;
		if (err)
			break;
		done++;
		effects_execute_locked(job, &effects, aftermath);
		if (i % STEP_SAMPLES == STEP_SAMPLES - 1)
			lock_yield(&job->sched->lock);
	}
	return done;
}

void skip_epoch(struct sched_job *job, uint32_t epoch)
{
	struct aftermath aftermath;
	if (!job->skips.bad)
		return;
	skip_update(job);
	sched_lock(job->sched, &aftermath);
	uint32_t n = skip_locked(job, epoch, &aftermath);
	sched_unlock(&aftermath);
	stats_add(STAT_SKIPPED, n);
	if (n > 0)
		log_info("job %s: epoch %" PRIu32 " has %" PRIu32 " of %" PRIu32
			 " samples; %" PRIu32 " are bad",
			job->is.config.name, epoch, job->is.now->set.positions - n,
			job->is.now->set.positions, n);
}

/* Returns the epoch that a script which begins now would read in current/. */
static uint32_t current_locked(const struct sched_job *job)
{
	struct epochs_status status;
	lock_assert_held(&job->sched->lock);
	epochs_status(job->is.epochs, &status);
	bool read = status.started &&
		    status.bound >= job->is.now->set.positions - status.bound &&
		    status.epoch + 1 < config_job_epochs(&job->is.config);
	return status.epoch + read;
}

/* Returns the positions that the epoch leaves out, or would leave out if it began now. */
static const roaring_bitmap_t *skipped_locked(const struct sched_job *job, uint32_t epoch)
{
	const struct skip_plan *plan = job->skips.plan;
	lock_assert_held(&job->sched->lock);
	if (epoch == SCHED_CURRENT)
		epoch = current_locked(job);
	if (epochs_state(job->is.epochs, epoch) == EPOCH_UNKNOWN ||
		may_skip_locked(job, epoch, 0))
		return plan ? plan->positions : NULL;
	return epochs_skipped(job->is.epochs, epoch);
}

uint32_t sched_skipped(
	struct sched_job *job, uint32_t epoch, uint32_t position, uint32_t n)
{
	if (!job->skips.bad)
		return 0;
	LOCK_SCOPE(&job->sched->lock);
	const roaring_bitmap_t *positions = skipped_locked(job, epoch);
	return positions ? (uint32_t)roaring_bitmap_range_cardinality(
				   positions, position, (uint64_t)position + n)
			 : 0;
}

uint64_t sched_skipped_mark(struct sched_job *job, uint32_t epoch)
{
	uint64_t mark = 0;
	LOCK_SCOPE(&job->sched->lock);
	const roaring_bitmap_t *positions = skipped_locked(job, epoch);
	if (!positions)
		return 0;
	roaring_uint32_iterator_t iterator;
	roaring_init_iterator(positions, &iterator);
	for (; iterator.has_value; roaring_advance_uint32_iterator(&iterator))
		mark += (uint64_t)iterator.current_value + 1;
	return mark;
}
