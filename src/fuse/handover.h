// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse_internal.h"

/* FUSE_UNIQUE_RESEND of Linux 6.9: a bit in the number of a request that the kernel sends again */
#define UNIQUE_RESEND (UINT64_C(1) << 63)

/*
 * The list of open files that an engine leaves to the next one, in the memory that all engines
 * share (base/kept.h).
 *
 * Usually the kernel's requests tell enough, because they contain a file's inode and handle: the
 * next engine prepares the file again at the first read, and consumes the file's position at the
 * release. Two more things are kept:
 *
 * - The backing file of an inode. While the inode is open, the answer to each further open must
 *   name the same backing file, even if an earlier engine registered it.
 * - The epoch of a shard of current/, which the first read of the shard determines.
 *
 *   Threads: any.   Locks: functions ..._locked need the session's.
 */

/* Adds an open file to the list, before the open is answered. number: the number of the file's
 * inode. backing: the kernel's number of the backing file; 0: the file is a shard. Returns NULL if
 * the list is full, or if the mount ends with this engine. */
struct kept_open *handover_add(
	struct session *session, uint64_t handle, uint64_t number, int backing);

/* Returns the session's entry that follows `before`; before NULL: the session's first entry. NULL:
 * there is no further entry. */
struct kept_open *handover_next(struct session *session, const struct kept_open *before);
/* Returns an open shard's entry, which has the shard's epoch, or NULL if there is none. */
struct kept_open *handover_find(struct session *session, uint64_t handle);
/* Returns the entry that an earlier engine made for the open that this thread handles. NULL: there
 * is no entry, as always if the kernel sends the open for the first time. */
struct kept_open *handover_find_resent(struct session *session);
/* Returns the number that stands for a mount in kept_open.mount. */
uint32_t handover_mount(const struct kept_descriptor *place);

/* Tells whether an earlier engine registered `backing`, and open files still use it. */
bool handover_has_locked(const struct session *session, int backing);
/* Counts one more open file that uses `backing`, which an earlier engine registered. Returns 0 or
 * -ENOMEM. */
must_check int handover_hold_locked(struct session *session, int backing);
/* Counts one open file less. When no file is left, makes the kernel forget `backing`. */
void handover_put(struct session *session, int backing);
/* Frees the counts of handover_hold_locked. Called when the session has ended. */
void handover_end(struct session *session);

/* Returns the kernel's number of the last request that this thread received. */
uint64_t handover_request(void);
/* Tells whether the kernel has sent this thread's last request a second time. */
bool handover_is_resent(void);
/* Notes that this thread is about to answer `request`, which another thread may have received.
 * Entries that this thread adds from now on belong to `request`. */
void handover_answers(uint64_t request);
void handover_received(uint64_t unique);
