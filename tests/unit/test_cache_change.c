// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "cache_load.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

/* The needs of many ids change in steps; between the steps everything else continues. */

#define N_IDS 2000
#define N_LOADED 400

static struct cache *cache;
static struct cache_space *space;
static struct rng rng;
static uint32_t needs[N_IDS]; /* the expected needs */

static void load(sample_id id)
{
	cache_load_one(cache, space, id);
}

static void use(sample_id id)
{
	cr_assert(zero(int, cache_pin(space, id)));
	cache_unpin(space, id);
}

/* Puts N_LOADED ids from 0 on into the cache, and gives each id a need of two. */
static void start(void)
{
	cr_assert(zero(int, cache_new(N_LOADED, EVICTION_REFCNT, 1, &cache)));
	cr_assert(zero(int, cache_space_new(cache, N_IDS + 1, &space)));
	rng_seed(&rng, 1);
	for (sample_id id = 0; id < N_IDS; id++) {
		needs[id] = 2;
		cache_need_add(space, id);
		cache_need_add(space, id);
	}
	for (sample_id id = 0; id < N_LOADED; id++)
		load(id);
}

static roaring_bitmap_t *every(uint32_t step)
{
	return roaring_bitmap_from_range(0, N_IDS, step);
}

static void begin(const roaring_bitmap_t *ids, enum cache_change change)
{
	cache_need_begin(space, ids, change);
	for (sample_id id = 0; id < N_IDS; id++)
		if (roaring_bitmap_contains(ids, id))
			needs[id] += change == CACHE_NEED_ADD ? 1 : -1;
}

static void expect_needs(void)
{
	for (sample_id id = 0; id < N_IDS; id++)
		cr_assert(eq(u32, cache_need(space, id), needs[id]), "id %u", id);
	cache_validate(cache);
}

/* Changes an odd id, which the change in steps does not have. */
static void disturb(void)
{
	sample_id id = (sample_id)rng_below(&rng, N_IDS / 2) * 2 + 1;
	bool loaded = cache_state(space, id) == CACHE_READY;
	switch (rng_below(&rng, 3)) {
	case 0:
		cache_need_add(space, id);
		needs[id]++;
		break;
	case 1:
		if (needs[id] > 0) {
			cache_need_drop(space, id);
			needs[id]--;
		}
		break;
	default:
		if (loaded)
			use(id);
		else
			load(id);
	}
}

static uint32_t least_need(void)
{
	uint32_t least = UINT32_MAX;
	for (sample_id id = 0; id < N_IDS; id++)
		if (cache_state(space, id) == CACHE_READY && needs[id] < least)
			least = needs[id];
	return least;
}

/* Makes room for another id, and returns the id that was evicted for it. */
static sample_id evict_one(void)
{
	static enum cache_state before[N_IDS];
	for (sample_id id = 0; id < N_IDS; id++)
		before[id] = cache_state(space, id);
	sample_id other = N_IDS;
	cr_assert(zero(int, cache_pin(space, other)));
	cr_assert(zero(int, cache_reserve(space, other, 1, false)));
	cache_abandon(space, other);
	cache_unpin(space, other);
	free(cache_reap(cache));
	for (sample_id id = 0; id < N_IDS; id++)
		if (before[id] != cache_state(space, id))
			return id;
	return SAMPLE_NONE;
}

Test(cache_change, need_is_changed_for_whoever_asks_from_the_beginning)
{
	roaring_bitmap_t *ids = every(2);
	start();
	begin(ids, CACHE_NEED_ADD);
	expect_needs();
	cr_assert(cache_need_changes(cache));
	while (!cache_need_step(cache, 7)) {
		disturb();
		expect_needs();
	}
	cr_assert(not(cache_need_changes(cache)));
	begin(ids, CACHE_NEED_DROP);
	while (!cache_need_step(cache, 7)) {
		disturb();
		expect_needs();
	}
	roaring_bitmap_free(ids);
	cache_free(&cache);
}

static void expect_needs_at_each_step(void)
{
	do
		expect_needs();
	while (!cache_need_step(cache, 7));
	expect_needs();
}

/* The change counts the ids that it does not have, because these are fewer. */
Test(cache_change, need_of_most_ids)
{
	roaring_bitmap_t *fifth = every(5), *most = roaring_bitmap_flip(fifth, 0, N_IDS);
	start();
	for (int i = 0; i < 2; i++) {
		begin(most, CACHE_NEED_ADD);
		expect_needs_at_each_step();
	}
	for (sample_id id = 0; id < N_IDS; id += 3) {
		cache_need_drop(space, id);
		needs[id]--;
		roaring_bitmap_remove(most, id);
	}
	expect_needs();
	begin(most, CACHE_NEED_DROP);
	expect_needs_at_each_step();
	begin(most, CACHE_NEED_DROP);
	expect_needs_at_each_step();
	begin(most, CACHE_NEED_DROP); /* these needs were added one by one */
	expect_needs_at_each_step();
	roaring_bitmap_free(fifth);
	roaring_bitmap_free(most);
	cache_free(&cache);
}

Test(cache_change, once_it_is_done_the_least_needed_goes_first)
{
	roaring_bitmap_t *ids = every(2);
	start();
	for (int i = 0; i < 2; i++) {
		begin(ids, i == 0 ? CACHE_NEED_ADD : CACHE_NEED_DROP);
		while (!cache_need_step(cache, 5))
			disturb();
		for (int k = 0; k < 50; k++) {
			uint32_t least = least_need();
			sample_id gone = evict_one();
			cr_assert(eq(u32, needs[gone], least));
			load(gone);
		}
	}
	roaring_bitmap_free(ids);
	cache_free(&cache);
}

Test(cache_change, until_then_what_goes_is_needed_once_more_at_most)
{
	roaring_bitmap_t *ids = every(2);
	start();
	begin(ids, CACHE_NEED_ADD);
	for (uint32_t k = 0; !cache_need_step(cache, 5); k++) {
		uint32_t least = least_need();
		sample_id gone = evict_one();
		cr_assert(le(u32, needs[gone], least + 1));
		load(gone);
	}
	roaring_bitmap_free(ids);
	cache_free(&cache);
}

/* Among entries of equal need, the id must not decide which one is evicted. */
Test(cache_change, the_order_of_use_stays_as_it_is)
{
	static sample_id order[N_LOADED];
	roaring_bitmap_t *ids = every(1);
	start();
	for (sample_id i = 0; i < N_LOADED; i++)
		order[i] = i;
	rng_shuffle(&rng, order, N_LOADED);
	for (sample_id i = 0; i < N_LOADED; i++)
		use(order[i]);
	begin(ids, CACHE_NEED_ADD);
	for (sample_id i = 0; !cache_need_step(cache, 5); i++)
		if (i % 50 == 0)
			cache_validate(cache);
	for (sample_id i = 0; i < N_LOADED; i++) {
		cr_assert(eq(u32, evict_one(), order[i]));
		load(order[i]);
	}
	roaring_bitmap_free(ids);
	cache_free(&cache);
}
