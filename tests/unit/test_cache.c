// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/fault.h"
#include "cache/cache.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

/* The life cycle of an entry, one test per arrow, and the accounting of capacity. */

static struct cache *cache;
static struct cache_space *space;

static void start(uint64_t capacity)
{
	cr_assert(zero(int, cache_new(capacity, EVICTION_REFCNT, 1, &cache)));
	cr_assert(zero(int, cache_space_new(cache, 100, &space)));
}

static void stop(void)
{
	cache_validate(cache);
	cache_free(&cache);
	cr_assert(zero(ptr, cache));
}

static void reserve(sample_id id, uint64_t bytes)
{
	cr_assert(zero(int, cache_pin(space, id)));
	cr_assert(zero(int, cache_reserve(space, id, bytes, false)));
}

static struct tensor *publish(sample_id id, uint64_t bytes)
{
	struct tensor *tensor = tensor_new((struct tensor_shape){0}, bytes);
	cr_assert(tensor != NULL);
	memset(tensor->data, (int)id, bytes);
	cache_publish(space, id, tensor);
	return tensor;
}

/* Makes a ready entry without pins. */
static void put(sample_id id, uint64_t bytes)
{
	reserve(id, bytes);
	publish(id, bytes);
	cache_unpin(space, id);
	cache_validate(cache);
}

static unsigned reap_all(void)
{
	unsigned n = 0;
	for (struct tensor *tensor; (tensor = cache_reap(cache)); n++)
		tensor_free(tensor);
	return n;
}

#define bytes_held() cache_usage(cache)->bytes

Test(cache, reserve_makes_an_absent_entry_loading)
{
	start(100);
	cr_assert(eq(int, cache_state(space, 7), CACHE_ABSENT));
	reserve(7, 40);
	cr_assert(eq(int, cache_state(space, 7), CACHE_LOADING));
	cr_assert(eq(u64, bytes_held(), 40));
	cr_assert(cache_get(space, 7) == NULL);
	cr_assert(eq(u32, cache_pins(space, 7), 1));
	stop();
}

Test(cache, publish_makes_a_loading_entry_ready_with_that_tensor)
{
	start(100);
	reserve(7, 40);
	const struct tensor *tensor = publish(7, 40);
	cr_assert(eq(int, cache_state(space, 7), CACHE_READY));
	cr_assert(cache_get(space, 7) == tensor);
	cr_assert(eq(u32, cache_pins(space, 7), 1));
	cr_assert(eq(u64, bytes_held(), 40));
	cr_assert(eq(u64, cache_usage(cache)->tensors, 1));
	stop();
}

Test(cache, abandon_makes_a_loading_entry_absent_and_keeps_its_pins)
{
	start(100);
	reserve(7, 40);
	cache_abandon(space, 7);
	cr_assert(eq(int, cache_state(space, 7), CACHE_ABSENT));
	cr_assert(eq(u64, bytes_held(), 0));
	cr_assert(eq(u32, cache_pins(space, 7), 1));
	cache_validate(cache);
	cr_assert(zero(int, cache_reserve(space, 7, 60, false)));
	cache_unpin(space, 7);
	cache_abandon(space, 7);
	cr_assert(eq(u32, cache_pins(space, 7), 0));
	stop();
}

Test(cache, eviction_makes_a_ready_entry_dying_and_reap_gives_it_back)
{
	start(100);
	put(1, 100);
	reserve(2, 60);
	cr_assert(eq(int, cache_state(space, 1), CACHE_ABSENT));
	cr_assert(eq(u64, bytes_held(), 160), "the dying tensor is still there");
	cr_assert(eq(u64, cache_usage(cache)->tensors, 1));
	cache_validate(cache);

	struct tensor *tensor = cache_reap(cache);
	cr_assert(eq(u64, tensor->bytes, 100));
	cr_assert(eq(int, tensor->data[0], 1));
	tensor_free(tensor);
	cr_assert(zero(ptr, cache_reap(cache)));
	cr_assert(eq(u64, bytes_held(), 60));
	cr_assert(eq(u64, cache_usage(cache)->evictions, 1));
	cr_assert(eq(u64, cache_usage(cache)->peak_bytes, 100));
	stop();
}

Test(cache, a_dying_sample_can_be_reserved_again_before_it_is_reaped)
{
	start(100);
	put(1, 100);
	reserve(2, 100);
	cache_abandon(space, 2);
	reserve(1, 100);
	publish(1, 100);
	cr_assert(eq(int, cache_state(space, 1), CACHE_READY));
	cr_assert(eq(u32, reap_all(), 1));
	cr_assert(eq(int, cache_state(space, 1), CACHE_READY));
	stop();
}

Test(cache, pins_are_counted_on_absent_entries)
{
	start(100);
	for (int i = 0; i < 3; i++)
		cr_assert(zero(int, cache_pin(space, 5)));
	cr_assert(eq(int, cache_state(space, 5), CACHE_ABSENT));
	cr_assert(eq(u32, cache_pins(space, 5), 3));
	cr_assert(eq(u64, cache_usage(cache)->pins, 3));
	cr_assert(eq(u64, cache_usage(cache)->pinned_bytes, 0));
	cache_validate(cache);
	cr_assert(zero(int, cache_reserve(space, 5, 10, false)));
	cr_assert(eq(u64, cache_usage(cache)->pinned_bytes, 10));
	cache_abandon(space, 5);
	for (int i = 0; i < 3; i++)
		cache_unpin(space, 5);
	cr_assert(eq(u32, cache_pins(space, 5), 0));
	stop();
}

Test(cache, an_entry_whose_pins_went_while_loading_is_evictable_once_ready)
{
	start(100);
	reserve(1, 100);
	cache_unpin(space, 1);
	cr_assert(eq(int, cache_state(space, 1), CACHE_LOADING));
	cr_assert(zero(int, cache_pin(space, 2)));
	cr_assert(eq(int, cache_reserve(space, 2, 1, false), -ENOSPC), "still loading");
	publish(1, 100);
	cache_validate(cache);
	cr_assert(zero(int, cache_reserve(space, 2, 1, false)));
	cr_assert(eq(int, cache_state(space, 1), CACHE_ABSENT));
	stop();
}

Test(cache, a_pinned_entry_is_never_evicted)
{
	start(100);
	put(1, 100);
	cr_assert(zero(int, cache_pin(space, 1)));
	const struct tensor *tensor = cache_get(space, 1);
	cr_assert(zero(int, cache_pin(space, 2)));
	cr_assert(eq(int, cache_reserve(space, 2, 1, false), -ENOSPC));
	cr_assert(zero(int, cache_reserve(space, 2, 1, true)));
	cache_trim(cache);
	cr_assert(eq(int, cache_state(space, 1), CACHE_READY));
	cr_assert(eq(int, tensor->data[99], 1));
	cr_assert(eq(u64, cache_usage(cache)->pinned_bytes, 101));
	stop();
}

Test(cache, a_refused_reservation_evicts_nothing)
{
	start(100);
	put(1, 30);
	put(2, 30);
	reserve(3, 40);
	cr_assert(zero(int, cache_pin(space, 4)));
	cr_assert(eq(int, cache_reserve(space, 4, 61, false), -ENOSPC));
	cr_assert(eq(int, cache_reserve(space, 4, UINT64_MAX, false), -ENOSPC));
	cr_assert(eq(int, cache_state(space, 1), CACHE_READY));
	cr_assert(eq(int, cache_state(space, 2), CACHE_READY));
	cr_assert(eq(u64, cache_usage(cache)->evictions, 0));
	cr_assert(zero(int, cache_reserve(space, 4, 60, false)));
	cr_assert(eq(u64, cache_usage(cache)->evictions, 2));
	stop();
}

Test(cache, a_forced_reservation_exceeds_capacity_and_trim_gives_it_back)
{
	start(100);
	put(1, 20);
	reserve(2, 80);
	publish(2, 80);
	cr_assert(zero(int, cache_pin(space, 3)));
	cr_assert(zero(int, cache_reserve(space, 3, 50, true)));
	cr_assert(eq(int, cache_state(space, 1), CACHE_ABSENT), "what can go, goes");
	publish(3, 50);
	cr_assert(eq(u32, reap_all(), 1));
	cr_assert(eq(u64, bytes_held(), 130));
	cr_assert(eq(u64, cache_usage(cache)->peak_bytes, 130));

	cache_trim(cache);
	cr_assert(eq(u64, bytes_held(), 130), "everything is pinned");
	cache_unpin(space, 2);
	cache_trim(cache);
	cr_assert(eq(u32, reap_all(), 1));
	cr_assert(eq(u64, bytes_held(), 50));
	cr_assert(eq(int, cache_state(space, 3), CACHE_READY));
	cache_unpin(space, 3);
	cache_trim(cache);
	cr_assert(eq(int, cache_state(space, 3), CACHE_READY), "within capacity again");
	stop();
}

Test(cache, forcing_out_lets_a_pinned_tensor_die_and_keeps_its_pins)
{
	start(100);
	reserve(1, 80);
	publish(1, 80);
	cr_assert(zero(int, cache_pin(space, 1)));
	cache_force_out(space, 1);
	cache_validate(cache);
	cr_assert(eq(int, cache_state(space, 1), CACHE_ABSENT));
	cr_assert(eq(u32, cache_pins(space, 1), 2));
	cr_assert(eq(u64, cache_usage(cache)->live_bytes, 0));
	cr_assert(eq(u64, bytes_held(), 80));
	cr_assert(eq(u64, cache_usage(cache)->pinned_bytes, 0));
	cr_assert(zero(int, cache_reserve(space, 1, 80, false)), "it can come back");
	cr_assert(eq(u32, reap_all(), 1));
	stop();
}

Test(cache, without_memory_a_tensor_is_not_forced_out)
{
	start(100);
	reserve(1, 80);
	publish(1, 80);
	cr_assert(zero(int, fault_add("cache.memory:ENOMEM")));
	cache_force_out(space, 1);
	fault_clear();
	cr_assert(eq(int, cache_state(space, 1), CACHE_READY));
	stop();
}

Test(cache, room_for_one_tensor_is_enough)
{
	start(10);
	for (sample_id id = 0; id < 50; id++) {
		put(id, 10);
		cr_assert(eq(u32, reap_all(), id > 0));
		cr_assert(eq(u64, bytes_held(), 10));
	}
	cr_assert(eq(u64, cache_usage(cache)->peak_bytes, 10));
	stop();
}

Test(cache, tensors_of_no_bytes_and_a_cache_of_no_bytes)
{
	start(0);
	put(1, 0);
	put(2, 0);
	cr_assert(eq(int, cache_state(space, 1), CACHE_READY));
	cr_assert(zero(int, cache_pin(space, 3)));
	cr_assert(eq(int, cache_reserve(space, 3, 1, false), -ENOSPC));
	cr_assert(zero(int, cache_reserve(space, 3, 1, true)));
	cr_assert(eq(u32, reap_all(), 2));
	publish(3, 1);
	cache_unpin(space, 3);
	cache_trim(cache);
	cr_assert(eq(u32, reap_all(), 1));
	cr_assert(eq(u64, bytes_held(), 0));
	stop();
}

Test(cache, need_is_counted_per_sample_and_in_all)
{
	start(100);
	put(3, 10);
	for (int i = 0; i < 5; i++)
		cache_need_add(space, 3);
	cache_need_add(space, 4);
	cache_need_drop(space, 3);
	cr_assert(eq(u32, cache_need(space, 3), 4));
	cr_assert(eq(u32, cache_need(space, 4), 1));
	cr_assert(eq(u64, cache_usage(cache)->need, 5));
	stop();
}

Test(cache, spaces_share_the_capacity_and_the_tensors_of_a_freed_one_die)
{
	start(100);
	struct cache_space *other;
	cr_assert(zero(int, cache_space_new(cache, 2, &other)));
	cr_assert(zero(int, cache_pin(other, 1)));
	cr_assert(zero(int, cache_reserve(other, 1, 70, false)));
	cache_publish(other, 1, tensor_new((struct tensor_shape){0}, 70));
	cache_unpin(other, 1);
	put(1, 30);
	cr_assert(eq(u64, bytes_held(), 100));

	cache_space_free(&other);
	cr_assert(zero(ptr, other));
	cache_validate(cache);
	cr_assert(eq(u64, bytes_held(), 100));
	cr_assert(eq(u32, reap_all(), 1));
	cr_assert(eq(u64, bytes_held(), 30));
	cr_assert(eq(u64, cache_usage(cache)->evictions, 0));
	cr_assert(eq(int, cache_state(space, 1), CACHE_READY));
	stop();
}

/* Pins all ids while one allocation fails. Returns the number of failed pins. */
static int pin_with_fault(sample_id n, unsigned after)
{
	char fault[64];
	int failed = 0;
	snprintf(fault, sizeof(fault), "cache.memory:ENOMEM:after=%u:times=1", after);
	cr_assert(zero(int, fault_add(fault)));
	for (sample_id id = 0; id < n; id++) {
		int status = cache_pin(space, id);
		cr_assert(status == 0 || status == -ENOMEM);
		cr_assert(eq(u32, cache_pins(space, id), status == 0));
		failed += status != 0;
	}
	fault_clear();
	return failed;
}

Test(cache, without_memory_everything_stays_as_it_was)
{
	const sample_id n = 600; /* enough ids for a table to grow */
	int failed = 1;
	start(100);
	for (unsigned after = 0; failed; after++) {
		cr_assert(lt(u32, after, 2 * n));
		cr_assert(zero(int, cache_space_new(cache, n, &space)));
		failed = pin_with_fault(n, after);
		cr_assert(le(int, failed, 1));
		cache_validate(cache);
		for (sample_id id = 0; id < n; id++)
			if (cache_pins(space, id))
				cache_unpin(space, id);
		cr_assert(eq(u64, cache_usage(cache)->pins, 0));
		cache_space_free(&space);
	}
	stop();
}

Test(cache, constructors_report_missing_memory)
{
	static const enum eviction_policy policies[] = {
		EVICTION_REFCNT, EVICTION_LRU, EVICTION_FIFO, EVICTION_RANDOM};
	for (unsigned i = 0; i < 4; i++) {
		cr_assert(zero(int, fault_add("cache.memory:ENOMEM:times=1")));
		cr_assert(eq(int, cache_new(1, policies[i], 1, &cache), -ENOMEM));
		fault_clear();
	}
	cr_assert(zero(int, fault_add("cache.memory:ENOMEM:after=1:times=1")));
	cr_assert(eq(int, cache_new(1, EVICTION_REFCNT, 1, &cache), -ENOMEM));
	fault_clear();
	start(1);
	for (int after = 0; after < 2; after++) {
		struct cache_space *other = NULL;
		cr_assert(zero(int, fault_add(after ? "cache.memory:ENOMEM:after=1"
						    : "cache.memory:ENOMEM")));
		cr_assert(eq(int, cache_space_new(cache, 5, &other), -ENOMEM));
		fault_clear();
		cr_assert(zero(ptr, other));
		cache_validate(cache);
	}
	stop();
}

Test(cache, reserving_what_nobody_pinned_is_a_bug, .signal = SIGABRT)
{
	start(100);
	(void)!cache_reserve(space, 1, 10, false);
}

Test(cache, publishing_another_size_than_reserved_is_a_bug, .signal = SIGABRT)
{
	start(100);
	reserve(1, 10);
	publish(1, 11);
}

Test(cache, freeing_a_space_with_a_pin_is_a_bug, .signal = SIGABRT)
{
	start(100);
	put(1, 10);
	(void)!cache_pin(space, 1);
	cache_space_free(&space);
}
