// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/ensure.h"
#include "edition/edition.h"
#include "sched/sched_handle.h"
#include "sched/jobs.h"
#include "sched/positions.h"
#include "sched/drawing.h"
#include "sched/supplying.h"
#include "supply/supply.h"
#include "watch/watch.h"
#include "stats/stats.h"
#include "epoch/questions.h"

#include <errno.h>

/*
 *   sched_open -> the engine chooses the sample (epochs_open, effects.c)
 *              -> handle_answered: the handle gets a reference to the sample
 *              -> the tensor is ready: the open is finished. Else it is parked, until a
 *                 worker has prepared the tensor (wanted.c), or the epoch has begun (clerk.c)
 *              -> `opened` is called after the critical section (phases.c)
 *   sched_release -> the engine tells which pins are given back
 */

int handle_attach_locked(struct sched_handle *handle)
{
	const struct sched_job *job = handle->job;
	const struct edition *edition =
		handle->bare ? job->is.now
			     : edition_of_locked(&job->is, handle->request.found_epoch);
	const struct part *part = part_of(edition, handle->request.sample);
	struct space *space = part->space;
	sample_id sample = handle->request.sample - part->first;
	lock_assert_held(&sched_of_source(space->source)->lock);
	if (!supply_open(space, sample)) {
		if (cache_pin(space->cache, sample) != 0)
			return -ENOMEM;
		handle->wanted = wanted_get(space, sample);
		if (!handle->wanted) {
			cache_unpin(space->cache, sample);
			return -ENOMEM;
		}
		handle->wanted->opens++;
	}
	handle->space = space;
	handle->in_space = sample;
	return 0;
}

static struct open_request request_of(
	uint32_t epoch, uint32_t position, const struct sched_reader *reader)
{
	return (struct open_request){.epoch = epoch,
		.position = position,
		.reader = reader->who,
		.done = reader->done,
		.looks = reader->looks,
		.resent = reader->resent,
		.images = reader->images};
}

struct sched_handle *handle_new(struct sched_job *job, uint32_t epoch, uint32_t position,
	const struct sched_open_callbacks *callbacks)
{
	struct sched_handle *handle = calloc(1, sizeof(*handle));
	if (!handle)
		return NULL;
	handle->job = sched_job_hold(job);
	handle->callbacks = *callbacks;
	handle->request = request_of(epoch, position, &callbacks->reader);
	handle->request.names = callbacks->names;
	handle->request.label = callbacks->label;
	return handle;
}

void handle_free(struct sched_handle *handle)
{
	sched_job_put(handle->job);
	free(handle);
}

/* Tells whether the engine has answered, and the tensor, if the open needs one, is ready. */
static bool is_ready(const struct sched_handle *handle)
{
	return handle->answered &&
	       (!handle->wanted || cache_state(handle->space->cache, handle->in_space) ==
					   CACHE_READY);
}

/* Gives back the handle's pin and its position. read: the file was read, or the sample is bad, so
 * the position is consumed. Otherwise the position can be opened again. */
static void give_back_locked(
	struct sched_handle *handle, bool read, struct aftermath *aftermath)
{
	struct sched_job *job = handle->job;
	struct effects effects;
	lock_assert_held(&job->sched->lock);
	if (handle->space)
		handle_detach_locked(handle, aftermath);
	if (handle->bare)
		return;
	/* If the job was restored to a checkpoint since this open, the position is unread again. */
	if (handle->request.era != epochs_era(job->is.epochs))
		return;
	effects_init(&effects);
	epochs_released(job->is.epochs, handle->request.found_epoch,
		handle->request.position, read, lock_time(&job->sched->lock), &effects);
	effects_execute_locked(job, &effects, aftermath);
}

static void take_off_ticket_locked(struct sched_handle *handle)
{
	struct sched_job *job = handle->job;
	uint64_t waited = clock_now_ns() - handle->parked_ns;
	lock_assert_held(&job->sched->lock);
	if (handle->state == HANDLE_AWAITS_TENSOR) {
		supply_stop_waiting(handle->wanted, &handle->waiter);
		handle_waits_locked(handle, -1);
	}
	TAILQ_REMOVE(&job->parked, handle, job_link);
	HASH_DELETE(hash, job->sched->tickets, handle);
	if (handle->bare)
		return;
	job->watch.totals.waits++;
	job->watch.totals.wait_ns += waited;
	stats_add(STAT_WAITS, 1);
	stats_add(STAT_WAIT_NS, waited);
	stats_record(STATS_OPEN_WAIT, waited);
}

static void give_tensor_locked(struct sched_handle *handle)
{
	struct sched_job *job = handle->job;
	lock_assert_held(&job->sched->lock);
	handle->tensor = cache_get(handle->space->cache, handle->in_space);
	ensure(handle->tensor);
	if (handle->bare || !epochs_given(job->is.epochs, handle->request.found_epoch,
				    handle->request.position))
		return;
	job->watch.totals.served++;
	job->share.samples++;
	past_given_locked(job->sched->past, job->is.id,
		cache_made_for(handle->space->cache, handle->in_space));
	stats_add(STAT_SERVED, 1);
}

/* If the sample is bad, consumes the position, too: the reader gets an error, so no release
 * follows. */
void handle_finish_locked(
	struct sched_handle *handle, int status, struct aftermath *aftermath)
{
	lock_assert_held(&handle->job->sched->lock);
	if (handle->state != HANDLE_OPENING)
		take_off_ticket_locked(handle);
	handle->state = HANDLE_FINISHED;
	handle->status = status;
	handle_trace_locked(handle, status ? SCHED_TRACE_FAILED : SCHED_TRACE_READY);
	if (status == 0 && handle->space) {
		give_tensor_locked(handle);
		handle->job->open += handle->request.epoch == SCHED_CURRENT;
		notice_open_locked(handle, aftermath);
	} else if (handle->space) {
		give_back_locked(handle, handle->bad, aftermath);
	}
	TAILQ_INSERT_TAIL(&aftermath->finished, handle, link);
}

void handle_give_up_locked(
	struct sched_handle *handle, int status, struct aftermath *aftermath)
{
	lock_assert_held(&handle->job->sched->lock);
	if (!handle->bare)
		(void)epochs_cancel(handle->job->is.epochs, &handle->request);
	struct sched *sched = handle->job->sched;
	/* A look-up that no worker has begun is in the pool's queue. It is never delayed work, so
	 * sched_take_back is not needed. */
	if (handle->looks_up && sched->pool &&
		load_pool_take_back(sched->pool, &handle->look_up))
		handle->looks_up = false;
	if (handle->state == HANDLE_PARKING || handle->looks_up)
		/* Another thread works on the handle, and will finish it with this status. */
		handle->status = status;
	else
		handle_finish_locked(handle, status, aftermath);
}

/* Finishes the open, or lets the handle wait. */
static void go_on_locked(struct sched_handle *handle, struct aftermath *aftermath)
{
	lock_assert_held(&handle->job->sched->lock);
	if (handle->looks_up) {
		handle->state = HANDLE_AWAITS_SAMPLE;
		return;
	}
	if (handle->status != 0 || is_ready(handle)) {
		handle_finish_locked(handle, handle->status, aftermath);
		return;
	}
	if (!handle->answered) {
		handle->state = HANDLE_AWAITS_SAMPLE;
		return;
	}
	bool first = handle->wanted->state == WANTED_OPEN_ONLY;
	int err = wanted_request_locked(handle->job, handle->wanted, true, aftermath);
	if (err) {
		handle_finish_locked(handle, err, aftermath);
		return;
	}
	if (handle->bare && first)
		handle->wanted->asked_by = 0;
	handle->waiter.job = &handle->job->share;
	supply_wait(handle->wanted, &handle->waiter);
	handle_waits_locked(handle, 1);
	handle->state = HANDLE_AWAITS_TENSOR;
}

void handle_answered_locked(struct sched_handle *handle, struct aftermath *aftermath)
{
	lock_assert_held(&handle->job->sched->lock);
	handle->answered = true;
	if (handle->status == 0)
		handle->status = handle->request.status;
	if (handle->status == 0 && !handle->request.label)
		handle->status = handle_attach_locked(handle);
	if (handle->status == 0 && !handle->request.label)
		handle_in_epoch_locked(handle);
	if (handle->request.status == 0 && handle->status != 0)
		give_back_locked(handle, false, aftermath);
	if (handle->state == HANDLE_AWAITS_SAMPLE)
		go_on_locked(handle, aftermath);
}

/* Lets the engine choose another epoch for an open of current/, because the epoch that it chose
 * first is over. Returns false if the open is not of current/, if the engine has already chosen
 * twice, or if the open was given up. */
static bool ask_again_locked(struct sched_handle *handle, struct aftermath *aftermath)
{
	struct sched_job *job = handle->job;
	struct open_request *request = &handle->request;
	struct effects effects;
	lock_assert_held(&job->sched->lock);
	if (request->epoch != SCHED_CURRENT || request->lost || handle->status != 0)
		return false;
	request->lost = true;
	effects_init(&effects);
	epochs_open(job->is.epochs, request, clock_now_ns(), &effects);
	effects_execute_locked(job, &effects, aftermath);
	return true;
}

/* Runs on a worker thread. */
static void look_up(struct load_work *work)
{
	struct sched_handle *handle = struct_of(work, struct sched_handle, look_up);
	struct sched_job *job = handle->job;
	struct open_request *request = &handle->request;
	request->status = order_look_up(job->is.directory, request->found_epoch,
		request->position, &request->sample);
	bool none = request->status == 0 && request->sample == SAMPLE_NONE;
	/* The position was never bound, or the order was just removed. */
	if (none || request->status == -ENOENT)
		request->status = -ESTALE;
	SECTION_SCOPE(job->sched, aftermath);
	handle->looks_up = false;
	/* The order, and the epoch's edition, may have been removed after the look-up. */
	if (epochs_state(job->is.epochs, request->found_epoch) == EPOCH_OVER)
		request->status = -ESTALE;
	if (request->status != -ESTALE || !ask_again_locked(handle, &aftermath))
		handle_answered_locked(handle, &aftermath);
}

void handle_look_up_locked(struct sched_handle *handle, struct aftermath *aftermath)
{
	lock_assert_held(&handle->job->sched->lock);
	handle->looks_up = true;
	handle->look_up.run = look_up;
	TAILQ_INSERT_TAIL(&aftermath->look_ups, handle, link);
}

static int take_ticket_locked(struct sched_handle *handle)
{
	struct sched *sched = handle->job->sched;
	lock_assert_held(&sched->lock);
	handle->ticket = ++sched->next_ticket;
	HASH_ADD(hash, sched->tickets, ticket, sizeof(handle->ticket), handle);
	if (!handle->hash.tbl)
		return -ENOMEM;
	handle->state = HANDLE_PARKING;
	handle->parked_ns = clock_now_ns();
	TAILQ_INSERT_TAIL(&handle->job->parked, handle, job_link);
	return 0;
}

int handle_settle_locked(struct sched_handle *handle, struct aftermath *aftermath)
{
	lock_assert_held(&handle->job->sched->lock);
	if (is_ready(handle)) {
		handle_finish_locked(handle, 0, aftermath);
		return 0;
	}
	int err = take_ticket_locked(handle);
	if (!err)
		return 0;
	/* There is no memory for a ticket, so the open, which could not be cancelled, is undone. */
	if (!handle->bare)
		(void)epochs_cancel(handle->job->is.epochs, &handle->request);
	if (handle->looks_up)
		TAILQ_REMOVE(&aftermath->look_ups, handle, link);
	if (handle->space)
		give_back_locked(handle, false, aftermath);
	handle->status = err;
	return err;
}

/* Asks the job's engine for the position's sample. Returns 0 if the open is finished, or if it has
 * to wait (HANDLE_PARKING). */
static int ask_locked(struct sched_handle *handle, struct aftermath *aftermath)
{
	struct sched_job *job = handle->job;
	struct effects effects;
	lock_assert_held(&job->sched->lock);
	if (job->sched->stopping)
		return -ENODEV;
	if (handle->callbacks.reader.elsewhere &&
		notice_is_refused_locked(handle, aftermath))
		return -EOPNOTSUPP;
	handle_trace_locked(handle, SCHED_TRACE_OPEN);
	effects_init(&effects);
	epochs_open(
		job->is.epochs, &handle->request, lock_time(&job->sched->lock), &effects);
	effects_execute_locked(job, &effects, aftermath);
	if (handle->status) {
		handle_trace_locked(handle, SCHED_TRACE_FAILED);
		return handle->status;
	}
	return handle_settle_locked(handle, aftermath);
}

/* Tells the caller of sched_open the ticket, without the lock, and then lets the open go on. Other
 * threads may meanwhile set the handle's status (reader interrupted, job removed), and the tensor
 * may become ready or fail. */
static void park(struct sched_handle *handle)
{
	if (handle->callbacks.parking)
		handle->callbacks.parking(handle->callbacks.context, handle->ticket);
	SECTION_SCOPE(handle->job->sched, aftermath);
	go_on_locked(handle, &aftermath);
}

void handle_asked(struct sched_handle *handle, int err, struct aftermath *aftermath)
{
	bool has_to_park = !err && handle->state == HANDLE_PARKING;
	sched_unlock(aftermath);
	if (err)
		handle_free(handle);
	else if (has_to_park)
		park(handle);
}

/* Chooses the script to which the reader belongs, for a job with `script = one`. Such a job is read
 * by one script at a time, even if the processes of this script seem unrelated. */
static void join_script_locked(struct sched_handle *handle)
{
	struct sched_reader *reader = &handle->callbacks.reader;
	lock_assert_held(&handle->job->sched->lock);
	reader->who = program_who_locked(handle->job, reader);
	handle->request.reader = reader->who;
	if (reader->program)
		program_note_locked(handle->job, reader);
}

int sched_open(struct sched_job *job, uint32_t epoch, uint32_t position,
	const struct sched_open_callbacks *callbacks)
{
	struct aftermath aftermath;
	struct sched_handle *handle = handle_new(job, epoch, position, callbacks);
	if (!handle)
		return -ENOMEM;
	program_meet(job, &callbacks->reader);
	sched_lock(job->sched, &aftermath);
	if (job->is.config.one_script)
		join_script_locked(handle);
	int err = ask_locked(handle, &aftermath);
	handle_asked(handle, err, &aftermath);
	return err;
}

void sched_cancel(struct sched *sched, uint64_t ticket)
{
	struct sched_handle *handle;
	SECTION_SCOPE(sched, aftermath);
	HASH_FIND(hash, sched->tickets, &ticket, sizeof(ticket), handle);
	if (!handle)
		return;
	stats_add(STAT_INTERRUPTS, 1);
	handle_give_up_locked(handle, -EINTR, &aftermath);
}

uint32_t sched_current(
	struct sched_job *job, const struct sched_reader *reader, uint32_t position)
{
	struct open_request request = request_of(SCHED_CURRENT, position, reader);
	request.label = !reader->images;
	program_meet(job, reader);
	LOCK_SCOPE(&job->sched->lock);
	request.reader = program_who_locked(job, reader);
	return epochs_choice(job->is.epochs, &request);
}

const struct tensor *sched_handle_tensor(const struct sched_handle *handle)
{
	return handle->tensor;
}

sample_id sched_handle_sample(const struct sched_handle *handle)
{
	return handle->request.sample;
}

uint32_t sched_handle_epoch(const struct sched_handle *handle)
{
	return handle->request.found_epoch;
}

/* Ends an open. read: the file was read. The record of a consumed position is written to the
 * journal's file before the kernel's release is answered. Positions of a job with layout =
 * mirror are never consumed, so their reads are counted here. */
static void end_open(struct sched_handle *handle, bool read)
{
	struct sched_job *job = handle->job;
	struct aftermath aftermath;
	sched_lock(job->sched, &aftermath);
	ensure(handle->state == HANDLE_FINISHED);
	handle_trace_locked(handle, SCHED_TRACE_RELEASE);
	if (handle->space) {
		job->open -= handle->request.epoch == SCHED_CURRENT;
		give_back_locked(handle, read, &aftermath);
	}
	if (read && job_kind(&job->is) == EPOCHS_MIRRORED)
		rate_count_locked(&job->watch, lock_time(&job->sched->lock));
	if (read && job->is.journal)
		aftermath.flush = job;
	sched_unlock(&aftermath);
	handle_free(handle);
}

void sched_release(struct sched_handle *handle)
{
	end_open(handle, true);
}

void sched_undo(struct sched_handle *handle)
{
	end_open(handle, false);
}

/* --- positions that a daemon before this one had opened ----------------------------------- */

#define CONSUMED_AT_ONCE 64

static void consume_some(
	struct sched_job *job, uint32_t epoch, uint32_t position, uint32_t n)
{
	SECTION_SCOPE(job->sched, aftermath);
	for (uint32_t i = 0; i < n; i++) {
		struct effects effects;
		effects_init(&effects);
		epochs_released_before(
			job->is.epochs, epoch, position + i, clock_now_ns(), &effects);
		effects_execute_locked(job, &effects, &aftermath);
	}
	if (job->is.journal)
		aftermath.flush = job;
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
