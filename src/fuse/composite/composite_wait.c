// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/log.h"
#include "fuse/composite/composite_internal.h"
#include "fuse/handover.h"
#include "fuse/reader.h"
#include "sched/jobs.h"
#include "sched/sched.h"
#include "stats/stats.h"

#include <errno.h>
#include <inttypes.h>

/*
 * One thread answers a request: the one that asks for the samples, if all are there; the one that
 * delivers the last missing sample; or the one that handles an interrupt. The first of them claims
 * the answer under the file's lock (`answered`).
 *
 * - libfuse may be about to call `interrupted` when the request is answered. So the answering
 *   thread first unregisters `interrupted` by fuse_req_interrupt_func, which waits until a running
 *   `interrupted` has returned.
 * - If the interrupt comes before `interrupted` is registered, fuse_req_interrupt_func itself runs
 *   `interrupted`. In this case `asking` is still set, and the caller of fuse_req_interrupt_func
 *   answers the request.
 * - After an interrupt, the samples that were asked for are still prepared: their positions are
 *   bound, and other threads may read the file.
 */

static void wait_finish(struct wait *wait, bool delivered)
{
	struct composite_file *file = wait->file;
	struct session *session = file->open.session;
	slots_leave(wait, delivered);
	open_file_put(&file->open);
	session_unhold(session);
	free(wait);
}

static const struct slot *first_failed(const struct wait *wait)
{
	for (uint32_t i = 0; i < wait->n; i++) {
		const struct slot *slot = wait->file->slots[wait->first + i];
		if (slot->state == SLOT_FAILED)
			return slot;
	}
	return NULL;
}

static void log_failed(const struct composite_file *file, const struct slot *failed)
{
	auto_edition *edition = sched_edition(file->job, file->epoch);
	uint32_t position = file->composite.first + failed->index;
	sample_id id = sched_bound(file->job, file->epoch, position);
	struct dataset_sample sample = {0};
	bool known = id != SAMPLE_NONE && dataset_get(edition->dataset, id, &sample) == 0;
	log_warn("job %s: epoch %" PRIu32 ": batch %" PRIu32 " (positions %" PRIu32
		 " to %" PRIu32
		 ") can't be opened, because the sample of position %" PRIu32
		 ", %s, can't be prepared",
		sched_job_config(file->job)->name, file->epoch, file->inode.position,
		file->composite.first, file->composite.first + file->composite.n - 1,
		position, known ? sample.relative : "?");
	dataset_sample_free(&sample);
}

/* Answers an open. If reply_open succeeds, the kernel may release the file even before reply_open
 * returns. The wait's own reference then keeps the file in memory. */
static void reply_opened(struct wait *wait)
{
	struct composite_file *file = wait->file;
	handover_answers(wait->unique);
	wait->fi.fh = composite_file_handle(file);
	session_set_io(file->open.session, file->job, file->inode, &wait->fi);
	/* The size of the last batch or shard of current/ may have changed since the kernel asked
	 * for the size, so the file bypasses the page cache. */
	wait->fi.direct_io |= !sizes_last(file->job, file->inode);
	wait->fi.keep_cache &= !wait->fi.direct_io;
	if (reply_open(wait->req, &wait->fi, 0) == 0)
		stats_add(STAT_OPENS, 1);
	else
		open_file_undo(&file->open);
}

/* If a sample of a batch is bad, the whole batch is consumed, so that the epoch can end. */
static void answer_open(struct wait *wait)
{
	struct composite_file *file = wait->file;
	lock_take(&file->lock);
	const struct slot *failed = first_failed(wait);
	lock_release(&file->lock);
	bool bad = failed && failed->bad && wait->status == 0;
	if (failed && wait->status == 0)
		wait->status = failed->status;
	if (bad)
		log_failed(file, failed);
	if (wait->status) {
		reply_error(wait->req, wait->status);
		(void)open_file_close(file->open.session, file->open.handle, !bad);
	} else {
		reply_opened(wait);
	}
}

static void answer_now(struct load_work *work)
{
	struct wait *wait = wait_of(work);
	bool delivered = false;
	if (wait->opens)
		answer_open(wait);
	else if (wait->interrupted)
		reply_error(wait->req, wait->status);
	else
		delivered = composite_reply(wait);
	wait_finish(wait, delivered);
}

static bool waits_for_server(const struct wait *wait)
{
	struct composite_file *file = wait->file;
	if (file->composite.n_beside == 0 || wait->opens || wait->interrupted)
		return false;
	auto_edition *edition = sched_edition(file->job, composite_epoch(file));
	return edition->beside_waits;
}

/* A worker makes an answer with texts of the dataset, because reading the texts takes long. */
static void answer(struct wait *wait)
{
	const struct composite_file *file = wait->file;
	if (wait->armed)
		fuse_req_interrupt_func(wait->req, NULL, NULL);
	if (wait->interrupted)
		wait->status = -EINTR;
	wait->waiter.work.run = answer_now;
	bool has_texts = file->composite.json_bytes > 0 || file->composite.n_beside > 0;
	wait->waiter.work.waits = waits_for_server(wait);
	if (has_texts && !wait->opens && !wait->interrupted)
		sched_run(file->open.session->context.sched, &wait->waiter.work);
	else
		answer_now(&wait->waiter.work);
}

/* The calling thread must answer the request after it has released the lock. */
static void claim_answer_locked(struct wait *wait)
{
	lock_assert_held(&wait->file->lock);
	wait->answered = true;
	TAILQ_REMOVE(&wait->file->waits, wait, link);
}

static void interrupted(fuse_req_t req, void *context)
{
	struct wait *wait = context;
	struct composite_file *file = wait->file;
	if (!reader_dies(req))
		return;
	lock_take(&file->lock);
	bool mine = !wait->answered && !wait->asking;
	if (!wait->answered)
		wait->interrupted = true;
	uint64_t ticket = wait->ticket;
	if (mine)
		claim_answer_locked(wait);
	lock_release(&file->lock);
	/* taken: workers have not begun the wait's work, so no other thread has the request */
	bool taken = !mine && sched_take_back(file->open.session->context.sched,
				      &wait->waiter.work);
	/* answer() must not unregister `interrupted`, because this would wait until `interrupted`,
	 * which is running here, has returned */
	if (mine || taken)
		wait->armed = false;
	if (mine)
		answer(wait);
	else if (taken)
		wait_give_up(wait);
	else if (ticket)
		sched_cancel(file->open.session->context.sched, ticket);
}

void waits_collect_locked(
	struct composite_file *file, uint32_t index, struct waits *ready)
{
	struct wait *wait, *next;
	lock_assert_held(&file->lock);
	for (wait = TAILQ_FIRST(&file->waits); wait; wait = next) {
		next = TAILQ_NEXT(wait, link);
		if (index < wait->first || index - wait->first >= wait->n ||
			--wait->missing > 0)
			continue;
		claim_answer_locked(wait);
		TAILQ_INSERT_TAIL(ready, wait, link);
	}
}

void waits_answer(struct waits *ready)
{
	struct wait *wait;
	while ((wait = TAILQ_FIRST(ready))) {
		TAILQ_REMOVE(ready, wait, link);
		answer(wait);
	}
}

void wait_arm(struct wait *wait)
{
	if (wait->armed)
		return;
	wait->armed = true;
	fuse_req_interrupt_func(wait->req, interrupted, wait);
}

static bool has_to_park(struct wait *wait)
{
	LOCK_SCOPE(&wait->file->lock);
	return wait->missing > 1;
}

/* Answers the request, or lets it wait. Called when all slots were asked for, or one failed. */
static void asked(struct wait *wait)
{
	struct composite_file *file = wait->file;
	if (has_to_park(wait))
		wait_arm(wait);
	lock_take(&file->lock);
	wait->asking = false;
	wait->missing--;
	bool mine = wait->missing == 0 || wait->interrupted;
	if (mine)
		claim_answer_locked(wait);
	lock_release(&file->lock);
	if (mine)
		answer(wait);
}

/* Asks for each sample of which the request reads bytes. slot_need makes the position's slot if
 * there is none. */
static int ask(struct wait *wait)
{
	const struct composite *composite = &wait->file->composite;
	uint64_t at = wait->offset, end = wait->offset + wait->size;
	int err = 0;
	while (at < end && !err) {
		struct segment segment;
		composite_segment(composite, at, &segment);
		at = segment.begin + segment.bytes;
		if (segment.kind == SEGMENT_SAMPLE)
			err = slot_need(wait, segment.index);
	}
	return err;
}

/* If a position can't be bound, a read still asks for samples, because it returns the bytes before
 * this position. */
void wait_bound(struct wait *wait)
{
	struct composite_file *file = wait->file;
	lock_take(&file->lock);
	bool may_ask = file->epoch != SCHED_CURRENT && !wait->interrupted &&
		       (wait->status == 0 || !wait->opens);
	lock_release(&file->lock);
	int err = may_ask ? ask(wait) : 0;
	if (wait->status == 0)
		wait->status = err;
	asked(wait);
}

void wait_start(fuse_req_t req, struct composite_file *file, const struct wait *wanted)
{
	struct wait *wait = malloc(sizeof(*wait));
	if (!wait) {
		reply_error(req, -ENOMEM);
		if (wanted->opens)
			open_file_undo(&file->open);
		return;
	}
	*wait = *wanted;
	wait->file = file;
	wait->req = req;
	wait->unique = handover_request();
	wait->missing = 1;
	wait->asking = true;
	session_hold(file->open.session);
	open_file_hold(&file->open);
	lock_take(&file->lock);
	TAILQ_INSERT_TAIL(&file->waits, wait, link);
	lock_release(&file->lock);
	wait->bound_to = wait->offset;
	wait_bind(wait);
}
