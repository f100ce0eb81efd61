// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse_internal.h"

/*
 * The life of an open file, and the functions that each kind of file has: sample, label, text,
 * other file, composite. The struct of each kind begins with struct open_file.
 *
 *   init -> list -> (keep) -> find, put: each read -> close -> the last put -> ops->end
 *     \-> drop
 *
 *   Threads: any.
 *   Locks: takes the session's; ops are called without it.
 */
struct open_file_ops {
	/* Answers an open, possibly after the function has returned. */
	void (*open)(const struct request *request);
	/* Answers a read of a file. The caller holds a reference to the file. */
	void (*read)(const struct request *request, struct open_file *file);
	/* Answers a read of a file that this engine has not listed, because an earlier engine
	 * opened it. The answer may come after the function has returned. */
	void (*again)(const struct request *request);
	/* Consumes the positions of a file that an earlier engine opened and that the kernel
	 * releases. NULL: the kind has no positions. */
	void (*consume)(const struct request *request);
	/* Makes the struct of a file that an earlier engine opened and that the kernel reads by
	 * itself. NULL: the kernel never reads this kind by itself. */
	int (*outlives)(const struct request *request, struct open_file **ret);
	/* Cancels the opens of positions for which a closed file still waits. NULL: files of this
	 * kind never wait. */
	void (*cancel)(struct open_file *file);
	/* Frees a file. Consumes its positions unless file->undo is set. */
	void (*end)(struct open_file *file);
};

/* Initialises a new file from the request. The caller has its only reference. */
void open_file_init(
	struct open_file *file, const struct request *request, uint64_t handle);
/* Lists a file. -EEXIST: a file with its handle is listed; -ENOMEM. */
must_check int open_file_list(struct open_file *file);
must_check int open_file_list_locked(struct open_file *file);
/* Lists a file that the kernel reads by itself in the list for later engines. Called before the
 * open is answered. -ENFILE: too many files are listed. */
must_check int open_file_keep(struct open_file *file);
/* Frees a file that is not listed. Consumes nothing. */
void open_file_drop(struct open_file *file);

void open_file_hold(struct open_file *file);
void open_file_put(struct open_file *file);
/* Finds the st_size of an inode that some reader has open. false: nobody has it open. */
bool open_file_size(struct session *session, struct inode inode, uint64_t *ret);

/* Answers a read. */
void open_file_read(const struct request *request);
/* Answers a read of a file that the caller tried to list again. err: the error of the listing;
 * -EEXIST: another read has already listed the file. */
void open_file_read_again(const struct request *request, int err);

/* Closes a file, and drops the reader's reference. undo: nobody has read the file. false: the file
 * is not listed. */
bool open_file_close(struct session *session, uint64_t handle, bool undo);
/* Closes a listed file that nobody has read. */
void open_file_undo(struct open_file *file);
/* Closes all files when the session has ended; nothing is consumed. */
void open_files_undo_all(struct session *session);

/* Removes the entry that an earlier engine made for the open that the kernel is sending again.
 * true: that engine had chosen the epoch *ret_epoch. */
bool open_file_take_back(struct session *session, uint32_t *ret_epoch);
/* Lists a file that an earlier engine opened and that the kernel reads by itself. kept: the entry
 * of that engine. */
must_check int open_file_outlives(const struct request *request, struct kept_open *kept);
