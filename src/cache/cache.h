// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/types.h"
#include "config/config.h"
#include "image/tensor.h"

#include <roaring/roaring.h>

/*
 * The shared cache of prepared tensors. The policy of eviction is lru, fifo, random or refcnt
 * (JOADER, section 3 and appendix E.3). refcnt first evicts the tensor that the fewest streams
 * need; among tensors of equal need, the least recently used one.
 *
 * A *space* holds the tensors of one dataset in one preparation. The states of a sample in a space:
 *
 *       cache_reserve          cache_publish        evicted            cache_reap
 *  absent ----------> loading ------------> ready ---------> dying ------------> absent
 *     ^                  |
 *     +--- cache_abandon-+
 *
 * A dying tensor no longer belongs to its sample: the sample counts as absent, and can be reserved.
 *
 * The *need* of a sample: the number of streams (epochs of jobs) that have yet to draw it. A sample
 * has a *pin* for each of its draws, until a reader has read the drawn sample, and for each reader
 * that has the sample open. Only cache_force_out evicts a pinned entry. An absent sample can be
 * pinned, too.
 *
 *   Flow: sched counts need and pins, reserves memory before load prepares a tensor, and publishes
 *         the tensor afterwards.
 *   Owns: every published tensor until it is reaped; the caller then frees it, outside the lock.
 *   Threads: the caller serialises, by sched's lock. Tensors themselves are immutable.
 *   Errors: -ENOMEM; -ENOSPC from cache_reserve if evicting all unpinned tensors would not make
 *         enough room.
 *   Capacity: limits the bytes of loading and ready entries. Only a reservation with `force`
 *         exceeds it. Dying entries do not count, although they still take memory, so the caller
 *         reaps them before it releases the lock.
 *   Recency: an entry is used when it is published, and when its last pin is removed. For the
 *         policy refcnt, cache_need_add and cache_need_drop are uses, too.
 */

struct cache;
struct cache_space;

enum cache_state { CACHE_ABSENT, CACHE_LOADING, CACHE_READY };

must_check int cache_new(uint64_t capacity, enum eviction_policy policy, uint64_t seed,
	struct cache **ret);
void cache_free(struct cache **cache); /* also frees all tensors and spaces */

/* The cache calls this function when a sample becomes absent: evicted, abandoned, forced out, or
 * removed by cache_space_empty. A cache_gone must not call the cache. */
typedef void cache_gone(void *context, struct cache_space *space, sample_id id);
void cache_on_gone(struct cache *cache, cache_gone *gone, void *context);

/* Makes a space for ids below n_ids. Takes long. The new space is in no cache until
 * cache_space_put_in, so this function needs no lock. */
must_check int cache_space_make(uint32_t n_ids, struct cache_space **ret);
void cache_space_put_in(struct cache *cache, struct cache_space *space);
must_check int cache_space_new(
	struct cache *cache, uint32_t n_ids, struct cache_space **ret);

/* Evicts up to n tensors of the space. No sample of the space may be pinned, needed or loading.
 * Returns true if no tensor is left. */
bool cache_space_empty(struct cache_space *space, uint32_t n);
/* Evicts all tensors of the space, and takes the space out of the cache. From then on
 * cache_space_free needs no lock. */
void cache_space_take_out(struct cache_space *space);
/* Frees the space. If the space is still in a cache, first takes it out; the caller must then hold
 * the lock. */
void cache_space_free(struct cache_space **space);

void cache_need_add(struct cache_space *space, sample_id id);
void cache_need_drop(struct cache_space *space, sample_id id);
uint32_t cache_need(const struct cache_space *space, sample_id id);

/* Adds one to the need of each id (a stream was added), or subtracts one. Unlike cache_need_add,
 * the change is no use of the samples: entries of equal need keep their order of eviction. If this
 * order followed the ids, the orders of the sampler `exchange` would not be uniformly random. */
enum cache_change { CACHE_NEED_ADD, CACHE_NEED_DROP };
void cache_need_change(
	struct cache_space *space, const roaring_bitmap_t *ids, enum cache_change change);
/* Begins to change the need of many ids in steps, so that the caller can release its lock between
 * two steps. cache_need returns the new needs at once. Until the last step the caller must not
 * change or free `ids`, and evictions may still follow the old needs. Only one change at a time may
 * be under way in the cache. The ADD of a stream's ids must end before their DROP begins. */
void cache_need_begin(
	struct cache_space *space, const roaring_bitmap_t *ids, enum cache_change change);
/* Does one step: changes the needs of at most n ids or, when all needs are changed, moves about
 * n / 16 entries to their new places in the order of eviction. (One entry takes as long as 16 ids.)
 * Returns true if no change is under way any more. */
bool cache_need_step(struct cache *cache, uint32_t n);
bool cache_need_changes(const struct cache *cache);

/* Pins the sample, which may be absent. -ENOMEM */
must_check int cache_pin(struct cache_space *space, sample_id id);
void cache_unpin(struct cache_space *space, sample_id id);
uint32_t cache_pins(const struct cache_space *space, sample_id id);

/* Pins a ready entry for a reader, so that cache_force_out can't evict it before cache_close.
 * Returns false if the entry is not ready. */
must_check bool cache_open(struct cache_space *space, sample_id id);
void cache_close(struct cache_space *space, sample_id id);
uint32_t cache_opens(const struct cache_space *space, sample_id id);

enum cache_state cache_state(const struct cache_space *space, sample_id id);
/* Prefetches the pointer to the sample's entry into the processor's caches, so that a later
 * cache_prefetch_entry need not wait for the pointer. */
void cache_prefetch_place(const struct cache_space *space, sample_id id);
void cache_prefetch_entry(const struct cache_space *space, sample_id id);

/* Reserves `bytes` for a tensor of a pinned entry (absent -> loading), and evicts unpinned entries
 * to make room. force: exceeds the capacity if necessary, because a reader waits. */
must_check int cache_reserve(
	struct cache_space *space, sample_id id, uint64_t bytes, bool force);

/* Tells whether there is room for cache_reserve without `force`. */
bool cache_fits(const struct cache *cache, uint64_t bytes);
/* Returns the live_bytes that would be left if all unpinned entries were evicted. */
uint64_t cache_least_bytes(const struct cache *cache);

/* Gives the tensor, which has the reserved size, to the cache. */
void cache_publish(struct cache_space *space, sample_id id, struct tensor *tensor);

/* Marks a loading entry, because the tensor comes from another daemon, or because the sample's home
 * left the preparation to this daemon. Among the tensors that no stream needs, the policy refcnt
 * evicts the marked ones first. */
void cache_spare(struct cache_space *space, sample_id id);

void cache_abandon(struct cache_space *space, sample_id id);

/* Returns NULL if the entry is not ready. The tensor is valid while the entry is pinned. */
const struct tensor *cache_get(const struct cache_space *space, sample_id id);

/* Returns the job for which the tensor was made; 0: unknown or not ready. Does not read the tensor
 * itself, only the entry. */
uint32_t cache_made_for(const struct cache_space *space, sample_id id);

/* Returns a new reference to the tensor, or NULL if the entry is not ready. The caller frees the
 * reference. Nobody may change the tensor. The entry need not be pinned. */
struct tensor *cache_share(const struct cache_space *space, sample_id id);

/* Evicts the tensor of a pinned entry that no reader has open. The sample becomes absent, and keeps
 * its pins. Does nothing if there is no memory for another entry. */
void cache_force_out(struct cache_space *space, sample_id id);

/* Evicts unpinned entries while the capacity is exceeded. Returns false if it is still exceeded. */
bool cache_trim(struct cache *cache);

/* Returns a dying tensor, which the caller frees. NULL: there is none. */
struct tensor *cache_reap(struct cache *cache);

#define CACHE_NEEDS 5

struct cache_usage {
	uint64_t capacity, bytes; /* `bytes`: loading, ready and dying entries */
	/* bytes of loading and ready entries; exceeds the capacity only after a forced
	 * reservation */
	uint64_t live_bytes;
	uint64_t peak_bytes;   /* the largest live_bytes so far */
	uint64_t pinned_bytes; /* bytes of loading and ready entries with pins */
	uint64_t awaited;      /* number of absent entries with pins */
	uint64_t tensors;      /* number of ready and dying entries */
	uint64_t pins, need;   /* sums over all samples */
	uint64_t evictions;
	uint64_t evictions_needed; /* evictions of samples whose need was not 0 */
	/* policy refcnt: needed_bytes[i] counts the bytes of unpinned ready entries of need i; the
	 * last element also counts entries of higher need. During a change in steps, some entries
	 * count under their old need. */
	uint64_t needed_bytes[CACHE_NEEDS];
};
/* Returns the numbers as they are now. Later calls of the cache change them. */
const struct cache_usage *cache_usage(const struct cache *cache);

void cache_validate(const struct cache *cache);
