// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "epoch/epoch.h"
#include "section/section.h"

#include <sys/queue.h>

/*
 * The work that critical sections leave for later: writing the journal, callbacks, frees, waking
 * workers, drawing ahead. phases.c does this work, in phases.
 *
 *   Flow: sched_lock (or SECTION_SCOPE) -> functions fill the aftermath -> sched_unlock.
 *   Owns: the references to jobs in an aftermath.   Threads: the one that made the aftermath.
 *   Locks: sched->lock; the caller of a function whose name ends in _locked holds it.
 *   Errors: none.
 */

struct sched;
struct sched_handle;
struct sched_job;

TAILQ_HEAD(handle_queue, sched_handle);

struct aftermath {
	struct sched *sched;
	/* the job whose journal has to be written; the caller, or a handle in `finished`, has a
	 * reference to the job */
	struct sched_job *flush;
	struct handle_queue finished; /* opens to be answered */
	struct handle_queue look_ups; /* opens to be looked up in saved orders */
	bool kick;		      /* wake reader threads */
	bool kick_decoders;
	/* the job about which the user gets a notice, with a reference; NULL: no notice */
	struct sched_job *noticed;
	enum notice notice;
	uint32_t noticed_epoch;
	/* a job, with a reference, whose stream has few drawn samples left; or NULL */
	struct sched_job *refill;
	bool news; /* a feed has changed, so sched->news has to be called */
	/* The fields from here on are set when the critical section ends. */
	bool let_go; /* an ended stream's samples must no longer count as needed */
	bool free_spaces; /* a space has no reference any more, so its tensors have to be freed */
};

/* Sets sched->section. The caller has set sched->cache before. */
void phases_init(struct sched *sched);
/* Runs an empty critical section. Its end frees what nobody uses any more: evicted tensors, ended
 * streams, and spaces without references. */
void sched_after(struct sched *sched);
/* Begins a critical section, with an empty aftermath. */
void sched_lock(struct sched *sched, struct aftermath *aftermath);
/* Ends the critical section, frees evicted tensors, and then does the work of the aftermath. */
void sched_unlock(struct aftermath *aftermath);

/* A critical section that ends with the enclosing scope. */
#define SECTION_SCOPE(sched, name)                                                       \
	__attribute__((cleanup(sched_unlock))) struct aftermath name;                    \
	sched_lock(sched, &name)
