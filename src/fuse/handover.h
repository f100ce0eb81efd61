// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse_internal.h"

#define UNIQUE_RESEND (UINT64_C(1) << 63) /* FUSE_UNIQUE_RESEND, from Linux 6.9 on */

/*
 * The list of open files that an engine leaves to the next engine.
 *
 * An open file's inode and handle usually tell enough: the next engine prepares the file again when
 * it is read, and consumes its position when it is released. Two more facts are kept in the memory
 * that the engines share (base/kept.h):
 *
 * - The backing file from which the kernel reads an inode. While the inode is open, the answer to
 *   each further open must name the same backing file, whichever engine registered it. So the
 *   backing file is kept until the last open file that uses it is released.
 * - The epoch of a shard of current/, which is determined by its first read.
 *
 *   Threads: any.
 *   Locks: the caller of a function ..._locked holds the session's lock. No other function needs
 *          a lock.
 */

/* Adds an open file to the list. backing: the file from which the kernel reads; 0: the open file is
 * a shard. Has to be called before the open is answered. NULL: the list is full, or the mount ends
 * with this engine. */
struct kept_open *handover_add(
	struct session *session, uint64_t handle, uint64_t number, int backing);

/* Returns the entry of the session's next open file after `before`, or NULL. before NULL: returns
 * the first entry. */
struct kept_open *handover_next(struct session *session, const struct kept_open *before);
/* Returns the entry of the open shard that has the handle. The entry has the shard's epoch. NULL:
 * there is none. */
struct kept_open *handover_find(struct session *session, uint64_t handle);
/* If the kernel is sending an open again, returns the entry that an earlier engine made for that
 * open. NULL: there is none. */
struct kept_open *handover_find_resent(struct session *session);
/* Takes one close off the list of closes that arrived while no engine could run: the inode's number
 * and the handle. false: the list is empty. */
bool handover_take_close(
	struct session *session, uint64_t *ret_number, uint64_t *ret_handle);

/* Tells whether an earlier engine registered `backing`, and open files still use it. */
bool handover_has_locked(const struct session *session, int backing);
/* Adds one to the number of open files that use `backing`, a file that an earlier engine
 * registered. -ENOMEM */
must_check int handover_hold_locked(struct session *session, int backing);
/* Subtracts one from the number of open files that use `backing`. After the last one, makes the
 * kernel forget `backing`. */
void handover_put(struct session *session, int backing);
/* Frees the counts of handover_hold_locked. Called when the session has ended. */
void handover_end(struct session *session);

/* Returns the kernel's number of the last request that this thread received. */
uint64_t handover_request(void);
/* Tells whether the kernel has sent this thread's last request a second time. */
bool handover_is_resent(void);
/* Notes that the calling thread is about to answer `request`, even if another thread received it.
 * Entries that the thread adds to the list from now on belong to `request`. */
void handover_answers(uint64_t request);
/* Notes the number of a request that the calling thread has just received. */
void handover_received(uint64_t unique);
