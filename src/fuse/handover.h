// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse_internal.h"

#define UNIQUE_RESEND (UINT64_C(1) << 63) /* FUSE_UNIQUE_RESEND, from Linux 6.9 on */

/*
 * The list of open files that one engine leaves to the next one.
 *
 * The inode and the handle of an open file tell almost everything: the next engine prepares
 * the file again when it is read, and consumes its position when it is released. Two more facts
 * are kept in the memory that engines share (base/kept.h):
 *
 *   - The file that the kernel reads an inode from. While the inode is open, each open of it
 *     has to name this file, whichever engine has registered it. So the file is kept until
 *     the last open that uses it is released.
 *   - The epoch of a shard of current/, which is found when it is first read.
 *
 *   Threads: any.   Locks: none is held, unless the name says so.
 */

/* Lists an open of a file that the kernel reads from `backing`, or of a shard (0). Called before
 * the open is answered. NULL: too many are listed. */
struct kept_open *handover_add(
	struct session *session, uint64_t handle, uint64_t number, int backing);

/* Returns the session's entry after `before` (NULL: the first one), or NULL. */
struct kept_open *handover_next(struct session *session, const struct kept_open *before);
/* Returns the entry of an open shard, which has its epoch; NULL: it is not known. */
struct kept_open *handover_find(struct session *session, uint64_t handle);
/* Returns the entry of the open that the kernel now sends again; NULL: no earlier engine has
 * listed it. */
struct kept_open *handover_find_resent(struct session *session);
/* Takes one close off the list that came while no engine could live. false: there is none. */
bool handover_take_close(
	struct session *session, uint64_t *ret_number, uint64_t *ret_handle);

/* Tells whether open files use `backing`, a file that an earlier engine has registered. */
bool handover_has_locked(const struct session *session, int backing);
/* Counts one more open file that uses `backing`. -ENOMEM */
must_check int handover_hold_locked(struct session *session, int backing);
/* Counts one open file less. After the last one the kernel forgets `backing`. */
void handover_put(struct session *session, int backing);
/* Frees the counts when the session has ended. */
void handover_end(struct session *session);

/* Returns the kernel's number of the request that this thread has received last. */
uint64_t handover_request(void);
/* Tells whether the kernel has sent that request again. */
bool handover_is_resent(void);
/* Notes that the calling thread answers this request next; another thread may have received it.
 * Opens that the thread lists belong to this request. */
void handover_answers(uint64_t request);
/* Notes the number of a request. Called by the function that receives it. */
void handover_received(uint64_t unique);
