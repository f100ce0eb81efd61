// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "watch/past.h"

struct sched;

/*
 * Records the last hour of each job: the samples that the job was given, the waits of its readers,
 * and the jobs for which these samples had been prepared. HISTORY_JOBS jobs are listed, including
 * jobs that were removed within the hour. Further jobs are only counted.
 *
 *   Flow: the housekeeper takes a reading every ten seconds; the dashboard shows the readings.
 *   Threads: any.   Errors: -ENOMEM.
 */

/* Copies the last hour; the caller frees *ret. -ENOMEM */
must_check int sched_past(struct sched *sched, struct last_hour **ret);
