// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"
#include "load/load_internal.h"

#include <pthread.h>

/* Types and functions that pool.c (decoders) and readers.c share. */

/* The threads of one stage. */
struct crew {
	pthread_cond_t kicked;
	unsigned kicks;	 /* (lock) kicks that no thread has taken yet */
	unsigned asleep; /* (lock) threads that sleep until the next kick */
	unsigned most;	 /* largest number of threads */
	bool stop;	 /* (lock) the threads have to end */
};

struct reader {
	LIST_ENTRY(reader) link; /* (lock) */
	struct load_pool *pool;
	pthread_t thread;
	/* (lock) the task that is being read; NULL: none, or the pool has taken it away */
	struct load_task *task;
	bool left_behind; /* (lock) the pool does not wait for this thread to end */
};

struct load_pool {
	struct load_callbacks callbacks;
	struct lock lock;
	struct crew crews[LOAD_STAGES];	    /* indexed by enum load_stage */
	TAILQ_HEAD(works, load_work) works; /* (lock) queued for decoders */
	/* (lock) work that waits for a server, queued for readers */
	struct works waiting;
	/* (lock) number of readers that are doing work from `waiting` */
	unsigned n_waiting;
	TAILQ_HEAD(, load_read) spare; /* (lock) reads to use again */
	unsigned n_spare;	       /* (lock) */
	LIST_HEAD(, reader) readers;   /* (lock) */
	unsigned n_readers;	       /* (lock) */
	pthread_cond_t ended;	       /* signalled when a reader has ended */
	bool time_is_up; /* (lock) the pool no longer waits for reads to end */
	unsigned n_decoders, n_runners;
	/* number of decoders and runners that were started, decoders first */
	unsigned decoders_started;
	struct decoder *decoders;
};

/* Sleeps until there is a kick, and takes the kick. Returns false if the thread has to end. */
must_check bool crew_wait(struct load_pool *pool, struct crew *crew);
/* Returns a read for a new task. NULL: no memory. */
struct load_read *pool_take_read(struct load_pool *pool);

/* Carries out one piece of the work that waits for a server, unless half of the readers are doing
 * such work already. Returns false if it did nothing. */
bool pool_do_waiting(struct load_pool *pool);

/* --- readers.c -------------------------------------------------------------------------- */

/* Tells whether a kick finds no free reader, and another reader may be started. If so, the function
 * has counted the new reader, and the caller must call reader_start without the lock. */
bool readers_lack_locked(struct load_pool *pool);
int reader_start(struct load_pool *pool);
/* Waits for the readers to end. Returns false if a reader has not ended in time. */
must_check bool readers_end(struct load_pool *pool);
