// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/rng.h"
#include "cache/cache.h"

#include <sys/queue.h>

/* A table that can't grow refuses the new entry, and everything else stays as it was. */
#define HASH_NONFATAL_OOM 1
#define uthash_malloc(size) cache_alloc(size)
#include <uthash.h>

/*
 * Who holds an entry:
 *
 *   state     pins   table of its space   order of eviction   cache->dying
 *   ABSENT     > 0            x
 *   LOADING    any            x
 *   READY      > 0            x               fifo only
 *   READY        0            x                   x
 *   (dying)      0                                                 x
 *
 * Absent without pins is no entry at all. A dying one has left its space, so that its
 * sample can be reserved again before the tensor is reaped.
 */

struct entry {
	struct cache_space *space; /* NULL: dying */
	sample_id id;
	enum cache_state state;
	uint32_t pins;
	uint64_t bytes;		 /* 0 while absent */
	struct tensor *tensor;	 /* from ready on */
	TAILQ_ENTRY(entry) link; /* order of eviction, later cache->dying */
	uint32_t filed;		 /* refcnt: the bucket it is in */
	size_t slot;		 /* random: its place in evict.slots */
	UT_hash_handle hh;	 /* by id */
};

TAILQ_HEAD(entry_list, entry);

struct cache_space {
	struct cache *cache;
	LIST_ENTRY(cache_space) link;
	struct entry *entries; /* uthash */
	uint32_t n_ids;
	uint16_t *need; /* by id */
	uint64_t need_sum;
};

/* What the policy remembers; each uses its own part. */
struct evict {
	struct entry_list list; /* lru: unpinned, fifo: all that are ready; next first */
	struct entry_list *buckets; /* refcnt: by need, each least recently used first */
	uint32_t n_buckets;	    /* those from here on were never used */
	uint32_t lowest;	    /* those below are empty */
	uint32_t sweep;		    /* the bucket that is being brought up to date */
	struct entry begin, end;    /* in it: what is between them is not yet */
	struct entry **slots;	    /* random: unpinned, any order */
	size_t n_slots, max_slots;
	struct rng rng;
};

/*
 * A change of the need of many ids that is under way: the iterator is at the first one
 * that is not counted yet; once all are, the order of eviction follows.
 */
struct change {
	const struct cache_space *space; /* NULL: none */
	const roaring_bitmap_t *ids;
	roaring_uint32_iterator_t next;
	bool up;
	bool counted;
};

struct cache {
	uint64_t capacity;
	const struct evict_ops *ops;
	struct evict evict;
	LIST_HEAD(, cache_space) spaces;
	struct entry_list dying;
	struct change change;
	cache_gone *gone; /* may be NULL */
	void *gone_context;

	uint64_t live_bytes; /* loading and ready; never above capacity unless forced */
	uint64_t dying_bytes;
	uint64_t pinned_bytes;
	uint64_t evictable_bytes;
	uint64_t peak_bytes;
	uint64_t n_entries; /* of all spaces; those that are not live are pinned */
	uint64_t n_live, n_ready, n_dying, n_evictable;
	uint64_t pins, need, evictions;
};

/* A policy of eviction. What it has no use for is NULL. */
struct evict_ops {
	int (*init)(struct cache *cache);
	/* One more entry will be ready: nothing below may fail for want of memory. */
	int (*reserve)(struct cache *cache);
	void (*publish)(struct cache *cache, struct entry *entry);
	/* Nobody holds it any more: it may be chosen. */
	void (*allow)(struct cache *cache, struct entry *entry);
	/* Pinned, or about to die: it may not be chosen. */
	void (*forbid)(struct cache *cache, struct entry *entry);
	void (*forget)(struct cache *cache, struct entry *entry);
	/* The need of an entry that may be chosen is another one. */
	void (*need_changed)(struct cache *cache, struct entry *entry);
	/* Those of many entries have changed, all up or all down; that is no use of them.
	 */
	void (*sweep_begin)(struct cache *cache);
	/* Brings about n entries up to date; true: all are. */
	bool (*sweep)(struct cache *cache, uint32_t n);
	/* The next to be evicted; at least one may be chosen. */
	struct entry *(*victim)(struct cache *cache);
	void (*validate)(const struct cache *cache);
};

const struct evict_ops *evict_ops_of(enum eviction_policy policy);

/* Whether the change under way has not come to the id, which it will. */
static inline bool change_pending(const struct cache_space *space, sample_id id)
{
	const struct change *change = &space->cache->change;
	return change->space == space && change->next.has_value &&
	       id >= change->next.current_value &&
	       roaring_bitmap_contains(change->ids, id);
}

static inline uint32_t space_need(const struct cache_space *space, sample_id id)
{
	uint32_t need = space->need[id];
	if (!change_pending(space, id))
		return need;
	return space->cache->change.up ? need + 1 : need - 1;
}

static inline uint32_t entry_need(const struct entry *entry)
{
	return space_need(entry->space, entry->id);
}

static inline bool entry_evictable(const struct entry *entry)
{
	return entry->state == CACHE_READY && entry->pins == 0;
}

/* All memory of the cache except the tensors; zeroed. Fault: cache.memory. */
void *cache_alloc(size_t bytes);
