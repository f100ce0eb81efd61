// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "edition/job.h"
#include "image/tensor.h"
#include "stats/history.h"

/*
 * The last hour of all jobs: their places in the history, and its readings. sched/last_hour.h
 * describes it.
 *
 *   Flow: past_is_due -> past_begin_locked -> past_read_locked for each job -> past_add.
 *   Owns: the history.   Threads: past_is_due and past_add are for one thread.
 *   Locks: the lock of past_new; the caller of a function whose name ends in _locked holds it.
 *   Errors: -ENOMEM.
 */

struct past;
struct watch;

#define LAST_HOUR_NAME 65 /* bytes of a name: config_name_valid */

/* Times are clock_now_ns. */
struct last_hour_job {
	char name[LAST_HOUR_NAME]; /* "": the place is free */
	char dataset[LAST_HOUR_NAME];
	uint64_t added_ns;
	uint64_t gone_ns; /* time of its removal; 0: the job exists */
	/* Counts the samples that the job was given, by the place of the job for which
	 * they were prepared. The last entry: a job without a place, or another node. */
	uint64_t prepared_for[HISTORY_JOBS + 1];
};

struct last_hour {
	struct last_hour_job jobs[HISTORY_JOBS];
	uint32_t untold; /* jobs without a place */
	/* Readings, the oldest first; the last one is taken now. For a job, readings
	 * before its added_ns say nothing: another job had the place then. */
	size_t n;
	struct history_reading readings[HISTORY_READINGS + 1];
};

must_check int past_new(struct lock *lock, struct past **ret);
void past_free(struct past **past);
/* Gives a new job a place in the history, if one is free or belongs to a job that was
 * removed. */
void past_join_locked(struct past *past, const struct job *job);
/* Notes the last figures of a job that is about to be removed. */
void past_leave_locked(struct past *past, const struct watch *watch);
/* Counts a tensor that the job is given, by the job for which it was prepared. */
void past_given_locked(struct past *past, job_id job, uint32_t made_for);
/* Tells whether a reading is due. If so, the next one is due a while later. */
bool past_is_due(struct past *past, uint64_t now_ns);
/* Begins a reading: fills in the figures of removed jobs, except those that were removed an
 * hour ago, which are forgotten. */
void past_begin_locked(struct past *past, struct history_reading *reading);
/* Adds a job's figures to a reading. */
void past_read_locked(const struct past *past, const struct watch *watch,
	struct history_reading *reading);
void past_add(struct past *past, const struct history_reading *reading);
/* Copies the readings. */
void past_copy_readings(const struct past *past, struct last_hour *ret);
/* Copies the places. Returns the number of jobs that have one. */
uint32_t past_copy_places_locked(const struct past *past, struct last_hour *ret);
