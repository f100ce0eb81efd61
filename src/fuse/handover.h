// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse_internal.h"

#define UNIQUE_RESEND (UINT64_C(1) << 63) /* FUSE_UNIQUE_RESEND, from Linux 6.9 on */

/*
 * Files that were open when the previous engine ended.
 *
 * The inode and the handle of an open file tell almost everything: the next engine prepares
 * it again when it is read, and consumes its position when it is released. Two more facts are
 * kept in the memory that engines share (base/kept.h):
 *
 *   - The file that the kernel reads an inode from. While the inode is open, each open of it
 *     has to name this file, whichever engine has registered it. So the file is kept until
 *     the last open that uses it is released.
 *   - The epoch of a shard of current/, which is found when it is first read.
 *
 *   Threads: any.   Locks: none is held, unless the name says so.
 */

/* Lists an open of a file that the kernel reads from `backing`, or of a shard. Called before
 * the open is answered. NULL: too many are listed. */
struct kept_open *handover_add(struct session *session, uint64_t handle, uint64_t number,
	uint32_t epoch, int backing);

/* Takes back what a previous engine has listed of the open that the kernel now sends again.
 * true: that engine had found *ret_epoch. */
bool handover_take_back(struct session *session, uint32_t *ret_epoch);

/* Returns the entry of an open shard, which has its epoch; NULL: it is not known. */
struct kept_open *handover_find(struct session *session, uint64_t handle);

/* Lists the files that are open, and has the kernel forget all files that nobody reads. Called
 * before the session serves again. */
void handover_begin(struct session *session);

/* Tells whether open files use this file, which a previous engine has registered. */
bool handover_has_locked(const struct session *session, int backing);
/* Counts one more open that uses the file. -ENOMEM */
must_check int handover_hold_locked(struct session *session, int backing);
/* Counts one open less. After the last one the kernel forgets the file. */
void handover_put(struct session *session, int backing);
void handover_end(struct session *session);

/* Returns the kernel's number of the request that this thread has received last. */
uint64_t handover_request(void);
/* Tells whether the kernel has sent that request again. */
bool handover_is_resent(void);
/* Tells that the calling thread will answer this request, which another thread may have
 * received. Opens that it lists belong to this request. */
void handover_answers(uint64_t request);
/* Notes the number of a request. Called by the function that receives it. */
void handover_received(uint64_t unique);
