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
 * A critical section of the scheduler: sched->lock is the only lock, and a function whose name
 * ends in _locked is called with it.
 */

struct sched;
struct sched_handle;
struct sched_job;

TAILQ_HEAD(handle_queue, sched_handle);

/*
 * What a critical section leaves to do after it: writing the journal, callbacks, frees,
 * waking workers, drawing ahead. Nothing of that may happen under the lock, or in the
 * same section.
 */
struct aftermath {
	struct sched_job *flush; /* its journal; an answer of it holds the job */
	struct handle_queue finished;
	struct handle_queue look_ups; /* their samples are in saved orders */
	bool kick;		      /* the readers */
	bool kick_decoders;
	struct sched_job *noticed; /* a reference; what is to be said of it */
	enum notice notice;
	uint32_t noticed_epoch;
	struct sched_job *refill; /* a reference; its streams are low */
	bool news;		  /* for who feeds ranks */
};

/*
 * The scheduler lists its phases in sched->phases, in the order in which they run. Each is asked
 * under the lock whether there is something to do, and runs without the lock.
 */
struct after_phase {
	bool (*is_due_locked)(
		const struct sched *sched, const struct aftermath *aftermath);
	void (*run)(struct sched *sched, struct aftermath *aftermath);
};
#define AFTER_PHASES 16 /* at most */

struct after_phases {
	size_t n;
	struct after_phase phase[AFTER_PHASES];
};

void aftermath_init(struct aftermath *aftermath);
/* Releases the lock, and runs the phases that are due. */
void sched_unlock(struct sched *sched, struct aftermath *aftermath);
/* Releases the lock, and frees the tensors that the cache has let go. */
void section_reap(struct sched *sched);

void sched_report(config_report *report, void *context, const char *format, ...)
	printf_like(3, 4);
