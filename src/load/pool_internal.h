// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"
#include "load/load_internal.h"

#include <pthread.h>

/* Types shared by pool.c, which has the decoders, and readers.c. */

/* The threads of one stage. */
struct crew {
	pthread_cond_t kicked;
	unsigned kicks;	 /* (lock) kicks that no thread has taken */
	unsigned asleep; /* (lock) threads that wait for a kick */
	unsigned most;	 /* most threads */
	bool stop;	 /* (lock) the crew ends */
};

struct reader {
	LIST_ENTRY(reader) link; /* (lock) */
	struct load_pool *pool;
	pthread_t thread;
	struct load_task *task; /* (lock) NULL: none, or taken away from it */
	bool left_behind;	/* (lock) the pool ends without it */
};

struct load_pool {
	struct load_callbacks callbacks;
	struct lock lock;
	struct crew crews[LOAD_STAGES];	    /* index: enum load_stage */
	TAILQ_HEAD(works, load_work) works; /* (lock) work for decoders */
	struct works waiting; /* (lock) work for readers: it waits for a server */
	unsigned n_waiting;   /* (lock) readers that do such work */
	TAILQ_HEAD(, load_read) spare; /* (lock) */
	unsigned n_spare;	       /* (lock) */
	LIST_HEAD(, reader) readers;   /* (lock) */
	unsigned n_readers;	       /* (lock) */
	pthread_cond_t ended;	       /* signalled when a reader has ended */
	bool time_is_up;	       /* (lock) reads have had their time to end */
	unsigned n_decoders, n_runners;
	unsigned
		decoders_started; /* decoders and runners that were started; runners come last */
	struct decoder *decoders;
};

/* Sleeps until there is a kick, and takes it. false: the crew stops. */
must_check bool crew_wait(struct load_pool *pool, struct crew *crew);
struct load_read *pool_take_read(
	struct load_pool *pool); /* returns NULL without memory */
void pool_give_read(struct load_pool *pool, struct load_read *read);

/* Does one piece of work that waits for a server, unless half of the readers do such
 * work. Returns false if it did none. */
bool pool_do_waiting(struct load_pool *pool);

/* --- readers.c -------------------------------------------------------------------------- */

/* Tells whether a kick would find no reader thread. If so, it has counted another one,
 * which the caller has to start. */
bool readers_lack_locked(struct load_pool *pool);
int reader_start(struct load_pool *pool);
/* Waits for the readers to end. false: some did not end. */
must_check bool readers_end(struct load_pool *pool);
