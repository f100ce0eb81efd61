// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse_internal.h"

/*
 * Files of samples and labels.
 *
 * An open sample is a sched_handle (it holds the tensor) and the file that the job's
 * format makes of it. Opening may have to wait for the tensor: opening.c.
 *
 *   opening_start -> (parked) -> sample_file_new -> reply
 *                -> reads -> sample_file_release, which consumes the position
 *
 *   Threads: any.   Locks: none while replying or calling sched.
 */

struct sample_file; /* an open sample */

/*
 * The epoch to open, for sched. In current/ it is that of an open file of the position,
 * where the kernel has one content for an inode: it is mapped, cached or passed through.
 */
uint32_t sample_file_epoch(
	struct session *session, const struct sched_job *job, struct inode inode);

/*
 * Takes over the handle, also when it fails: -ENOMEM, -EIO (the file is not as long as
 * its size said: the source was changed), -EAGAIN (somebody has just opened another epoch
 * of the position, which has to be shared: *ret_epoch).
 */
must_check int sample_file_new(struct session *session, struct sched_job *job,
	struct inode inode, struct sched_handle *handle, struct sample_file **ret,
	uint32_t *ret_epoch);
/* What the kernel reads it from; 0: it asks us. */
int sample_file_backing(const struct sample_file *file);

/* Nobody has read it: the position is not consumed. */
void sample_file_undo(struct session *session, struct sample_file *file);

void sample_file_read(fuse_req_t req, struct session *session, struct sample_file *file,
	size_t size, uint64_t offset);
void sample_file_release(struct session *session, struct sample_file *file);

/* What readers had open when the session ended. */
void sample_files_undo_all(struct session *session);

/* Of samples and labels: it may have to wait. */
void opening_start(fuse_req_t req, struct session *session, struct inode inode,
	const struct fuse_file_info *fi);

/* --- label.c ---------------------------------------------------------------------- */

/* Answers the open of a label whose position is bound to the sample. */
void label_file_opened(fuse_req_t req, struct session *session, struct sched_job *job,
	struct inode inode, sample_id sample, const struct fuse_file_info *fi);
void label_file_read(
	fuse_req_t req, size_t size, uint64_t offset, const struct fuse_file_info *fi);
void label_file_release(struct session *session, const struct fuse_file_info *fi);
/* When the session has ended. */
void label_files_close_all(struct session *session);
