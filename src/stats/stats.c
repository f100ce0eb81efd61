// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "stats/stats.h"
#include "base/lock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

/* Each thread has its own block, so counting is only an addition, and processors don't
 * compete for the same memory. stats_get adds up all blocks and `ended`. */

struct block {
	_Atomic uint64_t counts[STAT_COUNT];
	struct histogram histograms[STATS_HISTOGRAM_COUNT];
	LIST_ENTRY(block) link; /* (stats_lock) */
};

static struct lock stats_lock = {
	.mutex = PTHREAD_MUTEX_INITIALIZER,
	.rank = LOCK_RANK_STATS,
	.name = "stats",
};
static LIST_HEAD(, block) blocks = LIST_HEAD_INITIALIZER(blocks); /* (stats_lock) */

/* Counts of threads that have ended, and of threads for whose block there was no memory. */
static _Atomic uint64_t ended[STAT_COUNT];
static struct histogram ended_histograms[STATS_HISTOGRAM_COUNT];
static _Atomic uint64_t gauges[STAT_COUNT];

static _Thread_local struct block *own;
_Thread_local _Atomic uint64_t *stats_own; /* own->counts */
static pthread_key_t end_key;
static pthread_once_t end_once = PTHREAD_ONCE_INIT;

/* Adds the thread's counts to `ended`, and takes its block off the list. Both happen
 * under the lock, so stats_get counts the thread exactly once. */
static void thread_ends(void *context)
{
	struct block *block = context;
	LOCK_SCOPE(&stats_lock);
	for (int i = 0; i < STAT_COUNT; i++)
		atomic_fetch_add_explicit(&ended[i],
			atomic_load_explicit(&block->counts[i], memory_order_relaxed),
			memory_order_relaxed);
	for (int i = 0; i < STATS_HISTOGRAM_COUNT; i++)
		histogram_add_all(&block->histograms[i], &ended_histograms[i]);
	LIST_REMOVE(block, link);
	own = NULL;
	stats_own = NULL;
	free(block);
}

static void make_key(void)
{
	ensure(pthread_key_create(&end_key, thread_ends) == 0);
}

static struct block *block_new(void)
{
	struct block *block = calloc(1, sizeof(*block));
	pthread_once(&end_once, make_key);
	if (!block || pthread_setspecific(end_key, block) != 0) {
		free(block);
		return NULL;
	}
	LOCK_SCOPE(&stats_lock);
	LIST_INSERT_HEAD(&blocks, block, link);
	stats_own = block->counts;
	return block;
}

static struct block *own_block(void)
{
	if (!own)
		own = block_new();
	return own;
}

void stats_record(enum stats_histogram histogram, uint64_t ns)
{
	if (own_block())
		histogram_add_alone(&own->histograms[histogram], ns);
	else
		histogram_add(&ended_histograms[histogram], ns);
}

void stats_copy(enum stats_histogram histogram, struct histogram_copy *ret)
{
	LOCK_SCOPE(&stats_lock);
	const struct block *block;
	*ret = (struct histogram_copy){0};
	histogram_copy_add(&ended_histograms[histogram], ret);
	LIST_FOREACH (block, &blocks, link)
		histogram_copy_add(&block->histograms[histogram], ret);
}

void stats_add_first(enum stat_id stat, uint64_t n)
{
	if (own_block())
		stats_add(stat, n);
	else
		atomic_fetch_add_explicit(&ended[stat], n, memory_order_relaxed);
}

void stats_set(enum stat_id stat, uint64_t value)
{
	ensure(!stats_is_counter(stat));
	atomic_store_explicit(&gauges[stat], value, memory_order_relaxed);
}

void stats_change(enum stat_id stat, int64_t by)
{
	ensure(!stats_is_counter(stat));
	atomic_fetch_add_explicit(&gauges[stat], (uint64_t)by, memory_order_relaxed);
}

uint64_t stats_get(enum stat_id stat)
{
	if (!stats_is_counter(stat))
		return atomic_load_explicit(&gauges[stat], memory_order_relaxed);
	LOCK_SCOPE(&stats_lock);
	const struct block *block;
	uint64_t sum = atomic_load_explicit(&ended[stat], memory_order_relaxed);
	LIST_FOREACH (block, &blocks, link)
		sum += atomic_load_explicit(&block->counts[stat], memory_order_relaxed);
	return sum;
}
