// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"
#include "load/load_internal.h"

#include <pthread.h>

/* What pool.c, which has the decoders, and readers.c share. */

/* The threads of one stage. */
struct crew {
	pthread_cond_t kicked;
	unsigned kicks;	 /* (lock) that nobody has taken */
	unsigned asleep; /* (lock) threads that wait for one */
	unsigned most;	 /* threads */
	bool stop;	 /* (lock) */
};

struct reader {
	LIST_ENTRY(reader) link; /* (lock) */
	struct load_pool *pool;
	pthread_t thread;
	struct load_task *task; /* (lock) NULL: none, or not its own any more */
	bool left_behind;	/* (lock) */
};

struct load_pool {
	struct load_callbacks callbacks;
	struct lock lock;
	struct crew crews[LOAD_STAGES];	    /* by enum load_stage */
	TAILQ_HEAD(works, load_work) works; /* (lock) for decoders */
	struct works waiting; /* (lock) for readers: works that wait for a server */
	unsigned n_waiting;   /* (lock) readers that do such a work */
	TAILQ_HEAD(, load_read) spare; /* (lock) */
	unsigned n_spare;	       /* (lock) */
	LIST_HEAD(, reader) readers;   /* (lock) */
	unsigned n_readers;	       /* (lock) */
	pthread_cond_t ended;	       /* a reader */
	bool time_is_up;	       /* (lock) for reads to end */
	unsigned n_decoders, n_runners;
	unsigned decoders_started; /* and runners, which come last */
	struct decoder *decoders;
};

/* Sleeps until there is a kick to take. false: the crew stops. */
must_check bool crew_wait(struct load_pool *pool, struct crew *crew);
struct load_read *pool_take_read(struct load_pool *pool); /* NULL: no memory */
void pool_give_read(struct load_pool *pool, struct load_read *read);

/* Does a work that waits for a server, unless half of the readers do so. false: there is none. */
bool pool_do_waiting(struct load_pool *pool);

/* --- readers.c -------------------------------------------------------------------------- */

/* Whether a kick finds nobody; then another reader is counted, and has to be started. */
bool readers_lack_locked(struct load_pool *pool);
int reader_start(struct load_pool *pool);
/* false: some did not end. */
must_check bool readers_end(struct load_pool *pool);
