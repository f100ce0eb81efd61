// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/files.h"
#include "files/inode.h"

#include <sys/stat.h>

/*
 * The tree of a mount: which names lead to which inodes. Within an epoch it asks the
 * job's layout (layout.h), below data/ the paths of all jobs (data.h).
 *
 *   Threads: any; no state.   Errors: -ENOENT.
 */

#define TREE_CURRENT "current"
#define TREE_NAME 128 /* bytes that hold any name, but not those of jobs and datasets */

/* A file or directory that is always there. */
struct tree_entry {
	const char *name;
	enum inode_kind kind;
	enum inode_kind parent;
};
extern const struct tree_entry tree_entries[];
extern const size_t tree_n_entries;

bool tree_is_directory(enum inode_kind kind);
mode_t tree_type(enum inode_kind kind); /* S_IFDIR, S_IFREG, S_IFLNK */
struct inode tree_parent(struct inode inode);

/* The epochs that have a directory. */
uint32_t tree_epochs(struct sched_job *job);
uint32_t tree_running_epoch(struct sched_job *job); /* UINT32_MAX: none */
/* An epoch has an order file when it is the running one, or when positions were bound. */
bool tree_has_order(struct sched_job *job, uint32_t epoch, uint32_t running);

/* Whether an inode is the directory of an epoch, or in it by the job's layout. */
bool tree_in_epoch(struct sched_job *job, struct inode inode);

must_check int tree_lookup(const struct files_context *context, struct inode parent,
	const char *name, struct inode *ret);
