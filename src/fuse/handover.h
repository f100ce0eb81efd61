// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse_internal.h"

/* bit in the number of a request that the kernel sends again: FUSE_UNIQUE_RESEND, from
 * Linux 6.9 on */
#define UNIQUE_RESEND (UINT64_C(1) << 63)

/*
 * The list of open files that an engine process leaves to the next engine process.
 *
 * Usually the kernel's requests tell enough, because they contain a file's inode and
 * handle: the next engine process prepares the file again at the first read, and
 * consumes the file's position at the release. Two more things are kept in the memory
 * that all engine processes share (base/kept.h):
 *
 * - The backing file of an inode. While the inode is open, the answer to each further
 *   open must name the same backing file, even if an earlier engine process registered
 *   the file.
 * - The epoch of a shard of current/, which the first read of the shard determines.
 *
 *   Threads: any.
 *   Locks: the caller of a function ..._locked holds the session's lock. No other function
 *          needs a lock.
 */

/* Adds an open file to the list, before the open is answered. backing: number of the
 * file from which the kernel reads; 0: the open file is a shard. Returns NULL if the
 * list is full, or if the mount ends with this engine process. */
struct kept_open *handover_add(
	struct session *session, uint64_t handle, uint64_t number, int backing);

/* Returns the session's entry after the entry `before`. Returns the session's first
 * entry if `before` is NULL, and NULL if there are no more entries. */
struct kept_open *handover_next(struct session *session, const struct kept_open *before);
/* Returns the entry of an open shard; the entry has the shard's epoch. Returns NULL if
 * there is no such entry. */
struct kept_open *handover_find(struct session *session, uint64_t handle);
/* Returns the entry that an earlier engine process made for the open that this thread
 * handles. Returns NULL if the kernel has not sent this open before. */
struct kept_open *handover_find_resent(struct session *session);
/* Returns the number by which the entries of a mount name the mount. */
uint32_t handover_mount(const struct kept_descriptor *place);

/* Tells whether an earlier engine process registered `backing`, and open files still use
 * it. */
bool handover_has_locked(const struct session *session, int backing);
/* Counts one more open file that uses `backing`, which an earlier engine process
 * registered. Returns 0 or -ENOMEM. */
must_check int handover_hold_locked(struct session *session, int backing);
/* Counts one open file less. When no file is left, makes the kernel forget `backing`. */
void handover_put(struct session *session, int backing);
/* Frees the counts of handover_hold_locked. Called when the session has ended. */
void handover_end(struct session *session);

/* Returns the kernel's number of the last request that this thread received. */
uint64_t handover_request(void);
/* Tells whether the kernel has sent this thread's last request a second time. */
bool handover_is_resent(void);
/* Notes that this thread is about to answer `request`, which another thread may have
 * received. Entries that this thread adds from now on belong to `request`. */
void handover_answers(uint64_t request);
void handover_received(uint64_t unique);
