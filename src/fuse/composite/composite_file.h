// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse_internal.h"

/*
 * Open files that hold several positions.
 *
 *   batch    open binds all positions, in order, and is answered when all are prepared;
 *            release consumes them. No read waits for a sample.
 *   labels   open binds all positions, and none is consumed.
 *   tar      open binds nothing. A read binds the positions whose bytes it covers, in
 *            order, and is answered when they are prepared. A position is consumed when
 *            its last byte is read, or by the release if some of its bytes were read.
 *
 *   composite_open -> (parked) -> reply -> composite_read -> (parked) -> reply
 *                                       -> composite_release
 *
 *   Threads: any; none waits. The worker that prepares the last sample of a request, or
 *            goes on when the epoch has begun, answers it.
 *   Locks: none while replying or calling sched.
 */

struct composite_file;

bool composite_is(enum inode_kind kind);

/* Answers an open, perhaps later. */
void composite_open(fuse_req_t req, struct session *session, struct inode inode,
	const struct fuse_file_info *fi);
/* Answers a read, perhaps later. A file that another engine has opened is opened again, and
 * holds the same samples. */
void composite_read(fuse_req_t req, struct session *session, struct inode inode,
	uint64_t handle, size_t size, uint64_t offset);
/* Closes the file and consumes its positions as described above. A file that another engine has
 * opened consumes all of its positions that are bound. */
void composite_release(struct session *session, struct inode inode, uint64_t handle);

/* Closes all files that are still open when the session has ended; no position is consumed. */
void composite_files_undo_all(struct session *session);
