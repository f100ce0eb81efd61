// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

/* uthash: a failed insertion leaves hash.tbl NULL, and does not end the process. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/*
 * The list of a session's open files, found by their inode or by their handle. Looking at one
 * inode's files takes no longer when many others are open.
 *
 *   Owns: an entry for each inode that has an open file. The files are the caller's.
 *   Threads, locks: the caller serialises.   Errors: -ENOMEM.
 */

struct kept_open;
struct open_file_ops;
struct open_inode;
struct session;

/* An open file; the first member of each kind's own struct. open_file_ops.h: its life. */
struct open_file {
	/* (session's lock) private to open_files.c */
	LIST_ENTRY(open_file) link; /* the open files of one inode */
	struct open_inode *inode;
	UT_hash_handle hash;
	uint64_t serial; /* of the handle; the file is found by it */

	const struct open_file_ops *ops;
	struct session *session;
	uint64_t number; /* of its inode */
	uint64_t handle;
	uint64_t since_ns; /* kept_open has the same */
	uint64_t size;	   /* st_size while it is open; 0: not known */
	/* The reader has one, and so has each read: the kernel may release the file once it has
	 * an answer's bytes, before the call that sends them has returned. */
	atomic_uint references;
	int backing;  /* the file that the kernel reads it from; 0: none */
	bool borrows; /* an earlier engine has registered that file */
	bool outlived; /* an earlier engine has opened it, and the kernel reads it by itself */
	bool undo; /* (session's lock) nobody has read it: nothing is consumed */
	struct kept_open *kept; /* its entry in the list for later engines, or NULL */
};

/* All zero: no file is open. */
struct open_files {
	struct open_inode *inodes;
	struct open_file *handles;
};

/* Lists a file by its number and its handle, whose serial no other file has. */
must_check int open_files_add(struct open_files *files, struct open_file *file);
void open_files_remove(struct open_files *files, struct open_file *file);

/* Returns the file of a handle, or NULL. */
struct open_file *open_files_find(const struct open_files *files, uint64_t handle);
/* Returns the first open file of an inode, or NULL. The others follow by LIST_NEXT. */
struct open_file *open_files_of(const struct open_files *files, uint64_t number);
/* Returns any open file, or NULL. */
struct open_file *open_files_any(const struct open_files *files);
