// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"
#include "load/load_internal.h"

#include <pthread.h>

/* Shared by pool.c, which has the decoders, and readers.c. */

/* The threads of one stage. */
struct crew {
	pthread_cond_t kicked;
	unsigned kicks;	 /* (lock) kicks that no thread has taken yet */
	unsigned asleep; /* (lock) threads that sleep until a kick */
	unsigned most;	 /* most threads */
	bool stop;	 /* (lock) the crew ends */
};

struct reader {
	LIST_ENTRY(reader) link; /* (lock) */
	struct load_pool *pool;
	pthread_t thread;
	/* (lock) NULL: none, or it was taken away from the reader */
	struct load_task *task;
	bool left_behind; /* (lock) the pool ended without waiting for this thread */
};

struct load_pool {
	struct load_callbacks callbacks;
	struct lock lock;
	struct crew crews[LOAD_STAGES];	    /* indexed by enum load_stage */
	TAILQ_HEAD(works, load_work) works; /* (lock) work for decoders */
	struct works waiting; /* (lock) work for readers, which waits for a server */
	unsigned n_waiting;   /* (lock) readers that are doing such work */
	TAILQ_HEAD(, load_read) spare; /* (lock) */
	unsigned n_spare;	       /* (lock) */
	LIST_HEAD(, reader) readers;   /* (lock) */
	unsigned n_readers;	       /* (lock) */
	pthread_cond_t ended;	       /* signalled when a reader has ended */
	bool time_is_up; /* (lock) the time for running reads to end is over */
	unsigned n_decoders, n_runners;
	/* number of started decoders and runners; decoders come first */
	unsigned decoders_started;
	struct decoder *decoders;
};

/* Sleeps until there is a kick, and takes it. false: the crew stops. */
must_check bool crew_wait(struct load_pool *pool, struct crew *crew);
struct load_read *pool_take_read(
	struct load_pool *pool); /* returns NULL if there is no memory */

/* Carries out one piece of work that waits for a server, unless half of the readers are doing such
 * work. Returns false if it did nothing. */
bool pool_do_waiting(struct load_pool *pool);

/* --- readers.c -------------------------------------------------------------------------- */

/* Tells whether no reader is free for a kick. If so, it has counted a new reader, which the caller
 * must start. */
bool readers_lack_locked(struct load_pool *pool);
int reader_start(struct load_pool *pool);
/* Waits for the readers to end. false: some have not ended. */
must_check bool readers_end(struct load_pool *pool);
