// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/inode.h"
#include "sched/datasets.h"

struct sched_job;

/* The sizes that readers are told for samples' files, before and after a position gets its sample.
 * Keeps the size to which a job's files are padded, because computing this size looks at all
 * samples of the job. Threads: any. Errors: -ENOMEM from sizes_new. */

struct sizes;

must_check int sizes_new(struct sizes **ret);
void sizes_free(struct sizes **sizes);

/* Forgets all sizes after jobs came or went: a new job may have an old job's number. */
void sizes_forget(struct sizes *sizes);

/* Finds the st_size of a position's file. Returns false if the size is not known yet:
 * with size = exact, a position without a sample has no size. */
must_check bool sizes_of_position(
	struct sizes *sizes, struct sched_job *job, struct inode inode, uint64_t *ret);
/* Returns the st_size of this sample's file. second: the second file of a pair. */
uint64_t sizes_of_sample(struct sizes *sizes, struct sched_job *job, uint32_t epoch,
	sample_id sample, bool second);
/* Finds the size of the first or second file of a pair. `inode` may be either file. */
must_check bool sizes_of_part(struct sizes *sizes, struct sched_job *job,
	struct inode inode, bool second, uint64_t *ret);
/* Returns the reason why the edition `next` of a rescan changes the sizes of files in current/;
 * NULL: the sizes stay. Callers pass this function to sched_dataset_move. */
sched_edition_change sizes_change;
/* Tells whether the file's size can be found only by reading a saved order in the state directory.
 * `inode` can also be a directory, and then stands for the files in it. */
bool sizes_are_saved(struct sched_job *job, struct inode inode);
/* Tells whether the file's size never changes once it is known. In current/ a position gets another
 * sample in each epoch, and the last batch or shard may grow. */
bool sizes_last(struct sched_job *job, struct inode inode);
