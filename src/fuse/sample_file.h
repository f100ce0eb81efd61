// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/await_close.h"
#include "fuse/fuse_internal.h"

struct sched_handle;
struct sched_job;

/*
 * Open samples. Each consists of a sched_handle, which holds the tensor, and the content
 * that the job's format makes of it. An open may have to wait for the tensor: opening.c.
 *
 *   opening_start -> (parked) -> sample_file_new -> reply
 *                -> reads -> sample_file_release, which consumes the position
 *
 *   Threads: any.   Locks: none while replying or calling sched.
 */

struct sample_file; /* an open sample */

/*
 * Opens a sample. Takes over the handle, also on failure. -ENOMEM; -ENFILE; -EIO: the content
 * is not as long as readers were told, because the source was changed; -EAGAIN: another reader
 * has another epoch of the position open. Then either the waiter waits until that is closed,
 * and *ret_epoch is SCHED_CURRENT, or the caller has to share *ret_epoch.
 */
must_check int sample_file_new(struct session *session, struct sched_job *job,
	struct inode inode, struct sched_handle *handle, struct close_waiter *waiter,
	struct sample_file **ret, uint32_t *ret_epoch);
/* Opens a sample again that a previous engine has opened under this number. Takes over the
 * handle, also on failure. The caller gets a reference to *ret. -EEXIST: another read has
 * opened it again. */
must_check int sample_file_again(struct session *session, struct sched_job *job,
	struct inode inode, struct sched_handle *handle, uint64_t number,
	struct sample_file **ret);
/* Finds the st_size of an open file, whichever reader's it is; false: none is open. */
bool sample_file_open_size(struct session *session, struct inode inode, uint64_t *ret);
/* Returns the number of the file that the kernel reads the sample from; 0: it is read through
 * us. */
int sample_file_backing(const struct sample_file *file);
uint64_t sample_file_handle(const struct sample_file *file);

/* Closes a file that nobody has read: the position is not consumed. */
void sample_file_undo(struct session *session, struct sample_file *file);

/* Finds an open file, with a reference for the caller; NULL: this engine did not open it. */
struct sample_file *sample_file_find(struct session *session, uint64_t handle);
/* Answers with the bytes, and gives the reference back. */
void sample_file_read(fuse_req_t req, struct session *session, struct sample_file *file,
	size_t size, uint64_t offset);
/* Closes a file, also one that this engine did not open, and consumes its position. */
void sample_file_release(struct session *session, struct inode inode, uint64_t handle);

/* Closes a file whose open was never answered: its position is not consumed. */
void sample_file_forget(struct session *session, uint64_t handle);
/* Lists a file that the kernel reads by itself, and a previous engine has opened. -ENOENT: its
 * job is gone; -ENOMEM. */
must_check int sample_file_outlives(
	struct session *session, struct inode inode, struct kept_open *open);

/* Closes all files that are still open when the session has ended; no position is consumed. */
void sample_files_undo_all(struct session *session);

/* Answers the open of a sample, its label or its texts, perhaps later (opening.c). */
void opening_start(fuse_req_t req, struct session *session, struct inode inode,
	const struct fuse_file_info *fi);
/* Answers a read of such a file, which a previous engine has opened. */
void opening_again(fuse_req_t req, struct session *session, struct inode inode,
	uint64_t handle, size_t size, uint64_t offset);
