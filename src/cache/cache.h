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
 * appendix E.3: first what the fewest streams need), or by lru, fifo or random.
 *
 * A *space* holds the tensors of one dataset in one preparation. The states of a sample in a
 * space are
 *
 *        cache_reserve          cache_publish        evicted            cache_reap
 *   absent ----------> loading ------------> ready ---------> dying ------------> absent
 *      ^                  |
 *      +--- cache_abandon-+
 *
 * need(space, id): the number of streams that have yet to draw the sample. A stream is one
 * epoch of one job.
 * pins(space, id): the number of draws of the sample that are not consumed yet, plus the
 * number of times that readers have it open. Only cache_force_out evicts a pinned entry. An
 * absent sample can be pinned, too.
 *
 *   Flow: sched counts need and pins. It reserves memory before load prepares a tensor, and
 *         publishes the tensor afterwards.
 *   Owns: every published tensor until it is reaped. The caller frees reaped tensors,
 *         outside the lock.
 *   Threads: the caller serialises, by sched's lock. Tensors themselves are immutable.
 *   Errors: -ENOMEM; -ENOSPC from cache_reserve if there is not enough room even after all
 *         unpinned tensors are evicted.
 *   Capacity: the limit for the bytes of loading and ready entries. Only a reservation with
 *         `force` exceeds the limit. Later cache_trim evicts unpinned entries until the limit
 *         is kept again.
 *         Dying entries do not count, so the caller must reap them before it releases the
 *         lock: otherwise a worker could fill memory that is not free yet.
 *   Recency: an entry was last used when it was published or when its last pin was removed,
 *         whichever came later. For the policy refcnt, cache_need_add and cache_need_drop
 *         also count as a use of the entry.
 */

struct cache;
struct cache_space;

enum cache_state { CACHE_ABSENT, CACHE_LOADING, CACHE_READY };

must_check int cache_new(uint64_t capacity, enum eviction_policy policy, uint64_t seed,
	struct cache **ret);
void cache_free(struct cache **cache); /* also frees all tensors and spaces */

/*
 * Called when a sample is no longer loading or ready: it was evicted, abandoned or forced out, or
 * its space was emptied. Functions of the cache call this function before they return, so it must
 * not call the cache.
 */
typedef void cache_gone(void *context, struct cache_space *space, sample_id id);
void cache_on_gone(struct cache *cache, cache_gone *gone, void *context);

/* Makes a space for ids below n_ids. The space is in no cache yet. This takes long if there are
 * many ids, and needs no lock. */
must_check int cache_space_make(uint32_t n_ids, struct cache_space **ret);
void cache_space_put_in(struct cache *cache, struct cache_space *space);
/* Makes a space and puts it in the cache. */
must_check int cache_space_new(
	struct cache *cache, uint32_t n_ids, struct cache_space **ret);

/* Evicts up to n tensors of the space. Returns true if no tensor is left. No entry of the space may
 * be pinned, needed or loading. */
bool cache_space_empty(struct cache_space *space, uint32_t n);
/* Evicts all tensors of the space, and takes the space out of the cache. No entry of the space may
 * be pinned, needed or loading. The caller then frees the space, which needs no lock. */
void cache_space_take_out(struct cache_space *space);
/* Frees the space. If the space is in a cache, first takes it out. */
void cache_space_free(struct cache_space **space);

void cache_need_add(struct cache_space *space, sample_id id);
void cache_need_drop(struct cache_space *space, sample_id id);
uint32_t cache_need(const struct cache_space *space, sample_id id);
/*
 * Adds one to the need of many ids, when a stream is added. Unlike cache_need_add for each id, this
 * does not count as a use of the entries: the order of eviction among entries of equal need stays
 * the same. The sampler `exchange` relies on this: its orders are uniformly random only if the ids
 * have no influence on which samples stay in the cache.
 */
void cache_need_add_all(struct cache_space *space, const roaring_bitmap_t *ids);
/* Subtracts one from the need of many ids, when a stream is removed. Like cache_need_add_all, this
 * does not count as a use of the entries. */
void cache_need_drop_all(struct cache_space *space, const roaring_bitmap_t *ids);

/*
 * Begins to change the need of many ids in steps, so that the caller can release its lock between
 * two steps. From now on cache_need returns the new need of all ids. The steps update the counters
 * and the order of eviction. Until the last step the order may be wrong by one: an entry may be
 * evicted before another whose need is lower by one. Only one change may be under way in the whole
 * cache. The caller owns `ids`, and must not change the set before the last step. CACHE_NEED_DROP
 * must not begin before CACHE_NEED_ADD for these ids has ended.
 */
enum cache_change { CACHE_NEED_ADD, CACHE_NEED_DROP };
void cache_need_begin(
	struct cache_space *space, const roaring_bitmap_t *ids, enum cache_change change);
/* Carries out one step of the change of need, if a change is under way. n limits how long the step
 * takes: it updates at most n ids, or a smaller number of entries. Returns true if no change is
 * under way any more. */
bool cache_need_step(struct cache *cache, uint32_t n);
/* Tells whether a change of need is under way. */
bool cache_need_changes(const struct cache *cache);

/* Pins the sample, which may be absent. -ENOMEM */
must_check int cache_pin(struct cache_space *space, sample_id id);
void cache_unpin(struct cache_space *space, sample_id id);
uint32_t cache_pins(const struct cache_space *space, sample_id id);

/* Pins a ready entry for a reader. Until cache_close the tensor stays in the cache: even
 * cache_force_out must not evict it. false: the entry is not ready. */
must_check bool cache_open(struct cache_space *space, sample_id id);
void cache_close(struct cache_space *space, sample_id id);
uint32_t cache_opens(const struct cache_space *space, sample_id id);

enum cache_state cache_state(const struct cache_space *space, sample_id id);
/* Prefetches the pointer to the sample's entry into the processor's caches. */
void cache_prefetch_place(const struct cache_space *space, sample_id id);
/* Prefetches the sample's entry into the processor's caches. The caller calls cache_prefetch_place
 * some time before; otherwise this function waits for the pointer to the entry. */
void cache_prefetch_entry(const struct cache_space *space, sample_id id);

/*
 * Reserves `bytes` for a tensor (absent -> loading), and evicts unpinned entries to make room. The
 * policy refcnt evicts the entries with the least need first, and among these the least recently
 * used. The entry must be pinned. force: the reservation may exceed the capacity, because a reader
 * waits for the sample.
 */
must_check int cache_reserve(
	struct cache_space *space, sample_id id, uint64_t bytes, bool force);

/* Tells whether there is room for cache_reserve without `force`. */
bool cache_fits(const struct cache *cache, uint64_t bytes);
/* Returns the bytes that would remain loading or ready if all unpinned entries were evicted. */
uint64_t cache_least_bytes(const struct cache *cache);

/* Publishes the tensor (loading -> ready). From then on the cache owns the tensor. The tensor must
 * have the reserved size. */
void cache_publish(struct cache_space *space, sample_id id, struct tensor *tensor);

/* Marks a loading entry as a copy of a tensor in another daemon's cache. As soon as no stream needs
 * the copy any more, the policy refcnt evicts it before all other entries. */
void cache_spare(struct cache_space *space, sample_id id);

/* Gives up a reservation (loading -> absent), because the tensor could not be prepared. */
void cache_abandon(struct cache_space *space, sample_id id);

/* Returns the tensor of a ready entry; NULL: the entry is not ready. The tensor is valid while the
 * entry is pinned. */
const struct tensor *cache_get(const struct cache_space *space, sample_id id);

/* Returns the job for which the tensor of a ready entry was made; 0: not known. The entry has a
 * copy of tensor->made_for, so this function does not access the tensor's memory. */
uint32_t cache_made_for(const struct cache_space *space, sample_id id);

/* Returns a reference to the tensor of a ready entry, pinned or not; NULL: the entry is not ready.
 * The caller frees the reference, and must not change the tensor. */
struct tensor *cache_share(const struct cache_space *space, sample_id id);

/* Evicts the tensor of a pinned entry (ready -> dying). The caller does this only while the
 * capacity is exceeded. No reader may have the entry open (cache_open). The sample becomes absent,
 * and keeps its pins. If memory for the dying entry can't be allocated, does nothing. */
void cache_force_out(struct cache_space *space, sample_id id);

/* Evicts unpinned entries while the capacity is exceeded. Returns false if it still is. */
bool cache_trim(struct cache *cache);

/* Returns a dying tensor, which the caller frees (dying -> absent); NULL: there is none. */
struct tensor *cache_reap(struct cache *cache);

#define CACHE_NEEDS 5

struct cache_usage {
	uint64_t capacity, bytes; /* `bytes` counts loading, ready and dying entries */
	uint64_t live_bytes;	  /* bytes of loading and ready entries */
	uint64_t peak_bytes;	  /* maximum of live_bytes so far */
	uint64_t pinned_bytes;	  /* bytes of loading and ready entries with pins */
	uint64_t awaited;	  /* number of absent entries with pins */
	uint64_t tensors;	  /* number of ready and dying tensors */
	uint64_t pins, need;	  /* sums over all samples */
	uint64_t evictions;
	uint64_t evictions_needed; /* evictions of samples whose need was not 0 */
	/* policy refcnt: bytes of unpinned ready entries with need 0, 1, 2 and so on; the last
	 * element also counts all higher needs. While needs change in steps, some entries are
	 * still counted under their old need. */
	uint64_t needed_bytes[CACHE_NEEDS];
};
struct cache_usage cache_usage(const struct cache *cache);

/* The members of struct cache_usage that the scheduler reads each time a sample is drawn. */
struct cache_held {
	uint64_t capacity, pinned_bytes, awaited;
};
struct cache_held cache_held(const struct cache *cache);
bool cache_is_exceeded(const struct cache *cache); /* live_bytes > capacity */

/* Aborts if an invariant does not hold. For tests. */
void cache_validate(const struct cache *cache);
