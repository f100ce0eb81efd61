// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse_internal.h"

/*
 * Open files that hold several positions.
 *
 *   batch    open binds all positions, in order, and is answered when all are prepared;
 *            release consumes them. Nothing ever waits in a read.
 *   labels   open binds all positions; nothing is consumed.
 *   tar      open binds nothing; a read binds the positions whose bytes it covers, in
 *            order, and is answered when they are prepared. A position is consumed when
 *            its last byte was read, or at release when some was.
 *
 *   composite_open -> (parked) -> reply -> composite_read -> (parked) -> reply
 *                                       -> composite_release
 *
 *   Threads: any; none waits: a request whose samples are not prepared is answered by the
 * worker that prepares the last of them.   Locks: none while replying or calling sched.
 */

struct composite_file;

bool composite_is(enum inode_kind kind);

void composite_open(fuse_req_t req, struct session *session, struct inode inode,
	const struct fuse_file_info *fi);
void composite_read(
	fuse_req_t req, size_t size, uint64_t offset, const struct fuse_file_info *fi);
void composite_release(const struct fuse_file_info *fi);

/* What readers had open when the session ended. */
void composite_files_undo_all(struct session *session);
