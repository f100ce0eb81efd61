// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/types.h"
#include "config/config.h"
#include "image/tensor.h"

#include <roaring/roaring.h>

/*
 * The shared cache of prepared tensors. It evicts by RefCnt (JOADER, section 3 and
 * appendix E.3), or by lru, fifo or random.
 *
 * A *space* holds the tensors of one (dataset, preparation). An entry of a space is
 *
 *        cache_reserve          cache_publish        evicted            cache_reap
 *   absent ----------> loading ------------> ready ---------> dying ------------> absent
 *      ^                  |
 *      +--- cache_abandon-+
 *
 * need(space, id): the number of streams whose remaining set contains the sample.
 * pins(space, id): the number of times that it was drawn and not yet consumed, or is held
 * open. A pinned entry is not evicted (but see cache_force_out). An absent entry may be
 * pinned, too.
 *
 *   Flow: sched counts need and pins, reserves before load prepares, publishes after.
 *   Owns: every published tensor until it is reaped. The caller frees reaped tensors,
 *         outside the lock.
 *   Threads: caller serialises (sched's lock); tensors themselves are immutable.
 *   Errors: -ENOMEM; -ENOSPC from cache_reserve when all other bytes are pinned or being
 *         loaded.
 *   Capacity: bytes of loading, ready and dying entries. Only forced reservations exceed
 *         it; cache_trim evicts unpinned entries until it holds again. A reservation
 *         counts dying bytes as free: the caller reaps them before it releases the lock,
 *         so that no worker fills memory that is not free yet.
 *   Recency: an entry is in use from cache_publish until its last pin is removed. For
 *         refcnt, a single change of its need is a use, too.
 */

struct cache;
struct cache_space;

enum cache_state { CACHE_ABSENT, CACHE_LOADING, CACHE_READY };

must_check int cache_new(uint64_t capacity, enum eviction_policy policy, uint64_t seed,
	struct cache **ret);
void cache_free(struct cache **cache); /* also frees all tensors and spaces */

/*
 * Called when a sample is no longer loading or ready: it was evicted, abandoned or forced out, or
 * its space was emptied. The function is called within the call that caused this, and must not call
 * the cache.
 */
typedef void cache_gone(void *context, struct cache_space *space, sample_id id);
void cache_on_gone(struct cache *cache, cache_gone *gone, void *context);

/* Makes a space for ids below n_ids. The space is in no cache yet. Takes long, and needs no
 * lock. */
must_check int cache_space_make(uint32_t n_ids, struct cache_space **ret);
/* Puts a space in the cache. */
void cache_space_put_in(struct cache *cache, struct cache_space *space);
/* Makes a space and puts it in the cache. */
must_check int cache_space_new(
	struct cache *cache, uint32_t n_ids, struct cache_space **ret);

/* Evicts up to n tensors of the space. Returns true if none is left. No entry may be
 * pinned, needed or loading. */
bool cache_space_empty(struct cache_space *space, uint32_t n);
/* Evicts all tensors of the space and takes it out of the cache. No entry may be pinned, needed
 * or loading. The space can then only be freed, which needs no lock. */
void cache_space_take_out(struct cache_space *space);
/* Frees the space. If it is in a cache, takes it out first. */
void cache_space_free(struct cache_space **space);

void cache_need_add(struct cache_space *space, sample_id id);
void cache_need_drop(struct cache_space *space, sample_id id);
uint32_t cache_need(const struct cache_space *space, sample_id id);
/*
 * Adds one to the need of many ids, when a stream is added. Unlike cache_need_add for each id, this
 * does not count as a use of the entries: the eviction order of entries with equal need is kept.
 * The sampler `exchange` relies on this, because its orders are uniform only if it does not depend
 * on ids which samples are resident.
 */
void cache_need_add_all(struct cache_space *space, const roaring_bitmap_t *ids);
/* Subtracts one from the need of many ids, when a stream is removed. Also keeps the eviction
 * order. */
void cache_need_drop_all(struct cache_space *space, const roaring_bitmap_t *ids);

/*
 * Begins to change the need of many ids in steps, so that the caller can release its lock between
 * steps. cache_need returns the new need of all ids at once. The steps then update the counters and
 * the eviction order. Until they are done, a victim may have a need that is one more than the need
 * of another entry. There is one change at a time in the whole cache. The caller keeps the ids, and
 * must not change them until the last step. Need that is being added may be dropped only after the
 * last step.
 */
enum cache_change { CACHE_NEED_ADD, CACHE_NEED_DROP };
void cache_need_begin(
	struct cache_space *space, const roaring_bitmap_t *ids, enum cache_change change);
/* Carries out a step of the change of need, if one is under way. The step takes as long as n ids;
 * an id with an entry takes longer than others. Returns true if the change is done. */
bool cache_need_step(struct cache *cache, uint32_t n);
/* Tells whether a change of need is under way. */
bool cache_need_changes(const struct cache *cache);

must_check int cache_pin(struct cache_space *space, sample_id id); /* -ENOMEM */
void cache_unpin(struct cache_space *space, sample_id id);
uint32_t cache_pins(const struct cache_space *space, sample_id id);

/* Pins a ready entry for a reader. Until cache_close its tensor is not forced out. */
void cache_open(struct cache_space *space, sample_id id);
void cache_close(struct cache_space *space, sample_id id);
uint32_t cache_opens(const struct cache_space *space, sample_id id);

enum cache_state cache_state(const struct cache_space *space, sample_id id);
/* These bring what the calls for a sample use into the processor's caches: first the place of its
 * entry, some time later the entry, and again some time later it is used. They wait for nothing. */
void cache_prefetch_place(const struct cache_space *space, sample_id id);
void cache_prefetch_entry(const struct cache_space *space, sample_id id);

/*
 * Reserves room for the bytes (absent -> loading) by evicting unpinned entries. The policy refcnt
 * evicts the entries with the least need first, and among them the least recently used. force:
 * succeeds even beyond the capacity, for a sample that a reader waits for. The entry must be
 * pinned.
 */
must_check int cache_reserve(
	struct cache_space *space, sample_id id, uint64_t bytes, bool force);

/* Tells whether a reservation without force would succeed now, if there is memory. */
bool cache_fits(const struct cache *cache, uint64_t bytes);
/* Returns the bytes that would remain loading or ready if all unpinned entries were evicted. */
uint64_t cache_least_bytes(const struct cache *cache);

/* Publishes the tensor (loading -> ready). The cache owns the tensor from then on. The size must
 * equal the reserved size. */
void cache_publish(struct cache_space *space, sample_id id, struct tensor *tensor);

/* Marks a loading entry as a copy of a tensor in another daemon's cache. When no epoch needs the
 * copy any more, refcnt evicts it before all other entries. */
void cache_spare(struct cache_space *space, sample_id id);

/* Gives up a reservation (loading -> absent), because the tensor could not be prepared. */
void cache_abandon(struct cache_space *space, sample_id id);

/* Returns the tensor of a ready entry; NULL otherwise. It is valid while the entry is pinned. */
const struct tensor *cache_get(const struct cache_space *space, sample_id id);

/* Returns the job that requested the tensor of a ready entry first; 0: not known. Faster than to
 * ask the tensor, whose memory few threads touch under the lock. */
uint32_t cache_made_for(const struct cache_space *space, sample_id id);

/* Returns a reference to the tensor of a ready entry, pinned or not; NULL otherwise. The caller
 * frees it, and must not change it. */
struct tensor *cache_share(const struct cache_space *space, sample_id id);

/* Evicts a pinned entry (ready -> dying) if loading + ready bytes exceed the capacity. The entry
 * must not be open (cache_open). Its pins stay, on an absent entry. Without memory the tensor
 * stays, too. */
void cache_force_out(struct cache_space *space, sample_id id);

/* Evicts unpinned entries while the capacity is exceeded. */
void cache_trim(struct cache *cache);

/* Returns a dying tensor (dying -> absent) for the caller to free; NULL: there is none. */
struct tensor *cache_reap(struct cache *cache);

#define CACHE_NEEDS 5

struct cache_usage {
	uint64_t capacity, bytes; /* bytes: loading + ready + dying */
	uint64_t live_bytes;	  /* loading + ready */
	uint64_t peak_bytes;	  /* maximum of loading + ready */
	uint64_t pinned_bytes;	  /* bytes of loading and ready entries with pins */
	uint64_t awaited;	  /* number of absent entries with pins */
	uint64_t tensors;	  /* ready + dying */
	uint64_t pins, need;	  /* sums over all entries */
	uint64_t evictions;
	uint64_t
		evictions_needed; /* evictions of samples that running epochs still needed */
	/* refcnt: bytes of unpinned ready entries, by need. The last element includes all greater
	 * needs. During a change of need in steps, some entries are still counted under their old
	 * need. */
	uint64_t needed_bytes[CACHE_NEEDS];
};
struct cache_usage cache_usage(const struct cache *cache);

/* The part of cache_usage that is needed for each sample. */
struct cache_held {
	uint64_t capacity, pinned_bytes, awaited;
};
struct cache_held cache_held(const struct cache *cache);
bool cache_is_exceeded(const struct cache *cache); /* live_bytes > capacity */

/* Aborts if an invariant does not hold. For tests. */
void cache_validate(const struct cache *cache);
