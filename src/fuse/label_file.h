// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse_internal.h"

/*
 * Open labels. Their opens go through opening.c, since the epoch may have to begin first.
 *
 *   opening_start -> (parked) -> label_file_opened -> reads -> label_file_release
 *
 * A label that its position has for ever (sched_label) is answered at once, and binds
 * nothing.
 *
 *   Threads: any.   Locks: none while replying.
 */

/* Answers the open of a label. */
void label_file_opened(fuse_req_t req, struct session *session, struct sched_job *job,
	struct inode inode, uint32_t label, const struct fuse_file_info *fi);
void label_file_read(
	fuse_req_t req, size_t size, uint64_t offset, const struct fuse_file_info *fi);
void label_file_release(struct session *session, const struct fuse_file_info *fi);
/* When the session has ended. */
void label_files_close_all(struct session *session);
