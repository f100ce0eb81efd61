// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "cache/cache.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <string.h>

/*
 * Random events for the cache and for a brute-force twin, which keeps every entry in a plain array
 * and looks through all of them for each victim.
 */

#define SPACES 2
#define IDS 24
#define ENTRIES (SPACES * IDS)

static struct cache *cache;
static struct cache_space *spaces[SPACES];
static enum eviction_policy policy;
static struct rng rng;

static struct twin {
	enum cache_state state;
	uint64_t bytes;
	uint32_t pins, need;
	uint64_t used, published; /* times on the twin's clock */
} twins[ENTRIES];

static uint64_t now, evictions, dying, dying_bytes;

static uint64_t below(uint64_t bound)
{
	return rng_below(&rng, bound);
}

static struct cache_space *space_of(unsigned i)
{
	return spaces[i / IDS];
}

static bool evictable(const struct twin *twin)
{
	return twin->state == CACHE_READY && twin->pins == 0;
}

static uint64_t twin_bytes(bool only_evictable)
{
	uint64_t bytes = 0;
	for (int i = 0; i < ENTRIES; i++)
		if (!only_evictable || evictable(&twins[i]))
			bytes += twins[i].bytes;
	return bytes;
}

static bool goes_before(const struct twin *a, const struct twin *b)
{
	if (policy == EVICTION_FIFO)
		return a->published < b->published;
	if (policy == EVICTION_REFCNT && a->need != b->need)
		return a->need < b->need;
	return a->used < b->used;
}

static void twin_die(struct twin *twin)
{
	twin->state = CACHE_ABSENT;
	dying_bytes += twin->bytes;
	twin->bytes = 0;
	dying++;
	evictions++;
}

/* Returns the next victim; NULL: no entry can be evicted. */
static struct twin *twin_victim(void)
{
	struct twin *victim = NULL;
	for (unsigned i = 0; i < ENTRIES; i++)
		if (evictable(&twins[i]) && (!victim || goes_before(&twins[i], victim)))
			victim = &twins[i];
	return victim;
}

/* Evicts as the policy says. With eviction = random the twin takes over the cache's choice,
 * because any victim is right. */
static void twin_evict(uint64_t capacity, uint64_t bytes)
{
	struct twin *victim;
	for (unsigned i = 0; policy == EVICTION_RANDOM && i < ENTRIES; i++)
		if (evictable(&twins[i]) &&
			cache_state(space_of(i), i % IDS) != CACHE_READY)
			twin_die(&twins[i]);
	while (twin_bytes(false) + bytes > capacity && (victim = twin_victim()))
		twin_die(victim);
}

static void touch(struct twin *twin)
{
	twin->used = ++now;
}

static void do_need(unsigned i, bool add)
{
	struct twin *twin = &twins[i];
	if (!add && twin->need == 0)
		return;
	if (add)
		cache_need_add(space_of(i), i % IDS);
	else
		cache_need_drop(space_of(i), i % IDS);
	twin->need += add ? 1 : -1;
	if (policy == EVICTION_REFCNT)
		touch(twin);
}

static void do_pin(unsigned i)
{
	cr_assert(zero(int, cache_pin(space_of(i), i % IDS)));
	twins[i].pins++;
}

static void do_unpin(unsigned i)
{
	if (twins[i].pins == 0)
		return;
	cache_unpin(space_of(i), i % IDS);
	twins[i].pins--;
	touch(&twins[i]);
}

static void do_get(unsigned i)
{
	const struct tensor *tensor = cache_get(space_of(i), i % IDS);
	cr_assert(eq(int, tensor != NULL, twins[i].state == CACHE_READY));
	if (!tensor)
		return;
	cr_assert(eq(u64, tensor->bytes, twins[i].bytes));
	for (uint64_t k = 0; k < tensor->bytes; k++)
		cr_assert(eq(u8, tensor->data[k], (uint8_t)i));
}

static void do_force_out(unsigned i)
{
	if (twins[i].state != CACHE_READY || twins[i].pins == 0)
		return;
	cache_force_out(space_of(i), i % IDS);
	twin_die(&twins[i]);
}

static void do_reserve(unsigned i, uint64_t capacity)
{
	struct twin *twin = &twins[i];
	if (twin->state != CACHE_ABSENT)
		return;
	if (twin->pins == 0)
		do_pin(i);
	uint64_t bytes = below(4) ? 1 + below(12) : 0;
	bool force = below(4) == 0;
	bool fits = twin_bytes(false) - twin_bytes(true) + bytes <= capacity;
	int status = cache_reserve(space_of(i), i % IDS, bytes, force);
	cr_assert(eq(int, status, fits || force ? 0 : -ENOSPC));
	if (status < 0)
		return;
	twin_evict(capacity, bytes);
	twin->state = CACHE_LOADING;
	twin->bytes = bytes;
}

static void do_finish(unsigned i)
{
	struct twin *twin = &twins[i];
	if (twin->state != CACHE_LOADING)
		return;
	if (below(5) == 0) {
		cache_abandon(space_of(i), i % IDS);
		twin->state = CACHE_ABSENT;
		twin->bytes = 0;
		return;
	}
	struct tensor *tensor = tensor_new((struct tensor_shape){0}, twin->bytes);
	memset(tensor->data, (int)i, twin->bytes);
	cache_publish(space_of(i), i % IDS, tensor);
	twin->state = CACHE_READY;
	twin->published = ++now;
	touch(twin);
}

static void do_reap(void)
{
	struct tensor *tensor = cache_reap(cache);
	cr_assert(eq(int, tensor != NULL, dying > 0));
	if (!tensor)
		return;
	dying--;
	dying_bytes -= tensor->bytes;
	tensor_free(tensor);
}

/* Gives back all needs and pins of a space, and replaces it by a new space. */
static void do_replace(unsigned s)
{
	for (unsigned i = s * IDS; i < (s + 1) * IDS; i++) {
		while (twins[i].need)
			do_need(i, false);
		while (twins[i].pins)
			do_unpin(i);
		while (twins[i].state == CACHE_LOADING)
			do_finish(i);
		dying += twins[i].state == CACHE_READY;
		dying_bytes += twins[i].bytes;
		twins[i] = (struct twin){0};
	}
	cache_space_free(&spaces[s]);
	cr_assert(zero(int, cache_space_new(cache, IDS, &spaces[s])));
}

static void compare(void)
{
	uint64_t pins = 0, need = 0, ready = 0;
	cache_validate(cache);
	for (unsigned i = 0; i < ENTRIES; i++) {
		const struct cache_space *space = space_of(i);
		cr_assert(eq(int, cache_state(space, i % IDS), twins[i].state));
		cr_assert(eq(u32, cache_pins(space, i % IDS), twins[i].pins));
		cr_assert(eq(u32, cache_need(space, i % IDS), twins[i].need));
		pins += twins[i].pins;
		need += twins[i].need;
		ready += twins[i].state == CACHE_READY;
	}
	const struct cache_usage *usage = cache_usage(cache);
	cr_assert(eq(u64, usage->pins, pins));
	cr_assert(eq(u64, usage->need, need));
	cr_assert(eq(u64, usage->tensors, ready + dying));
	cr_assert(eq(u64, usage->bytes, twin_bytes(false) + dying_bytes));
	cr_assert(eq(u64, usage->evictions, evictions));
}

static void step(uint64_t capacity)
{
	unsigned i = (unsigned)below(ENTRIES);
	switch (below(19)) {
	case 0:
	case 1:
		return do_need(i, true);
	case 2:
	case 3:
		return do_need(i, false);
	case 4:
	case 17:
		return do_pin(i);
	case 5:
	case 6:
	case 7:
	case 15:
	case 16:
		return do_unpin(i);
	case 8:
		do_get(i);
		if (below(4) == 0)
			do_force_out(i);
		return;
	case 9:
	case 10:
	case 11:
		return do_reserve(i, capacity);
	case 12:
	case 13:
		return do_finish(i);
	case 14:
		cache_trim(cache);
		return twin_evict(capacity, 0);
	default:
		if (below(200) == 0)
			do_replace(i / IDS);
		do_reap();
	}
}

static void run(uint64_t capacity, uint64_t seed)
{
	rng_seed(&rng, seed);
	memset(twins, 0, sizeof(twins));
	now = evictions = dying = dying_bytes = 0;
	cr_assert(zero(int, cache_new(capacity, policy, seed, &cache)));
	for (int s = 0; s < SPACES; s++)
		cr_assert(zero(int, cache_space_new(cache, IDS, &spaces[s])));
	for (int i = 0; i < 10000; i++) {
		step(capacity);
		compare();
	}
	cr_assert(gt(u64, evictions, 200), "the test has to evict");
	cache_free(&cache);
}

static void run_policy(enum eviction_policy which)
{
	static const uint64_t capacities[] = {20, 60, 120};
	policy = which;
	for (uint64_t i = 0; i < 3; i++)
		run(capacities[i], 100 + i);
}

Test(twin, refcnt_does_as_its_twin)
{
	run_policy(EVICTION_REFCNT);
}

Test(twin, lru_does_as_its_twin)
{
	run_policy(EVICTION_LRU);
}

Test(twin, fifo_does_as_its_twin)
{
	run_policy(EVICTION_FIFO);
}

Test(twin, random_does_as_its_twin)
{
	run_policy(EVICTION_RANDOM);
}
