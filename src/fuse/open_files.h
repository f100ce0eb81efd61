// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdint.h>
#include <sys/queue.h>

/*
 * The open files of one kind, found by their inode: a look at those of one inode does not
 * depend on how many others there are.
 *
 *   Owns: an entry for each inode that has an open file. The files are the caller's.
 *   Threads, locks: the caller serialises.   Errors: -ENOMEM.
 */

struct open_inode;

struct open_file {
	LIST_ENTRY(open_file) link; /* of the same inode */
	struct open_inode *inode;
	uint64_t since_ns;
};

/* Zero: none is open. */
struct open_files {
	struct open_inode *inodes;
};

must_check int open_files_add(
	struct open_files *files, uint64_t number, struct open_file *file);
void open_files_remove(struct open_files *files, struct open_file *file);

/* The first one of an inode, whose others follow by LIST_NEXT; NULL: none. */
struct open_file *open_files_of(const struct open_files *files, uint64_t number);
/* Any one of all; NULL: none. */
struct open_file *open_files_any(const struct open_files *files);
