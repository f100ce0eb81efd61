// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/handover.h"
#include "base/clock.h"
#include "base/log.h"
#include "fuse/handle.h"
#include "fuse/label_file.h"
#include "fuse/passthrough.h"
#include "fuse/sample_file.h"

#include <errno.h>

/* Most files that the kernel may have been told of since the last number was noted. */
#define UNNOTED 64

struct old_backing {
	UT_hash_handle hash;
	int backing;
	uint32_t opens;
};

static _Thread_local uint64_t received, answered;

void handover_received(uint64_t unique)
{
	received = unique;
}

uint64_t handover_request(void)
{
	return received & ~UNIQUE_RESEND;
}

bool handover_is_resent(void)
{
	return received & UNIQUE_RESEND;
}

void handover_answers(uint64_t request)
{
	answered = request;
}

/* --- the list ----------------------------------------------------------------------- */

static uint32_t mount_of(const struct session *session)
{
	return (uint32_t)(session->place - kept()->descriptors);
}

struct kept_open *handover_add(struct session *session, uint64_t handle, uint64_t number,
	uint32_t epoch, int backing)
{
	struct kept_open open = {.handle = handle,
		.request = answered,
		.inode = number,
		.since_ns = clock_now_ns(),
		.epoch = epoch,
		.backing = backing};
	if (!session->place)
		return NULL;
	open.mount = mount_of(session);
	return kept_open_add(&open);
}

struct kept_open *handover_find(struct session *session, uint64_t handle)
{
	struct kept_open *open = NULL;
	while (session->place && (open = kept_open_next(open, mount_of(session))))
		if (atomic_load(&open->handle) == handle)
			return open;
	return NULL;
}

static void forget(struct session *session, struct kept_open *open)
{
	uint64_t handle = atomic_load(&open->handle);
	struct inode inode;
	if (!open->backing || session_inode(session, open->inode, &inode) != 0)
		kept_open_remove(open);
	else if (inode_is_sample(inode))
		sample_file_forget(session, handle);
	else
		label_file_release(session, handle);
}

bool handover_take_back(struct session *session, uint32_t *ret_epoch)
{
	struct kept_open *open = NULL;
	if (!session->place || !handover_is_resent())
		return false;
	while ((open = kept_open_next(open, mount_of(session)))) {
		if (open->request != handover_request())
			continue;
		*ret_epoch = open->epoch;
		forget(session, open);
		return *ret_epoch != INODE_CURRENT;
	}
	return false;
}

/* --- files that the kernel reads ---------------------------------------------------- */

static struct old_backing *find_locked(const struct session *session, int backing)
{
	struct old_backing *old;
	lock_assert_held(&session->lock);
	HASH_FIND(hash, session->old_backings, &backing, sizeof(backing), old);
	return old;
}

bool handover_has_locked(const struct session *session, int backing)
{
	lock_assert_held(&session->lock);
	return find_locked(session, backing) != NULL;
}

static struct old_backing *add_locked(struct session *session, int backing)
{
	lock_assert_held(&session->lock);
	struct old_backing *old = calloc(1, sizeof(*old));
	if (!old)
		return NULL;
	old->backing = backing;
	HASH_ADD(hash, session->old_backings, backing, sizeof(old->backing), old);
	if (old->hash.tbl)
		return old;
	free(old);
	return NULL;
}

int handover_hold_locked(struct session *session, int backing)
{
	lock_assert_held(&session->lock);
	struct old_backing *old = find_locked(session, backing);
	if (!old)
		old = add_locked(session, backing);
	if (!old)
		return -ENOMEM;
	old->opens++;
	return 0;
}

static bool put(struct session *session, int backing)
{
	LOCK_SCOPE(&session->lock);
	struct old_backing *old = find_locked(session, backing);
	if (!old || --old->opens > 0)
		return false;
	HASH_DELETE(hash, session->old_backings, old);
	free(old);
	return true;
}

void handover_put(struct session *session, int backing)
{
	if (put(session, backing))
		passthrough_forget(session, backing);
}

void handover_end(struct session *session)
{
	struct old_backing *old, *next;
	LOCK_SCOPE(&session->lock);
	HASH_ITER (hash, session->old_backings, old, next) {
		HASH_DELETE(hash, session->old_backings, old);
		free(old);
	}
}

/* --- the beginning ------------------------------------------------------------------ */

static int list_open(struct session *session, struct kept_open *open)
{
	struct inode inode;
	int err = session_inode(session, open->inode, &inode);
	if (err)
		return err;
	return inode_is_sample(inode) ? sample_file_outlives(session, inode, open)
				      : label_file_outlives(session, open);
}

static bool is_used(struct session *session, int backing)
{
	LOCK_SCOPE(&session->lock);
	return handover_has_locked(session, backing);
}

static void forget_unused(struct session *session)
{
	int last = atomic_load(&kept()->last_backing);
	for (uint32_t i = 0; i < KEPT_FILES; i++) {
		int backing = atomic_load(&kept()->files[i]);
		if (backing && !is_used(session, backing))
			passthrough_forget(session, backing);
	}
	for (int i = 1; i <= UNNOTED; i++)
		passthrough_try_forget(session, last + i);
}

/* Carries out the closes that came while a sick engine answered. */
static void take_closes(struct session *session)
{
	uint64_t number, handle;
	struct inode inode;
	while (kept_close_take(mount_of(session), &number, &handle))
		if (session_inode(session, number, &inode) == 0)
			session_release(session, inode, handle);
}

void handover_begin(struct session *session)
{
	struct kept_open *open = NULL;
	unsigned n = 0;
	while ((open = kept_open_next(open, mount_of(session)))) {
		int err = open->backing ? list_open(session, open) : 0;
		n++;
		if (err)
			log_warn("an open file is forgotten: %s", strerror(-err));
	}
	take_closes(session);
	if (session->passes_through)
		forget_unused(session);
	if (n)
		log_info("%u open files go on", n);
}
