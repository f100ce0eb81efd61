// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "cache/cache_internal.h"

/* The sums of struct cache, computed from all entries. */
struct sums {
	uint64_t live_bytes, pinned_bytes, evictable_bytes, pins, need;
	uint64_t awaited, n_live, n_ready, n_evictable;
};

static void validate_entry(const struct entry *entry)
{
	ensure(entry->id < entry->space->n_ids);
	ensure(entry->opens <= entry->pins);
	ensure(entry->opens == 0 || entry->state == CACHE_READY);
	switch (entry->state) {
	case CACHE_ABSENT:
		ensure(entry->pins > 0);
		ensure(entry->bytes == 0);
		ensure(!entry->tensor);
		break;
	case CACHE_LOADING:
		ensure(!entry->tensor);
		break;
	case CACHE_READY:
		ensure(entry->tensor);
		ensure(entry->tensor->bytes == entry->bytes);
		ensure(entry->tensor->made_for == entry->made_for);
		break;
	}
}

static void add_entry(struct sums *sums, const struct entry *entry)
{
	sums->awaited += entry->state == CACHE_ABSENT;
	sums->pins += entry->pins;
	sums->live_bytes += entry->bytes;
	sums->n_live += entry->state != CACHE_ABSENT;
	sums->n_ready += entry->state == CACHE_READY;
	if (entry->pins > 0)
		sums->pinned_bytes += entry->bytes;
	if (entry_evictable(entry)) {
		sums->evictable_bytes += entry->bytes;
		sums->n_evictable++;
	}
}

static void add_space(struct sums *sums, const struct cache_space *space)
{
	const struct entry *entry;
	uint64_t need = 0, n = 0;
	for (uint32_t id = 0; id < space->n_ids; id++) {
		need += space_need(space, id);
		n += space->by_id[id] != NULL;
	}
	ensure(need == space->need_sum);
	sums->need += need;
	LIST_FOREACH (entry, &space->entries, neighbour) {
		ensure(entry->space == space);
		ensure(space->by_id[entry->id] == entry);
		validate_entry(entry);
		add_entry(sums, entry);
		n--;
	}
	ensure(n == 0);
}

static void validate_dying(const struct cache *cache)
{
	const struct entry *entry;
	uint64_t n = 0, bytes = 0;
	TAILQ_FOREACH (entry, &cache->dying, link) {
		ensure(!entry->space);
		ensure(entry->pins == 0);
		ensure(entry->tensor && entry->tensor->bytes == entry->bytes);
		bytes += entry->bytes;
		ensure(++n <= cache->usage.tensors);
	}
	ensure(n == cache->usage.tensors - cache->n_ready);
	ensure(bytes == cache->usage.bytes - cache->usage.live_bytes);
}

void cache_validate(const struct cache *cache)
{
	struct sums sums = {0};
	const struct cache_space *space;
	LIST_FOREACH (space, &cache->spaces, link) {
		ensure(space->cache == cache);
		add_space(&sums, space);
	}
	ensure(sums.live_bytes == cache->usage.live_bytes);
	ensure(sums.pinned_bytes == cache->usage.pinned_bytes);
	ensure(sums.evictable_bytes == cache->evictable_bytes);
	ensure(sums.pins == cache->usage.pins);
	ensure(sums.need == cache->usage.need);
	ensure(sums.awaited == cache->usage.awaited);
	ensure(sums.n_live == cache->n_live);
	ensure(sums.n_ready == cache->n_ready);
	ensure(sums.n_evictable == cache->n_evictable);
	ensure(cache->usage.peak_bytes >= cache->usage.live_bytes);
	validate_dying(cache);
	cache->ops->validate(cache);
}
