// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "base/log.h"
#include "files/content_bytes.h"
#include "files/layout_tar.h"
#include "fuse/composite/composite_internal.h"
#include "sched/jobs.h"
#include "sched/positions.h"
#include "sched/sched.h"

#include <errno.h>
#include <inttypes.h>

/* a shard with more slots than this frees unused slots, the least recently used one first */
#define TAR_WINDOW 8

static bool is_tar(const struct composite_file *file)
{
	return file->inode.kind == INODE_TAR;
}

static bool is_under_way(const struct slot *slot)
{
	return slot->state == SLOT_OPENING || slot->state == SLOT_MAKING;
}

static uint32_t position_of(const struct slot *slot)
{
	return slot->file->composite.first + slot->index;
}

/* --- none -> OPENING -> HELD, MAKING -> READY, FAILED ----------------------------- */

/* Changes the state, and answers the waits that lacked only this slot. The state changes and these
 * waits leave the list in one critical section, so that no wait misses the change. */
static void slot_becomes(struct slot *slot, enum slot_state state, int status)
{
	struct composite_file *file = slot->file;
	struct session *session = file->open.session;
	struct waits ready = TAILQ_HEAD_INITIALIZER(ready);
	lock_take(&file->lock);
	slot->status = status;
	slot->state = state;
	slot->ticket = 0;
	waits_collect_locked(file, slot->index, &ready);
	lock_release(&file->lock);
	waits_answer(&ready); /* may free the slot */
	open_file_put(&file->open);
	session_unhold(session);
}

static void slot_fails(struct slot *slot, int status, bool bad)
{
	slot->bad = bad;
	if (bad && is_tar(slot->file))
		log_warn("job %s: epoch %" PRIu32 ": shard %" PRIu32 ": position %" PRIu32
			 " has no readable sample",
			sched_job_config(slot->file->job)->name, slot->file->epoch,
			slot->file->inode.position, position_of(slot));
	slot_becomes(slot, SLOT_FAILED, status);
}

/* A bad sample is consumed like a good one, so that the epoch can end. */
static void give_back_failed(struct slot *slot, int err)
{
	if (err == -EIO)
		sched_release(slot->handle);
	else
		sched_undo(slot->handle);
	slot->handle = NULL;
	slot_fails(slot, err, err == -EIO);
}

static void make_content_now(struct load_work *work)
{
	struct slot *slot = struct_of(work, struct slot, work);
	struct composite_file *file = slot->file;
	struct content_place place = {.epoch = file->epoch,
		.position = position_of(slot),
		.format = file->format,
		.size = file->composite.sample_bytes};
	uint8_t header[CONTENT_HEADER];
	if (file->composite.second_at) {
		place.first_size = file->composite.first_bytes;
		place.second_at = file->composite.second_at;
		place.second_size = file->composite.second_bytes;
		place.header = header;
		tar_second_header(&file->composite, slot->index, header);
	}
	int err = content_make(&file->open.session->context, file->job, &place,
		slot->handle, &slot->content);
	if (err)
		give_back_failed(slot, err);
	else
		slot_becomes(slot, SLOT_READY, 0);
}

static void make_content(struct slot *slot)
{
	const struct composite_file *file = slot->file;
	slot->work.run = make_content_now;
	if (content_is_computed(sched_job_config(file->job)))
		sched_run(file->open.session->context.sched, &slot->work);
	else
		make_content_now(&slot->work);
}

static void parking(void *context, uint64_t ticket)
{
	struct slot *slot = context;
	lock_take(&slot->file->lock);
	slot->ticket = ticket;
	lock_release(&slot->file->lock);
}

/* Called when a position was opened, or could not be opened. A shard makes the sample's content at
 * once. A batch opens all positions together, so it makes each content only when the sample is
 * read: otherwise all contents would be in memory at once. But if an earlier engine opened the
 * batch (`again`), a read already waits for the content. */
static void opened(void *context, const struct sched_opened *result)
{
	struct slot *slot = context;
	slot->handle = result->handle;
	if (result->status)
		slot_fails(slot, result->status, result->bad);
	else if (is_tar(slot->file) || slot->file->again)
		make_content(slot);
	else
		slot_becomes(slot, SLOT_HELD, 0);
}

static int slot_open(struct slot *slot)
{
	struct composite_file *file = slot->file;
	struct sched_open_callbacks callbacks = {
		.opened = opened, .parking = parking, .context = slot};
	int err = sched_open(file->job, file->epoch, position_of(slot), &callbacks);
	if (err)
		slot_fails(slot, err, false);
	return err;
}

static struct slot *slot_new_locked(struct composite_file *file, uint32_t index)
{
	lock_assert_held(&file->lock);
	struct slot *slot = calloc(1, sizeof(*slot));
	if (!slot)
		return NULL;
	*slot = (struct slot){.file = file, .index = index, .state = SLOT_OPENING};
	TAILQ_INSERT_TAIL(&file->used, slot, link);
	file->slots[index] = slot;
	file->n_used++;
	return slot;
}

/* Work that slot_need does for a slot once the lock is released. */
enum errand { ERRAND_NONE, ERRAND_OPEN, ERRAND_MAKE };

static enum errand need_locked(struct wait *wait, struct slot *slot, bool is_new)
{
	enum errand errand = is_new ? ERRAND_OPEN : ERRAND_NONE;
	lock_assert_held(&slot->file->lock);
	if (slot->state == SLOT_HELD && !wait->opens) {
		slot->state = SLOT_MAKING;
		errand = ERRAND_MAKE;
	}
	if (is_under_way(slot))
		wait->missing++;
	if (errand != ERRAND_NONE)
		open_file_hold(&slot->file->open);
	slot->users++;
	if (wait->n++ == 0)
		wait->first = slot->index;
	return errand;
}

int slot_need(struct wait *wait, uint32_t index)
{
	struct composite_file *file = wait->file;
	enum errand errand = ERRAND_NONE;
	lock_take(&file->lock);
	struct slot *slot = file->slots[index];
	bool is_new = !slot;
	if (is_new)
		slot = slot_new_locked(file, index);
	if (slot)
		errand = need_locked(wait, slot, is_new);
	lock_release(&file->lock);
	if (!slot)
		return -ENOMEM;
	if (errand != ERRAND_NONE)
		session_hold(file->open.session); /* slot_becomes ends this hold */
	if (errand == ERRAND_OPEN)
		return slot_open(slot);
	if (errand == ERRAND_MAKE)
		make_content(slot);
	return 0;
}

/* --- READY, HELD, FAILED -> none -------------------------------------------------- */

static void slot_give_back(struct slot *slot, bool read)
{
	content_free(&slot->content);
	if (slot->handle && read)
		sched_release(slot->handle);
	else if (slot->handle)
		sched_undo(slot->handle);
	free(slot);
}

static void take_out_locked(struct slot *slot, struct slots *gone)
{
	struct composite_file *file = slot->file;
	lock_assert_held(&file->lock);
	TAILQ_REMOVE(&file->used, slot, link);
	file->slots[slot->index] = NULL;
	file->n_used--;
	TAILQ_INSERT_TAIL(gone, slot, link);
}

static void note_read(struct slot *slot, const struct wait *wait)
{
	const struct composite *composite = &slot->file->composite;
	uint64_t begin =
		composite->head + slot->index * composite->stride + composite->sample_at;
	uint64_t end = begin + composite->sample_bytes;
	uint64_t from = wait->offset > begin ? wait->offset : begin;
	uint64_t to = wait->offset + wait->size;
	if (to > end)
		to = end;
	if (from >= to)
		return;
	slot->read_some = true;
	slot->read_end |= to == end;
	slot->bytes_read += to - from;
}

/* Handles a slot that no request uses any more. Moves a shard's slot to `gone` when the last byte
 * of its sample was read. Moves a failed slot to `gone`, too, if its sample is not bad. Frees the
 * content of a batch's sample when as many bytes were read as the content has. A read of the last
 * byte is not enough, because the kernel may read the parts in any order. */
static void keep_or_take_out_locked(struct slot *slot, struct slots *gone)
{
	struct composite_file *file = slot->file;
	bool passed = is_tar(file) && slot->read_end;
	lock_assert_held(&file->lock);
	TAILQ_REMOVE(&file->used, slot, link);
	TAILQ_INSERT_TAIL(&file->used, slot, link);
	if (passed || (slot->state == SLOT_FAILED && !slot->bad)) {
		take_out_locked(slot, gone);
	} else if (slot->state == SLOT_READY &&
		   slot->bytes_read >= file->composite.sample_bytes) {
		content_free(&slot->content);
		slot->state = SLOT_HELD;
		slot->bytes_read = 0;
	}
}

static void limit_window_locked(struct composite_file *file, struct slots *gone)
{
	struct slot *slot = TAILQ_FIRST(&file->used);
	lock_assert_held(&file->lock);
	while (slot && file->n_used > TAR_WINDOW) {
		struct slot *next = TAILQ_NEXT(slot, link);
		if (slot->users == 0 && !is_under_way(slot))
			take_out_locked(slot, gone);
		slot = next;
	}
}

void slots_leave(struct wait *wait, bool delivered)
{
	struct composite_file *file = wait->file;
	struct slots gone = TAILQ_HEAD_INITIALIZER(gone);
	struct slot *slot;
	lock_take(&file->lock);
	for (uint32_t i = 0; i < wait->n; i++) {
		slot = file->slots[wait->first + i];
		if (delivered && !wait->opens)
			note_read(slot, wait);
		ensure(slot->users > 0);
		if (--slot->users == 0 && !is_under_way(slot))
			keep_or_take_out_locked(slot, &gone);
	}
	if (is_tar(file))
		limit_window_locked(file, &gone);
	lock_release(&file->lock);
	while ((slot = TAILQ_FIRST(&gone))) {
		TAILQ_REMOVE(&gone, slot, link);
		slot_give_back(slot, slot->read_some);
	}
}

static uint64_t next_ticket(struct composite_file *file)
{
	LOCK_SCOPE(&file->lock);
	struct slot *slot;
	TAILQ_FOREACH (slot, &file->used, link) {
		uint64_t ticket = slot->ticket;
		slot->ticket = 0;
		if (ticket)
			return ticket;
	}
	return 0;
}

void slots_cancel(struct composite_file *file)
{
	uint64_t ticket;
	while ((ticket = next_ticket(file)))
		sched_cancel(file->open.session->context.sched, ticket);
}

void slots_give_back(struct composite_file *file)
{
	struct slot *slot;
	while ((slot = TAILQ_FIRST(&file->used))) {
		bool read = is_tar(file) ? slot->read_some : !file->open.undo;
		ensure(slot->users == 0 && !is_under_way(slot));
		TAILQ_REMOVE(&file->used, slot, link);
		slot_give_back(slot, read);
	}
}
