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
 * A label that its position has for ever (sched_label) is answered at once, and binds
 * nothing.
 *
 *   Threads: any.   Locks: none while replying.
 */

/* Answers the open of a label. epoch: as in a handle. */
void label_file_opened(fuse_req_t req, struct session *session, struct sched_job *job,
	struct inode inode, uint32_t epoch, uint32_t label,
	const struct fuse_file_info *fi);
/* A read of one that an engine before this one has opened. */
void label_file_read_again(fuse_req_t req, struct sched_job *job, uint32_t label,
	size_t size, uint64_t offset);
/* false: this engine did not open it. */
must_check bool label_file_read(fuse_req_t req, struct session *session, uint64_t handle,
	size_t size, uint64_t offset);
void label_file_release(struct session *session, uint64_t handle);
/* Lists one that the kernel reads by itself, and an engine before has opened. -ENOMEM */
must_check int label_file_outlives(struct session *session, struct kept_open *open);
/* When the session has ended. */
void label_files_close_all(struct session *session);
