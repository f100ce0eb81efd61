// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/types.h"
#include "config/config.h"
#include "epoch/epoch.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

/*
 * A critical section of the scheduler. sched->lock is the only lock; the caller of a function
 * whose name ends in _locked holds it.
 */

struct sched;
struct sched_handle;
struct sched_job;

TAILQ_HEAD(handle_queue, sched_handle);

/* Work that a critical section leaves for the phases after it, which run without the
 * lock: writing the journal, callbacks, frees, waking workers, drawing ahead. */
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
};

/*
 * One phase of the work after a critical section. sched->phases lists the phases in the order in
 * which they run. is_due_locked tells, under the lock, whether there is work; NULL: the
 * aftermath tells. `run` does the work, and is called without the lock.
 */
struct after_phase {
	bool (*is_due_locked)(
		const struct sched *sched, const struct aftermath *aftermath);
	void (*run)(struct sched *sched, struct aftermath *aftermath);
};
#define AFTER_PHASES 16 /* the most phases */

struct after_phases {
	size_t n;
	struct after_phase phase[AFTER_PHASES];
};

void aftermath_init(struct aftermath *aftermath);
/* Releases the lock, frees the tensors that the cache has evicted, and runs the phases that
 * are due. */
void sched_unlock(struct sched *sched, struct aftermath *aftermath);
/* Releases the lock, and frees the tensors that the cache has evicted. */
void section_reap(struct sched *sched);

/* Formats a message, and passes it to `report`. */
void sched_report(config_report *report, void *context, const char *format, ...)
	printf_like(3, 4);
