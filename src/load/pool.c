// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "base/signals.h"
#include "load/load_internal.h"
#include "load/pool_internal.h"
#include "stats/stats.h"

#include <errno.h>
#include <sched.h>

/* A thread takes tasks until there are none, and sleeps until the next kick (load_pool_kick), which
 * announces a task. Kicks are counted: a thread that is about to sleep uses up a kick that is left,
 * and does not sleep. So a kick between the thread's last search and its sleep is not lost. */

struct decoder {
	struct load_pool *pool;
	enum load_stage stage; /* LOAD_RUN: the thread is a runner */
	struct load_context *context;
	pthread_t thread;
};

static _Thread_local bool is_decoder; /* this thread is a decoder or a runner */

/* --- kicks ------------------------------------------------------------------------------ */

bool crew_wait(struct load_pool *pool, struct crew *crew)
{
	LOCK_SCOPE(&pool->lock);
	crew->asleep++;
	while (crew->kicks == 0 && !crew->stop)
		lock_wait(&pool->lock, &crew->kicked);
	crew->asleep--;
	if (crew->kicks > 0) {
		crew->kicks--;
		stats_add(STAT_WAKEUPS, 1);
	}
	return !crew->stop;
}

void load_pool_kick(struct load_pool *pool, enum load_stage stage)
{
	struct crew *crew = &pool->crews[stage];
	lock_take(&pool->lock);
	if (crew->kicks < crew->most)
		crew->kicks++;
	bool wake = crew->asleep > 0;
	bool lacks = stage == LOAD_READ && readers_lack_locked(pool);
	lock_release(&pool->lock);
	/* the lock is released first, since the woken thread would have to wait for it */
	if (wake)
		pthread_cond_signal(&crew->kicked);
	if (lacks)
		reader_start(pool);
}

/* --- reuse of reads --------------------------------------------------------------------- */

struct load_read *pool_take_read(struct load_pool *pool)
{
	lock_take(&pool->lock);
	struct load_read *read = TAILQ_FIRST(&pool->spare);
	if (read) {
		TAILQ_REMOVE(&pool->spare, read, link);
		pool->n_spare--;
	}
	lock_release(&pool->lock);
	return read ? read : load_read_new();
}

static void give_read(struct load_pool *pool, struct load_read *read)
{
	if (!read)
		return;
	load_read_trim(read);
	lock_take(&pool->lock);
	bool keep = pool->n_spare < pool->n_decoders;
	if (keep) {
		TAILQ_INSERT_HEAD(&pool->spare, read, link);
		pool->n_spare++;
	}
	lock_release(&pool->lock);
	if (!keep)
		load_read_free(&read);
}

/* --- work ------------------------------------------------------------------------------- */

static void unqueue_locked(struct load_pool *pool, struct load_work *work)
{
	lock_assert_held(&pool->lock);
	TAILQ_REMOVE(work->waits ? &pool->waiting : &pool->works, work, link);
	work->queued = false;
}

/* Does the next work for decoders. Returns false if the queue is empty. */
static bool do_work(struct load_pool *pool)
{
	lock_take(&pool->lock);
	struct load_work *work = TAILQ_FIRST(&pool->works);
	if (work)
		unqueue_locked(pool, work);
	lock_release(&pool->lock);
	if (work)
		work->run(work);
	return work != NULL;
}

static struct load_work *take_waiting(struct load_pool *pool)
{
	LOCK_SCOPE(&pool->lock);
	bool all = pool->crews[LOAD_READ].stop;
	struct load_work *work = TAILQ_FIRST(&pool->waiting);
	if (!work || (!all && 2 * pool->n_waiting >= pool->crews[LOAD_READ].most))
		return NULL;
	unqueue_locked(pool, work);
	pool->n_waiting++;
	return work;
}

bool pool_do_waiting(struct load_pool *pool)
{
	struct load_work *work = take_waiting(pool);
	if (!work)
		return false;
	work->run(work);
	LOCK_SCOPE(&pool->lock);
	pool->n_waiting--;
	return true;
}

void load_pool_run(struct load_pool *pool, struct load_work *work)
{
	struct crew *crew = &pool->crews[LOAD_DECODE];
	bool waits = work->waits;
	if (is_decoder && !waits) {
		work->run(work);
		return;
	}
	lock_take(&pool->lock);
	TAILQ_INSERT_TAIL(waits ? &pool->waiting : &pool->works, work, link);
	work->queued = true;
	if (!waits) {
		crew->kicks++;
		pthread_cond_signal(&crew->kicked);
	}
	lock_release(&pool->lock);
	if (waits)
		load_pool_kick(pool, LOAD_READ);
}

bool load_pool_take_back(struct load_pool *pool, struct load_work *work)
{
	LOCK_SCOPE(&pool->lock);
	if (!work->queued)
		return false;
	unqueue_locked(pool, work);
	return true;
}

/* --- decoders --------------------------------------------------------------------------- */

static bool decode_one(struct decoder *decoder)
{
	struct load_pool *pool = decoder->pool;
	const struct load_callbacks *callbacks = &pool->callbacks;
	struct load_task *task = decoder->stage == LOAD_RUN
					 ? callbacks->next_run(callbacks->context)
					 : callbacks->next_decode(callbacks->context);
	if (!task)
		return false;
	struct load_read *read = task->read;
	load_decode(decoder->context, task);
	callbacks->done(callbacks->context, task);
	give_read(pool, read);
	return true;
}

static void *decoder_main(void *argument)
{
	struct decoder *decoder = argument;
	is_decoder = true;
	/* Decoders and runners give way to the processes of trainings. A refusal does no harm. */
	(void)pthread_setschedparam(
		pthread_self(), SCHED_BATCH, &(struct sched_param){0});
	bool runs = decoder->stage == LOAD_RUN;
	(void)pthread_setname_np(pthread_self(), runs ? "run" : "decode");
	bool more = true;
	while (more) {
		more = crew_wait(decoder->pool, &decoder->pool->crews[decoder->stage]);
		while ((!runs && do_work(decoder->pool)) || decode_one(decoder))
			;
	}
	return NULL;
}

static unsigned count_runners(const struct programs *programs)
{
	unsigned n = 0;
	for (size_t i = 0; programs && i < programs_count(programs); i++)
		n += programs_processes(programs, i);
	return n;
}

static int start_decoders(struct load_pool *pool)
{
	int err = 0;
	unsigned n = pool->n_decoders + pool->n_runners;
	for (unsigned i = 0; !err && i < n; i++) {
		struct decoder *decoder = &pool->decoders[i];
		decoder->pool = pool;
		decoder->stage = i < pool->n_decoders ? LOAD_DECODE : LOAD_RUN;
		err = load_context_new(&decoder->context);
		if (!err)
			load_context_use_programs(
				decoder->context, pool->callbacks.programs);
	}
	for (unsigned i = 0; !err && i < n; i++) {
		err = signals_thread(
			&pool->decoders[i].thread, decoder_main, &pool->decoders[i]);
		pool->decoders_started += !err;
	}
	return err;
}

/* --- the pool --------------------------------------------------------------------------- */

static void crew_init(struct crew *crew, unsigned most)
{
	crew->most = most;
	ensure(pthread_cond_init(&crew->kicked, NULL) == 0);
}

int load_pool_new(unsigned most_readers, unsigned n_decoders,
	const struct load_callbacks *callbacks, struct load_pool **ret)
{
	ensure(n_decoders > 0 && most_readers > 0);
	struct load_pool *pool = calloc(1, sizeof(*pool));
	*ret = NULL;
	if (!pool)
		return -ENOMEM;
	pool->callbacks = *callbacks;
	pool->n_decoders = n_decoders;
	TAILQ_INIT(&pool->works);
	TAILQ_INIT(&pool->waiting);
	TAILQ_INIT(&pool->spare);
	LIST_INIT(&pool->readers);
	lock_init(&pool->lock, LOCK_RANK_LOAD, "load");
	lock_measure(&pool->lock);
	crew_init(&pool->crews[LOAD_READ], most_readers);
	crew_init(&pool->crews[LOAD_DECODE], n_decoders);
	pool->n_runners = count_runners(callbacks->programs);
	crew_init(&pool->crews[LOAD_RUN], pool->n_runners);
	condition_init(&pool->ended);
	pool->decoders = calloc(n_decoders + pool->n_runners, sizeof(*pool->decoders));
	int err = pool->decoders ? start_decoders(pool) : -ENOMEM;
	if (!err) {
		pool->n_readers = 1;
		err = reader_start(pool);
	}
	if (err)
		load_pool_free(&pool);
	*ret = pool;
	return err;
}

static void stop(struct load_pool *pool, enum load_stage stage)
{
	LOCK_SCOPE(&pool->lock);
	pool->crews[stage].stop = true;
	pthread_cond_broadcast(&pool->crews[stage].kicked);
}

static void pool_destroy(struct load_pool *pool)
{
	struct load_read *read;
	while ((read = TAILQ_FIRST(&pool->spare))) {
		TAILQ_REMOVE(&pool->spare, read, link);
		load_read_free(&read);
	}
	for (int i = 0; i < LOAD_STAGES; i++)
		pthread_cond_destroy(&pool->crews[i].kicked);
	pthread_cond_destroy(&pool->ended);
	lock_destroy(&pool->lock);
	free(pool);
}

void load_pool_free(struct load_pool **pool_pointer)
{
	struct load_pool *pool = *pool_pointer;
	if (!pool)
		return;
	stop(pool, LOAD_READ);
	bool all = readers_end(pool);
	stop(pool, LOAD_DECODE);
	stop(pool, LOAD_RUN);
	for (unsigned i = 0; i < pool->decoders_started; i++)
		ensure(pthread_join(pool->decoders[i].thread, NULL) == 0);
	while (do_work(pool) || pool_do_waiting(pool))
		;
	for (unsigned i = 0; pool->decoders && i < pool->n_decoders + pool->n_runners;
		i++)
		load_context_free(&pool->decoders[i].context);
	free(pool->decoders);
	/* A reader that has not ended may still use the pool. */
	if (all)
		pool_destroy(pool);
	*pool_pointer = NULL;
}
