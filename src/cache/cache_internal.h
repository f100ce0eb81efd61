// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/rng.h"
#include "cache/cache.h"

#include <sys/queue.h>

/*
 * The states of an entry, and how many pins it can have in each. An x marks the structures that
 * have the entry. fifo only: only the policy fifo keeps pinned entries in the order of eviction.
 *
 *   state     pins   its space   order of eviction   cache->dying
 *   ABSENT     > 0       x
 *   LOADING    any       x
 *   READY      > 0       x           fifo only
 *   READY        0       x               x
 *   (dying)      0                                              x
 *
 * An absent sample without pins has no entry. A dying entry is no longer in its space, so the
 * sample can be reserved again before the tensor is reaped.
 */

struct entry {
	struct cache_space *space; /* NULL: the entry is dying */
	struct tensor *tensor;	   /* NULL while absent or loading */
	uint64_t bytes;		   /* 0 while absent */
	sample_id id;
	enum cache_state state;
	uint32_t pins;
	uint32_t opens; /* pins made by cache_open */
	/* policy refcnt: index in evict.buckets of the bucket (list) that has the entry */
	uint32_t filed;
	uint32_t made_for;	     /* copy of tensor->made_for */
	bool spare;		     /* marked by cache_spare */
	TAILQ_ENTRY(entry) link;     /* in the order of eviction, or in cache->dying */
	LIST_ENTRY(entry) neighbour; /* in space->entries */
	size_t slot;		     /* policy random: index in evict.slots */
};

TAILQ_HEAD(entry_list, entry);

struct cache_space {
	struct cache *cache; /* NULL if the space is in no cache */
	LIST_ENTRY(cache_space) link;
	LIST_HEAD(, entry) entries;
	uint32_t n_ids;
	struct entry **by_id; /* indexed by id; NULL: absent and not pinned */
	/* The need of an id is `common` + `differs[id]`. A stream that needs most ids adds one to
	 * `common`, and subtracts one from `differs` for each id that the stream does not need. */
	uint32_t common;
	int16_t *differs;
	uint64_t need_sum;
};

/* The state of the eviction policy. refcnt has a list (bucket) for each need; after a change of
 * many needs, a sweep through the buckets moves each entry to the bucket of its new need. */
struct evict {
	/* lru: unpinned ready entries; fifo: all ready entries. The first one is evicted next. */
	struct entry_list list;
	/* policy refcnt: indexed by need; the least recently used entry comes first */
	struct entry_list *buckets;
	uint32_t n_buckets; /* the buckets from this one on were never used */
	uint32_t lowest;    /* the buckets below this one are empty */
	uint32_t sweep;	    /* the bucket that the sweep has reached */
	/* markers in the bucket `sweep`: entries between them have yet to be moved */
	struct entry begin, end;
	struct entry **slots; /* policy random: unpinned ready entries, in any order */
	size_t n_slots, max_slots;
	struct rng rng;
};

/* A change of many needs that is under way. The calls of cache_need_step first add `step` to
 * differs[id] for each id in `ids`, then they sweep: they update the order of eviction. */
struct change {
	const struct cache_space *space; /* NULL: no change is under way */
	const roaring_bitmap_t *ids;
	/* The ids that are not in the caller's set; `ids` then points to them. NULL: `common` was
	 * not changed, and `ids` is the caller's set. */
	roaring_bitmap_t *others;
	roaring_uint32_iterator_t next;
	int step;
	bool up;     /* true: the needs rise; false: they fall */
	bool sweeps; /* `differs` is up to date, and the sweep has begun */
};

struct cache {
	const struct evict_ops *ops;
	struct evict evict;
	LIST_HEAD(, cache_space) spaces;
	struct entry_list dying;
	struct change change;
	cache_gone *gone;
	void *gone_context;
	struct cache_usage usage;
	uint64_t evictable_bytes;
	uint64_t n_live, n_ready, n_evictable;
};

/* The functions of an eviction policy. NULL: the policy does not need the function. */
struct evict_ops {
	int (*init)(struct cache *cache);
	/* Allocates memory for one more ready entry, so that the other functions can't fail. */
	int (*reserve)(struct cache *cache);
	void (*publish)(struct cache *cache, struct entry *entry);
	/* The entry became ready and unpinned. */
	void (*allow)(struct cache *cache, struct entry *entry);
	/* The entry, ready and unpinned, is being pinned or about to die. */
	void (*forbid)(struct cache *cache, struct entry *entry);
	void (*forget)(struct cache *cache, struct entry *entry);
	/* The need of an evictable entry has changed by one. */
	void (*need_changed)(struct cache *cache, struct entry *entry);
	/* Updates the order of eviction for about n entries, after many needs rose by one, or many
	 * fell by one. Does not count as a use of the entries. Returns true if all are up to
	 * date. */
	bool (*sweep)(struct cache *cache, uint32_t n);
	/* Returns the entry to evict next. At least one entry is evictable. */
	struct entry *(*victim)(struct cache *cache);
	void (*validate)(const struct cache *cache);
};

const struct evict_ops *evict_ops_of(enum eviction_policy policy);

/* Tells whether the change that is under way has yet to change differs[id]. */
static inline bool change_pending(const struct cache_space *space, sample_id id)
{
	const struct change *change = &space->cache->change;
	return change->space == space && change->next.has_value &&
	       id >= change->next.current_value &&
	       roaring_bitmap_contains(change->ids, id);
}

static inline uint32_t space_need(const struct cache_space *space, sample_id id)
{
	int64_t need = (int64_t)space->common + space->differs[id];
	return (uint32_t)(change_pending(space, id) ? need + space->cache->change.step
						    : need);
}

static inline uint32_t entry_need(const struct entry *entry)
{
	return space_need(entry->space, entry->id);
}

static inline bool entry_evictable(const struct entry *entry)
{
	return entry->state == CACHE_READY && entry->pins == 0;
}

/* Moves an unpinned ready entry to cache->dying. */
void entry_die(struct cache *cache, struct entry *entry);

/* Allocates zeroed memory. Returns NULL if there is no memory, or if cache.memory injects a
 * fault. */
void *cache_alloc(size_t bytes);
