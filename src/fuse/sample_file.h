// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/await_close.h"
#include "fuse/fuse_internal.h"

struct sched_handle;
struct sched_job;

/*
 * Open samples. One consists of a sched_handle, which holds the tensor, and the content
 * that the job's format makes of it. An open may have to wait for the tensor: opening.c.
 *
 *   opening_start -> (parked) -> sample_file_new -> reply
 *                -> reads -> sample_file_release, which consumes the position
 *
 *   Threads: any.   Locks: none while replying or calling sched.
 */

struct sample_file; /* an open sample */

/*
 * Takes over the handle, also on failure. -ENOMEM; -ENFILE; -EIO: the content is not as long
 * as readers were told, because the source was changed; -EAGAIN: another reader has another
 * epoch of the position open. Either the waiter waits until that is closed, and
 * *ret_epoch is SCHED_CURRENT, or *ret_epoch has to be shared.
 */
must_check int sample_file_new(struct session *session, struct sched_job *job,
	struct inode inode, struct sched_handle *handle, struct close_waiter *waiter,
	struct sample_file **ret, uint32_t *ret_epoch);
/* The same for one that an engine before this one has opened, under this number. The caller
 * has a reference to *ret. -EEXIST: another read has done so. */
must_check int sample_file_again(struct session *session, struct sched_job *job,
	struct inode inode, struct sched_handle *handle, uint64_t number,
	struct sample_file **ret);
/* The st_size of a file that is open, whichever reader's it is; false: none is. */
bool sample_file_open_size(struct session *session, struct inode inode, uint64_t *ret);
/* The number of the file that the kernel reads it from; 0: it is read through us. */
int sample_file_backing(const struct sample_file *file);
uint64_t sample_file_handle(const struct sample_file *file);

/* Closes a file that nobody has read: the position is not consumed. */
void sample_file_undo(struct session *session, struct sample_file *file);

/* An open file, with a reference for the caller; NULL: this engine did not open it. */
struct sample_file *sample_file_find(struct session *session, uint64_t handle);
/* Answers with the bytes, and gives the reference back. */
void sample_file_read(fuse_req_t req, struct session *session, struct sample_file *file,
	size_t size, uint64_t offset);
/* Also of a file that this engine did not open. */
void sample_file_release(struct session *session, struct inode inode, uint64_t handle);

/* An open that was never answered: the file is as if it had not been. */
void sample_file_forget(struct session *session, uint64_t handle);
/* Lists a file that the kernel reads by itself, and an engine before has opened. -ENOENT:
 * its job is gone; -ENOMEM. */
must_check int sample_file_outlives(
	struct session *session, struct inode inode, struct kept_open *open);

/* Undoes all that are still open when the session has ended. */
void sample_files_undo_all(struct session *session);

/* opening.c: answers the open of a sample or a label, perhaps later. */
void opening_start(fuse_req_t req, struct session *session, struct inode inode,
	const struct fuse_file_info *fi);
/* The same for a read, or a part of the label, of a file that an engine before this one
 * has opened. */
void opening_again(fuse_req_t req, struct session *session, struct inode inode,
	uint64_t handle, size_t size, uint64_t offset);
