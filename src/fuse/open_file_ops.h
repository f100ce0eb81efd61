// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse_internal.h"

/*
 * The life of an open file, and the functions that differ by kind: sample, label, text, other
 * file, composite. A file's struct begins with struct open_file.
 *
 *   init -> list -> (keep) -> find, put: each read -> close -> the last put -> ops->end
 *     \-> drop
 *
 *   Threads: any.
 *   Locks: takes the session's; ops are called without it.
 */
struct open_file_ops {
	/* Answers an open, perhaps later. */
	void (*open)(const struct request *request);
	/* Answers a read of a file that open_file_find has found. */
	void (*read)(const struct request *request, struct open_file *file);
	/* Answers a read, perhaps later, of a file that this engine has not listed. */
	void (*again)(const struct request *request);
	/* Consumes the positions of such a file, which the kernel releases. NULL: it has none. */
	void (*consume)(const struct request *request);
	/* Makes a file that the kernel reads by itself, and an earlier engine has opened. NULL:
	 * the kernel never does. */
	int (*outlives)(const struct request *request, struct open_file **ret);
	/* Cancels the opens of positions that a closed file still waits for. NULL: no file of this
	 * kind waits. */
	void (*cancel)(struct open_file *file);
	/* Frees a file, and consumes its positions unless file->undo. */
	void (*end)(struct open_file *file);
};

/* Sets the members of a new file of the request's inode. The caller has its only reference. */
void open_file_init(
	struct open_file *file, const struct request *request, uint64_t handle);
/* Lists a file. -EEXIST: its handle is listed; -ENOMEM. */
must_check int open_file_list(struct open_file *file);
must_check int open_file_list_locked(struct open_file *file);
/* Lists a file that the kernel reads by itself for later engines, before the kernel is told of
 * it. -ENFILE: too many are listed. */
must_check int open_file_keep(struct open_file *file);
/* Frees a file that is not listed; nothing is consumed. */
void open_file_drop(struct open_file *file);

/* Finds an open file, with a reference for the caller. NULL: this engine did not open it. */
struct open_file *open_file_find(struct session *session, uint64_t handle);
void open_file_hold(struct open_file *file);
void open_file_put(struct open_file *file);
/* Finds the st_size of an inode that is open, whichever reader has it; false: none is. */
bool open_file_size(struct session *session, struct inode inode, uint64_t *ret);

/* Answers a read. */
void open_file_read(const struct request *request);
/* Answers a read of a file that the caller has listed again. err: the error of that; -EEXIST:
 * another read has done so. */
void open_file_read_again(const struct request *request, int err);

/* Closes a file, and gives the reader's reference back. undo: nobody has read it. false: it is
 * not listed. */
bool open_file_close(struct session *session, uint64_t handle, bool undo);
/* Closes a listed file that nobody has read. */
void open_file_undo(struct open_file *file);
/* Closes all files when the session has ended; nothing is consumed. */
void open_files_undo_all(struct session *session);

/* Takes back what an earlier engine has listed of the open that the kernel now sends again.
 * true: that engine had found *ret_epoch. */
bool open_file_take_back(struct session *session, uint32_t *ret_epoch);
/* Lists a file that the kernel reads by itself, and an earlier engine has opened: `kept`. */
must_check int open_file_outlives(const struct request *request, struct kept_open *kept);
