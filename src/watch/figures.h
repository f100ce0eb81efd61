// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/types.h"
#include "config/config.h"

/* Figures of a job's readers, as callers of the scheduler see them. */

/* The cause of a reader's wait. waits.c tells when each one applies. */
enum wait_cause {
	WAIT_STORAGE,
	WAIT_DECODING,
	WAIT_QUEUE,
	WAIT_FILE_SYSTEM,
	WAIT_CAUSES
};

#define SCHED_LAPS 12

/* Facts of a job for joaderctl explain. Times are in ns. */
struct sched_laps {
	/* The first open, and the last time a sample was consumed, by clock_now_ns; 0: never. */
	uint64_t first_ns, last_ns;
	uint64_t n;	   /* number of laps so far */
	uint64_t ended_ns; /* end of the latest lap */
	/* Durations of the latest laps, and the time that their opens waited, summed over
	 * readers. The last lap is at (n - 1) % SCHED_LAPS. */
	uint64_t ns[SCHED_LAPS], waited_ns[SCHED_LAPS];
	/* The latest lap: */
	uint32_t epoch, samples;
	unsigned readers;  /* mean number of threads that opened files at once */
	uint64_t pause_ns; /* pause between the lap before and this one */
	uint64_t exposed_ns[WAIT_CAUSES];
	uint64_t decoded, shared, hit;
	/* Processor time of readers in all laps, and the number of samples that they got
	 * in this time. */
	uint64_t cpu_ns, cpu_samples;
	/* The job's samples and tensors: */
	bool drawn;	 /* a sampler chooses the samples, not the position */
	uint32_t labels; /* labels among which scripts choose; 0: they do not choose */
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
	uint64_t ns; /* clock_now_ns */
	enum sched_trace_kind kind;
	int status;	/* 0 or -errno */
	uint64_t open;	/* number of the open; 0: the trace began after it */
	uint32_t epoch; /* SCHED_CURRENT: not known yet */
	uint32_t position;
	sample_id sample;   /* SAMPLE_NONE: not known yet */
	uint64_t waited_ns; /* time that the open has waited for its tensor */
};
