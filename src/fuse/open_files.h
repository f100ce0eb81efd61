// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

/* This option of uthash makes a failed insertion leave hash.tbl NULL, instead of ending the
 * process. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/*
 * A session's open files, which can be found by inode and by handle. The time to find the files of
 * one inode does not depend on the number of other open files.
 *
 *   Owns: an entry for each inode that has an open file. The caller owns the files.
 *   Threads, locks: the caller serialises all calls.   Errors: -ENOMEM.
 */

struct kept_open;
struct open_file_ops;
struct open_inode;
struct session;

/* An open file. It is the first member of the struct of each kind. open_file_ops.h describes its
 * life. */
struct open_file {
	/* The members from here on are private to open_files.c; the session's lock protects
	 * them. */
	LIST_ENTRY(open_file) link; /* the open files of one inode */
	struct open_inode *inode;
	UT_hash_handle hash;
	uint64_t serial; /* serial number in the handle; the file is found by it */

	const struct open_file_ops *ops;
	struct session *session;
	uint64_t number; /* number of its inode */
	uint64_t handle;
	uint64_t since_ns; /* time of the open; kept_open has the same */
	uint64_t size;	   /* st_size while the file is open; 0: not known */
	/* The reader has one reference, and each running read has one: once the kernel has the
	 * bytes of an answer, it may release the file, even before the call that sends them
	 * returns. */
	atomic_uint references;
	int backing;  /* the file from which the kernel reads; 0: none */
	bool borrows; /* an earlier engine registered `backing` */
	/* an earlier engine opened it, and the kernel reads it by itself */
	bool outlived;
	bool undo; /* (session's lock) nobody has read it, so nothing is consumed */
	struct kept_open *kept; /* its entry in the list for later engines, or NULL */
};

/* The list; all zero: no file is open. */
struct open_files {
	struct open_inode *inodes;
	struct open_file *handles;
};

/* Lists a file under its number and its handle. No other file has the handle's serial number. */
must_check int open_files_add(struct open_files *files, struct open_file *file);
void open_files_remove(struct open_files *files, struct open_file *file);

/* Returns the file of a handle, or NULL. */
struct open_file *open_files_find(const struct open_files *files, uint64_t handle);
/* Returns the first open file of an inode, or NULL. LIST_NEXT gives the others. */
struct open_file *open_files_of(const struct open_files *files, uint64_t number);
/* Returns any open file, or NULL. */
struct open_file *open_files_any(const struct open_files *files);
