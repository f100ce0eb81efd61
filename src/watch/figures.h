// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/types.h"
#include "config/config.h"
#include "epoch/epoch.h"
#include "stats/history.h"

/* waits.c explains each cause. */
enum wait_cause {
	WAIT_STORAGE,
	WAIT_DECODING,
	WAIT_QUEUE,
	WAIT_FILE_SYSTEM,
	WAIT_CAUSES
};

#define SCHED_LAPS 12

/* Figures of a job for joaderctl explain. */
struct sched_laps {
	/* times of the job's first open and last consumed sample, by clock_now_ns; 0: none */
	uint64_t first_ns, last_ns;
	uint64_t n;	   /* laps (epochs read to their end) since the job was added */
	uint64_t ended_ns; /* end of the latest lap, by clock_now_ns */
	/* The latest laps, in a ring: lap number k, counted from 1, has the index (k - 1) %
	 * SCHED_LAPS. The latest lap has the number `n`. ns: duration of the lap. waited_ns: how
	 * long opens waited in the lap, summed over all readers. */
	uint64_t ns[SCHED_LAPS], waited_ns[SCHED_LAPS];
	/* The fields from here to `hit` are about the latest lap. */
	uint32_t epoch, samples;
	unsigned readers;  /* mean number of threads that opened files at the same time */
	uint64_t pause_ns; /* time between the previous lap and the latest one */
	uint64_t exposed_ns[WAIT_CAUSES];
	uint64_t decoded, shared, hit;
	/* cpu_ns: processor time of the job's readers, in the periods in which it could be
	 * measured. cpu_samples: number of samples that the readers got in these periods. Both
	 * count from the time when the job was added. */
	uint64_t cpu_ns, cpu_samples;
	bool drawn; /* a sampler chooses the samples of positions */
	/* number of labels if each file has a fixed label, but gets its sample only at an open;
	 * otherwise 0 */
	uint32_t labels;
	uint64_t sample_bytes;
	enum sampler_kind sampler;
	double weight;
};

enum sched_trace_kind {
	SCHED_TRACE_OPEN,  /* an open was requested */
	SCHED_TRACE_READY, /* an open was answered */
	SCHED_TRACE_FAILED,
	SCHED_TRACE_RELEASE
};

struct sched_trace_event {
	uint64_t ns; /* time of the event, by clock_now_ns */
	enum sched_trace_kind kind;
	int status; /* 0 or -errno */
	/* number of the open; 0: the file was opened before the trace began */
	uint64_t open;
	uint32_t epoch; /* SCHED_CURRENT: not chosen yet */
	uint32_t position;
	sample_id sample;   /* SAMPLE_NONE: not known yet */
	uint64_t waited_ns; /* time that the open has waited for its tensor */
};

/* Returns what the notice means for a training, and what to do about it. */
const char *notice_text(enum notice notice);

#define LAST_HOUR_NAME 65 /* bytes of a job's or dataset's name, with the final zero */

/* The job that has one place. A place is an index of last_hour.jobs, and of history_reading.jobs,
 * which has the job's figures. Times come from clock_now_ns. */
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
