// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/lock.h"
#include "base/clock.h"
#include "base/crash.h"
#include "base/ensure.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#define MAX_HELD 8

/* The locks of this thread in the order in which it took them. Their ranks ascend. */
static _Thread_local const struct lock *held[MAX_HELD];
static _Thread_local int n_held;
_Thread_local const struct lock *lock_taken_last;
static _Thread_local bool prepared; /* the thread has called prepare_thread */

#define MAX_MEASURED 8

/* Each thread adds to one of PARTS histograms, so threads seldom write to the same memory. */
#define PARTS 16

/* The hold times of all locks with one name. Entries are never freed. */
struct lock_holds {
	_Atomic(const char *) name; /* NULL: free */
	struct {
		_Alignas(64) struct histogram holds;
	} part[PARTS];
};

static struct lock_holds measured[MAX_MEASURED];
static atomic_uint n_threads;
static _Thread_local unsigned own_part;

static void prepare_thread(void)
{
	prepared = true;
	own_part = atomic_fetch_add(&n_threads, 1) % PARTS;
	crash_prepare_thread();
}

static void push_held(const struct lock *lock)
{
	ensure(n_held < MAX_HELD);
	ensure(n_held == 0 || held[n_held - 1]->rank < lock->rank);
	held[n_held++] = lock;
	lock_taken_last = lock;
}

static void pop_held(const struct lock *lock)
{
	ensure(n_held > 0 && held[n_held - 1] == lock);
	n_held--;
	lock_taken_last = n_held > 0 ? held[n_held - 1] : NULL;
}

void lock_init(struct lock *lock, enum lock_rank rank, const char *name)
{
	*lock = (struct lock){.rank = rank, .name = name};
	ensure(pthread_mutex_init(&lock->mutex, NULL) == 0);
}

void lock_destroy(struct lock *lock)
{
	ensure(pthread_mutex_destroy(&lock->mutex) == 0);
}

void lock_measure(struct lock *lock)
{
	for (struct lock_holds *one = measured; one < measured + MAX_MEASURED; one++) {
		const char *name = NULL;
		if (atomic_compare_exchange_strong(&one->name, &name, lock->name) ||
			strcmp(name, lock->name) == 0) {
			lock->holds = one;
			return;
		}
	}
	ensure(!"more names of measured locks than there is room for");
}

bool lock_holds(unsigned i, const char **ret_name, struct histogram_copy *sum)
{
	*ret_name = i < MAX_MEASURED ? atomic_load(&measured[i].name) : NULL;
	for (unsigned k = 0; *ret_name && k < PARTS; k++)
		histogram_copy_add(&measured[i].part[k].holds, sum);
	return *ret_name != NULL;
}

static void begin_hold(struct lock *lock)
{
	if (lock->holds)
		lock->since_ns = clock_now_ns();
}

static uint64_t end_hold(const struct lock *lock)
{
	return lock->holds ? clock_now_ns() - lock->since_ns : 0;
}

static void count_hold(struct lock_holds *holds, uint64_t ns)
{
	if (holds)
		histogram_add(&holds->part[own_part].holds, ns);
}

uint64_t lock_time(const struct lock *lock)
{
	lock_assert_held(lock);
	return lock->holds ? lock->since_ns : clock_now_ns();
}

static void take_mutex(struct lock *lock)
{
	if (pthread_mutex_trylock(&lock->mutex) == 0)
		return;
	atomic_fetch_add(&lock->waiting, 1);
	ensure(pthread_mutex_lock(&lock->mutex) == 0);
	atomic_fetch_sub(&lock->waiting, 1);
}

void lock_take(struct lock *lock)
{
	if (!prepared)
		prepare_thread();
	push_held(lock);
	take_mutex(lock);
	begin_hold(lock);
}

void lock_release(struct lock *lock)
{
	struct lock_holds *holds = lock->holds;
	pop_held(lock);
	uint64_t ns = end_hold(lock);
	ensure(pthread_mutex_unlock(&lock->mutex) == 0);
	/* Another thread may have freed the lock by now, so only `holds` is used. */
	count_hold(holds, ns);
}

#define YIELDS 1000

void lock_yield(struct lock *lock)
{
	lock_release(lock);
	for (int i = 0; i < YIELDS && atomic_load(&lock->waiting) > 0; i++)
		sched_yield();
	lock_take(lock);
}

static bool is_held(const struct lock *lock)
{
	for (int i = 0; i < n_held; i++)
		if (held[i] == lock)
			return true;
	return false;
}

bool lock_seize(struct lock *lock)
{
	struct timespec deadline;
	if (is_held(lock))
		return true;
	clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_sec++;
	if (n_held == MAX_HELD || pthread_mutex_timedlock(&lock->mutex, &deadline) != 0)
		return false;
	held[n_held++] = lock;
	lock_taken_last = lock;
	return true;
}

void lock_each_held(void (*put)(int fd, const char *text), int fd)
{
	for (int i = 0; i < n_held; i++) {
		put(fd, " ");
		put(fd, held[i]->name);
	}
	if (n_held == 0)
		put(fd, " none");
}

void lock_assert_held_below(const struct lock *lock)
{
	if (!is_held(lock))
		ensure(!"the lock that this function needs is not held");
}

void condition_init(pthread_cond_t *cond)
{
	pthread_condattr_t attributes;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attributes);
	pthread_condattr_destroy(&attributes);
}

void lock_wait(struct lock *lock, pthread_cond_t *cond)
{
	lock_assert_held(lock);
	count_hold(lock->holds, end_hold(lock));
	ensure(pthread_cond_wait(cond, &lock->mutex) == 0);
	begin_hold(lock);
}

int lock_wait_until(struct lock *lock, pthread_cond_t *cond, uint64_t deadline_ns)
{
	const struct timespec deadline = timespec_of_ns(deadline_ns);
	lock_assert_held(lock);
	count_hold(lock->holds, end_hold(lock));
	int err = pthread_cond_timedwait(cond, &lock->mutex, &deadline);
	begin_hold(lock);
	ensure(err == 0 || err == ETIMEDOUT);
	return err;
}
