// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/files.h"
#include "files/inode.h"

#include <sys/stat.h>

struct sched_job;

/* The tree of a mount: maps names to inodes. The job's layout decides which files an epoch's
 * directory has (layout.h). The keys `path` of all jobs decide what is below data/ (data.h).
 * Threads: any. Errors: -ENOENT. */

#define TREE_CURRENT "current"
#define TREE_NAME 128 /* fits any name but those of jobs and datasets */

/* A file or directory that always exists. */
struct tree_entry {
	const char *name;
	enum inode_kind kind;
	enum inode_kind parent;
};
extern const struct tree_entry tree_entries[];
extern const size_t tree_n_entries;

bool tree_is_directory(enum inode_kind kind);
mode_t tree_type(enum inode_kind kind); /* S_IFDIR, S_IFREG or S_IFLNK */
struct inode tree_parent(struct inode inode);

/* Returns a bound: each epoch that gets a directory has a smaller number. */
uint32_t tree_epochs(struct sched_job *job);

/* The epochs that have a directory now: epochs that have begun and whose order is kept,
 * and the next epoch. All are at least `first` and less than `end`. */
struct tree_range {
	uint32_t first, end;
	uint32_t running; /* epoch; UINT32_MAX: no epoch is running */
	uint32_t next;	  /* epoch; UINT32_MAX: there is none */
};
struct tree_range tree_range(struct sched_job *job);
/* Tells whether the epoch has a directory now. */
bool tree_has_epoch(
	struct sched_job *job, const struct tree_range *range, uint32_t epoch);
/* Tells whether the file epoch-NNNN.order exists: the epoch runs, or some of its positions have
 * samples. */
bool tree_has_order(
	struct sched_job *job, const struct tree_range *range, uint32_t epoch);

/* Checks that the inode is the directory of an epoch, or that the job's layout has the inode in
 * such a directory. -ENOENT: neither is the case; -ESTALE: a rescan has changed the names, so the
 * inode's name may stand for another file now. */
must_check int tree_check(struct sched_job *job, struct inode inode);

must_check int tree_lookup(const struct files_context *context, struct inode parent,
	const char *name, struct inode *ret);
