// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/composite/composite_internal.h"
#include "fuse/reader.h"
#include "sched/sched.h"

/*
 * Binds positions to samples, one after another: the positions whose labels, .json files or texts a
 * request reads. In current/, the first position of the request is bound even if only its sample is
 * read, because the first bound position decides the file's epoch.
 *
 *   wait_bind -> sched_open -> bound -> ... -> wait_bound
 *
 * If a position has to wait until its epoch begins, the thread that asked for the position returns,
 * and a worker continues with the next position (is_later). If other readers have the file open in
 * another epoch, a worker continues after these readers have closed the file.
 */

/* Finds the next position that has to be bound. Searches from the offset wait->bound_to on.
 * *ret_index: the position's index in the file. Returns false if no further position has to be
 * bound. */
static bool next_unbound_locked(struct wait *wait, uint32_t *ret_index)
{
	const struct composite_file *file = wait->file;
	lock_assert_held(&file->lock);
	while (wait->bound_to < wait->offset + wait->size) {
		struct segment segment;
		composite_segment(&file->composite, wait->bound_to, &segment);
		bool label = segment.kind == SEGMENT_LABEL ||
			     segment.kind == SEGMENT_JSON ||
			     segment.kind == SEGMENT_BESIDE;
		*ret_index = segment.index;
		if (label && file->samples[segment.index] == SAMPLE_NONE)
			return true;
		if (file->epoch == SCHED_CURRENT && segment.kind == SEGMENT_SAMPLE)
			return true;
		wait->bound_to = segment.begin + segment.bytes;
	}
	return false;
}

static bool has_next(struct wait *wait, uint32_t *ret_index)
{
	LOCK_SCOPE(&wait->file->lock);
	return wait->status == 0 && !wait->interrupted &&
	       next_unbound_locked(wait, ret_index);
}

/* Stores the sample of the position that was bound last. Stores nothing if the file gets another
 * epoch than the position, so the position is bound again. Returns false if other readers have the
 * file open in another epoch: a worker continues when these readers have closed the file. */
static bool take_bound(struct wait *wait)
{
	struct composite_file *file = wait->file;
	if (!wait->bound)
		return true;
	uint32_t found = sched_handle_epoch(wait->bound), epoch = found;
	if (wait->asked_epoch == SCHED_CURRENT)
		epoch = composite_choose_epoch(wait, found);
	if (epoch == SCHED_CURRENT)
		return false;
	lock_take(&file->lock);
	if (file->samples && epoch == found)
		file->samples[wait->binding] = sched_handle_sample(wait->bound);
	lock_release(&file->lock);
	sched_undo(wait->bound);
	wait->bound = NULL;
	return true;
}

static void go_on(struct load_work *work)
{
	wait_bind(wait_of(work));
}

/* Tells whether this is the second of the two calls for a position. The thread that asks for the
 * position makes one call, and the thread that delivers the answer makes the other. The thread of
 * the second call continues the wait. */
static bool is_later(struct wait *wait)
{
	return atomic_fetch_add(&wait->turn, 1) == 1;
}

static void bound(void *context, const struct sched_opened *result)
{
	struct wait *wait = context;
	lock_take(&wait->file->lock);
	wait->ticket = 0;
	lock_release(&wait->file->lock);
	wait->status = result->status;
	if (result->status == 0)
		wait->bound = result->handle;
	if (is_later(wait))
		sched_run(wait->file->open.session->context.sched, &wait->waiter.work);
}

static void parking(void *context, uint64_t ticket)
{
	struct wait *wait = context;
	lock_take(&wait->file->lock);
	wait->ticket = ticket;
	bool gone = wait->interrupted;
	lock_release(&wait->file->lock);
	if (gone)
		sched_cancel(wait->file->open.session->context.sched, ticket);
	else
		wait_arm(wait);
}

/* Begins to bind the position `index`. Returns true if the caller has to continue, also after an
 * error; false if a worker will continue. */
static bool bind_one(struct wait *wait, uint32_t index)
{
	struct composite_file *file = wait->file;
	struct sched_open_callbacks callbacks = {.opened = bound,
		.parking = parking,
		.context = wait,
		.reader = reader_of(wait->req),
		.label = true};
	callbacks.reader.images = file->inode.kind != INODE_BATCH_LABELS;
	wait->binding = index;
	wait->asked_epoch = composite_epoch(file);
	atomic_store(&wait->turn, 0);
	int err = sched_open(
		file->job, wait->asked_epoch, file->composite.first + index, &callbacks);
	if (!err)
		return is_later(wait);
	wait->status = err;
	return true;
}

void wait_bind(struct wait *wait)
{
	uint32_t index;
	await_close_end(wait->file->open.session, &wait->waiter);
	wait->waiter.work.run = go_on;
	while (take_bound(wait)) {
		if (!has_next(wait, &index)) {
			wait_bound(wait);
			return;
		}
		if (!bind_one(wait, index))
			return;
	}
}

void wait_give_up(struct wait *wait)
{
	wait->waiter.until_ns = 1; /* in the past, so await_close_locked does not wait */
	wait_bind(wait);
}
