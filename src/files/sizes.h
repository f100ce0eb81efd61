// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/inode.h"
#include "sched/datasets.h"

struct sched_job;

/*
 * The sizes that readers are told of samples' files, before and after positions are
 * bound.
 *
 *   Owns: the padded size of each job, since finding it looks at all samples of the job.
 *   Threads: any.   Errors: -ENOMEM from sizes_new.
 */

struct sizes;

must_check int sizes_new(struct sizes **ret);
void sizes_free(struct sizes **sizes);

/* Forgets all sizes when a job was added or removed: a number may belong to another job now. */
void sizes_forget(struct sizes *sizes);

/*
 * Finds the st_size of a position. false: it is not known yet, since the job wants exact sizes
 * and the position is not bound.
 */
must_check bool sizes_of_position(
	struct sizes *sizes, struct sched_job *job, struct inode inode, uint64_t *ret);
/* Returns the st_size of a position of the epoch that has this sample. second: a pair's second
 * file. */
uint64_t sizes_of_sample(struct sizes *sizes, struct sched_job *job, uint32_t epoch,
	sample_id sample, bool second);
/* Finds the size of the first or the second file of a position's pair, whichever the inode is. */
must_check bool sizes_of_part(struct sizes *sizes, struct sched_job *job,
	struct inode inode, bool second, uint64_t *ret);
/* Tells why files of current/ would get other sizes with the next edition, or returns NULL: see
 * sched_dataset_move. */
sched_edition_change sizes_change;
/* Tells whether sizes_of_position would read a file of the state for a position, or for those
 * of a directory. */
bool sizes_are_saved(struct sched_job *job, struct inode inode);
/* Tells whether a known size stays as it is: in current/ a position gets other samples. */
bool sizes_last(struct sched_job *job, struct inode inode);
