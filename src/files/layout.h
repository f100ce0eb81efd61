// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/inode.h"
#include "files/sizes.h"

struct sched_job;

/* Layouts: the files and directories in an epoch's directory. The tree asks the job's layout about
 * each inode at and below INODE_EPOCH. Directories have the kinds INODE_EPOCH and INODE_SHARD. An
 * inode inherits the job and epoch from its directory. A layout decides the kind and the position;
 * the layout classes also decides the version of the names. Threads: any. Errors: -ENOENT, -ENOMEM
 * from lookup. */

#define LAYOUT_NAME 1024 /* enough for any name */

struct layout_entry {
	struct inode inode;
	char name[LAYOUT_NAME];
};

struct layout {
	/* Returns a number that is greater than the numbers of all entries. An entry's number never
	 * changes. */
	uint64_t (*entries)(struct sched_job *job, struct inode directory);
	/* Returns false if no entry has this number. */
	bool (*entry)(struct sched_job *job, struct inode directory, uint64_t number,
		struct layout_entry *ret);
	int (*lookup)(struct sched_job *job, struct inode directory, const char *name,
		struct inode *ret);
	bool (*exists)(struct sched_job *job, struct inode inode);
	uint32_t (*subdirectories)(struct sched_job *job, struct inode directory);
	/* Returns false if the size is known only when the file is open. */
	bool (*size)(struct sizes *sizes, struct sched_job *job, struct inode file,
		uint64_t *ret);
};

extern const struct layout layout_flat, layout_classes, layout_mirror, layout_tar,
	layout_batch;

const struct layout *layout_of(const struct sched_job *job);

/* Returns the inode of an entry of the directory. */
static inline struct inode layout_inode(
	struct inode directory, enum inode_kind kind, uint32_t position)
{
	directory.kind = kind;
	directory.position = position;
	return directory;
}

/* Returns the number of batches or shards in an epoch's directory. */
uint32_t layout_files(struct sched_job *job, const struct sched_edition *edition);
uint32_t layout_no_subdirectories(struct sched_job *job, struct inode directory);

/* Tells whether the epoch skips the n positions from `position` on, because all their
 * samples are bad. Listings omit the files of these positions. */
bool layout_skips(
	struct sched_job *job, struct inode directory, uint32_t position, uint32_t n);
