// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/files.h"
#include "files/inode.h"

/* data/: a job with `[view] path = resnet18/train` has a link data/resnet18/train to the job's
 * current/. A directory's inode number is a hash of its path. Each look-up searches all jobs, so
 * nothing has to be updated when jobs come and go. Threads: any. Errors: -ENOENT, -ENOMEM. */

#define DATA_NAME 256	/* enough for any name: a path has fewer bytes */
#define DATA_TARGET 512 /* enough for any link's target */

struct data_entry {
	struct inode inode;
	char name[DATA_NAME];
	/* Number in its directory's listing: the smallest id of the jobs whose paths have the entry.
	 * The number changes if this job is removed and another job's path has the entry. */
	uint64_t number;
};

must_check int data_lookup(const struct files_context *context, struct inode directory,
	const char *name, struct inode *ret);

/* Finds the first entry whose number is at least `number`. Returns 1, or 0: there is none. */
must_check int data_entry(const struct files_context *context, struct inode directory,
	uint64_t number, struct data_entry *ret);

must_check int data_subdirectories(
	const struct files_context *context, struct inode directory, uint32_t *ret);

must_check int data_target(
	const struct files_context *context, struct inode link, char ret[DATA_TARGET]);

/* One step of a job's path: a name (not ended by \0) and its directory. The path
 * resnet18/train has two steps: "resnet18" in data/, and "train" in data/resnet18. */
struct data_step {
	uint64_t hash; /* hash of the directory's path below data/ */
	const char *name;
	size_t bytes;
	uint32_t depth; /* depth of the name; 1 in data/ itself */
	bool last;
};

struct data_step data_first_step(const char *path);
bool data_next_step(struct data_step *step); /* returns false after the last step */
struct inode data_step_directory(const struct data_step *step);
