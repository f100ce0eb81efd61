// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "sched/gauges.h"
#include "sched/positions.h"
#include "sched/supplying.h"
#include "supply/supply.h"
#include "watch/watch.h"

#include <string.h>

/*
 * Counts how long the readers of a job waited, and for what. A job waits as long as at
 * least one of its readers waits. The cause is taken from the sample of the reader that
 * has waited longest:
 *
 *   storage      the sample is being read, or other reads of its storage have to end first
 *   decoding     it is being prepared, or no decoder is free
 *   queue        others come first: its job has had its share, or there is no memory
 *   file system  joaderfs itself; callers that answer opens report it (sched_job_took)
 */

static enum wait_cause cause_of_locked(const struct wanted *wanted)
{
	const struct storage *storage = wanted->key.space->source->storage;
	const struct source *source = wanted->key.space->source;
	lock_assert_held(&source->sched->lock);
	switch (wanted->state) {
	case WANTED_LOADING:
		return wanted->fetching || wanted->is_read ? WAIT_STORAGE : WAIT_DECODING;
	case WANTED_DELAYED:
		return wanted->lacks_room ? WAIT_QUEUE : WAIT_STORAGE;
	default:
		if (!flight_has_room(&storage->flight))
			return WAIT_STORAGE;
		return storage_has_room(source->supply, storage) ? WAIT_QUEUE
								 : WAIT_DECODING;
	}
}

/* Returns the job's handle that has waited longest for its tensor. */
static const struct sched_handle *first_waiter_locked(const struct sched_job *job)
{
	const struct sched_handle *handle;
	lock_assert_held(&job->sched->lock);
	TAILQ_FOREACH (handle, &job->parked, job_link)
		if (handle->state == HANDLE_AWAITS_TENSOR && !handle->bare)
			return handle;
	return NULL;
}

void waits_count_locked(struct sched_job *job, uint64_t now_ns)
{
	lock_assert_held(&job->sched->lock);
	if (job->waiting > 0) {
		job->share.waited_ns += now_ns - job->waits_since_ns;
		job->totals.exposed_ns[job->waits_for] += now_ns - job->waits_since_ns;
		const struct sched_handle *first = first_waiter_locked(job);
		if (first)
			job->waits_for = cause_of_locked(first->wanted);
	}
	job->waits_since_ns = now_ns;
}

void waits_change_locked(struct sched_handle *handle, int change)
{
	struct sched_job *job = handle->job;
	uint64_t now_ns = clock_now_ns();
	lock_assert_held(&job->sched->lock);
	if (handle->bare)
		return;
	waits_count_locked(job, now_ns);
	if (change > 0)
		handle->awaits_ns = now_ns;
	else
		handle->waited_ns += now_ns - handle->awaits_ns;
	if (job->waiting == 0)
		job->waits_for = cause_of_locked(handle->wanted);
	job->waiting += (unsigned)change;
}

void waits_move_on_locked(struct wanted *wanted, uint64_t now_ns)
{
	struct waiter *waiter;
	lock_assert_held(&wanted->key.space->source->sched->lock);
	TAILQ_FOREACH (waiter, &wanted->waiters, link) {
		const struct sched_handle *handle = handle_of_waiter(waiter);
		if (!handle->bare)
			waits_count_locked(handle->job, now_ns);
	}
}

const char *sched_wait_cause(enum wait_cause cause)
{
	static const char *const words[] = {[WAIT_STORAGE] = "storage",
		[WAIT_DECODING] = "decoding",
		[WAIT_QUEUE] = "queue",
		[WAIT_FILE_SYSTEM] = "filesystem"};
	return words[cause];
}

/* --- the file system's time ------------------------------------------------------------- */

uint64_t sched_handle_waited(const struct sched_handle *handle)
{
	return handle->waited_ns;
}

void sched_job_took(struct sched_job *job, uint64_t ns)
{
	atomic_fetch_add_explicit(&job->own_ns, ns, memory_order_relaxed);
}

/* --- epochs ----------------------------------------------------------------------------- */

void waits_exposed_locked(const struct sched_job *job, uint64_t ret[static WAIT_CAUSES])
{
	lock_assert_held(&job->sched->lock);
	memcpy(ret, job->totals.exposed_ns, sizeof(job->totals.exposed_ns));
	ret[WAIT_FILE_SYSTEM] = atomic_load_explicit(&job->own_ns, memory_order_relaxed);
}

void waits_epoch_locked(const struct sched_handle *handle)
{
	struct sched_job *job = handle->job;
	struct watched *watched = &job->watched;
	uint32_t epoch = handle->request.found_epoch;
	lock_assert_held(&job->sched->lock);
	if (watched->begun_ns != 0 && epoch <= watched->epoch) {
		lap_open_locked(handle);
		return;
	}
	lap_begin_locked(job, handle->parked_ns ? handle->parked_ns : clock_now_ns());
	watched->epoch = epoch;
	watched->begun_ns = handle->parked_ns ? handle->parked_ns : clock_now_ns();
	watched->last_ns = watched->begun_ns;
	waits_exposed_locked(job, watched->exposed_ns);
	lap_open_locked(handle);
}

/* Opens of several readers are answered in parallel, so the waits may add up to more than
 * the epoch's time. */
void waits_status_locked(struct sched_job *job, struct sched_job_status *ret)
{
	const struct watched *watched = &job->watched;
	uint64_t now_ns = clock_now_ns(), waited_ns = 0;
	lock_assert_held(&job->sched->lock);
	waits_count_locked(job, now_ns);
	waits_exposed_locked(job, ret->exposed_ns);
	uint64_t end_ns = job->waiting > 0 ? now_ns : watched->last_ns;
	ret->epoch_ns = watched->begun_ns ? end_ns - watched->begun_ns : 0;
	for (int i = 0; i < WAIT_CAUSES; i++)
		waited_ns += ret->exposed_ns[i] - watched->exposed_ns[i];
	ret->waited_part = ret->epoch_ns ? (double)waited_ns / (double)ret->epoch_ns : 0;
	if (ret->waited_part > 1)
		ret->waited_part = 1;
	ret->now_ns = now_ns;
}
