// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/handover.h"
#include "base/clock.h"
#include "fuse/handle.h"
#include "fuse/passthrough.h"

#include <errno.h>

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

uint32_t handover_mount(const struct kept_descriptor *place)
{
	return (uint32_t)(place - kept()->descriptors);
}

struct kept_open *handover_add(
	struct session *session, uint64_t handle, uint64_t number, int backing)
{
	struct kept_open open = {.handle = handle,
		.request = answered,
		.inode = number,
		.since_ns = clock_now_ns(),
		.epoch = handle_epoch(handle),
		.backing = backing};
	if (!session->place)
		return NULL;
	open.mount = handover_mount(session->place);
	return kept_open_add(&open);
}

struct kept_open *handover_next(struct session *session, const struct kept_open *before)
{
	return session->place ? kept_open_next(before, handover_mount(session->place))
			      : NULL;
}

struct kept_open *handover_find(struct session *session, uint64_t handle)
{
	struct kept_open *open = NULL;
	while ((open = handover_next(session, open)))
		if (atomic_load(&open->handle) == handle)
			return open;
	return NULL;
}

struct kept_open *handover_find_resent(struct session *session)
{
	struct kept_open *open = NULL;
	while (handover_is_resent() && (open = handover_next(session, open)))
		if (open->request == handover_request())
			return open;
	return NULL;
}

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
