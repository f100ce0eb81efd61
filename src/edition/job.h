// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/lock.h"
#include "base/types.h"
#include "config/config.h"
#include "epoch/epoch.h"
#include "epoch/journal.h"

/*
 * A job: its configuration, its directory, its editions and the engine of its epochs.
 *
 *   Owns: its fields. The scheduler makes and frees the job.
 *   Threads: one, until the scheduler installs the job; then any.
 *   Locks: `lock`, which is the scheduler's. Functions ..._locked need it.
 */

struct edition;
struct supply;

/* The fields without (lock) are constant after the job is installed. */
struct job {
	struct lock *lock;
	struct supply *supply;
	job_id id;
	struct job_config config;
	uint64_t ini_hash;
	char *directory; /* <state>/jobs/<name> */
	bool fixed; /* each file of layout = classes has the same sample in all epochs */
	TAILQ_HEAD(, edition) editions; /* (lock) the oldest first */
	struct edition *now;   /* (lock) edition of epochs that begin from now on */
	struct epochs *epochs; /* (lock) */
	struct journal *journal;
};

static inline enum epochs_kind job_kind(const struct job *job)
{
	if (job->config.layout == LAYOUT_MIRROR)
		return EPOCHS_MIRRORED;
	if (job->config.order == ORDER_SEQUENTIAL || job->fixed)
		return EPOCHS_FIXED;
	return job->config.layout == LAYOUT_CLASSES || job->config.fixed_labels
		       ? EPOCHS_DRAWN_AT_OPEN
		       : EPOCHS_DRAWN;
}

/* Tells whether the job serves one rank of a training on several nodes. The group's leader draws
 * the samples of such a job. */
static inline bool job_is_fed(const struct job *job)
{
	return job->config.ranks > 0;
}

/* Returns the number of positions that one open binds: all positions of a batch, otherwise 1. */
uint32_t job_binds_at_once(const struct job_config *config);
