// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/rng.h"
#include "cache/cache.h"

#include <sys/queue.h>

/*
 * The states of an entry. In each state, an x shows which structures hold the entry, and the column
 * `pins` tells how many pins it can have:
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
	/* NULL: the entry is dying (evicted, but not freed yet) */
	struct cache_space *space;
	struct tensor *tensor; /* NULL while absent or loading */
	uint64_t bytes;	       /* 0 while absent */
	sample_id id;
	enum cache_state state;
	uint32_t pins;
	uint32_t opens; /* pins of readers that have the tensor open (cache_open) */
	uint32_t filed; /* policy refcnt: index of the bucket (list) that has the entry */
	uint32_t made_for; /* copy of tensor->made_for */
	bool spare;	   /* the tensor is a copy of one in another daemon's cache */
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
	struct entry **by_id; /* indexed by id; NULL: absent, and not pinned */
	/* The need of an id is `common` + `differs[id]`. A stream that needs most ids adds one to
	 * `common`, and subtracts one from `differs` for each id that it does not need. */
	uint32_t common;
	int16_t *differs;
	uint64_t need_sum;
};

/* The state of the eviction policy. Only the fields of the configured policy are used. The policy
 * refcnt has a list (bucket) for each need. When the needs of many ids have changed, a sweep goes
 * through the buckets and moves each entry to the bucket of its new need. */
struct evict {
	/* policy lru: all unpinned ready entries; policy fifo: all ready entries. The first entry
	 * is the next one to be evicted. */
	struct entry_list list;
	/* policy refcnt: a bucket for each need; in a bucket the least recently used entry comes
	 * first */
	struct entry_list *buckets;
	uint32_t n_buckets; /* all buckets from this one on were never used */
	uint32_t lowest;    /* all buckets below this one are empty */
	uint32_t sweep;	    /* index of the bucket that the sweep has reached */
	uint64_t needed_bytes[CACHE_NEEDS]; /* as in struct cache_usage */
	/* markers in the bucket `sweep`: the entries between `begin` and `end` have still to be
	 * moved */
	struct entry begin, end;
	struct entry **slots; /* policy random: unpinned ready entries, in any order */
	size_t n_slots, max_slots;
	struct rng rng;
};

/*
 * A change of the need of many ids that is under way. Its steps first add `step` to differs[id] for
 * each id in `ids`. Then the sweep updates the order of eviction.
 */
struct change {
	const struct cache_space *space; /* NULL: no change is under way */
	const roaring_bitmap_t *ids;
	/* NULL, unless `common` was changed for all ids. In this case the set of the ids outside
	 * the caller's set, and `ids` points to this set. */
	roaring_bitmap_t *others;
	roaring_uint32_iterator_t next;
	int step;     /* 1 or -1 */
	bool up;      /* the needs become higher */
	bool counted; /* `differs` is up to date, and the sweep has begun */
};

struct cache {
	uint64_t capacity;
	const struct evict_ops *ops;
	struct evict evict;
	LIST_HEAD(, cache_space) spaces;
	struct entry_list dying;
	struct change change;
	cache_gone *gone; /* the function set by cache_on_gone; NULL: none */
	void *gone_context;

	/* bytes of loading and ready entries; only forced reservations exceed the capacity */
	uint64_t live_bytes;
	uint64_t dying_bytes;
	uint64_t pinned_bytes;
	uint64_t evictable_bytes;
	uint64_t peak_bytes;
	/* number of entries in all spaces, including absent ones that are pinned */
	uint64_t n_entries;
	uint64_t n_live, n_ready, n_dying, n_evictable;
	uint64_t pins, need, evictions, evictions_needed;
};

/* An eviction policy. A function that the policy does not need is NULL. */
struct evict_ops {
	int (*init)(struct cache *cache);
	/* Allocates memory for one more ready entry, so that the other functions of the policy
	 * can't fail. */
	int (*reserve)(struct cache *cache);
	void (*publish)(struct cache *cache, struct entry *entry);
	/* Called when an entry becomes evictable: ready and not pinned. */
	void (*allow)(struct cache *cache, struct entry *entry);
	/* Called when an entry is no longer evictable, because it is pinned or about to die. */
	void (*forbid)(struct cache *cache, struct entry *entry);
	void (*forget)(struct cache *cache, struct entry *entry);
	/* Called when the need of an evictable entry has changed by one. */
	void (*need_changed)(struct cache *cache, struct entry *entry);
	/* Called when the needs of many entries have changed: all rose by one, or all fell by one.
	 * Does not count as a use of the entries. */
	void (*sweep_begin)(struct cache *cache);
	/* Updates the order of eviction for about n entries. Returns true if all entries are
	 * done. */
	bool (*sweep)(struct cache *cache, uint32_t n);
	/* Returns the next entry to evict. Called only if an entry is evictable. */
	struct entry *(*victim)(struct cache *cache);
	void (*validate)(const struct cache *cache);
};

const struct evict_ops *evict_ops_of(enum eviction_policy policy);

/* Tells whether the id's need is being changed, and no step has changed differs[id] yet. */
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

/* Evicts an unpinned ready entry: the entry moves to cache->dying until its tensor is freed. */
void entry_die(struct cache *cache, struct entry *entry);

/* Allocates zeroed memory for the cache's own structures, not for tensors. NULL: no memory, or
 * --fault cache.memory. */
void *cache_alloc(size_t bytes);
