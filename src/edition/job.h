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
 *   Owns: its fields. The scheduler makes it and frees it.
 *   Threads: one, before the scheduler installs the job; then any.
 *   Locks: `lock`, which is the scheduler's; the caller of a function whose name ends in
 *          _locked holds it.
 */

struct edition;
struct supply;

/* Constant once the job is installed, but for the fields marked (lock). */
struct job {
	struct lock *lock;
	struct supply *supply;
	job_id id;
	struct job_config config;
	uint64_t ini_hash;
	char *directory; /* <state>/jobs/<name> */
	bool fixed;	 /* each file of layout = classes keeps its sample: mapping.c */
	TAILQ_HEAD(, edition) editions; /* (lock) the oldest first */
	struct edition *now;		/* (lock) edition of the epochs that begin */
	struct epochs *epochs;		/* (lock) the engine */
	struct journal *journal;
};

enum epochs_kind job_kind(const struct job *job);
/* Tells whether the job serves a rank, whose samples come as its feed. */
bool job_is_fed(const struct job *job);
/* Returns the number of positions that one open binds: the length of a batch, or 1. */
uint32_t job_binds_at_once(const struct job_config *config);
