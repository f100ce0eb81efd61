// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/*
 * Replaces threads, mutexes, conditions and the clock. The two files of the daemon with data of
 * each thread are compiled into this one, so that the data belong to a coroutine.
 */

#include "base/lock.c"
#include "load/pool.c"

_Static_assert(offsetof(struct lock, mutex) == 0, "a mutex is a lock");

#include "base/clock.h"
#include "coroutines.h"

#include <string.h>

#define THREADS 32

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __real_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int __real_pthread_cond_signal(pthread_cond_t *cond);
int __real_pthread_cond_broadcast(pthread_cond_t *cond);
int __real_pthread_join(pthread_t thread, void **ret);
int __real_signals_thread(pthread_t *ret, void *(*run)(void *context), void *context);

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int __wrap_pthread_cond_timedwait(
	pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *deadline);
int __wrap_pthread_cond_signal(pthread_cond_t *cond);
int __wrap_pthread_cond_broadcast(pthread_cond_t *cond);
int __wrap_pthread_join(pthread_t thread, void **ret);
int __wrap_pthread_setschedparam(
	pthread_t thread, int policy, const struct sched_param *parameters);
int __wrap_pthread_setname_np(pthread_t thread, const char *name);
int __wrap_sched_yield(void);
int __wrap_signals_thread(pthread_t *ret, void *(*run)(void *context), void *context);

/* --- data that each thread has for itself -------------------------------------------- */

static struct local {
	const struct lock *held[MAX_HELD];
	int n_held;
	bool is_decoder;
} locals[THREADS];

void threads_begin(int id)
{
	locals[id] = (struct local){.n_held = 0};
}

void threads_switch(int from, int to)
{
	memcpy(locals[from].held, held, sizeof(held));
	locals[from].n_held = n_held;
	locals[from].is_decoder = is_decoder;
	memcpy(held, locals[to].held, sizeof(held));
	n_held = locals[to].n_held;
	is_decoder = locals[to].is_decoder;
}

/* --- mutexes: free while the first word is 0, as the real ones are -------------------- */

/* Lets another coroutine run at mutexes of some ranks. All mutexes are those of struct lock. No
 * other coroutine runs at mutexes whose use depends on earlier runs, such as that of the list of
 * counting threads, because runs of one seed would differ. */
static void pause_at(const pthread_mutex_t *mutex)
{
	const struct lock *lock = (const struct lock *)(const void *)mutex;
	if (lock->rank == LOCK_RANK_SCHED || lock->rank == LOCK_RANK_JOURNAL ||
		lock->rank == LOCK_RANK_LOAD)
		co_pause();
}

int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	if (!co_is_running())
		return __real_pthread_mutex_trylock(mutex);
	pause_at(mutex);
	if (mutex->__data.__lock)
		return EBUSY;
	mutex->__data.__lock = 1;
	return 0;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	if (!co_is_running())
		return __real_pthread_mutex_lock(mutex);
	while (mutex->__data.__lock)
		co_wait(mutex);
	mutex->__data.__lock = 1;
	return 0;
}

static void let_go(pthread_mutex_t *mutex)
{
	ensure(mutex->__data.__lock);
	mutex->__data.__lock = 0;
	co_wake(mutex, true);
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	if (!co_is_running())
		return __real_pthread_mutex_unlock(mutex);
	let_go(mutex);
	pause_at(mutex);
	return 0;
}

/* --- conditions, with spurious wake-ups ------------------------------------------------- */

#define SPURIOUS 200

static int wait_on(pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t until_ns)
{
	bool woken = true;
	let_go(mutex);
	if (co_one_in(SPURIOUS))
		co_pause();
	else
		woken = co_wait_until(cond, until_ns);
	__wrap_pthread_mutex_lock(mutex);
	return woken ? 0 : ETIMEDOUT;
}

int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	if (!co_is_running())
		return __real_pthread_cond_wait(cond, mutex);
	return wait_on(cond, mutex, UINT64_MAX);
}

int __wrap_pthread_cond_timedwait(
	pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *deadline)
{
	return wait_on(cond, mutex,
		(uint64_t)deadline->tv_sec * UINT64_C(1000000000) +
			(uint64_t)deadline->tv_nsec);
}

int __wrap_pthread_cond_signal(pthread_cond_t *cond)
{
	if (!co_is_running())
		return __real_pthread_cond_signal(cond);
	co_wake(cond, false);
	return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *cond)
{
	if (!co_is_running())
		return __real_pthread_cond_broadcast(cond);
	co_wake(cond, true);
	return 0;
}

/* --- threads --------------------------------------------------------------------------- */

int __wrap_signals_thread(pthread_t *ret, void *(*run)(void *context), void *context)
{
	if (!co_is_running())
		return __real_signals_thread(ret, run, context);
	*ret = (pthread_t)co_start(run, context) + 1;
	co_pause();
	return 0;
}

int __wrap_pthread_join(pthread_t thread, void **ret)
{
	if (!co_is_running())
		return __real_pthread_join(thread, ret);
	co_join((int)(thread - 1));
	return 0;
}

int __wrap_pthread_setschedparam(
	pthread_t thread, int policy, const struct sched_param *parameters)
{
	(void)thread, (void)policy, (void)parameters;
	return 0;
}

int __wrap_pthread_setname_np(pthread_t thread, const char *name)
{
	(void)thread, (void)name;
	return 0;
}

int __wrap_sched_yield(void)
{
	co_pause();
	return 0;
}

uint64_t clock_now_ns(void)
{
	return co_now();
}
