// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "epoch/epoch.h"
#include "section/section.h"

/*
 * The work that the scheduler's critical sections leave for later: writing the journal,
 * callbacks, frees, waking workers, drawing ahead. phases.c lists its phases.
 *
 *   Flow: aftermath_init -> the lock is taken, and functions fill the aftermath
 *         -> sched_unlock.
 *   Owns: its references to jobs.   Threads: the one that made it.
 *   Locks: sched->lock; the caller of a function whose name ends in _locked holds it.
 *   Errors: none.
 */

struct sched;
struct sched_handle;
struct sched_job;

TAILQ_HEAD(handle_queue, sched_handle);

struct aftermath {
	/* The job whose journal is written. The caller, or a handle in `finished`, has
	 * the reference. */
	struct sched_job *flush;
	struct handle_queue finished; /* opens to be answered */
	struct handle_queue look_ups; /* opens whose samples are in saved orders */
	bool kick;		      /* wake readers */
	bool kick_decoders;
	struct sched_job *noticed; /* holds a reference; the job that `notice` is about */
	enum notice notice;
	uint32_t noticed_epoch;
	struct sched_job *refill; /* holds a reference; a stream of this job is low */
	bool news;		  /* tell the feeder of ranks: sched->news */
	/* set at the end of the section: */
	bool let_go;	  /* the need of streams that have ended has to be removed */
	bool free_spaces; /* a space has no jobs any more */
};

void aftermath_init(struct aftermath *aftermath);
/* Sets the phases of a scheduler that has its cache. */
void phases_init(struct sched *sched);
/* Runs the phases that are due. No lock held. */
void sched_after(struct sched *sched);
/* Releases the lock, and runs the phases that are due. */
void sched_unlock(struct sched *sched, struct aftermath *aftermath);
