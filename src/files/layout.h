// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/inode.h"
#include "files/sizes.h"
#include "sched/sched.h"

/*
 * Layouts: which files an epoch's directory has, and the directories below it.
 *
 * The tree asks the job's layout about everything at and below INODE_EPOCH. Directories
 * are INODE_EPOCH and INODE_SHARD; `job` and `epoch` of an inode are those of the
 * directory it was found in, so a layout only decides about kind and position.
 *
 *   Threads: any.   Errors: -ENOENT from lookup; -ENOMEM, -EIO where noted.
 */

#define LAYOUT_NAME 1024 /* bytes that hold any name */

struct layout_entry {
	struct inode inode;
	char name[LAYOUT_NAME];
};

struct layout {
	/* The entries of a directory have numbers below this, which never change. */
	uint64_t (*entries)(struct sched_job *job, struct inode directory);
	/* The entry of a number; false: it is not used. */
	bool (*entry)(struct sched_job *job, struct inode directory, uint64_t number,
		struct layout_entry *ret);
	int (*lookup)(struct sched_job *job, struct inode directory, const char *name,
		struct inode *ret);
	/* Whether a kind and position of an inode are ones of this layout. */
	bool (*exists)(struct sched_job *job, struct inode inode);
	uint32_t (*subdirectories)(struct sched_job *job, struct inode directory);
	/* Of a file. false: it is not known yet, and may be any when the file
	 * is opened. */
	bool (*size)(struct sizes *sizes, struct sched_job *job, struct inode file,
		uint64_t *ret);
};

extern const struct layout layout_flat, layout_classes, layout_mirror, layout_tar,
	layout_batch;

const struct layout *layout_of(const struct sched_job *job);
