// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>

/*
 * A ring of readings of the daemon's and the jobs' counters, taken every ten seconds of the last
 * hour. The newest takes the place of the oldest.
 *
 *   Flow: sched adds readings; the dashboard is drawn from their differences.
 *   Owns: the ring, less than a megabyte, allocated once.
 *   Threads: any.   Locks: one of its own, held while readings are copied: at most some
 *         hundred microseconds. Only the thread that adds readings can wait for it.
 *   Errors: -ENOMEM.
 */

#define HISTORY_STEP_NS UINT64_C(10000000000)
#define HISTORY_READINGS 361 /* the begin of the hour, and the end of each step */
#define HISTORY_JOBS 32	     /* places for jobs, which the scheduler assigns */
#define HISTORY_CAUSES 4     /* causes of waits */
#define HISTORY_NEEDS 5	     /* classes of samples by need, as counted by the cache */

/* Counters of one job, since it was added. */
struct history_job {
	uint64_t served, decoded, shared, hit;
	uint64_t exposed_ns[HISTORY_CAUSES];
};

struct history_reading {
	uint64_t ns;		  /* time of clock_now_ns */
	uint64_t served, decodes; /* counters of the daemon, since its start */
	uint64_t cache_held, cache_pinned,
		cache_needed[HISTORY_NEEDS]; /* bytes at the time of the reading */
	struct history_job jobs[HISTORY_JOBS];
};

struct history;

must_check int history_new(struct history **ret);
void history_free(struct history **history);

void history_add(struct history *history, const struct history_reading *reading);
/* Copies all readings, the oldest first. Returns their number. */
size_t history_copy(
	struct history *history, struct history_reading ret[static HISTORY_READINGS]);
