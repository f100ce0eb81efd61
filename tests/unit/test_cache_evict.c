// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "cache_load.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

/* Which entry each policy evicts. Here every tensor has one byte. */

#define N_IDS 1000

static struct cache *cache;
static struct cache_space *space;

static void start(uint64_t capacity, enum eviction_policy policy, uint64_t seed)
{
	cr_assert(zero(int, cache_new(capacity, policy, seed, &cache)));
	cr_assert(zero(int, cache_space_new(cache, N_IDS, &space)));
}

static bool ready(sample_id id)
{
	return cache_state(space, id) == CACHE_READY;
}

static void load(sample_id id)
{
	cache_load_one(cache, space, id);
}

static void hold(sample_id id)
{
	cr_assert(ready(id));
	cr_assert(zero(int, cache_pin(space, id)));
}

static void use(sample_id id)
{
	hold(id);
	cache_unpin(space, id);
}

static void set_need(sample_id id, uint32_t need)
{
	while (cache_need(space, id) < need)
		cache_need_add(space, id);
	while (cache_need(space, id) > need)
		cache_need_drop(space, id);
}

/* Reserves another sample, and returns the one of the ids 0..n-1 that was evicted for it. */
static sample_id evicted(sample_id n)
{
	static bool before[N_IDS];
	for (sample_id id = 0; id < n; id++)
		before[id] = ready(id);
	cache_validate(cache);
	cr_assert(zero(int, cache_pin(space, N_IDS - 1)));
	cr_assert(zero(int, cache_reserve(space, N_IDS - 1, 1, false)));
	cache_abandon(space, N_IDS - 1);
	cache_unpin(space, N_IDS - 1);
	tensor_free(cache_reap(cache));
	cache_validate(cache);
	for (sample_id id = 0; id < n; id++)
		if (before[id] && !ready(id))
			return id;
	return SAMPLE_NONE;
}

static void expect_order(const sample_id *ids, sample_id n)
{
	for (sample_id i = 0; i < n; i++) {
		sample_id filler = 500 + i;
		cr_assert(eq(u32, evicted(n), ids[i]));
		/* the filler keeps the cache full, and is evicted last */
		load(filler);
		hold(filler);
	}
	cache_free(&cache);
}

Test(evict, refcnt_takes_the_lowest_need_first)
{
	start(4, EVICTION_REFCNT, 1);
	for (sample_id id = 0; id < 4; id++)
		load(id);
	set_need(0, 3);
	set_need(1, 1);
	set_need(2, 300);
	set_need(3, 2);
	expect_order((sample_id[]){1, 3, 0, 2}, 4);
}

Test(evict, refcnt_breaks_ties_by_least_recent_use)
{
	start(4, EVICTION_REFCNT, 1);
	for (sample_id id = 0; id < 4; id++) {
		set_need(id, 2);
		load(id);
	}
	use(0);
	use(2);
	use(0);
	expect_order((sample_id[]){1, 3, 2, 0}, 4);
}

static void load_copy(sample_id id)
{
	cr_assert(zero(int, cache_pin(space, id)));
	cr_assert(zero(int, cache_reserve(space, id, 1, false)));
	cache_spare(space, id);
	cache_publish(space, id, tensor_new((struct tensor_shape){0}, 1));
	cache_unpin(space, id);
}

/* A copy goes first, unless a job needs it. A sample that is prepared here later is no copy. */
Test(evict, refcnt_takes_copies_of_what_is_at_home_elsewhere_first)
{
	start(5, EVICTION_REFCNT, 1);
	load(0);
	set_need(3, 1);
	load_copy(3);
	load(1);
	load_copy(2);
	load_copy(4);
	use(2);
	cr_assert(eq(u32, evicted(5), 2));
	load(2);
	expect_order((sample_id[]){4, 0, 1, 2, 3}, 5);
}

Test(evict, refcnt_follows_need_that_changes_while_cached)
{
	start(4, EVICTION_REFCNT, 1);
	for (sample_id id = 0; id < 4; id++) {
		set_need(id, 5);
		load(id);
	}
	set_need(3, 0);
	set_need(3, 6);
	set_need(2, 4);
	set_need(0, 7);
	expect_order((sample_id[]){2, 1, 3, 0}, 4);
}

/* When a stream comes or goes, the id must not decide which entries stay. */
Test(evict, refcnt_keeps_the_order_when_the_needs_of_a_set_change)
{
	roaring_bitmap_t *ids = roaring_bitmap_of(5, 0, 1, 2, 3, 4);
	start(6, EVICTION_REFCNT, 1);
	for (sample_id id = 0; id < 6; id++)
		load(id);
	use(2);
	use(5);
	use(0);
	use(3);
	use(1);
	use(4);
	hold(4);
	cache_need_change(space, ids, CACHE_NEED_ADD);
	cache_need_change(space, ids, CACHE_NEED_ADD);
	set_need(5, 2);
	cache_need_change(space, ids, CACHE_NEED_DROP);
	cr_assert(eq(u32, cache_need(space, 4), 1));
	cache_unpin(space, 4);
	cache_validate(cache);
	roaring_bitmap_free(ids);
	expect_order((sample_id[]){2, 0, 3, 1, 4, 5}, 6);
}

Test(evict, refcnt_follows_need_that_changes_while_pinned)
{
	start(3, EVICTION_REFCNT, 1);
	for (sample_id id = 0; id < 3; id++) {
		set_need(id, 2);
		load(id);
	}
	hold(2);
	set_need(2, 1);
	cr_assert(eq(u32, evicted(3), 0), "2 is pinned");
	load(0);
	cache_unpin(space, 2);
	cr_assert(eq(u32, evicted(3), 2));
	cache_free(&cache);
}

Test(evict, lru_takes_the_least_recently_used_whatever_its_need)
{
	start(4, EVICTION_LRU, 1);
	for (sample_id id = 0; id < 4; id++)
		load(id);
	set_need(0, 9);
	use(1);
	use(0);
	set_need(2, 9);
	expect_order((sample_id[]){2, 3, 1, 0}, 4);
}

Test(evict, fifo_takes_the_first_published_whatever_its_use)
{
	start(4, EVICTION_FIFO, 1);
	for (sample_id id = 4; id-- > 0;)
		load(id);
	use(3);
	use(2);
	set_need(3, 9);
	expect_order((sample_id[]){3, 2, 1, 0}, 4);
}

Test(evict, fifo_passes_over_the_pinned_which_keep_their_place)
{
	start(3, EVICTION_FIFO, 1);
	for (sample_id id = 0; id < 3; id++)
		load(id);
	hold(0);
	cr_assert(eq(u32, evicted(3), 1));
	load(1);
	cache_unpin(space, 0);
	expect_order((sample_id[]){0, 2, 1}, 3);
}

/*
 * Returns the chi-square of the victims among 8 equal entries. skewed: a mutant that can choose
 * the last entry only every other time.
 */
static double random_chi_square(bool skewed)
{
	enum { N = 8, DRAWS = 8000 };
	unsigned count[N] = {0};
	double chi = 0;
	start(N, EVICTION_RANDOM, 42);
	for (sample_id id = 0; id < N; id++)
		load(id);
	for (int i = 0; i < DRAWS; i++) {
		bool held = skewed && i % 2;
		if (held)
			hold(N - 1);
		sample_id victim = evicted(N);
		count[victim]++;
		if (held)
			cache_unpin(space, N - 1);
		load(victim);
	}
	for (int i = 0; i < N; i++) {
		double d = count[i] - DRAWS / (double)N;
		chi += d * d / (DRAWS / (double)N);
	}
	cache_free(&cache);
	return chi;
}

Test(evict, random_chooses_uniformly)
{
	const double limit = 24.3; /* 7 degrees of freedom, p = 0.001 */
	cr_assert(lt(dbl, random_chi_square(false), limit));
	cr_assert(gt(dbl, random_chi_square(true), limit), "the mutant passes");
}

Test(evict, random_repeats_itself_with_the_same_seed_only)
{
	sample_id victims[3][20];
	for (int run = 0; run < 3; run++) {
		start(20, EVICTION_RANDOM, run < 2 ? 7 : 8);
		for (sample_id id = 0; id < 20; id++)
			load(id);
		for (int i = 0; i < 20; i++) {
			victims[run][i] = evicted(20);
			load(victims[run][i]);
		}
		cache_free(&cache);
	}
	cr_assert(memcmp(victims[0], victims[1], sizeof(victims[0])) == 0);
	cr_assert(memcmp(victims[0], victims[2], sizeof(victims[0])) != 0);
}

/* --- a simulation ----------------------------------------------------------------- */

#define STREAMS 4
#define SAMPLES 400

static struct stream {
	bool remaining[SAMPLES];
	uint32_t n;
} streams[STREAMS];

static void begin_epoch(struct stream *stream)
{
	for (sample_id id = 0; id < SAMPLES; id++) {
		stream->remaining[id] = true;
		cache_need_add(space, id);
	}
	stream->n = SAMPLES;
}

static sample_id draw(struct stream *stream, struct rng *rng)
{
	uint64_t rank = rng_below(rng, stream->n--);
	sample_id id = 0;
	while (!stream->remaining[id] || rank-- > 0)
		id++;
	stream->remaining[id] = false;
	cache_need_drop(space, id);
	return id;
}

static void check_need(void)
{
	for (sample_id id = 0; id < SAMPLES; id++) {
		uint32_t need = 0;
		for (int i = 0; i < STREAMS; i++)
			need += streams[i].remaining[id];
		cr_assert(eq(u32, cache_need(space, id), need));
	}
}

/* Counts the misses of four jobs a quarter of an epoch apart, which draw independently for four
 * epochs. */
static unsigned simulated_misses(enum eviction_policy policy)
{
	struct rng rng;
	unsigned misses = 0;
	rng_seed(&rng, 3);
	start(SAMPLES / 10, policy, 1);
	memset(streams, 0, sizeof(streams));
	for (unsigned step = 0; step < 4 * SAMPLES; step++) {
		for (unsigned i = 0; i < STREAMS; i++) {
			if (step < i * SAMPLES / STREAMS)
				continue;
			if (streams[i].n == 0)
				begin_epoch(&streams[i]);
			sample_id id = draw(&streams[i], &rng);
			misses += !ready(id);
			if (ready(id))
				use(id);
			else
				load(id);
		}
		cache_validate(cache);
		check_need();
	}
	cache_free(&cache);
	return misses;
}

Test(evict, refcnt_has_fewer_misses_than_the_generic_policies)
{
	unsigned refcnt = simulated_misses(EVICTION_REFCNT);
	cr_log_info("misses with refcnt: %u", refcnt);
	cr_assert(lt(u32, refcnt, simulated_misses(EVICTION_LRU)));
	cr_assert(lt(u32, refcnt, simulated_misses(EVICTION_FIFO)));
	cr_assert(lt(u32, refcnt, simulated_misses(EVICTION_RANDOM)));
}

/* --- needs as figures ------------------------------------------------------------------- */

Test(evict, bytes_by_need_are_those_of_entries_that_may_go)
{
	start(10, EVICTION_REFCNT, 1);
	for (sample_id id = 0; id < 6; id++) {
		load(id);
		set_need(id, id);
	}
	const struct cache_usage *usage = cache_usage(cache);
	for (uint32_t need = 0; need < CACHE_NEEDS; need++)
		cr_assert_eq(usage->needed_bytes[need], need == CACHE_NEEDS - 1 ? 2 : 1);
	hold(2);
	cr_assert_eq(cache_usage(cache)->needed_bytes[2], 0);
	cache_unpin(space, 2);
	cr_assert_eq(cache_usage(cache)->needed_bytes[2], 1);
	cache_validate(cache);
	cache_free(&cache);
}

Test(evict, evictions_of_what_is_needed_are_counted)
{
	start(2, EVICTION_REFCNT, 1);
	load(0);
	load(1);
	set_need(1, 1);
	load(2);
	cr_assert_eq(cache_usage(cache)->evictions, 1);
	cr_assert_eq(cache_usage(cache)->evictions_needed, 0);
	set_need(2, 3);
	load(3);
	set_need(3, 4);
	cr_assert_eq(cache_usage(cache)->evictions, 2);
	cr_assert_eq(cache_usage(cache)->evictions_needed, 1);
	cache_free(&cache);
}
