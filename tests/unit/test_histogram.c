// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/histogram.h"
#include "base/lock.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

static size_t bucket_by_search(uint64_t ns)
{
	size_t i = 0;
	while (i < HISTOGRAM_BOUNDS && histogram_bound(i) < ns)
		i++;
	return i;
}

static size_t bucket_of(uint64_t ns)
{
	struct histogram histogram = {0};
	struct histogram_copy copy = {0};
	size_t i = 0;
	histogram_add(&histogram, ns);
	histogram_copy_add(&histogram, &copy);
	cr_assert_eq(copy.sum_ns, ns);
	cr_assert_eq(histogram_count(&copy), 1);
	while (!copy.buckets[i])
		i++;
	return i;
}

Test(histogram, a_time_is_in_the_first_bucket_whose_bound_is_not_below_it)
{
	for (size_t i = 0; i < HISTOGRAM_BOUNDS; i++) {
		uint64_t bound = histogram_bound(i);
		cr_assert_eq(bucket_of(bound), i, "%zu", i);
		cr_assert_eq(bucket_of(bound - 1), i, "%zu", i);
		cr_assert_eq(bucket_of(bound + 1), i + 1, "%zu", i);
	}
	for (unsigned bit = 0; bit < 64; bit++)
		for (uint64_t ns = UINT64_C(1) << bit, n = 0; n < 3; n++)
			cr_assert_eq(bucket_of(ns - 1 + n), bucket_by_search(ns - 1 + n));
	cr_assert_eq(bucket_of(0), 0);
	cr_assert_eq(bucket_of(UINT64_MAX), HISTOGRAM_BOUNDS);
}

Test(histogram, the_bounds_are_from_100_ns_to_100_s)
{
	cr_assert_eq(histogram_bound(0), 100);
	cr_assert_eq(histogram_bound(HISTOGRAM_BOUNDS - 1), UINT64_C(100000000000));
	for (size_t i = 1; i < HISTOGRAM_BOUNDS; i++)
		cr_assert_gt(histogram_bound(i), histogram_bound(i - 1));
}

Test(histogram, quantiles_are_within_their_bucket)
{
	struct histogram histogram = {0};
	struct histogram_copy copy = {0};
	cr_assert_eq(histogram_quantile(&copy, 0.5), 0);
	for (int i = 0; i < 90; i++)
		histogram_add_alone(&histogram, 1500);
	for (int i = 0; i < 10; i++)
		histogram_add_alone(&histogram, 40000000);
	histogram_copy_add(&histogram, &copy);
	uint64_t half = histogram_quantile(&copy, 0.5),
		 most = histogram_quantile(&copy, 0.99);
	cr_assert(half > 1000 && half <= 2000);
	cr_assert(most > 20000000 && most <= 50000000);
	cr_assert_eq(copy.sum_ns, 90 * 1500 + 10 * UINT64_C(40000000));
}

#define THREADS 4
#define ADDS 20000

static void *add(void *histogram)
{
	for (int i = 0; i < ADDS; i++)
		histogram_add(histogram, 1000);
	return NULL;
}

Test(histogram, threads_that_add_at_once_lose_nothing)
{
	struct histogram histogram = {0};
	struct histogram_copy copy = {0};
	pthread_t threads[THREADS];
	for (int i = 0; i < THREADS; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, add, &histogram), 0);
	for (int i = 0; i < THREADS; i++)
		cr_assert_eq(pthread_join(threads[i], NULL), 0);
	histogram_copy_add(&histogram, &copy);
	cr_assert_eq(histogram_count(&copy), THREADS * ADDS);
	cr_assert_eq(copy.sum_ns, UINT64_C(1000) * THREADS * ADDS);
}

/* --- locks ---------------------------------------------------------------------------- */

static uint64_t holds_of(const char *name)
{
	const char *found;
	for (unsigned i = 0;; i++) {
		struct histogram_copy copy = {0};
		if (!lock_holds(i, &found, &copy))
			return 0;
		if (strcmp(found, name) == 0)
			return histogram_count(&copy);
	}
}

Test(histogram, holds_of_measured_locks_are_counted_by_name)
{
	struct lock first, second, other;
	lock_init(&first, LOCK_RANK_LOAD, "a");
	lock_init(&second, LOCK_RANK_TIER, "a");
	lock_init(&other, LOCK_RANK_STATS, "b");
	lock_measure(&first);
	lock_measure(&second);
	lock_take(&first);
	lock_take(&second);
	lock_take(&other);
	lock_release(&other);
	lock_release(&second);
	lock_yield(&first); /* ends a hold, and begins another one */
	lock_release(&first);
	cr_assert_eq(holds_of("a"), 3);
	cr_assert_eq(holds_of("b"), 0, "it is not measured");
}
