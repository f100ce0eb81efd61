// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

/* Makes uthash leave hash.tbl NULL after a failed insertion, instead of ending the process. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/*
 * A session's open files, found by inode and by handle. The time to find the files of an inode does
 * not depend on the number of other open files.
 *
 *   Owns: an entry for each inode that has an open file. The caller owns the files.
 *   Threads, locks: the caller serialises all calls.   Errors: -ENOMEM.
 */

struct kept_open;
struct open_file_ops;
struct open_inode;
struct session;

/* The first member of each kind of open file, whose life open_file_ops.h describes. */
struct open_file {
	/* (session's lock) The fields up to `serial` are private to open_files.c. */
	LIST_ENTRY(open_file) link; /* links the open files of one inode */
	struct open_inode *inode;
	UT_hash_handle hash;
	uint64_t serial; /* serial number in the handle, by which the file is found */

	const struct open_file_ops *ops;
	struct session *session;
	uint64_t number; /* number of the file's inode */
	uint64_t handle;
	uint64_t since_ns; /* time of the open, even by an earlier engine */
	uint64_t size;	   /* st_size while the file is open; 0: not known */
	/* Number of references. The reader has one, and each running read has one, since otherwise
	 * the kernel's release could free the file while its bytes are sent. */
	atomic_uint references;
	int backing;  /* number of the file from which the kernel reads; 0: none */
	bool borrows; /* an earlier engine registered `backing` */
	bool outlived;
	bool undo; /* (session's lock) nobody has read the file, so nothing is consumed */
	struct kept_open *kept; /* entry in the list of handover.h; NULL: not listed */
};

/* If all fields are zero, no file is open. */
struct open_files {
	struct open_inode *inodes;
	struct open_file *handles;
};

/* The caller guarantees that no other file has the handle's serial number. */
must_check int open_files_add(struct open_files *files, struct open_file *file);
void open_files_remove(struct open_files *files, struct open_file *file);

struct open_file *open_files_find(const struct open_files *files, uint64_t handle);
/* Returns the first open file of an inode, or NULL. LIST_NEXT gives the others. */
struct open_file *open_files_of(const struct open_files *files, uint64_t number);
struct open_file *open_files_any(const struct open_files *files);
