// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "stats/history.h"

struct sched;

/*
 * Records the last hour: the samples that each job was given, the waits of its readers,
 * and the jobs for which its samples had been prepared. There are places for HISTORY_JOBS
 * jobs, including jobs that were removed within the hour; a job without a place is
 * counted, but not listed.
 *
 *   Flow: the housekeeper takes a reading every ten seconds; the dashboard shows all of them.
 *   Threads: any.   Errors: -ENOMEM.
 */

#define SCHED_PAST_NAME 65 /* bytes of a name: config_name_valid */

/* Times are clock_now_ns. */
struct sched_past_job {
	char name[SCHED_PAST_NAME]; /* "": the place is free */
	char dataset[SCHED_PAST_NAME];
	uint64_t added_ns;
	uint64_t gone_ns; /* time of its removal; 0: the job exists */
	/* Counts the samples that the job was given, by the place of the job for which
	 * they were prepared. The last entry: a job without a place, or another node. */
	uint64_t prepared_for[HISTORY_JOBS + 1];
};

struct sched_past {
	struct sched_past_job jobs[HISTORY_JOBS];
	uint32_t untold; /* jobs without a place */
	/* Readings, the oldest first; the last one is taken now. For a job, readings
	 * before its added_ns say nothing: another job had the place then. */
	size_t n;
	struct history_reading readings[HISTORY_READINGS + 1];
};

/* Copies the last hour; the caller frees *ret. -ENOMEM */
must_check int sched_past(struct sched *sched, struct sched_past **ret);
