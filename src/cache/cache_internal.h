// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/rng.h"
#include "cache/cache.h"

#include <sys/queue.h>

/*
 * The structures that hold an entry:
 *
 *   state     pins   its space   order of eviction   cache->dying
 *   ABSENT     > 0       x
 *   LOADING    any       x
 *   READY      > 0       x           fifo only
 *   READY        0       x               x
 *   (dying)      0                                              x
 *
 * An absent sample without pins has no entry. A dying entry is no longer in its space, so its
 * sample can be reserved again before the tensor is reaped.
 */

struct entry {
	struct cache_space *space; /* NULL: dying */
	struct tensor *tensor;	   /* NULL before READY */
	uint64_t bytes;		   /* 0 while absent */
	sample_id id;
	enum cache_state state;
	uint32_t pins;
	uint32_t opens;	   /* pins of readers that have the tensor open (cache_open) */
	uint32_t filed;	   /* refcnt: the number of its bucket */
	uint32_t made_for; /* value of made_for in its tensor */
	bool spare;	   /* cache_spare: the original is in another cache */
	TAILQ_ENTRY(entry) link;     /* order of eviction, later cache->dying */
	LIST_ENTRY(entry) neighbour; /* entries of its space */
	size_t slot;		     /* policy random: the entry's index in evict.slots */
};

TAILQ_HEAD(entry_list, entry);

struct cache_space {
	struct cache *cache; /* NULL: in no cache */
	LIST_ENTRY(cache_space) link;
	LIST_HEAD(, entry) entries;
	uint32_t n_ids;
	struct entry **by_id; /* NULL: absent, and not pinned */
	/* The need of an id is `common` plus its `differs`. A stream that has most ids counts in
	 * `common`, so that it touches the memory of the others only. */
	uint32_t common;
	int16_t *differs;
	uint64_t need_sum;
};

/* The state of the eviction policies. Each policy uses only a part. */
struct evict {
	/* policies lru and fifo: unpinned, or all ready, entries; the next victim comes first */
	struct entry_list list;
	/* policy refcnt: one bucket per need; in each the least recently used entry comes first */
	struct entry_list *buckets;
	uint32_t n_buckets;		    /* buckets from this one on were never used */
	uint32_t lowest;		    /* buckets below this one are empty */
	uint32_t sweep;			    /* number of the bucket that is being swept */
	uint64_t needed_bytes[CACHE_NEEDS]; /* policy refcnt: bytes of each bucket */
	/* markers in the bucket being swept: entries between them are not swept yet */
	struct entry begin, end;
	struct entry **slots; /* policy random: unpinned entries, in any order */
	size_t n_slots, max_slots;
	struct rng rng;
};

/*
 * A change of the need of many ids that is under way. `next` is the first id that is not counted
 * yet. When all ids are counted, the sweep updates the order of eviction.
 */
struct change {
	const struct cache_space *space; /* NULL: none */
	const roaring_bitmap_t *ids;
	roaring_bitmap_t *others; /* `ids`, if `common` has changed: all other ids */
	roaring_uint32_iterator_t next;
	int step;     /* 1 or -1: is added to `differs` of `ids` */
	bool up;      /* needs go up */
	bool counted; /* the sweep has begun */
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

	uint64_t live_bytes; /* loading and ready; above the capacity only if forced */
	uint64_t dying_bytes;
	uint64_t pinned_bytes;
	uint64_t evictable_bytes;
	uint64_t peak_bytes;
	uint64_t n_entries; /* entries in all spaces; absent entries are pinned */
	uint64_t n_live, n_ready, n_dying, n_evictable;
	uint64_t pins, need, evictions, evictions_needed;
};

/* An eviction policy. Functions that it does not need are NULL. */
struct evict_ops {
	int (*init)(struct cache *cache);
	/* Makes room for one more ready entry, so that the functions below can't fail. */
	int (*reserve)(struct cache *cache);
	void (*publish)(struct cache *cache, struct entry *entry);
	/* Called when an entry becomes evictable: ready and not pinned. */
	void (*allow)(struct cache *cache, struct entry *entry);
	/* Called when an entry is no longer evictable, because it is pinned or about to die. */
	void (*forbid)(struct cache *cache, struct entry *entry);
	void (*forget)(struct cache *cache, struct entry *entry);
	/* Called when the need of an evictable entry has changed. */
	void (*need_changed)(struct cache *cache, struct entry *entry);
	/* Called when the needs of many entries have changed, all up or all down. This is no use of
	 * the entries. */
	void (*sweep_begin)(struct cache *cache);
	/* Updates the order for about n entries. Returns true if all are done. */
	bool (*sweep)(struct cache *cache, uint32_t n);
	/* Returns the next entry to evict. There is at least one. */
	struct entry *(*victim)(struct cache *cache);
	void (*validate)(const struct cache *cache);
};

const struct evict_ops *evict_ops_of(enum eviction_policy policy);

/* Tells whether the id is in the change under way and is not counted yet. */
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

/* Changes a ready entry without pins to a dying one. */
void entry_die(struct cache *cache, struct entry *entry);

/* Allocates zeroed memory for the cache; tensors are allocated elsewhere. NULL: no memory. Fault:
 * cache.memory. */
void *cache_alloc(size_t bytes);
