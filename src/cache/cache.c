// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/bitmap.h"
#include "base/ensure.h"
#include "base/fault.h"
#include "cache/cache_internal.h"

#include <errno.h>

void *cache_alloc(size_t bytes)
{
	return fault_hit("cache.memory") ? NULL : calloc(1, bytes);
}

/* --- entries of a space ----------------------------------------------------------- */

static struct entry *find(const struct cache_space *space, sample_id id)
{
	ensure(id < space->n_ids);
	return space->by_id[id];
}

static struct entry *add_entry(struct cache_space *space, sample_id id)
{
	struct entry *entry = cache_alloc(sizeof(*entry));
	if (!entry)
		return NULL;
	entry->space = space;
	entry->id = id;
	LIST_INSERT_HEAD(&space->entries, entry, neighbour);
	space->by_id[id] = entry;
	space->cache->usage.awaited++;
	return entry;
}

static void remove_entry(struct entry *entry)
{
	entry->space->by_id[entry->id] = NULL;
	LIST_REMOVE(entry, neighbour);
	entry->space = NULL;
}

static void remove_if_unused(struct entry *entry)
{
	if (entry->state != CACHE_ABSENT || entry->pins > 0)
		return;
	entry->space->cache->usage.awaited--;
	remove_entry(entry);
	free(entry);
}

/* --- evictable or not ------------------------------------------------------------- */

static void allow_eviction(struct cache *cache, struct entry *entry)
{
	cache->n_evictable++;
	cache->evictable_bytes += entry->bytes;
	if (cache->ops->allow)
		cache->ops->allow(cache, entry);
}

static void forbid_eviction(struct cache *cache, struct entry *entry)
{
	cache->n_evictable--;
	cache->evictable_bytes -= entry->bytes;
	if (cache->ops->forbid)
		cache->ops->forbid(cache, entry);
}

static void count_dying(struct cache *cache, struct entry *entry)
{
	cache->n_live--;
	cache->n_ready--;
	cache->usage.live_bytes -= entry->bytes;
	TAILQ_INSERT_TAIL(&cache->dying, entry, link);
}

static void tell_gone(struct cache *cache, struct cache_space *space, sample_id id)
{
	if (cache->gone)
		cache->gone(cache->gone_context, space, id);
}

void entry_die(struct cache *cache, struct entry *entry)
{
	ensure(entry_evictable(entry));
	forbid_eviction(cache, entry);
	if (cache->ops->forget)
		cache->ops->forget(cache, entry);
	tell_gone(cache, entry->space, entry->id);
	remove_entry(entry);
	count_dying(cache, entry);
}

static bool fits(const struct cache *cache, uint64_t live_bytes, uint64_t bytes)
{
	return live_bytes <= cache->usage.capacity &&
	       bytes <= cache->usage.capacity - live_bytes;
}

static void count_eviction(struct cache *cache, const struct entry *entry)
{
	cache->usage.evictions++;
	cache->usage.evictions_needed += entry_need(entry) > 0;
}

static void evict_until_fits(struct cache *cache, uint64_t bytes)
{
	while (cache->n_evictable > 0 && !fits(cache, cache->usage.live_bytes, bytes)) {
		struct entry *victim = cache->ops->victim(cache);
		count_eviction(cache, victim);
		entry_die(cache, victim);
	}
}

/* --- life of an entry ------------------------------------------------------------- */

uint64_t cache_least_bytes(const struct cache *cache)
{
	return cache->usage.live_bytes - cache->evictable_bytes;
}

bool cache_fits(const struct cache *cache, uint64_t bytes)
{
	return fits(cache, cache_least_bytes(cache), bytes);
}

int cache_reserve(struct cache_space *space, sample_id id, uint64_t bytes, bool force)
{
	struct cache *cache = space->cache;
	struct entry *entry = find(space, id);
	ensure(entry && entry->pins > 0);
	ensure(entry->state == CACHE_ABSENT);
	if (!force && !cache_fits(cache, bytes))
		return -ENOSPC;
	if (cache->ops->reserve && cache->ops->reserve(cache) < 0)
		return -ENOMEM;
	evict_until_fits(cache, bytes);
	entry->state = CACHE_LOADING;
	entry->spare = false;
	entry->bytes = bytes;
	cache->n_live++;
	cache->usage.awaited--;
	cache->usage.bytes += bytes;
	cache->usage.live_bytes += bytes;
	cache->usage.pinned_bytes += bytes;
	if (cache->usage.live_bytes > cache->usage.peak_bytes)
		cache->usage.peak_bytes = cache->usage.live_bytes;
	return 0;
}

void cache_publish(struct cache_space *space, sample_id id, struct tensor *tensor)
{
	struct cache *cache = space->cache;
	struct entry *entry = find(space, id);
	ensure(entry && entry->state == CACHE_LOADING);
	ensure(tensor->bytes == entry->bytes);
	entry->state = CACHE_READY;
	entry->tensor = tensor;
	entry->made_for = tensor->made_for;
	cache->n_ready++;
	cache->usage.tensors++;
	if (cache->ops->publish)
		cache->ops->publish(cache, entry);
	if (entry->pins == 0)
		allow_eviction(cache, entry);
}

void cache_spare(struct cache_space *space, sample_id id)
{
	struct entry *entry = find(space, id);
	ensure(entry && entry->state == CACHE_LOADING);
	entry->spare = true;
}

void cache_abandon(struct cache_space *space, sample_id id)
{
	struct cache *cache = space->cache;
	struct entry *entry = find(space, id);
	ensure(entry && entry->state == CACHE_LOADING);
	cache->n_live--;
	cache->usage.awaited++;
	cache->usage.bytes -= entry->bytes;
	cache->usage.live_bytes -= entry->bytes;
	if (entry->pins > 0)
		cache->usage.pinned_bytes -= entry->bytes;
	entry->state = CACHE_ABSENT;
	entry->bytes = 0;
	remove_if_unused(entry);
	tell_gone(cache, space, id);
}

/* Evicts the tensor of a pinned entry. This entry stays in its space, as absent. A new entry,
 * `last`, has the tensor until the tensor is reaped. */
void cache_force_out(struct cache_space *space, sample_id id)
{
	struct cache *cache = space->cache;
	struct entry *entry = find(space, id);
	ensure(entry && entry->state == CACHE_READY && entry->pins > 0);
	ensure(entry->opens == 0);
	struct entry *last = cache_alloc(sizeof(*last));
	if (!last)
		return;
	*last = (struct entry){
		.state = CACHE_READY, .bytes = entry->bytes, .tensor = entry->tensor};
	if (cache->ops->forget)
		cache->ops->forget(cache, entry);
	count_dying(cache, last);
	cache->usage.awaited++;
	cache->usage.pinned_bytes -= entry->bytes;
	count_eviction(cache, entry);
	entry->state = CACHE_ABSENT;
	entry->bytes = 0;
	entry->tensor = NULL;
	tell_gone(cache, space, id);
}

struct tensor *cache_reap(struct cache *cache)
{
	struct entry *entry = TAILQ_FIRST(&cache->dying);
	if (!entry)
		return NULL;
	TAILQ_REMOVE(&cache->dying, entry, link);
	cache->usage.tensors--;
	cache->usage.bytes -= entry->bytes;
	struct tensor *tensor = entry->tensor;
	free(entry);
	return tensor;
}

bool cache_trim(struct cache *cache)
{
	evict_until_fits(cache, 0);
	return fits(cache, cache->usage.live_bytes, 0);
}

enum cache_state cache_state(const struct cache_space *space, sample_id id)
{
	const struct entry *entry = find(space, id);
	return entry ? entry->state : CACHE_ABSENT;
}

void cache_prefetch_place(const struct cache_space *space, sample_id id)
{
	__builtin_prefetch(&space->by_id[id]);
	__builtin_prefetch(&space->differs[id], 1);
}

void cache_prefetch_entry(const struct cache_space *space, sample_id id)
{
	const struct entry *entry = find(space, id);
	if (!entry)
		return;
	__builtin_prefetch(entry, 1);
	__builtin_prefetch(&entry->link, 1);
}

/* --- pins ------------------------------------------------------------------------- */

static void pin(struct cache *cache, struct entry *entry)
{
	if (entry->pins == 0) {
		cache->usage.pinned_bytes += entry->bytes;
		if (entry->state == CACHE_READY)
			forbid_eviction(cache, entry);
	}
	ensure(entry->pins < UINT32_MAX);
	entry->pins++;
	cache->usage.pins++;
	/* the caller will soon read the tensor */
	__builtin_prefetch(entry->tensor);
}

int cache_pin(struct cache_space *space, sample_id id)
{
	struct entry *entry = find(space, id);
	if (!entry)
		entry = add_entry(space, id);
	if (!entry)
		return -ENOMEM;
	pin(space->cache, entry);
	return 0;
}

static void unpin(struct cache *cache, struct entry *entry)
{
	ensure(entry && entry->pins > 0);
	entry->pins--;
	cache->usage.pins--;
	if (entry->pins > 0)
		return;
	cache->usage.pinned_bytes -= entry->bytes;
	if (entry->state == CACHE_READY)
		allow_eviction(cache, entry);
	remove_if_unused(entry);
}

void cache_unpin(struct cache_space *space, sample_id id)
{
	unpin(space->cache, find(space, id));
}

bool cache_open(struct cache_space *space, sample_id id)
{
	struct entry *entry = find(space, id);
	if (!entry || entry->state != CACHE_READY)
		return false;
	pin(space->cache, entry);
	entry->opens++;
	return true;
}

void cache_close(struct cache_space *space, sample_id id)
{
	struct entry *entry = find(space, id);
	ensure(entry && entry->opens > 0);
	entry->opens--;
	unpin(space->cache, entry);
}

uint32_t cache_opens(const struct cache_space *space, sample_id id)
{
	const struct entry *entry = find(space, id);
	return entry ? entry->opens : 0;
}

uint32_t cache_made_for(const struct cache_space *space, sample_id id)
{
	const struct entry *entry = find(space, id);
	return entry && entry->tensor ? entry->made_for : 0;
}

uint32_t cache_pins(const struct cache_space *space, sample_id id)
{
	const struct entry *entry = find(space, id);
	return entry ? entry->pins : 0;
}

const struct tensor *cache_get(const struct cache_space *space, sample_id id)
{
	const struct entry *entry = find(space, id);
	return entry ? entry->tensor : NULL;
}

struct tensor *cache_share(const struct cache_space *space, sample_id id)
{
	const struct entry *entry = find(space, id);
	return entry && entry->tensor ? tensor_hold(entry->tensor) : NULL;
}

/* --- need ------------------------------------------------------------------------- */

static void need_changed(struct cache_space *space, sample_id id)
{
	struct cache *cache = space->cache;
	if (!cache->ops->need_changed || cache->n_evictable == 0)
		return;
	struct entry *entry = find(space, id);
	if (entry && entry_evictable(entry))
		cache->ops->need_changed(cache, entry);
}

void cache_need_add(struct cache_space *space, sample_id id)
{
	ensure(id < space->n_ids);
	ensure(space->differs[id] < INT16_MAX);
	space->differs[id]++;
	space->need_sum++;
	space->cache->usage.need++;
	need_changed(space, id);
}

void cache_need_drop(struct cache_space *space, sample_id id)
{
	ensure(id < space->n_ids);
	ensure(space_need(space, id) > 0 && space->differs[id] > INT16_MIN);
	space->differs[id]--;
	space->need_sum--;
	space->cache->usage.need--;
	need_changed(space, id);
}

/* Makes the change cheaper if the caller's set has most of the ids. Adds the change to `common`,
 * which changes the needs of all ids at once. cache_need_step then only has to undo this change for
 * the ids that are not in the set (change->others). Does nothing if there is no memory for
 * `others`, or if `common` would fall below 0. */
static void change_common(struct cache_space *space, struct change *change)
{
	if (!change->up && space->common == 0)
		return;
	change->others = roaring_bitmap_flip(change->ids, 0, space->n_ids);
	if (!change->others)
		return;
	space->common += change->up ? 1 : UINT32_MAX;
	change->ids = change->others;
	change->step = -change->step;
}

void cache_need_begin(
	struct cache_space *space, const roaring_bitmap_t *ids, enum cache_change change)
{
	struct cache *cache = space->cache;
	uint64_t n = roaring_bitmap_get_cardinality(ids);
	bool up = change == CACHE_NEED_ADD;
	ensure(!cache->change.space);
	ensure(n == 0 || roaring_bitmap_maximum(ids) < space->n_ids);
	ensure(up || n <= space->need_sum);
	space->need_sum += up ? n : -n;
	cache->usage.need += up ? n : -n;
	cache->change = (struct change){
		.space = space, .ids = ids, .step = up ? 1 : -1, .up = up};
	if (n > space->n_ids / 2)
		change_common(space, &cache->change);
	roaring_init_iterator(cache->change.ids, &cache->change.next);
}

static void end_change(struct change *change)
{
	bitmap_free(&change->others);
	*change = (struct change){0};
}

static void count_some(struct cache *cache, uint32_t n)
{
	uint32_t ids[256];
	struct change *change = &cache->change;
	int16_t *differs = change->space->differs;
	while (n > 0 && change->next.has_value) {
		uint32_t at_once = n < 256 ? n : 256;
		n -= at_once;
		at_once = roaring_read_uint32_iterator(&change->next, ids, at_once);
		for (uint32_t i = 0; i < at_once; i++) {
			int now = differs[ids[i]] + change->step;
			ensure(now == (int16_t)now);
			differs[ids[i]] = (int16_t)now;
		}
	}
}

/* Changing the needs of this many ids takes as long as moving one entry. */
#define IDS_PER_ENTRY 16

bool cache_need_step(struct cache *cache, uint32_t n)
{
	struct change *change = &cache->change;
	if (!change->space)
		return true;
	if (change->next.has_value) {
		count_some(cache, n);
		return false;
	}
	if (cache->ops->sweep && !cache->ops->sweep(cache, n / IDS_PER_ENTRY + 1))
		return false;
	end_change(change);
	return true;
}

bool cache_need_changes(const struct cache *cache)
{
	return cache->change.space != NULL;
}

void cache_need_change(
	struct cache_space *space, const roaring_bitmap_t *ids, enum cache_change change)
{
	cache_need_begin(space, ids, change);
	while (!cache_need_step(space->cache, UINT32_MAX))
		;
}

uint32_t cache_need(const struct cache_space *space, sample_id id)
{
	ensure(id < space->n_ids);
	return space_need(space, id);
}

/* --- the whole -------------------------------------------------------------------- */

int cache_new(
	uint64_t capacity, enum eviction_policy policy, uint64_t seed, struct cache **ret)
{
	struct cache *cache = cache_alloc(sizeof(*cache));
	if (!cache)
		return -ENOMEM;
	cache->usage.capacity = capacity;
	cache->ops = evict_ops_of(policy);
	LIST_INIT(&cache->spaces);
	TAILQ_INIT(&cache->dying);
	TAILQ_INIT(&cache->evict.list);
	rng_seed(&cache->evict.rng, seed);
	if (cache->ops->init && cache->ops->init(cache) < 0) {
		free(cache);
		return -ENOMEM;
	}
	*ret = cache;
	return 0;
}

void cache_on_gone(struct cache *cache, cache_gone *gone, void *context)
{
	cache->gone = gone;
	cache->gone_context = context;
}

static void space_discard(struct cache_space *space)
{
	struct entry *entry;
	while ((entry = LIST_FIRST(&space->entries))) {
		tensor_free(entry->tensor);
		LIST_REMOVE(entry, neighbour);
		free(entry);
	}
	LIST_REMOVE(space, link);
	space->cache = NULL;
	cache_space_free(&space);
}

void cache_free(struct cache **cache)
{
	if (!*cache)
		return;
	struct tensor *tensor;
	while ((tensor = cache_reap(*cache)))
		tensor_free(tensor);
	while (!LIST_EMPTY(&(*cache)->spaces))
		space_discard(LIST_FIRST(&(*cache)->spaces));
	end_change(&(*cache)->change);
	free((*cache)->evict.buckets);
	free((*cache)->evict.slots);
	free(*cache);
	*cache = NULL;
}

const struct cache_usage *cache_usage(const struct cache *cache)
{
	return &cache->usage;
}
