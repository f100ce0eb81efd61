// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "sched/gauges.h"
#include "section/section.h"

/*
 * Counts and reports what jobs do. It decides nothing.
 *
 *   waits.c         counts how long readers wait, and for what
 *   epoch_times.c   measures epochs that were read to the end
 *   last_hour.c     keeps readings of the last hour
 *   trace.c         records each open and close of a job's readers
 *   notice.c        warns about scripts that probably do not do what their authors mean
 *   job_rates.c     counts samples per second
 */

struct past;
struct wanted;

#define RATE_SECONDS 8

#define LAP_READERS 64 /* further readers are not told apart */

/* A reader thread that has opened files of the epoch. */
struct lap_reader {
	long thread;	 /* 0: this entry and those behind it are free */
	uint32_t epoch;	 /* the last epoch of which it opened files */
	uint32_t opens;	 /* files of that epoch that it opened */
	uint32_t first;	 /* samples that all readers had consumed at its first open */
	uint32_t last;	 /* samples that all readers had consumed at its last open */
	uint64_t cpu_ns; /* processor time when it was measured last; 0: never */
};

/* Counts of an epoch's samples by how they were served. */
struct lap_served {
	uint32_t epoch;
	uint64_t n[SERVED_SKIPPED + 1];
};

/* The latest epoch that a job's readers have opened files of. */
struct watched {
	uint32_t epoch;
	/* times of the first open (0: no epoch) and of the last consumed sample */
	uint64_t begun_ns, last_ns;
	/* The job's totals before the epoch, and the pause since the last sample before it. */
	uint64_t exposed_ns[WAIT_CAUSES];
	uint64_t waited_ns, pause_ns;
	uint32_t positions, consumed, opens;
	bool ended; /* all positions were consumed */
	/* by epoch % 2: of the running epoch and of the one before */
	struct lap_served bound[2];
	struct lap_reader reader[LAP_READERS];
};

/* --- waits.c: how long readers wait, and for what --- */

/* Adds the time until now to the job's waits, and finds the cause of its waiting from now
 * on. */
void waits_count_locked(struct sched_job *job, uint64_t now_ns);
/* Counts a handle that begins to wait for its tensor (change 1), or whose wait ends
 * (-1). */
void waits_change_locked(struct sched_handle *handle, int change);
/* Counts the waits of all jobs that wait for the sample. Called just before or just after
 * the cause of their waiting changes. */
void waits_move_on_locked(struct wanted *wanted, uint64_t now_ns);
/* Notes the open of a handle whose epoch has just been found. The first open of a later
 * epoch begins a lap. */
void waits_epoch_locked(const struct sched_handle *handle);
/* Copies the job's waits by cause, in ns. */
void waits_exposed_locked(const struct sched_job *job, uint64_t ret[static WAIT_CAUSES]);
/* Fills the status's fields about waits. */
void waits_status_locked(struct sched_job *job, struct sched_job_status *ret);

/* --- epoch_times.c: epochs that were read to the end --- */

/* Ends the lap of the watched epoch if nine tenths of it were consumed, and begins the
 * next lap. */
void lap_begin_locked(struct sched_job *job, uint64_t begun_ns);
/* Counts an open of a file of the watched epoch, by its reader's thread. */
void lap_open_locked(const struct sched_handle *handle);
/* Counts a position that was bound, by how it is served. */
void lap_bound_locked(struct sched_job *job, uint32_t epoch, enum served served);
/* Counts a sample that was consumed. The last one ends the lap. */
void lap_consumed_locked(struct sched_job *job, uint32_t epoch);
/* Measures the processor time of all jobs' readers. Called once a second, with no lock. */
void laps_measure(struct sched *sched);

/* --- last_hour.c: the last hour --- */

must_check int past_new(struct past **ret);
void past_free(struct past **past);
/* Gives a new job a place in the history, if one is free or belongs to a job that was
 * removed. */
void past_join_locked(const struct sched_job *job);
/* Notes the last figures of a job that is about to be removed. */
void past_leave_locked(struct sched_job *job);
/* Counts a tensor that the job is given, by the job for which it was prepared. */
void past_given_locked(const struct sched_job *job, uint32_t made_for);
/* Takes a reading, if one is due. Called by the housekeeper, with no lock held. */
void past_pass(struct sched *sched, uint64_t now_ns);

/* --- trace.c: opens and closes of readers --- */

/* Adds the event to the job's trace, if somebody reads it. */
void trace_note_locked(struct sched_handle *handle, enum sched_trace_kind kind);
/* Frees traces that nobody has read for a minute. No lock held. */
void traces_forget(struct sched *sched);
void trace_free(struct sched_job *job);

/* --- notice.c: warnings about scripts --- */

/* Counts a notice, and has it logged after the lock is released. Each kind is logged once
 * for each job. */
void notice_locked(struct sched_job *job, enum notice notice, uint32_t epoch,
	struct aftermath *aftermath);
/* Checks at the open of an image whether scripts keep too many files open, and whether
 * readers can be told apart. */
void notice_open_locked(struct sched_handle *handle, struct aftermath *aftermath);
/* Warns if the reader is a rank of a training that also runs on other machines. Returns
 * true if the open must fail for that. */
bool notice_is_refused_locked(struct sched_handle *handle, struct aftermath *aftermath);
/* Logs a notice. */
void notice_say(struct sched_job *job, enum notice notice, uint32_t epoch);

/* --- job_rates.c: samples per second --- */

/* Counts a sample that was consumed. */
void job_count_consumed_locked(struct sched_job *job, uint64_t now_ns);
/* Returns samples consumed per second, over the last RATE_SECONDS. */
double job_rate_locked(struct sched_job *job);
