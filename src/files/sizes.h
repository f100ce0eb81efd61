// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/inode.h"
#include "sched/datasets.h"

struct sched_job;

/*
 * The sizes that readers are told for samples' files, before and after positions are bound.
 *
 *   Owns: the padded size of each job, because computing it looks at all samples of the job.
 *   Threads: any.   Errors: -ENOMEM from sizes_new.
 */

struct sizes;

must_check int sizes_new(struct sizes **ret);
void sizes_free(struct sizes **sizes);

/* Forgets all sizes after a job was added or removed, since another job may have the number of the
 * removed one now. */
void sizes_forget(struct sizes *sizes);

/*
 * Finds the st_size of a position's file. false: the size is not known yet, because the job has
 * size = exact and the position is not bound.
 */
must_check bool sizes_of_position(
	struct sizes *sizes, struct sched_job *job, struct inode inode, uint64_t *ret);
/* Returns the st_size that the file of a position has with this sample. second: the file is the
 * second file of a pair. */
uint64_t sizes_of_sample(struct sizes *sizes, struct sched_job *job, uint32_t epoch,
	sample_id sample, bool second);
/* Finds the size of the first or the second file of a position's pair. `inode` may be either
 * file. */
must_check bool sizes_of_part(struct sizes *sizes, struct sched_job *job,
	struct inode inode, bool second, uint64_t *ret);
/* Tells why files of current/ would get other sizes with the next edition (see sched_dataset_move).
 * NULL: the sizes stay. */
sched_edition_change sizes_change;
/* Tells whether finding the size of a position requires reading a saved order from the state
 * directory. For a directory: whether this is so for the positions in it. */
bool sizes_are_saved(struct sched_job *job, struct inode inode);
/* Tells whether a known size stays valid. In current/ it may change, because a position gets
 * another sample in each epoch, and because the last batch or shard may grow. */
bool sizes_last(struct sched_job *job, struct inode inode);
