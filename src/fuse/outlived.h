// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse_internal.h"

#define UNIQUE_RESEND (UINT64_C(1) << 63) /* as FUSE_UNIQUE_RESEND, from Linux 6.9 on */

/*
 * What was open when the engine before this one ended.
 *
 * The inode and the handle of an open file tell almost everything: the next engine prepares
 * it again when it is read, and consumes its position when it is released. Two things they
 * do not tell, which are kept beside (base/kept.h):
 *
 *   - The file that the kernel reads an inode from. As long as the inode is open, it can be
 *     opened with no other, whoever has told the kernel of it. So such a file is kept until
 *     the last open that uses it is released.
 *   - The epoch of a shard of current/, which is found when it is first read.
 *
 *   Threads: any.   Locks: none is held, unless the name says so.
 */

/* Lists an open of a file that the kernel reads from `backing`, or of a shard. To be called
 * before the open is answered. NULL: there are too many. */
struct kept_open *outlived_add(struct session *session, uint64_t handle, uint64_t number,
	uint32_t epoch, int backing);

/* The kernel sends an open again, which the engine before has begun to answer: what was
 * listed of it is taken back. true: it had found that epoch. */
bool outlived_take_back(struct session *session, uint32_t *ret_epoch);

/* The epoch of an open shard, and the place where it is kept; NULL: it is not known. */
struct kept_open *outlived_find(struct session *session, uint64_t handle);

/* Before the session serves again: lists what is open, and has the kernel forget all files
 * that nobody reads. */
void outlived_begin(struct session *session);

/* Whether the file is one of an engine before this one. */
bool outlived_has_locked(const struct session *session, int backing);
/* One more open uses it. -ENOMEM */
must_check int outlived_hold_locked(struct session *session, int backing);
/* One less. The last one: the kernel forgets the file. */
void outlived_put(struct session *session, int backing);
void outlived_end(struct session *session);

/* The kernel's number for the request that this thread has received last; and whether it
 * is sent again. */
uint64_t outlived_request(void);
bool outlived_is_resent(void);
/* This thread answers it next, whoever has received it: what it lists is this request's. */
void outlived_answers(uint64_t request);
/* By the function that receives. */
void outlived_received(uint64_t unique);
