// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "view/view_internal.h"

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
 * The size that st_size says for a position. false: it is not known yet, since the job
 * wants exact sizes and the position is not bound.
 */
must_check bool sample_size(
	struct view *view, struct sched_job *job, struct inode inode, uint64_t *ret);
/* The same for a position that has this sample. */
uint64_t sample_size_of(struct view *view, struct sched_job *job, sample_id sample);
/* Once known it does not change: in current/ a position gets other samples. */
bool sample_size_lasts(const struct job_config *config, struct inode inode);

/*
 * The epoch to open, for sched. In current/ it is that of an open file of the position,
 * where the kernel has one content for an inode: it is mapped, cached or passed through.
 */
uint32_t sample_epoch(struct view *view, const struct sched_job *job, struct inode inode);

/*
 * Takes over the handle, also when it fails: -ENOMEM, -EIO (the file is not as long as
 * its size said: the source was changed), -EAGAIN (somebody has just opened another epoch
 * of the position, which has to be shared: *ret_epoch).
 */
must_check int sample_file_new(struct view *view, struct sched_job *job,
	struct inode inode, struct sched_handle *handle, struct sample_file **ret,
	uint32_t *ret_epoch);
/* What the kernel reads it from; 0: it asks us. */
int sample_file_backing(const struct sample_file *file);

/* Nobody has read it: the position is not consumed. */
void sample_file_undo(struct view *view, struct sample_file *file);

void sample_file_read(fuse_req_t req, struct view *view, struct sample_file *file,
	size_t size, uint64_t offset);
void sample_file_release(struct view *view, struct sample_file *file);

/* What readers had open when the session ended. */
void sample_files_undo_all(struct view *view);

/* Number of them, for stats. */
uint64_t sample_files_open(void);

/* Of samples and labels: it may have to wait. */
void opening_start(fuse_req_t req, struct view *view, struct inode inode,
	const struct fuse_file_info *fi);

/* --- label.c ---------------------------------------------------------------------------
 */

uint64_t label_size(const struct sched_job *job);
/* Answers the open of a label whose position is bound to the sample. */
void label_opened(fuse_req_t req, struct view *view, struct sched_job *job,
	struct inode inode, sample_id sample, const struct fuse_file_info *fi);
void label_read(
	fuse_req_t req, size_t size, uint64_t offset, const struct fuse_file_info *fi);
void label_release(struct view *view, const struct fuse_file_info *fi);
/* When the session has ended. */
void labels_close_all(struct view *view);
