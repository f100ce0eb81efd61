// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse_internal.h"

/*
 * The life of an open file, and the functions that each kind of file has: sample, label, text,
 * other file, composite. The struct of each kind begins with struct open_file.
 *
 *   open_file_init -> open_file_list -> (open_file_keep) -> reads -> open_file_close
 *          \-> open_file_drop
 *
 *   open_file_close and open_file_drop give a reference back. The last open_file_put calls
 *   ops->end.
 *
 *   Threads: any.   Locks: takes the session's; ops are called without it.
 */
struct open_file_ops {
	/* Answers an open, possibly after the function has returned. */
	void (*open)(const struct request *request);
	/* Answers a read of a file. The caller holds a reference to the file. */
	void (*read)(const struct request *request, struct open_file *file);
	/* Answers a read of a file that is not in the session's list: an earlier engine opened the
	 * file, or files of this kind are never listed. The answer may come after the function has
	 * returned. again_takes_long: a worker calls this function. */
	void (*again)(const struct request *request);
	bool again_takes_long;
	/* Consumes, at the release, the positions of a file that an earlier engine opened. NULL:
	 * files of this kind have no positions. */
	void (*consume)(const struct request *request);
	/* Makes the struct of a file that an earlier engine opened, and that the kernel reads by
	 * itself (passthrough.h). NULL: the kernel never reads files of this kind by itself. */
	int (*outlives)(const struct request *request, struct open_file **ret);
	/* Cancels a closed file's waits for samples. NULL: these files wait only in their open. */
	void (*cancel)(struct open_file *file);
	/* Frees a file. Consumes its positions unless file->undo is set. NULL: free suffices. */
	void (*end)(struct open_file *file);
};

/* Fills in a new file. The file has one reference, which belongs to the caller. */
void open_file_init(
	struct open_file *file, const struct request *request, uint64_t handle);
/* Adds a file to the session's list. -EEXIST: the list has a file with this handle; -ENOMEM */
must_check int open_file_list(struct open_file *file);
must_check int open_file_list_locked(struct open_file *file);
/* If the kernel reads the file by itself, lists the file for later engines (handover.h). Called
 * before the open is answered. -ENFILE: that list is full. */
must_check int open_file_keep(struct open_file *file);
/* Frees a file that is in no list. Consumes nothing. */
void open_file_drop(struct open_file *file);

void open_file_hold(struct open_file *file);
void open_file_put(struct open_file *file);
/* Finds the st_size of an inode that a reader has open. Returns false if the size is not known. */
bool open_file_size(struct session *session, struct inode inode, uint64_t *ret);

void open_file_read(const struct request *request);
/* Answers a read of a file that an earlier engine opened. err: the result of adding the file to the
 * session's list; -EEXIST: another read has already added the file. */
void open_file_read_again(const struct request *request, int err);

/* Removes a file from the list, and drops the reader's reference. undo: nothing is consumed,
 * because nobody has read the file. Returns false if the list has no file with this handle. */
bool open_file_close(struct session *session, uint64_t handle, bool undo);
/* Closes a file of the list that nobody has read. Consumes nothing. */
void open_file_undo(struct open_file *file);
/* Closes all files when the session has ended; nothing is consumed. */
void open_files_undo_all(struct session *session);

/* Removes the entry that an earlier engine made for the open that this thread handles. *ret_epoch:
 * the epoch of the entry. Returns false if there is no entry, because the kernel sends this open
 * for the first time, or if the entry has no epoch. */
bool open_file_take_back(struct session *session, uint32_t *ret_epoch);
/* Adds a file to the session's list. An earlier engine opened this file, and the kernel reads it by
 * itself. kept: the earlier engine's entry for the file */
must_check int open_file_outlives(const struct request *request, struct kept_open *kept);
