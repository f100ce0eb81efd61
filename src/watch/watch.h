// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "sched/gauges.h"
#include "section/section.h"

/*
 * What is counted and told of jobs; it decides nothing.
 *
 *   waits.c         how long readers wait, and for what; trace.c: each of their opens
 *   epoch_times.c   what an epoch was that was read to the end
 *   last_hour.c     what the last hour was like
 *   notice.c        what users are told of what scripts do; job_rates.c: how jobs are
 */

struct past;
struct use;

#define RATE_SECONDS 8

#define LAP_READERS 64 /* more are not told apart */

/* A thread that has opened files of the epoch. */
struct lap_reader {
	long thread;	 /* 0: none, nor behind it */
	uint32_t epoch;	 /* the last one that it opened files of */
	uint32_t opens;	 /* of that epoch */
	uint32_t first;	 /* samples that all had consumed at its first open */
	uint32_t last;	 /* and at its last one */
	uint64_t cpu_ns; /* as it was looked at last; 0: never */
};

/* How the samples of an epoch were served so far. */
struct lap_served {
	uint32_t epoch;
	uint64_t n[SERVED_SKIPPED + 1];
};

/* The epoch that a job's readers read last, since its first open. */
struct watched {
	uint32_t epoch;
	uint64_t begun_ns, last_ns;	  /* 0: none; the last sample was read */
	uint64_t exposed_ns[WAIT_CAUSES]; /* before it, as the next ones */
	uint64_t waited_ns, pause_ns;
	uint32_t positions, consumed, opens;
	bool ended; /* all were consumed */
	struct lap_served
		bound[2]; /* of the running epoch, and of the one before: by its number */
	struct lap_reader reader[LAP_READERS];
};

/* --- waits.c: how long readers wait, and for what --- */

/* Until now. */
void waits_count_locked(struct sched_job *job, uint64_t now_ns);
/* 1: the handle begins to wait for its tensor; -1: it does not any more. */
void waits_change_locked(struct sched_handle *handle, int change);
/* What the sample waits for is about to be something else, or has become so just now. */
void waits_move_on_locked(struct use *use, uint64_t now_ns);
/* The handle knows its epoch, perhaps the first one of it. */
void waits_epoch_locked(const struct sched_handle *handle);
void waits_exposed_locked(const struct sched_job *job, uint64_t ret[static WAIT_CAUSES]);
void waits_status_locked(struct sched_job *job, struct sched_job_status *ret);

/* --- epoch_times.c: epochs that were read to the end --- */

/* The job is about to watch another epoch. */
void lap_begin_locked(struct sched_job *job, uint64_t begun_ns);
void lap_open_locked(const struct sched_handle *handle);
/* A position of an epoch was bound. */
void lap_bound_locked(struct sched_job *job, uint32_t epoch, enum served served);
/* A sample of an epoch was consumed. */
void lap_consumed_locked(struct sched_job *job, uint32_t epoch);
/* Once a second, with no lock. */
void laps_measure(struct sched *sched);

/* --- last_hour.c: the last hour --- */

must_check int past_new(struct past **ret);
void past_free(struct past **past);
/* A job has come, or is about to go. */
void past_join_locked(const struct sched_job *job);
void past_leave_locked(struct sched_job *job);
/* It is given the tensor of a position for the first time. */
void past_given_locked(const struct sched_job *job, const struct tensor *tensor);
/* By the housekeeper: takes a reading, if one is due. No lock held. */
void past_pass(struct sched *sched, uint64_t now_ns);

/* --- trace.c: what readers open and close --- */

/* If somebody asks for that. */
void trace_note_locked(struct sched_handle *handle, enum sched_trace_kind kind);
void traces_forget(struct sched *sched); /* that nobody asks for; no lock held */
void trace_free(struct sched_job *job);

/* --- notice.c --- */

/* Counted, and said when the lock is let go, unless that kind was before. */
void notice_locked(
	struct sched_job *job, const struct effect *effect, struct aftermath *aftermath);
/* An image of current/ is opened. */
void notice_open_locked(struct sched_handle *handle, struct aftermath *aftermath);
/* A rank opens a file, and other ranks are on other machines. true: the open fails. */
bool notice_is_refused_locked(struct sched_handle *handle, struct aftermath *aftermath);
void notice_say(struct sched_job *job, enum notice notice, uint32_t epoch);

/* --- job_rates.c --- */

void job_count_consumed_locked(struct sched_job *job, uint64_t now_ns);
/* Samples consumed per second, over the last seconds. */
double job_rate_locked(struct sched_job *job);
