// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>

/*
 * A ring of readings of the daemon's and the jobs' counters, taken every ten seconds of the last
 * hour. The newest reading replaces the oldest.
 *
 *   Flow: sched adds readings; the dashboard is drawn from their differences.
 *   Owns: the ring, which has less than a megabyte and is allocated once.
 *   Threads: any.   Locks: one of its own, held while readings are copied, for at most a few
 *         hundred microseconds. Only the thread that adds readings can wait for it.
 *   Errors: -ENOMEM.
 */

#define HISTORY_STEP_NS UINT64_C(10000000000)
/* one at the start of the hour, and one at the end of each step */
#define HISTORY_READINGS 361
#define HISTORY_JOBS 32	 /* places for jobs; the scheduler assigns them */
#define HISTORY_CAUSES 4 /* causes of waits */
#define HISTORY_NEEDS 5	 /* classes of samples by need, as in the cache */

/* The counters of one job since it was added. */
struct history_job {
	uint64_t served, decoded, shared, hit;
	uint64_t exposed_ns[HISTORY_CAUSES];
};

struct history_reading {
	uint64_t ns;		  /* clock_now_ns() of the reading */
	uint64_t served, decodes; /* counters of the daemon since its start */
	uint64_t cache_held, cache_pinned,
		cache_needed[HISTORY_NEEDS]; /* bytes at this time */
	struct history_job jobs[HISTORY_JOBS];
};

struct history;

must_check int history_new(struct history **ret);
void history_free(struct history **history);

void history_add(struct history *history, const struct history_reading *reading);
/* Copies all readings, the oldest first. Returns their number. */
size_t history_copy(
	struct history *history, struct history_reading ret[static HISTORY_READINGS]);
