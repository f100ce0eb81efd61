// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/sched_internal.h"

/*
 * Beginning an epoch of a million samples takes tens of milliseconds: its files are made,
 * the sampler's set, need is counted. There are few threads that answer readers, and
 * those of other jobs are not to wait: a thread of its own does it, one job after the
 * other, and opens of the job are parked until then, in the order in which they came.
 */

void begin_request_locked(struct sched_job *job, uint32_t number, bool rolls)
{
	struct sched *sched = job->sched;
	if (job->beginning.wanted)
		return;
	atomic_fetch_add(&job->references, 1);
	job->beginning.wanted = true;
	job->beginning.number = number;
	job->beginning.rolls = rolls;
	TAILQ_INSERT_TAIL(&sched->beginning, job, beginning.link);
	pthread_cond_signal(&sched->begin_cond);
}

int begin_wait_locked(struct sched_job *job)
{
	unsigned done = job->beginning.done;
	while (job->beginning.done == done)
		lock_wait(&job->sched->lock, &job->sched->begun_cond);
	return job->beginning.status;
}

void begin_wait_for_last(struct sched_job *job)
{
	LOCK_SCOPE(&job->sched->lock);
	while (job->beginning.wanted)
		lock_wait(&job->sched->lock, &job->sched->begun_cond);
}

/* The files are made without the lock. */
static int begin_epoch(struct sched_job *job, uint32_t number, bool rolls)
{
	struct epoch *epoch = NULL;
	struct aftermath aftermath;
	int err = epoch_new(job, number, true, &epoch);
	if (!err)
		err = state_save(job, number);
	aftermath_init(&aftermath);
	lock_take(&job->sched->lock);
	bool wanted = !err && !job->removed && !job->sched->stopping &&
		      epoch_may_begin_locked(job, rolls);
	if (wanted)
		epoch_run_locked(epoch, rolls, &aftermath);
	sched_unlock(job->sched, &aftermath);
	if (!wanted)
		epoch_free(&epoch);
	return err;
}

static int read_order(struct epoch *epoch)
{
	uint32_t bound;
	int err = order_read(&epoch->order, &bound);
	if (err)
		return err;
	LOCK_SCOPE(&epoch->job->sched->lock);
	epoch->order.bound = bound;
	epoch->order.read = true;
	return 0;
}

/* ret_over: as it is now. */
static struct epoch *find_epoch(struct sched_job *job, uint32_t number, bool *ret_over)
{
	LOCK_SCOPE(&job->sched->lock);
	struct epoch *epoch = job->epochs[number];
	*ret_over = epoch && epoch->over;
	return epoch;
}

static int begin(struct sched_job *job)
{
	uint32_t number = job->beginning.number;
	bool over;
	int err = 0;
	if (!find_epoch(job, number, &over))
		err = begin_epoch(job, number, job->beginning.rolls);
	struct epoch *epoch = find_epoch(job, number, &over);
	if (err || !epoch)
		return err;
	if (!epoch->order.read)
		err = read_order(epoch);
	return err || over ? err : stream_begin(epoch);
}

/* Opens go on in the order in which they came; one may ask for the next epoch. */
static void finish_locked(struct sched_job *job, int status, struct aftermath *aftermath)
{
	struct handle_queue opens;
	struct sched_handle *handle;
	job->beginning.wanted = false;
	job->beginning.status = status;
	job->beginning.done++;
	pthread_cond_broadcast(&job->sched->begun_cond);
	TAILQ_INIT(&opens);
	TAILQ_CONCAT(&opens, &job->beginning.opens, link);
	while ((handle = TAILQ_FIRST(&opens))) {
		TAILQ_REMOVE(&opens, handle, link);
		handle->state = HANDLE_PARKING;
		if (status != 0 && handle->status == 0)
			handle->status = status;
		open_resume_locked(handle, aftermath);
	}
}

static struct sched_job *next_job_locked(struct sched *sched)
{
	struct sched_job *job;
	while (!(job = TAILQ_FIRST(&sched->beginning)) && !sched->stopping)
		lock_wait(&sched->lock, &sched->begin_cond);
	if (job)
		TAILQ_REMOVE(&sched->beginning, job, beginning.link);
	return job;
}

void *sched_begin_epochs(void *context)
{
	struct sched *sched = context;
	for (;;) {
		struct aftermath aftermath;
		aftermath_init(&aftermath);
		lock_take(&sched->lock);
		struct sched_job *job = next_job_locked(sched);
		lock_release(&sched->lock);
		if (!job)
			return NULL;
		int err = begin(job);
		lock_take(&sched->lock);
		finish_locked(job, err, &aftermath);
		sched_unlock(sched, &aftermath);
		sched_job_put(job);
	}
}
