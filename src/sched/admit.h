// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "sched/sched_internal.h"

/* Sets config->preparation to a program's arrays if this program prepares the job's samples (key
 * `prepare`). -EINVAL, reported: no such program, or the arrays do not fit the job. */
must_check int program_adopt(struct sched *sched, struct job_config *config,
	config_report *report, void *context);

/* Returns a job whose `path` ([view]) equals config->path, or lies above or below config->path.
 * NULL: there is none. */
const struct sched_job *admit_conflict_locked(
	const struct sched *sched, const struct job_config *config);
/* Refuses a job for which admit_conflict_locked finds another job: -EEXIST, reported. */
must_check int admit_path(struct sched *sched, const struct job_config *config,
	config_report *report, void *context);
/* Tells whether the job fits the other ranks of its training. If not, *ret_other is a rank that the
 * job does not fit, and *ret_key is the key in which they conflict. */
bool admit_rank_locked(const struct sched *sched, const struct job_config *config,
	const struct sched_job **ret_other, const char **ret_key);
/* Refuses a job that conflicts with another rank: -EEXIST, reported. */
must_check int admit_rank(struct sched *sched, const struct job_config *config,
	config_report *report, void *context);
/* Refuses a job whose batch does not fit into the memory: -EINVAL, reported. */
must_check int admit_batch(
	const struct edition *edition, config_report *report, void *context);
/* Refuses a job with channels = keep if its format, filter or layout does not allow the pixel modes
 * of its images: -EINVAL, reported. */
must_check int admit_channels(
	const struct edition *edition, config_report *report, void *context);
/* Makes the dataset's tables that the job's files need. This work takes a while. -errno */
must_check int admit_view(const struct edition *edition);
