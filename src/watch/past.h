// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "edition/job.h"
#include "image/tensor.h"
#include "stats/history.h"

/*
 * Keeps the last hour (sched/last_hour.h): readings of the jobs' counters. A job's place is the
 * index of its figures in each reading.
 *
 *   Flow: past_is_due -> past_begin_locked -> past_read_locked for each job -> past_add.
 *   Owns: the history.   Threads: one thread calls past_is_due and past_add.   Errors: -ENOMEM.
 *   Locks: the lock that past_new gets; the caller of a function named ..._locked holds it.
 */

struct past;
struct watch;

#define LAST_HOUR_NAME 65 /* bytes of a job's or dataset's name, with the final zero */

/* The job of a place. Times come from clock_now_ns. */
struct last_hour_job {
	char name[LAST_HOUR_NAME]; /* "": the place is free */
	char dataset[LAST_HOUR_NAME];
	uint64_t added_ns;
	uint64_t gone_ns; /* time when the job was removed; 0: the job exists */
	/* prepared_for[i]: number of samples that the job got and that were prepared for the job
	 * with place i; the last element: samples that other nodes prepared, or that were prepared
	 * for other nodes or for jobs without a place */
	uint64_t prepared_for[HISTORY_JOBS + 1];
};

struct last_hour {
	struct last_hour_job jobs[HISTORY_JOBS];
	uint32_t untold; /* number of jobs without a place */
	/* n readings: those of the last hour, the oldest first, then one of the present time. In
	 * readings before a job's added_ns, the job's place has the figures of an earlier job. */
	size_t n;
	struct history_reading readings[HISTORY_READINGS + 1];
};

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
/* Begins a reading with the figures of removed jobs. Forgets jobs removed over an hour ago. */
void past_begin_locked(struct past *past, struct history_reading *reading);
void past_read_locked(const struct past *past, const struct watch *watch,
	struct history_reading *reading);
void past_add(struct past *past, const struct history_reading *reading);
void past_copy_readings(const struct past *past, struct last_hour *ret);
/* Fills ret->jobs. Returns the number of jobs that have a place and were not removed. */
uint32_t past_copy_places_locked(const struct past *past, struct last_hour *ret);
