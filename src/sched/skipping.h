// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "sched/sched_internal.h"

/*
 * bad_sample = skip: an epoch leaves out samples that were found bad before the epoch.
 *
 *   skip_found_locked -> (clerk) skip_update: saves <state>/jobs/<job>/bad, makes a plan
 *                                                                                  |
 *   an epoch begins -> (clerk) work_for -> skip_epoch <----------------------------+
 *
 *   Owns: the job's struct skipping, under the scheduler's lock.
 *   Locks: the caller of a function whose name ends in _locked holds the scheduler's lock; the
 *          caller of another function holds no lock.   Errors: -ENOMEM.
 */

/* The positions that epochs leave out, one for each bad sample. */
struct skip_plan {
	roaring_bitmap_t *positions;
	uint32_t n;
	/* An epoch binds each bad sample to its position, and shows no file for this position. */
	struct binding bindings[];
};

/* Makes a plan for the job's present edition. *ret is NULL if no sample is bad, or if all samples
 * are bad: then none is left out. */
must_check int skip_plan_new(
	const struct sched_job *job, const roaring_bitmap_t *bad, struct skip_plan **ret);
void skip_plan_free(struct skip_plan *plan);
void skip_free(struct sched_job *job);

/* Finds a new job's samples that were found bad before. The job's directory must exist. */
must_check int skip_begin(struct sched_job *job);
/* Notes a bad sample for all jobs that skip. damaged: the sample stays bad until its file
 * changes. */
void skip_found_locked(const struct space *space, sample_id sample, bool damaged);
/* Saves and logs bad samples found since the last call, and makes a new plan. For the clerk. */
void skip_update(struct sched_job *job);

/* Leaves the bad samples out of an epoch that is beginning. The clerk calls this. */
void skip_epoch(struct sched_job *job, uint32_t epoch);
