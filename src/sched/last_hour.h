// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "stats/history.h"

struct sched;

/*
 * The last hour: what each job was given, how long its readers waited, and how many of its
 * samples had been prepared for which other job. There are places for HISTORY_JOBS jobs, those
 * that have gone within the hour among them; a job that finds none is counted, but not told.
 *
 *   Flow: the housekeeper takes a reading every ten seconds; who opens the dashboard gets all
 *         of them.
 *   Threads: any.   Errors: -ENOMEM.
 */

#define SCHED_PAST_NAME 65 /* bytes of a name: config_name_valid */

/* Times are clock_now_ns. */
struct sched_past_job {
	char name[SCHED_PAST_NAME]; /* "": nobody has the place */
	char dataset[SCHED_PAST_NAME];
	uint64_t added_ns;
	uint64_t gone_ns; /* 0: it is there */
	/* How many of the samples that it was given had been prepared for the job of each
	 * place; the last one: for one without a place, or by or for another node. */
	uint64_t prepared_for[HISTORY_JOBS + 1];
};

struct sched_past {
	struct sched_past_job jobs[HISTORY_JOBS];
	uint32_t untold; /* jobs that are there, and have no place */
	/* The oldest first, and at last that of now. Of the jobs that had a place before they
	 * tell nothing that makes sense for the job that has it: added_ns. */
	size_t n;
	struct history_reading readings[HISTORY_READINGS + 1];
};

/* The caller frees it. */
must_check int sched_past(struct sched *sched, struct sched_past **ret);
