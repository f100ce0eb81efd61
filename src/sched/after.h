// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "epoch/epoch.h"
#include "section/section.h"

/*
 * The work that the scheduler's critical sections leave for later: writing the journal, callbacks,
 * frees, waking workers, drawing ahead. phases.c lists the phases in which it is done.
 *
 *   Flow: aftermath_init -> the lock is taken, and functions fill the aftermath
 *         -> sched_unlock.
 *   Owns: its references to jobs.   Threads: the one that made the aftermath.
 *   Locks: sched->lock; the caller of a function whose name ends in _locked holds it.
 *   Errors: none.
 */

struct sched;
struct sched_handle;
struct sched_job;

TAILQ_HEAD(handle_queue, sched_handle);

struct aftermath {
	/* The job whose journal has to be written, or NULL. The aftermath takes no reference to
	 * this job, because the caller or a handle in `finished` has one. */
	struct sched_job *flush;
	struct handle_queue finished; /* opens that have to be answered */
	/* opens whose samples have to be looked up in saved orders */
	struct handle_queue look_ups;
	bool kick; /* reader threads have to be woken */
	bool kick_decoders;
	/* the job to which `notice` belongs, with a reference; NULL: there is no notice */
	struct sched_job *noticed;
	enum notice notice;
	uint32_t noticed_epoch;
	/* a job whose stream has few drawn samples left, with a reference; NULL: there is none */
	struct sched_job *refill;
	bool news; /* a feed has changed, so sched->news must be called */
	/* The members from here on are set when the critical section ends. */
	/* a stream has ended, and its samples must no longer count as needed */
	bool let_go;
	bool free_spaces; /* no job uses a space (tensors of one preparation) any more */
};

void aftermath_init(struct aftermath *aftermath);
/* Sets the phases of the scheduler. sched->cache must be set before. */
void phases_init(struct sched *sched);
/* Runs the phases that have work. The caller holds no lock. */
void sched_after(struct sched *sched);
/* Releases the lock, and runs the phases that have work. */
void sched_unlock(struct sched *sched, struct aftermath *aftermath);
