// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "epoch/questions.h"
#include "sched/gauges.h"
#include "sched/sched_handle.h"
#include "sched/jobs.h"
#include "sched/positions.h"
#include "sched/supplying.h"
#include "watch/watch.h"

/* Returns the sample of the open that has waited longest for its tensor. */
static const struct wanted *first_wanted_locked(const struct sched_job *job)
{
	const struct sched_handle *handle;
	lock_assert_held(&job->sched->lock);
	TAILQ_FOREACH (handle, &job->parked, job_link)
		if (handle->state == HANDLE_AWAITS_TENSOR && !handle->bare)
			return handle->wanted;
	return NULL;
}

void job_count_waits_locked(struct sched_job *job, uint64_t now_ns)
{
	lock_assert_held(&job->sched->lock);
	const struct wanted *first =
		job->watch.waiting > 0 ? first_wanted_locked(job) : NULL;
	job->share.waited_ns += waits_count_locked(&job->watch, first, now_ns);
}

void handle_waits_locked(struct sched_handle *handle, int change)
{
	struct sched_job *job = handle->job;
	uint64_t now_ns = clock_now_ns();
	lock_assert_held(&job->sched->lock);
	if (handle->bare)
		return;
	job_count_waits_locked(job, now_ns);
	if (change > 0)
		handle->awaits_ns = now_ns;
	else
		handle->waited_ns += now_ns - handle->awaits_ns;
	waits_change_locked(&job->watch, handle->wanted, change);
}

void wanted_moved_locked(struct wanted *wanted, uint64_t now_ns)
{
	struct waiter *waiter;
	lock_assert_held(&sched_of_source(wanted->key.space->source)->lock);
	TAILQ_FOREACH (waiter, &wanted->waiters, link) {
		const struct sched_handle *handle = handle_of_waiter(waiter);
		if (!handle->bare)
			job_count_waits_locked(handle->job, now_ns);
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

uint64_t sched_handle_waited(const struct sched_handle *handle)
{
	return handle->waited_ns;
}

void sched_job_took(struct sched_job *job, uint64_t ns)
{
	waits_took(&job->watch, ns);
}

void handle_in_epoch_locked(const struct sched_handle *handle)
{
	struct sched_job *job = handle->job;
	const struct sched_reader *reader = &handle->callbacks.reader;
	lock_assert_held(&job->sched->lock);
	lap_open_locked(&job->watch, handle->request.found_epoch,
		handle->parked_ns ? handle->parked_ns : lock_time(&job->sched->lock),
		reader->thread);
	if (reader->thread != 0 && reader->program)
		program_note_locked(job, reader);
}

void handle_trace_event_locked(struct sched_handle *handle, enum sched_trace_kind kind)
{
	struct sched_job *job = handle->job;
	const struct open_request *request = &handle->request;
	lock_assert_held(&job->sched->lock);
	if (handle->bare || request->label)
		return;
	bool known = handle->answered && request->status == 0;
	struct sched_trace_event event = {.ns = clock_now_ns(),
		.kind = kind,
		.open = handle->traced_as,
		.status = handle->status,
		.epoch = known ? request->found_epoch : request->epoch,
		.position = request->position,
		.sample = known ? request->sample : SAMPLE_NONE,
		.waited_ns = handle->waited_ns};
	trace_note_locked(&job->watch, &event);
	handle->traced_as = event.open;
}

int sched_trace_begin(struct sched_job *job, uint64_t *ret_next)
{
	return trace_begin(&job->watch, ret_next);
}

uint32_t sched_trace_read(struct sched_job *job, uint64_t *from, uint64_t *ret_lost,
	struct sched_trace_event *ret, uint32_t most)
{
	return trace_read(&job->watch, from, ret_lost, ret, most);
}

/* Drops the notice if the critical section already has one. The dropped notice is given when its
 * cause occurs again. */
void notice_locked(struct sched_job *job, enum notice notice, uint32_t epoch,
	struct aftermath *aftermath)
{
	lock_assert_held(&job->sched->lock);
	if (aftermath->noticed || !notice_count_locked(&job->watch, notice))
		return;
	aftermath->noticed = sched_job_hold(job);
	aftermath->notice = notice;
	aftermath->noticed_epoch = epoch;
}

static bool is_drawn(const struct sched_job *job)
{
	enum epochs_kind kind = job_kind(&job->is);
	return kind == EPOCHS_DRAWN || kind == EPOCHS_DRAWN_AT_OPEN;
}

/* Tells whether each file of the job has one sample. */
static bool is_single(const struct sched_job *job)
{
	enum view_layout layout = job->is.config.layout;
	return layout == LAYOUT_FLAT || layout == LAYOUT_CLASSES;
}

#define KEPT_LEAST 64

/* Gives NOTICE_HANDLES only if each file has one sample, and another sample in each epoch. */
void notice_open_locked(struct sched_handle *handle, struct aftermath *aftermath)
{
	struct sched_job *job = handle->job;
	uint32_t epoch = handle->request.found_epoch;
	lock_assert_held(&job->sched->lock);
	if (job->open >= KEPT_LEAST && is_drawn(job) && is_single(job) &&
		epochs_set(job->is.epochs, epoch)->positions <= 2 * (uint64_t)job->open)
		notice_locked(job, NOTICE_HANDLES, epoch, aftermath);
	if (handle->callbacks.reader.unknown && is_drawn(job) &&
		handle->request.epoch == SCHED_CURRENT)
		notice_locked(job, NOTICE_READERS, epoch, aftermath);
}

bool notice_is_refused_locked(struct sched_handle *handle, struct aftermath *aftermath)
{
	const struct sched_job *job = handle->job;
	struct epochs_status status;
	lock_assert_held(&job->sched->lock);
	if (job->is.config.ranks > 0 || !is_drawn(job))
		return false;
	epochs_status(job->is.epochs, &status);
	notice_locked(handle->job, NOTICE_MACHINES, status.epoch, aftermath);
	return job_kind(&job->is) == EPOCHS_DRAWN_AT_OPEN &&
	       job->is.config.refuses_machines;
}
