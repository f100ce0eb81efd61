// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/types.h"
#include "config/config.h"
#include "image/tensor.h"

#include <roaring/roaring.h>

/*
 * The shared cache of prepared tensors, with RefCnt eviction (JOADER, section 3 and
 * appendix E.3) and lru, fifo, random beside it.
 *
 * A *space* holds the tensors of one (dataset, preparation). Within it an entry is
 *
 *        cache_reserve          cache_publish        evicted            cache_reap
 *   absent ----------> loading ------------> ready ---------> dying ------------> absent
 *      ^                  |
 *      +--- cache_abandon-+
 *
 * need(space, id): the number of streams whose remaining set contains the sample.
 * pins(space, id): drawn and not consumed, or held open. A pinned entry is never evicted;
 * pins may be taken on an absent one.
 *
 *   Flow: sched counts need and pins, reserves before load prepares, publishes after.
 *   Owns: every published tensor until it is reaped; the caller frees what cache_reap
 *         gives it, outside the lock.
 *   Threads: caller serialises (sched's lock); tensors themselves are immutable.
 *   Errors: -ENOMEM; -ENOSPC from cache_reserve when the rest is pinned or being loaded.
 *   Capacity: bytes of loading, ready and dying entries; exceeded only by forced
 *         reservations, and given back by cache_trim as soon as something unpinned can be
 *         evicted. A reservation counts dying bytes as free: the caller reaps before it
 *         lets go of the lock, so no worker fills what is not free yet.
 *   Recency: an entry is used by cache_publish and until its last pin goes; for refcnt,
 *         a change of its need alone is a use too.
 */

struct cache;
struct cache_space;

enum cache_state { CACHE_ABSENT, CACHE_LOADING, CACHE_READY };

must_check int cache_new(uint64_t capacity, enum eviction_policy policy, uint64_t seed,
	struct cache **ret);
void cache_free(struct cache **cache); /* frees what is left */

/*
 * Called when a sample that was loading or ready no longer is: evicted, abandoned, forced
 * out, or its space is freed. From within the call that caused it; it may not call back.
 */
typedef void cache_gone(void *context, struct cache_space *space, sample_id id);
void cache_on_gone(struct cache *cache, cache_gone *gone, void *context);

/* ids are below n_ids. */
must_check int cache_space_new(
	struct cache *cache, uint32_t n_ids, struct cache_space **ret);

/* Nothing in it may be pinned, needed or loading. Its tensors die. */
void cache_space_free(struct cache_space **space);

void cache_need_add(struct cache_space *space, sample_id id);
void cache_need_drop(struct cache_space *space, sample_id id);
uint32_t cache_need(const struct cache_space *space, sample_id id);
/*
 * For each of the ids, when a stream comes or goes. Unlike one call for each, which is a
 * use and makes ascending ids the order of eviction, this leaves the order as it is
 * among entries of equal need: with exchange, ids decide nothing only as long as they
 * do not decide what is resident.
 */
void cache_need_add_all(struct cache_space *space, const roaring_bitmap_t *ids);
void cache_need_drop_all(struct cache_space *space, const roaring_bitmap_t *ids);

/*
 * The same in steps, so that a caller whose lock others wait for can let go of it between
 * them. begin changes the need of all ids at once, for whoever asks; the steps bring the
 * counters and the order of eviction after it, and until then a victim may be needed by
 * one stream more than another entry is. One change at a time in the whole cache. The
 * ids stay the caller's and as they are until it is done; what is being added is dropped
 * only after that.
 */
enum cache_change { CACHE_NEED_ADD, CACHE_NEED_DROP };
void cache_need_begin(
	struct cache_space *space, const roaring_bitmap_t *ids, enum cache_change change);
/* Goes on by what so many ids cost, if there is a change; entries cost more. true: it is
 * done. */
bool cache_need_step(struct cache *cache, uint32_t n);
bool cache_need_changes(const struct cache *cache); /* one has begun and is not done */

must_check int cache_pin(struct cache_space *space, sample_id id); /* -ENOMEM */
void cache_unpin(struct cache_space *space, sample_id id);
uint32_t cache_pins(const struct cache_space *space, sample_id id);

enum cache_state cache_state(const struct cache_space *space, sample_id id);

/*
 * absent -> loading: makes room for the bytes by evicting what is not pinned, least need
 * first, ties by least recent use (refcnt). force: succeeds even if capacity is exceeded,
 * for a sample that a reader waits for. The entry must be pinned.
 */
must_check int cache_reserve(
	struct cache_space *space, sample_id id, uint64_t bytes, bool force);

/* loading -> ready; the cache owns the tensor from now on. Its size must be as reserved.
 */
void cache_publish(struct cache_space *space, sample_id id, struct tensor *tensor);

/* loading -> absent: it could not be prepared. */
void cache_abandon(struct cache_space *space, sample_id id);

/* The tensor of a ready entry; NULL otherwise. Valid while the entry is pinned. */
const struct tensor *cache_get(const struct cache_space *space, sample_id id);

/*
 * ready -> dying although it is pinned, when loading + ready exceed capacity: nobody has
 * it open. Its pins stay, on an absent entry. Without memory for that it stays too.
 */
void cache_force_out(struct cache_space *space, sample_id id);

/* Evicts unpinned entries while capacity is exceeded. */
void cache_trim(struct cache *cache);

/* dying -> absent: hands over one tensor to be freed, NULL when there is none. */
struct tensor *cache_reap(struct cache *cache);

struct cache_usage {
	uint64_t capacity, bytes; /* bytes: loading + ready + dying */
	uint64_t live_bytes;	  /* loading + ready */
	uint64_t peak_bytes;	  /* most of loading + ready */
	uint64_t pinned_bytes;	  /* of loading and ready entries with pins */
	uint64_t awaited;	  /* number of absent entries with pins */
	uint64_t tensors;	  /* ready + dying */
	uint64_t pins, need;	  /* sums over all entries */
	uint64_t evictions;
};
struct cache_usage cache_usage(const struct cache *cache);

/* Aborts when an invariant does not hold. For tests. */
void cache_validate(const struct cache *cache);
