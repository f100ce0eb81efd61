// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse_internal.h"

/*
 * data/: for each job with `[view] path = resnet18/train` a link data/resnet18/train to
 * its current/, and the directories that lead to it.
 *
 * A directory's inode number is a hash of its path, and what there is is looked up among
 * the jobs each time: there is nothing to keep up to date when jobs come and go.
 *
 *   Threads: any.   Errors: -ENOENT, -ENOMEM.
 */

#define DATA_NAME 256	/* bytes that hold any name: a path has fewer than 256 */
#define DATA_TARGET 512 /* bytes that hold what any link says */

struct data_entry {
	struct inode inode;
	char name[DATA_NAME];
	uint64_t number; /* in listings of its directory; does not change */
};

must_check int data_lookup(struct session *session, struct inode directory,
	const char *name, struct inode *ret);

/* The first entry whose number is at least this: 1 and *ret, 0: there is none. */
must_check int data_entry(struct session *session, struct inode directory,
	uint64_t number, struct data_entry *ret);

must_check int data_subdirectories(
	struct session *session, struct inode directory, uint32_t *ret);

/* Where a link leads. */
must_check int data_target(
	struct session *session, struct inode link, char ret[DATA_TARGET]);

/* The kernel forgets what leads to a job with this path. */
void data_forget(struct session *session, const char *path);
