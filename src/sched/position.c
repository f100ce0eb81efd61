// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/sched_internal.h"
#include "base/clock.h"
#include "base/ensure.h"
#include "stats/stats.h"

#include <errno.h>

/* 0: *ret is the epoch, bound or to be bound there; -EALREADY: it has to be begun first.
 */
static int find_epoch_locked(
	struct sched_job *job, uint32_t number, uint32_t position, struct epoch **ret)
{
	if (job->removed || job->sched->stopping)
		return -ENODEV;
	if (number >= job->config.epochs || position >= job->samples)
		return -ENOENT;
	*ret = job->epochs[number];
	if (*ret)
		return 0;
	return epoch_may_begin_locked(job) ? -EALREADY : -EAGAIN;
}

/* The files are made without the lock; if another thread was faster, its epoch is taken.
 */
static int begin_epoch(struct sched_job *job, uint32_t number)
{
	struct epoch *epoch = NULL;
	struct aftermath aftermath;
	int err = epoch_new(job, number, true, &epoch);
	if (!err)
		err = state_save(job, number);
	aftermath_init(&aftermath);
	lock_take(&job->sched->lock);
	bool wanted = !err && !job->removed && !job->epochs[number] &&
		      epoch_may_begin_locked(job);
	if (wanted)
		epoch_run_locked(epoch, &aftermath);
	sched_unlock(job->sched, &aftermath);
	if (!wanted)
		epoch_free(&epoch);
	return err;
}

/* Returns with the lock held, whatever the result; the position is bound if that is 0. */
static int bind_and_lock(struct sched_job *job, uint32_t number, uint32_t position,
	struct epoch **ret, struct aftermath *aftermath)
{
	int err;
	lock_take(&job->sched->lock);
	while ((err = find_epoch_locked(job, number, position, ret)) == -EALREADY) {
		lock_release(&job->sched->lock);
		err = begin_epoch(job, number);
		lock_take(&job->sched->lock);
		if (err)
			return err;
	}
	if (err)
		return err;
	job->last_read_ns = clock_now_ns();
	if (order_sample(&(*ret)->order, position) != SAMPLE_NONE)
		return 0;
	return epoch_bind_locked(*ret, position, aftermath);
}

static struct sched_handle *handle_new(
	struct sched_job *job, const struct sched_open_callbacks *callbacks)
{
	struct sched_handle *handle = calloc(1, sizeof(*handle));
	if (!handle)
		return NULL;
	atomic_fetch_add(&job->references, 1);
	handle->job = job;
	handle->callbacks = *callbacks;
	return handle;
}

/* The handle pins its sample and counts in its use, until it is detached. */
static int attach_locked(
	struct sched_handle *handle, struct epoch *epoch, uint32_t position)
{
	struct space *space = handle->job->space;
	handle->epoch = epoch;
	handle->position = position;
	handle->sample = order_sample(&epoch->order, position);
	struct use *use = use_get_locked(space, handle->sample);
	if (!use)
		return -ENOMEM;
	if (cache_pin(space->cache, handle->sample) != 0) {
		use_settle_locked(use);
		return -ENOMEM;
	}
	use->opens++;
	handle->use = use;
	struct bound_pin *pin = epoch_pin_locked(epoch, position);
	if (pin)
		pin->opens++;
	return 0;
}

static int take_ticket_locked(struct sched_handle *handle)
{
	struct sched *sched = handle->job->sched;
	handle->ticket = ++sched->next_ticket;
	HASH_ADD(hash, sched->tickets, ticket, sizeof(handle->ticket), handle);
	if (!handle->hash.tbl)
		return -ENOMEM;
	handle->state = HANDLE_PARKING;
	handle->parked_ns = clock_now_ns();
	TAILQ_INSERT_TAIL(&handle->job->parked, handle, job_link);
	return 0;
}

static bool is_ready(const struct sched_handle *handle)
{
	return cache_state(handle->use->key.space->cache, handle->sample) == CACHE_READY;
}

/*
 * The reader learns its ticket without the lock being held. Meanwhile it may have given
 * up, or its job may be gone (status says so); the sample may have become ready, or have
 * failed and be asked for again.
 */
static void park(struct sched_handle *handle)
{
	struct sched *sched = handle->job->sched;
	struct aftermath aftermath;
	aftermath_init(&aftermath);
	if (handle->callbacks.parking)
		handle->callbacks.parking(handle->callbacks.context, handle->ticket);
	lock_take(&sched->lock);
	if (handle->status != 0 || is_ready(handle)) {
		handle_finish_locked(handle, handle->status, &aftermath);
	} else {
		use_request_locked(handle->use, true, &aftermath);
		TAILQ_INSERT_TAIL(&handle->use->waiters, handle, link);
		handle->state = HANDLE_PARKED;
	}
	sched_unlock(sched, &aftermath);
}

static int open_locked(struct sched_job *job, uint32_t number, uint32_t position,
	struct sched_handle *handle, struct aftermath *aftermath)
{
	struct epoch *epoch = NULL;
	int err = bind_and_lock(job, number, position, &epoch, aftermath);
	if (!err)
		err = attach_locked(handle, epoch, position);
	if (err)
		return err;
	if (is_ready(handle)) {
		handle_finish_locked(handle, 0, aftermath);
		return 0;
	}
	err = take_ticket_locked(handle);
	if (err)
		handle_detach_locked(handle, aftermath);
	return err;
}

int sched_open(struct sched_job *job, uint32_t epoch, uint32_t position,
	const struct sched_open_callbacks *callbacks)
{
	struct aftermath aftermath;
	struct sched_handle *handle = handle_new(job, callbacks);
	if (!handle)
		return -ENOMEM;
	aftermath_init(&aftermath);
	int err = open_locked(job, epoch, position, handle, &aftermath);
	bool has_to_park = !err && handle->state == HANDLE_PARKING;
	sched_unlock(job->sched, &aftermath);
	if (err)
		handle_free(handle);
	else if (has_to_park)
		park(handle);
	return err;
}

void sched_cancel(struct sched *sched, uint64_t ticket)
{
	struct aftermath aftermath;
	struct sched_handle *handle;
	aftermath_init(&aftermath);
	lock_take(&sched->lock);
	HASH_FIND(hash, sched->tickets, &ticket, sizeof(ticket), handle);
	if (handle) {
		stats_add(STAT_INTERRUPTS, 1);
		handle_give_up_locked(handle, -EINTR, &aftermath);
	}
	sched_unlock(sched, &aftermath);
}

int sched_bind(
	struct sched_job *job, uint32_t epoch_number, uint32_t position, sample_id *ret)
{
	struct aftermath aftermath;
	struct epoch *epoch = NULL;
	aftermath_init(&aftermath);
	int err = bind_and_lock(job, epoch_number, position, &epoch, &aftermath);
	if (!err)
		*ret = order_sample(&epoch->order, position);
	sched_unlock(job->sched, &aftermath);
	return err;
}

sample_id sched_bound(struct sched_job *job, uint32_t epoch, uint32_t position)
{
	LOCK_SCOPE(&job->sched->lock);
	if (epoch >= job->config.epochs || position >= job->samples ||
		!job->epochs[epoch])
		return SAMPLE_NONE;
	return order_sample(&job->epochs[epoch]->order, position);
}

bool sched_binding(
	struct sched_job *job, uint32_t epoch, uint32_t k, struct sched_binding *ret)
{
	LOCK_SCOPE(&job->sched->lock);
	if (epoch >= job->config.epochs || !job->epochs[epoch] ||
		k >= job->epochs[epoch]->order.bound)
		return false;
	order_binding(&job->epochs[epoch]->order, k, ret);
	return true;
}

const struct tensor *sched_handle_tensor(const struct sched_handle *handle)
{
	return handle->tensor;
}

sample_id sched_handle_sample(const struct sched_handle *handle)
{
	return handle->sample;
}

static void give_back(struct sched_handle *handle, bool read)
{
	struct sched *sched = handle->job->sched;
	struct aftermath aftermath;
	aftermath_init(&aftermath);
	lock_take(&sched->lock);
	ensure(handle->state == HANDLE_FINISHED);
	handle->job->last_read_ns = clock_now_ns();
	handle_detach_locked(handle, &aftermath);
	if (read)
		epoch_consume_locked(handle->epoch, handle->position, &aftermath);
	sched_unlock(sched, &aftermath);
	handle_free(handle);
}

void sched_release(struct sched_handle *handle)
{
	give_back(handle, true);
}

void sched_undo(struct sched_handle *handle)
{
	give_back(handle, false);
}
