// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdint.h>
#include <sys/queue.h>

/* uthash: a failed insertion leaves hash.tbl NULL, and does not end the process. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/*
 * The open files of one kind, found by their inode or by their handle. Looking at one inode's
 * files takes no longer when many others are open.
 *
 *   Owns: an entry for each inode that has an open file. The files are the caller's.
 *   Threads, locks: the caller serialises.   Errors: -ENOMEM.
 */

struct open_inode;

struct open_file {
	LIST_ENTRY(open_file) link; /* the open files of one inode */
	struct open_inode *inode;
	uint64_t since_ns;   /* kept_open has the same */
	UT_hash_handle hash; /* by handle */
	uint64_t handle;
};

/* All zero: no file is open. */
struct open_files {
	struct open_inode *inodes;
	struct open_file *handles;
};

/* Lists a file by its inode's number and by a handle that no other file has. */
must_check int open_files_add(struct open_files *files, uint64_t number, uint64_t handle,
	struct open_file *file);
void open_files_remove(struct open_files *files, struct open_file *file);

/* Returns the file of a handle, or NULL. */
struct open_file *open_files_find(const struct open_files *files, uint64_t handle);
/* Returns the first open file of an inode, or NULL. The others follow by LIST_NEXT. */
struct open_file *open_files_of(const struct open_files *files, uint64_t number);
/* Returns any open file, or NULL. */
struct open_file *open_files_any(const struct open_files *files);
