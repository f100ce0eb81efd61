// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The last hour: every ten seconds a reading of the daemon's and the jobs' counters. A new reading
 * replaces the oldest one.
 *
 *   Flow: src/sched adds readings; the dashboard shows the differences between readings.
 *   Owns: the ring of readings, less than a megabyte.   Threads: any.   Errors: -ENOMEM.
 *   Locks: its own, held for at most a few hundred microseconds.
 */

#define HISTORY_STEP_NS UINT64_C(10000000000)
/* Number of readings: one at the start of the hour, and one after each step. */
#define HISTORY_READINGS 361
/* most jobs in a reading; the scheduler decides which element of `jobs` a job gets */
#define HISTORY_JOBS 32
#define HISTORY_CAUSES 4 /* causes for which readers wait, such as storage */
/* elements of cache_needed: for tensors that 0, 1, 2, 3, or at least 4 streams need; equals
 * CACHE_NEEDS */
#define HISTORY_NEEDS 5

/* The counters of one job since it was added. */
struct history_job {
	uint64_t served, decoded, shared, hit;
	uint64_t exposed_ns[HISTORY_CAUSES]; /* time in which readers waited, by cause */
};

struct history_reading {
	uint64_t ns;		  /* time of the reading, by clock_now_ns() */
	uint64_t served, decodes; /* counters of the daemon since its start */
	/* Bytes of cached tensors. cache_held: of all tensors. cache_pinned: of pinned tensors.
	 * cache_needed[i]: of unpinned tensors that i streams need; the last element: that i or
	 * more streams need. All elements are 0 unless eviction = refcnt. */
	uint64_t cache_held, cache_pinned, cache_needed[HISTORY_NEEDS];
	struct history_job jobs[HISTORY_JOBS];
};

struct history;

must_check int history_new(struct history **ret);
void history_free(struct history **history);

void history_add(struct history *history, const struct history_reading *reading);
/* Copies all readings to `ret`, the oldest first. Returns their number. */
size_t history_copy(
	struct history *history, struct history_reading ret[static HISTORY_READINGS]);
