// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "edition/job.h"
#include "watch/figures.h"

/*
 * Keeps the last hour (figures.h): readings of the jobs' counters. A job's place is the index of
 * its figures in each reading. HISTORY_JOBS jobs have a place, including jobs that were removed
 * within the hour. Further jobs are only counted.
 *
 *   Flow: past_is_due -> past_begin_locked -> past_read_locked for each job -> past_add.
 *   Owns: the history.   Threads: one thread calls past_is_due and past_add.   Errors: -ENOMEM.
 *   Locks: the lock that past_new gets; the caller of a function named ..._locked holds it.
 */

struct past;
struct watch;

must_check int past_new(struct lock *lock, struct past **ret);
void past_free(struct past **past);
/* Gives the job a place, if one is free or belongs to a removed job. */
void past_join_locked(struct past *past, const struct job *job);
/* Stores the last figures of a job that is about to be removed. */
void past_leave_locked(struct past *past, const struct watch *watch);
/* Counts a tensor that a reader of `job` got. made_for: id of the job for which the tensor was
 * prepared. */
void past_given_locked(struct past *past, job_id job, uint32_t made_for);
/* Tells whether it is time for a reading. If so, sets the time of the next reading. */
bool past_is_due(struct past *past, uint64_t now_ns);
/* Begins a reading: fills in the figures of removed jobs. Forgets jobs removed over an hour ago. */
void past_begin_locked(struct past *past, struct history_reading *reading);
void past_read_locked(const struct past *past, const struct watch *watch,
	struct history_reading *reading);
void past_add(struct past *past, const struct history_reading *reading);
void past_copy_readings(const struct past *past, struct last_hour *ret);
/* Fills ret->jobs. Returns the number of jobs that have a place and were not removed. */
uint32_t past_copy_places_locked(const struct past *past, struct last_hour *ret);
