// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/files.h"
#include "files/inode.h"

#include <sys/stat.h>

struct sched_job;

/*
 * The tree of a mount: maps names to inodes. Within an epoch the job's layout decides (layout.h),
 * below data/ the paths of all jobs (data.h).
 *
 *   Threads: any; no state.   Errors: -ENOENT.
 */

#define TREE_CURRENT "current"
/* bytes that are enough for any name, except the names of jobs and datasets */
#define TREE_NAME 128

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

/* Returns an upper limit of the number of epochs that get a directory. */
uint32_t tree_epochs(struct sched_job *job);

/*
 * The epochs that have a directory now: the epochs that have begun and whose order is kept, and the
 * next epoch. All are at least `first` and less than `end`. So a directory has few names, however
 * many epochs the job reads.
 */
struct tree_range {
	uint32_t first, end;
	/* number of the running epoch; UINT32_MAX: no epoch is running */
	uint32_t running;
	uint32_t next; /* number of the next epoch; UINT32_MAX: there is none */
};
struct tree_range tree_range(struct sched_job *job);
/* Tells whether an epoch has a directory now. */
bool tree_has_epoch(
	struct sched_job *job, const struct tree_range *range, uint32_t epoch);
/* Tells whether an epoch has an order file: it is running, or some of its positions were bound. */
bool tree_has_order(
	struct sched_job *job, const struct tree_range *range, uint32_t epoch);

/* Checks that an inode is the directory of an epoch, or lies in one according to the job's layout.
 * -ENOENT: it does not; -ESTALE: its name belongs to another inode now. */
must_check int tree_check(struct sched_job *job, struct inode inode);

/* Finds the inode of a name in a directory. */
must_check int tree_lookup(const struct files_context *context, struct inode parent,
	const char *name, struct inode *ret);
