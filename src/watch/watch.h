// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "edition/job.h"
#include "watch/figures.h"

#include <stdatomic.h>

/*
 * Counts and reports what the readers of a job do. It decides nothing.
 *
 *   waits.c         counts how long readers wait, and for what
 *   epoch_times.c   measures epochs that were read to the end
 *   trace.c         records each open and close of a job's readers
 *   notice.c        warns about scripts that probably do not do what their authors mean
 *   job_rates.c     counts samples per second
 *   last_hour.c     keeps readings of the last hour (past.h)
 *
 *   Flow: the scheduler tells each open, binding and wait (src/sched/watching.c), and reads
 *         the figures for its gauges.
 *   Owns: a job's figures. The job frees its trace.
 *   Threads: any.
 *   Locks: job->lock; the caller of a function whose name ends in _locked holds it. Other
 *          functions take it.
 *   Errors: -ENOMEM from trace_begin.
 */

struct trace;
struct wanted;

#define RATE_SECONDS 8

#define LAP_READERS 64 /* further readers are not distinguished */

/* A reader thread that has opened files of the epoch. */
struct lap_reader {
	long thread;	 /* 0: this entry and all later ones are free */
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
struct lap {
	uint32_t epoch;
	/* times of the first open (0: no epoch) and of the last consumed sample */
	uint64_t begun_ns, last_ns;
	/* The job's totals before the epoch, and the pause since the last sample before it. */
	uint64_t exposed_ns[WAIT_CAUSES];
	uint64_t waited_ns, pause_ns;
	uint32_t positions, consumed, opens;
	bool ended; /* all positions were consumed */
	/* figures of the running epoch and of the previous one; index: epoch % 2 */
	struct lap_served bound[2];
	struct lap_reader reader[LAP_READERS];
};

/* Totals since the job was added; the fields of struct sched_job_status. */
struct job_totals {
	uint64_t served, decoded, shared, hit, errors, waits, wait_ns;
	uint64_t exposed_ns[WAIT_CAUSES]; /* without WAIT_FILE_SYSTEM */
	unsigned notices;
};

/* All fields are under the lock, except constant and atomic ones. */
struct watch {
	const struct job *job; /* constant */
	struct job_totals totals;
	unsigned waiting;	 /* readers that wait for a tensor */
	uint64_t since_ns;	 /* waits before this time are counted */
	enum wait_cause cause;	 /* cause of the present wait */
	_Atomic uint64_t own_ns; /* time that answering opens took, without waits */
	struct lap lap;
	struct sched_laps laps;
	uint64_t lap_served; /* totals.served when processor time was measured last */
	struct trace *trace; /* NULL: no client reads it */
	uint32_t rate[RATE_SECONDS];
	uint64_t rate_second;
};

/* --- waits.c: how long readers wait, and for what --- */

/* Adds the time until now to the job's waits, and finds the cause of its waiting from now
 * on. first: the sample of the reader that has waited longest; NULL: none. Returns the ns
 * added. */
uint64_t waits_count_locked(
	struct watch *watch, const struct wanted *first, uint64_t now_ns);
/* Counts a reader that begins to wait for the sample (change 1), or whose wait ends (-1).
 * Called after waits_count_locked. */
void waits_change_locked(struct watch *watch, const struct wanted *wanted, int change);
/* Adds the time that it took to answer an open, without its waits. Takes no lock. */
void waits_took(struct watch *watch, uint64_t ns);
/* Copies the job's waits by cause, in ns. */
void waits_exposed_locked(const struct watch *watch, uint64_t ret[static WAIT_CAUSES]);

struct epoch_waits {
	uint64_t exposed_ns[WAIT_CAUSES]; /* since the job was added */
	uint64_t epoch_ns;  /* from the last epoch's first open until its end, or now */
	double waited_part; /* part of the epoch in which readers waited */
};
void waits_of_epoch_locked(
	const struct watch *watch, uint64_t now_ns, struct epoch_waits *ret);

/* --- epoch_times.c: epochs that were read to the end --- */

/* Notes an open, asked for at asked_ns, of a file of the epoch. The first open of a later
 * epoch begins a lap. thread: the reader's; 0: not known. */
void lap_open_locked(struct watch *watch, uint32_t epoch, uint64_t asked_ns, long thread);
/* Counts a position that was bound, by how it is served. */
void lap_bound_locked(struct watch *watch, uint32_t epoch, enum served served);
/* Counts a sample that was consumed. The last one ends the lap. */
void lap_consumed_locked(struct watch *watch, uint32_t epoch);
/* Measures the processor time of the job's readers. Called once a second. */
void lap_measure(struct watch *watch);

/* --- trace.c: opens and closes of readers --- */

/* Returns the number of a new open; 0: no client reads the trace. */
uint64_t trace_open_locked(struct watch *watch);
/* Adds the event to the trace, if somebody reads it. */
void trace_note_locked(struct watch *watch, const struct sched_trace_event *event);
/* sched_trace_begin and sched_trace_read (sched/gauges.h) call these. */
must_check int trace_begin(struct watch *watch, uint64_t *ret_next);
uint32_t trace_read(struct watch *watch, uint64_t *from, uint64_t *ret_lost,
	struct sched_trace_event *ret, uint32_t most);
/* Frees a trace that no client has read for a minute. */
void trace_forget(struct watch *watch);

/* --- notice.c: warnings about scripts --- */

/* Explains what a notice means for a training, and what to do about it. */
const char *notice_text(enum notice notice);
/* Counts a notice. Returns true for the first one of its kind, which is logged. */
must_check bool notice_count_locked(struct watch *watch, enum notice notice);
/* Logs a notice. */
void notice_say(const struct job *job, enum notice notice, uint32_t epoch);

/* --- job_rates.c: samples per second --- */

/* Counts a sample that was consumed. */
void rate_count_locked(struct watch *watch, uint64_t now_ns);
/* Returns samples consumed per second, over the last RATE_SECONDS. */
double rate_locked(struct watch *watch);
