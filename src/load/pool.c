// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "base/lock.h"
#include "base/signals.h"
#include "load/load.h"
#include "stats/stats.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

/*
 * A worker asks for tasks until there are none, and then sleeps until it gets a kick. A
 * kick is for one worker: the first that is asleep, or is about to sleep, takes it. So a
 * kick between "nothing to do" and going to sleep is not lost, and nobody else wakes.
 */

struct worker {
	struct load_pool *pool;
	struct load_context *context;
	pthread_t thread;
};

struct load_pool {
	struct load_callbacks callbacks;
	struct lock lock;
	pthread_cond_t kicked;
	TAILQ_HEAD(, load_work) works; /* (lock) */
	unsigned kicks;		       /* (lock) that nobody has taken */
	atomic_bool stop;
	unsigned n_started;
	unsigned n_workers;
	struct worker workers[];
};

/* Whether this thread is a worker of a pool. */
static _Thread_local bool is_worker;

bool load_run_one(struct load_context *context, const struct load_callbacks *callbacks)
{
	struct load_task *task = callbacks->next(callbacks->context);
	if (!task)
		return false;
	load_prepare(context, task);
	callbacks->done(callbacks->context, task);
	return true;
}

/* Sleeps until there is a kick to take, or the pool stops. */
static void wait_for_kick(struct load_pool *pool)
{
	LOCK_SCOPE(&pool->lock);
	while (pool->kicks == 0 && !atomic_load(&pool->stop))
		lock_wait(&pool->lock, &pool->kicked);
	if (pool->kicks == 0)
		return;
	pool->kicks--;
	stats_add(STAT_WAKEUPS, 1);
}

static void unqueue_locked(struct load_pool *pool, struct load_work *work)
{
	lock_assert_held(&pool->lock);
	TAILQ_REMOVE(&pool->works, work, link);
	work->queued = false;
}

static struct load_work *take_work(struct load_pool *pool)
{
	LOCK_SCOPE(&pool->lock);
	struct load_work *work = TAILQ_FIRST(&pool->works);
	if (work)
		unqueue_locked(pool, work);
	return work;
}

/* false: there is none. */
static bool do_work(struct load_pool *pool)
{
	struct load_work *work = take_work(pool);
	if (work)
		work->run(work);
	return work != NULL;
}

static void *worker_main(void *argument)
{
	struct worker *worker = argument;
	struct load_pool *pool = worker->pool;

	is_worker = true;
	/* Decoding yields to the training jobs. That is a wish, which may be refused. */
	(void)pthread_setschedparam(
		pthread_self(), SCHED_BATCH, &(struct sched_param){0});
	(void)pthread_setname_np(pthread_self(), "load");
	while (!atomic_load(&pool->stop)) {
		wait_for_kick(pool);
		while (!atomic_load(&pool->stop) &&
			(do_work(pool) ||
				load_run_one(worker->context, &pool->callbacks)))
			;
	}
	return NULL;
}

int load_pool_new(unsigned n_workers, const struct load_callbacks *callbacks,
	struct load_pool **ret)
{
	ensure(n_workers > 0);
	struct load_pool *pool =
		calloc(1, sizeof(*pool) + n_workers * sizeof(pool->workers[0]));
	*ret = NULL;
	if (!pool)
		return -ENOMEM;
	int err = 0;
	pool->callbacks = *callbacks;
	pool->n_workers = n_workers;
	TAILQ_INIT(&pool->works);
	lock_init(&pool->lock, LOCK_RANK_LOAD, "load");
	ensure(pthread_cond_init(&pool->kicked, NULL) == 0);
	for (unsigned i = 0; !err && i < n_workers; i++) {
		pool->workers[i].pool = pool;
		err = load_context_new(&pool->workers[i].context);
	}
	for (unsigned i = 0; !err && i < n_workers; i++) {
		err = signals_thread(
			&pool->workers[i].thread, worker_main, &pool->workers[i]);
		pool->n_started += !err;
	}
	if (err)
		load_pool_free(&pool);
	*ret = pool;
	return err;
}

void load_pool_kick(struct load_pool *pool)
{
	LOCK_SCOPE(&pool->lock);
	if (pool->kicks < pool->n_workers)
		pool->kicks++;
	pthread_cond_signal(&pool->kicked);
}

void load_pool_run(struct load_pool *pool, struct load_work *work)
{
	if (is_worker) {
		work->run(work);
		return;
	}
	LOCK_SCOPE(&pool->lock);
	TAILQ_INSERT_TAIL(&pool->works, work, link);
	work->queued = true;
	pool->kicks++;
	pthread_cond_signal(&pool->kicked);
}

bool load_pool_take_back(struct load_pool *pool, struct load_work *work)
{
	LOCK_SCOPE(&pool->lock);
	if (!work->queued)
		return false;
	unqueue_locked(pool, work);
	return true;
}

static void stop(struct load_pool *pool)
{
	LOCK_SCOPE(&pool->lock);
	atomic_store(&pool->stop, true);
	pthread_cond_broadcast(&pool->kicked);
}

void load_pool_free(struct load_pool **pool_pointer)
{
	struct load_pool *pool = *pool_pointer;
	if (!pool)
		return;
	stop(pool);
	for (unsigned i = 0; i < pool->n_started; i++)
		ensure(pthread_join(pool->workers[i].thread, NULL) == 0);
	while (do_work(pool))
		;
	for (unsigned i = 0; i < pool->n_workers; i++)
		load_context_free(&pool->workers[i].context);
	pthread_cond_destroy(&pool->kicked);
	lock_destroy(&pool->lock);
	free(pool);
	*pool_pointer = NULL;
}
