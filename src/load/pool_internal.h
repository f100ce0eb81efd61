// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"
#include "load/load_internal.h"

#include <pthread.h>

/* A *crew*: all threads of one stage. (lock): the field is protected by load_pool.lock. */

struct crew {
	pthread_cond_t kicked;
	unsigned kicks;	 /* (lock) announced tasks that no thread has taken yet */
	unsigned asleep; /* (lock) number of sleeping threads */
	unsigned most;	 /* largest number of threads */
	bool stop;	 /* (lock) the threads have to end */
};

struct reader {
	LIST_ENTRY(reader) link; /* (lock) */
	struct load_pool *pool;
	pthread_t thread;
	/* (lock) the task being read; NULL: none, or the pool has taken the task away */
	struct load_task *task;
	bool left_behind; /* (lock) the pool ends without waiting for this thread */
};

struct load_pool {
	struct load_callbacks callbacks;
	struct lock lock;
	struct crew crews[LOAD_STAGES];	    /* indexed by enum load_stage */
	TAILQ_HEAD(works, load_work) works; /* (lock) work for decoders */
	struct works waiting; /* (lock) work for readers, which may wait for a server */
	unsigned n_waiting;   /* (lock) readers that are doing work from `waiting` */
	TAILQ_HEAD(, load_read) spare; /* (lock) reads that can be reused */
	unsigned n_spare;	       /* (lock) */
	LIST_HEAD(, reader) readers;   /* (lock) */
	unsigned n_readers;	       /* (lock) */
	pthread_cond_t ended;	       /* a reader has ended */
	bool time_is_up; /* (lock) the pool no longer waits for reads to end */
	unsigned n_decoders, n_runners;
	unsigned decoders_started; /* threads of `decoders` that were started */
	struct decoder *decoders;  /* the decoders, then the runners */
};

/* Sleeps until load_pool_kick announces a task. Returns false if the thread must end. */
must_check bool crew_wait(struct load_pool *pool, struct crew *crew);
/* Returns a read for a new task, if possible a used one; NULL: no memory. */
struct load_read *pool_take_read(struct load_pool *pool);

/* Does the next work that waits for a server. Returns false if there is no such work, or if half of
 * the allowed readers already do such work: the other half must stay free for reading. In
 * load_pool_free this limit does not hold. */
bool pool_do_waiting(struct load_pool *pool);

/* --- readers.c -------------------------------------------------------------------------- */

/* Tells whether more tasks are announced than readers sleep, and another reader is allowed. If so,
 * adds 1 to pool->n_readers for the new reader; the caller must release the lock and call
 * reader_start. */
bool readers_lack_locked(struct load_pool *pool);
int reader_start(struct load_pool *pool);
/* Waits at most two seconds for the readers to end. Returns false if one has not ended by then. */
must_check bool readers_end(struct load_pool *pool);
