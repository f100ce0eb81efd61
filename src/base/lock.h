// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/histogram.h"

#include <pthread.h>
#include <stdbool.h>

/* Mutexes with a name and a rank. Ranks follow the include order of the modules, outermost first: a
 * thread may take a lock only if the lock's rank is greater than the ranks of all locks that the
 * thread holds. The process aborts, in every build, if a thread takes a lock out of order or twice,
 * or releases a lock that it does not hold. */

enum lock_rank {
	LOCK_RANK_CONTROL = 10,	  /* control: the control socket */
	LOCK_RANK_FUSE = 20,	  /* fuse: a session and its open files */
	LOCK_RANK_FILES = 25,	  /* files: sizes of files, and parts of orders */
	LOCK_RANK_GROUP = 27,	  /* group: state of the daemon's group */
	LOCK_RANK_SCHED = 30,	  /* sched: jobs, samplers, entries of the cache */
	LOCK_RANK_JOURNAL = 35,	  /* epoch: records that are not written yet */
	LOCK_RANK_HOMES = 37,	  /* group: which nodes have which samples */
	LOCK_RANK_LOAD = 40,	  /* load: queues of work, and waiting threads */
	LOCK_RANK_PREPARE = 42,	  /* prepare: processes of programs */
	LOCK_RANK_TIER = 43,	  /* tier: samples on the fast local disk */
	LOCK_RANK_PEER = 45,	  /* peer: connections to other daemons */
	LOCK_RANK_DATASET = 50,	  /* dataset: pool of connections */
	LOCK_RANK_FAR = 52,	  /* far: idle connections */
	LOCK_RANK_BACKING = 55,	  /* base: files that the kernel reads */
	LOCK_RANK_KEPT = 57,	  /* base: data that outlive the serving process */
	LOCK_RANK_WORK = 58,	  /* base: list of long work */
	LOCK_RANK_STATS = 60,	  /* stats: list of threads */
	LOCK_RANK_FAULT = 70,	  /* base: fault countdowns */
	LOCK_RANK_FAR_SHARE = 80, /* far: data shared by connections, for libcurl */
};

struct lock {
	pthread_mutex_t mutex;
	atomic_uint waiting;
	enum lock_rank rank;
	const char *name;
	struct lock_holds *holds; /* NULL: not measured */
	uint64_t since_ns;	  /* time when the holder took the lock, if measured */
};

void lock_init(struct lock *lock, enum lock_rank rank, const char *name);
void lock_destroy(struct lock *lock);
void lock_take(struct lock *lock);
void lock_release(struct lock *lock);

/* Gives the lock to waiting threads between the steps of long work. A plain unlock and lock would
 * mostly give it to the same thread again. */
void lock_yield(struct lock *lock);

/* Measures how long the lock is held. The times of all locks with the same name are counted
 * together. The measurement costs about 50 ns each time the lock is held. Call this before other
 * threads know the lock. */
void lock_measure(struct lock *lock);
/* Returns the time (clock_now_ns) when the calling thread took this lock, without reading a clock.
 * If the lock is not measured, returns the present time. */
uint64_t lock_time(const struct lock *lock);
/* Adds to *sum how long the locks with the i-th measured name were held. Returns false if i is not
 * less than the number of measured names. */
bool lock_holds(unsigned i, const char **ret_name, struct histogram_copy *sum);

/* The lock that this thread took last and still holds; NULL: none. */
extern _Thread_local const struct lock *lock_taken_last;
void lock_assert_held_below(const struct lock *lock);

static inline void lock_assert_held(const struct lock *lock)
{
	if (lock != lock_taken_last)
		lock_assert_held_below(lock);
}

/* Takes the lock, whatever its rank is, to report a bug just before the process ends. The lock is
 * never released. Returns false if another thread held it for a whole second. */
bool lock_seize(struct lock *lock);

/* Calls `put` with " NAME" for each lock of this thread, or " none". Safe in a signal handler. */
void lock_each_held(void (*put)(int fd, const char *text), int fd);

/* Initialises a condition whose deadlines are times of clock_now_ns. */
void condition_init(pthread_cond_t *cond);
void lock_wait(struct lock *lock, pthread_cond_t *cond);
/* Returns 0 or ETIMEDOUT. Needs condition_init. deadline_ns: a time of clock_now_ns. */
int lock_wait_until(struct lock *lock, pthread_cond_t *cond, uint64_t deadline_ns);

static inline void lock_scope_end(struct lock **lock)
{
	lock_release(*lock);
}

/* Holds the lock until the end of the enclosing scope. */
#define LOCK_SCOPE(pointer)                                                              \
	__attribute__((cleanup(lock_scope_end), unused)) struct lock *lock_scope_ =      \
		(pointer);                                                               \
	lock_take(lock_scope_)
