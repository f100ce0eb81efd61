// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/positions.h"
#include "sched/sched_internal.h"
#include "epoch/questions.h"

static enum epoch_state state_of(struct sched_job *job, uint32_t epoch)
{
	LOCK_SCOPE(&job->sched->lock);
	return epochs_state(job->is.epochs, epoch);
}

/* Returns the position's sample; SAMPLE_NONE: the engine does not know the sample. *ret_saved: the
 * epoch, if only its saved order has the sample; otherwise SCHED_CURRENT. */
static sample_id bound(
	struct sched_job *job, uint32_t epoch, uint32_t position, uint32_t *ret_saved)
{
	LOCK_SCOPE(&job->sched->lock);
	*ret_saved = SCHED_CURRENT;
	if (epoch == SCHED_CURRENT)
		epoch = epochs_current(job->is.epochs, position);
	if (epoch >= config_job_epochs(&job->is.config) ||
		position >= epochs_set(job->is.epochs, epoch)->positions)
		return SAMPLE_NONE;
	sample_id sample = epochs_bound(job->is.epochs, epoch, position);
	bool saved = sample == SAMPLE_NONE &&
		     epochs_state(job->is.epochs, epoch) == EPOCH_SAVED;
	*ret_saved = saved ? epoch : SCHED_CURRENT;
	return sample;
}

sample_id sched_bound(struct sched_job *job, uint32_t epoch, uint32_t position)
{
	uint32_t saved;
	sample_id sample = bound(job, epoch, position, &saved);
	if (saved != SCHED_CURRENT &&
		order_look_up(job->is.directory, saved, position, &sample) != 0)
		return SAMPLE_NONE;
	return sample;
}

bool sched_bound_is_saved(struct sched_job *job, uint32_t epoch, uint32_t position)
{
	uint32_t saved;
	(void)bound(job, epoch, position, &saved);
	return saved != SCHED_CURRENT;
}

bool sched_has_begun(struct sched_job *job, uint32_t epoch)
{
	return epoch != SCHED_CURRENT && state_of(job, epoch) != EPOCH_UNKNOWN;
}

bool sched_has_order(struct sched_job *job, uint32_t epoch)
{
	LOCK_SCOPE(&job->sched->lock);
	enum epoch_state state = epochs_state(job->is.epochs, epoch);
	return state == EPOCH_SAVED ||
	       (state == EPOCH_LIVE && epochs_order(job->is.epochs, epoch).bound > 0);
}

/* Copies up to n bindings, from the k-th on, of an epoch in memory. Returns false if the epoch is
 * not in memory; it may have a saved order. */
static bool copy_bindings(struct sched_job *job, uint32_t epoch, uint32_t k, uint32_t n,
	struct binding *ret, uint32_t *ret_n)
{
	LOCK_SCOPE(&job->sched->lock);
	if (epochs_state(job->is.epochs, epoch) != EPOCH_LIVE)
		return false;
	struct order order = epochs_order(job->is.epochs, epoch);
	uint32_t i;
	for (i = 0; i < n && k + i < order.bound; i++)
		ret[i] = order_binding(&order, k + i);
	*ret_n = i;
	return true;
}

uint32_t sched_bindings(struct sched_job *job, uint32_t epoch, uint32_t k, uint32_t n,
	struct binding *ret)
{
	uint32_t found = 0;
	if (copy_bindings(job, epoch, k, n, ret, &found))
		return found;
	if (state_of(job, epoch) != EPOCH_SAVED ||
		order_bindings(job->is.directory, epoch, k, n, ret, &found) != 0)
		return 0;
	return found;
}

bool sched_binding(struct sched_job *job, uint32_t epoch, uint32_t k, struct binding *ret)
{
	return sched_bindings(job, epoch, k, 1, ret) == 1;
}
