// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "cache/cache_internal.h"

#include <errno.h>
#include <string.h>

/* --- refcnt ---------------------------------------------------------------------------
 *
 *   lowest
 *     |
 *   need 0   need 1   need 2 ...
 *     -        a        c          head: least recently used
 *              b                   tail: most recently used
 *
 * A bucket is the list of the entries with one need. An entry is put at the tail of a
 * bucket when its last pin is removed, and when its need changes. So each bucket is in
 * the order of recency without being sorted. An entry that cache_spare has marked is
 * put at the head of bucket 0 if no stream needs its sample.
 */

static int refcnt_init(struct cache *cache)
{
	/* One bucket for each possible need, so a change of need can't fail. The array has 1 MiB;
	 * the kernel provides memory only for the buckets that are used. */
	cache->evict.buckets =
		cache_alloc((UINT16_MAX + 1) * sizeof(*cache->evict.buckets));
	return cache->evict.buckets ? 0 : -ENOMEM;
}

static uint64_t *needed_bytes(struct cache *cache, const struct entry *entry)
{
	uint32_t need = entry->filed < CACHE_NEEDS ? entry->filed : CACHE_NEEDS - 1;
	return &cache->usage.needed_bytes[need];
}

static void refcnt_insert(struct cache *cache, struct entry *entry)
{
	struct evict *evict = &cache->evict;
	uint32_t need = entry_need(entry);
	for (; evict->n_buckets <= need; evict->n_buckets++)
		TAILQ_INIT(&evict->buckets[evict->n_buckets]);
	if (entry->spare && need == 0)
		TAILQ_INSERT_HEAD(&evict->buckets[need], entry, link);
	else
		TAILQ_INSERT_TAIL(&evict->buckets[need], entry, link);
	entry->filed = need;
	*needed_bytes(cache, entry) += entry->bytes;
	if (need < evict->lowest)
		evict->lowest = need;
}

static void refcnt_forbid(struct cache *cache, struct entry *entry)
{
	TAILQ_REMOVE(&cache->evict.buckets[entry->filed], entry, link);
	*needed_bytes(cache, entry) -= entry->bytes;
}

static void refcnt_need_changed(struct cache *cache, struct entry *entry)
{
	refcnt_forbid(cache, entry);
	refcnt_insert(cache, entry);
}

/* Begins to sweep the bucket: puts the marker `begin` at its head, and the marker `end` at its
 * tail. The entries between the markers are not swept yet. The sweep takes these entries from the
 * head on, so entries that move to the same bucket keep their order. The sweep puts `begin` behind
 * each entry that it takes. `end` stays where it is. Other calls may add entries behind `end`
 * between two steps of the sweep; these entries are already in the right bucket. If needs have
 * risen, the sweep goes from the last bucket to the first, otherwise from the first to the last. So
 * no entry moves to a bucket that is still to be swept. */
static void sweep_bucket(struct evict *evict, uint32_t need)
{
	evict->sweep = need;
	TAILQ_INSERT_HEAD(&evict->buckets[need], &evict->begin, link);
	TAILQ_INSERT_TAIL(&evict->buckets[need], &evict->end, link);
}

/* Returns false if the sweep has done all buckets. */
static bool next_bucket(struct cache *cache)
{
	struct evict *evict = &cache->evict;
	TAILQ_REMOVE(&evict->buckets[evict->sweep], &evict->begin, link);
	TAILQ_REMOVE(&evict->buckets[evict->sweep], &evict->end, link);
	if (evict->sweep == (cache->change.up ? 0 : evict->n_buckets - 1))
		return false;
	sweep_bucket(evict, cache->change.up ? evict->sweep - 1 : evict->sweep + 1);
	return true;
}

static bool refcnt_sweep(struct cache *cache, uint32_t n)
{
	struct evict *evict = &cache->evict;
	if (evict->n_buckets == 0)
		return true;
	if (!cache->change.sweeps)
		sweep_bucket(evict, cache->change.up ? evict->n_buckets - 1 : 0);
	cache->change.sweeps = true;
	for (; n > 0; n--) {
		struct entry_list *bucket = &evict->buckets[evict->sweep];
		struct entry *entry = TAILQ_NEXT(&evict->begin, link);
		if (entry == &evict->end) {
			if (!next_bucket(cache))
				return true;
			continue;
		}
		TAILQ_REMOVE(bucket, &evict->begin, link);
		TAILQ_INSERT_AFTER(bucket, entry, &evict->begin, link);
		if (entry_need(entry) != entry->filed)
			refcnt_need_changed(cache, entry);
	}
	return false;
}

static bool is_marker(const struct evict *evict, const struct entry *entry)
{
	return entry == &evict->begin || entry == &evict->end;
}

static struct entry *first_filed(const struct evict *evict, uint32_t need)
{
	struct entry *entry = TAILQ_FIRST(&evict->buckets[need]);
	while (entry && is_marker(evict, entry))
		entry = TAILQ_NEXT(entry, link);
	return entry;
}

/* A search for the entry to evict moves at most this many entries to the buckets of their new needs,
 * while needs are changed in steps (cache_need_begin). Then the search returns the next entry, even
 * if that entry is in a wrong bucket. */
#define TRIES 32

static struct entry *refcnt_victim(struct cache *cache)
{
	struct evict *evict = &cache->evict;
	for (int tries = 0;; tries++) {
		struct entry *entry;
		while (!(entry = first_filed(evict, evict->lowest))) {
			evict->lowest++;
			ensure(evict->lowest < evict->n_buckets);
		}
		if (entry_need(entry) == entry->filed || tries == TRIES)
			return entry;
		refcnt_need_changed(cache, entry);
	}
}

static void refcnt_validate(const struct cache *cache)
{
	const struct evict *evict = &cache->evict;
	uint64_t n = 0, bytes[CACHE_NEEDS] = {0};
	for (uint32_t need = 0; need < evict->n_buckets; need++) {
		const struct entry *entry;
		TAILQ_FOREACH (entry, &evict->buckets[need], link) {
			if (is_marker(evict, entry))
				continue;
			ensure(entry_evictable(entry));
			ensure(entry->filed == need);
			ensure(entry_need(entry) == need || cache_need_changes(cache));
			ensure(need >= evict->lowest);
			ensure(++n <= cache->n_evictable);
			bytes[need < CACHE_NEEDS ? need : CACHE_NEEDS - 1] +=
				entry->bytes;
		}
	}
	ensure(n == cache->n_evictable);
	ensure(memcmp(bytes, cache->usage.needed_bytes, sizeof(bytes)) == 0);
}

/* --- lru and fifo ---------------------------------------------------------------------
 *
 * fifo: pinned entries keep their place in the list. The search for an entry to evict
 * skips pinned entries. The search takes little time, because few entries are pinned,
 * and most of the pinned entries are near the end of the list.
 */

static void list_append(struct cache *cache, struct entry *entry)
{
	TAILQ_INSERT_TAIL(&cache->evict.list, entry, link);
}

static void list_remove(struct cache *cache, struct entry *entry)
{
	TAILQ_REMOVE(&cache->evict.list, entry, link);
}

static struct entry *list_victim(struct cache *cache)
{
	struct entry *entry = TAILQ_FIRST(&cache->evict.list);
	while (entry->pins > 0)
		entry = TAILQ_NEXT(entry, link);
	return entry;
}

static void list_validate(const struct cache *cache)
{
	bool fifo = cache->ops->publish;
	const struct entry *entry;
	uint64_t n = 0, all = fifo ? cache->n_ready : cache->n_evictable;
	TAILQ_FOREACH (entry, &cache->evict.list, link) {
		ensure(fifo ? entry->state == CACHE_READY : entry_evictable(entry));
		ensure(++n <= all);
	}
	ensure(n == all);
}

/* --- random ----------------------------------------------------------------------- */

static int random_reserve(struct cache *cache)
{
	struct evict *evict = &cache->evict;
	if (cache->n_live < evict->max_slots)
		return 0;
	size_t max = evict->max_slots ? 2 * evict->max_slots : 64;
	struct entry **slots = cache_alloc(max * sizeof(struct entry *));
	if (!slots)
		return -ENOMEM;
	if (evict->n_slots)
		memcpy(slots, evict->slots, evict->n_slots * sizeof(struct entry *));
	free(evict->slots);
	evict->slots = slots;
	evict->max_slots = max;
	return 0;
}

static void random_allow(struct cache *cache, struct entry *entry)
{
	struct evict *evict = &cache->evict;
	ensure(evict->n_slots < evict->max_slots);
	entry->slot = evict->n_slots++;
	evict->slots[entry->slot] = entry;
}

static void random_forbid(struct cache *cache, struct entry *entry)
{
	struct evict *evict = &cache->evict;
	struct entry *last = evict->slots[--evict->n_slots];
	evict->slots[entry->slot] = last;
	last->slot = entry->slot;
}

static struct entry *random_victim(struct cache *cache)
{
	struct evict *evict = &cache->evict;
	return evict->slots[rng_below(&evict->rng, evict->n_slots)];
}

static void random_validate(const struct cache *cache)
{
	const struct evict *evict = &cache->evict;
	ensure(evict->n_slots == cache->n_evictable);
	ensure(evict->n_slots <= evict->max_slots);
	for (size_t i = 0; i < evict->n_slots; i++) {
		ensure(entry_evictable(evict->slots[i]));
		ensure(evict->slots[i]->slot == i);
	}
}

const struct evict_ops *evict_ops_of(enum eviction_policy policy)
{
	static const struct evict_ops ops[] = {
		[EVICTION_REFCNT] = {.init = refcnt_init,
			.allow = refcnt_insert,
			.forbid = refcnt_forbid,
			.need_changed = refcnt_need_changed,
			.sweep = refcnt_sweep,
			.victim = refcnt_victim,
			.validate = refcnt_validate},
		[EVICTION_LRU] = {.allow = list_append,
			.forbid = list_remove,
			.victim = list_victim,
			.validate = list_validate},
		[EVICTION_FIFO] = {.publish = list_append,
			.forget = list_remove,
			.victim = list_victim,
			.validate = list_validate},
		[EVICTION_RANDOM] = {.reserve = random_reserve,
			.allow = random_allow,
			.forbid = random_forbid,
			.victim = random_victim,
			.validate = random_validate},
	};
	ensure(policy < sizeof(ops) / sizeof(ops[0]));
	return &ops[policy];
}
