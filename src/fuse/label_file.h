// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse_internal.h"

struct sched_job;

/*
 * Open labels. Their opens go through opening.c, since the epoch may have to begin first.
 *
 *   opening_start -> (parked) -> label_file_opened -> reads -> label_file_release
 *
 * The open of a label that its position keeps for ever (sched_label) is answered at once, and
 * binds nothing.
 *
 *   Threads: any.   Locks: none while replying.
 */

/* Answers the open of a label. epoch: as in a handle. */
void label_file_opened(fuse_req_t req, struct session *session, struct sched_job *job,
	struct inode inode, uint32_t epoch, uint32_t label,
	const struct fuse_file_info *fi);
/* Answers a read of a label that a previous engine has opened. */
void label_file_read_again(fuse_req_t req, struct sched_job *job, uint32_t label,
	size_t size, uint64_t offset);
/* Answers a read. false: this engine did not open the file. */
must_check bool label_file_read(fuse_req_t req, struct session *session, uint64_t handle,
	size_t size, uint64_t offset);
void label_file_release(struct session *session, uint64_t handle);
/* Lists a label that the kernel reads by itself, and a previous engine has opened. -ENOMEM */
must_check int label_file_outlives(struct session *session, struct kept_open *open);
/* Closes all labels when the session has ended. */
void label_files_close_all(struct session *session);
