// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "edition/job.h"
#include "watch/figures.h"

#include <stdatomic.h>

/*
 * Counts and reports what the readers of a job do.
 *
 *   Flow: the scheduler reports each open, binding and wait (src/sched/watching.c), and reads the
 *         figures for its gauges.
 *   Owns: a job's figures. The job frees its trace.
 *   Threads: any.   Errors: -ENOMEM from trace_begin.
 *   Locks: job->lock; the caller of a function named ..._locked holds it, others take it.
 */

struct trace;
struct wanted;

#define RATE_SECONDS 8

#define LAP_READERS 64 /* most threads of readers that are told apart */

struct lap_reader {
	long thread;	/* id of the thread; 0: this entry and all later ones are free */
	uint32_t epoch; /* the latest epoch of which the thread opened files */
	uint32_t opens; /* files of that epoch that the thread opened */
	/* first: number of the epoch's samples that all readers together had consumed at the
	 * thread's first open. last: their number at the thread's latest open. */
	uint32_t first;
	uint32_t last;
	uint64_t cpu_ns; /* processor time at the last measurement; 0: not measured */
};

struct lap_served {
	uint32_t epoch;
	uint64_t n[SERVED_SKIPPED + 1];
};

/* The measurement of the latest epoch of which the job's readers have opened a file. */
struct lap {
	uint32_t epoch;
	/* begun_ns: time of the epoch's first open; 0: no reader has opened a file yet. last_ns:
	 * time of the latest consumed sample; equal to begun_ns before the first one. */
	uint64_t begun_ns, last_ns;
	/* the job's waits by cause, from the job's addition to the start of the epoch */
	uint64_t exposed_ns[WAIT_CAUSES];
	/* waited_ns: sum of the waits of all opens, from the job's addition to the start of the
	 * epoch. pause_ns: time from the previous epoch's last consumed sample to this epoch's
	 * first open. */
	uint64_t waited_ns, pause_ns;
	uint32_t positions, consumed, opens;
	bool ended; /* read to the end, and counted as a lap */
	/* numbers of bindings, by enum served, in the two latest epochs; an epoch has the index
	 * epoch % 2 */
	struct lap_served bound[2];
	struct lap_reader reader[LAP_READERS];
};

/* Totals since the job was added. struct sched_job_status explains the fields. */
struct job_totals {
	uint64_t served, decoded, shared, hit, errors, waits, wait_ns;
	/* waits by cause; WAIT_FILE_SYSTEM is in own_ns of struct watch */
	uint64_t exposed_ns[WAIT_CAUSES];
	unsigned notices;
};

/* job->lock protects all fields, except constant and atomic ones. */
struct watch {
	const struct job *job; /* never changes; read without a lock */
	struct job_totals totals;
	unsigned waiting;  /* number of readers that wait for a tensor */
	uint64_t since_ns; /* time of the last call of waits_count_locked */
	enum wait_cause cause;
	/* total time to answer opens, without waits for tensors */
	_Atomic uint64_t own_ns;
	struct lap lap;
	struct sched_laps laps;
	uint64_t lap_served; /* totals.served at the last measurement of processor time */
	struct trace *trace; /* NULL: no client reads a trace */
	uint32_t rate[RATE_SECONDS];
	uint64_t rate_second;
};

/* --- waits.c: how long readers wait, and for what --- */

/* Returns the time since the last call, in ns, if a reader has waited, otherwise 0. Adds this time
 * to the job's waits. Then determines the cause for which readers wait from now on. first: the
 * sample of the reader that has waited longest; NULL: no reader waits. */
uint64_t waits_count_locked(
	struct watch *watch, const struct wanted *first, uint64_t now_ns);
/* Counts a reader that begins to wait for the sample (change = 1), or whose wait ends
 * (-1). The caller has called waits_count_locked, which counts the time until now. */
void waits_change_locked(struct watch *watch, const struct wanted *wanted, int change);
/* Adds the time to answer an open, without the wait for a tensor, to the waits with the cause
 * WAIT_FILE_SYSTEM. The caller need not hold the lock. */
void waits_took(struct watch *watch, uint64_t ns);
/* Copies the job's waits by cause, in ns. */
void waits_exposed_locked(const struct watch *watch, uint64_t ret[static WAIT_CAUSES]);

struct epoch_waits {
	uint64_t exposed_ns[WAIT_CAUSES]; /* waits by cause since the job was added */
	/* duration of the latest epoch, from its first open on; it lasts until now if a reader
	 * waits, otherwise until the job's most recent consumption of a sample */
	uint64_t epoch_ns;
	double waited_part; /* part of the epoch in which readers waited */
};
void waits_of_epoch_locked(
	const struct watch *watch, uint64_t now_ns, struct epoch_waits *ret);

/* --- epoch_times.c: epochs that were read to the end --- */

/* Notes an open of a file. Begins to measure the epoch if no file of this epoch or of a later
 * epoch was opened before. asked_ns: time of the request. thread: the reader's thread; 0: not
 * known. */
void lap_open_locked(struct watch *watch, uint32_t epoch, uint64_t asked_ns, long thread);
/* Counts a position that was bound to a sample. served: how the job got the sample. */
void lap_bound_locked(struct watch *watch, uint32_t epoch, enum served served);
/* Counts a consumed sample. The epoch's last sample ends the measurement. */
void lap_consumed_locked(struct watch *watch, uint32_t epoch);
/* Measures the processor time of the job's readers. Called once a second. */
void lap_measure(struct watch *watch);

/* --- trace.c: opens and closes of readers --- */

/* Adds the event to the trace, which must exist. Gives an event of kind SCHED_TRACE_OPEN the next
 * number in event->open; in other events the caller has set event->open. */
void trace_note_locked(struct watch *watch, struct sched_trace_event *event);
/* Starts a trace, if there is none. *ret_next: number of the next event. -ENOMEM. */
must_check int trace_begin(struct watch *watch, uint64_t *ret_next);
/* Reads up to `most` events from number *from on, and advances *from. Returns the number
 * of events read. *ret_lost: number of earlier events that the trace no longer has. */
uint32_t trace_read(struct watch *watch, uint64_t *from, uint64_t *ret_lost,
	struct sched_trace_event *ret, uint32_t most);
/* Frees a trace that no client has read for a minute. */
void trace_forget(struct watch *watch);

/* --- notice.c: warnings about scripts --- */

/* Marks the notice as given. Returns true the first time: the caller then logs it. */
must_check bool notice_count_locked(struct watch *watch, enum notice notice);
void notice_say(const struct job *job, enum notice notice, uint32_t epoch);

/* --- job_rates.c: samples per second --- */

/* Counts a consumed sample, and notes the time in lap.last_ns. */
void rate_count_locked(struct watch *watch, uint64_t now_ns);
/* Returns the samples consumed per second: the mean of the last RATE_SECONDS seconds. */
double rate_locked(struct watch *watch);
