// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Counts durations. The upper bounds of the buckets are 1, 2 and 5 times each power of ten, from
 * 100 ns to 100 s; the last bucket has all longer durations. Threads: any; no thread waits. While a
 * duration is being added, a copy may contain it in a bucket, but not yet in the sum. */

#define HISTOGRAM_BOUNDS 28

/* A histogram that is all zeros is empty. */
struct histogram {
	_Atomic uint64_t buckets[HISTOGRAM_BOUNDS + 1];
	_Atomic uint64_t sum_ns;
};

struct histogram_copy {
	uint64_t buckets[HISTOGRAM_BOUNDS + 1];
	uint64_t sum_ns;
};

void histogram_add(struct histogram *histogram, uint64_t ns);
/* Adds faster than histogram_add, but no other thread may add at the same time. */
void histogram_add_alone(struct histogram *histogram, uint64_t ns);
void histogram_add_all(const struct histogram *from, struct histogram *to);
void histogram_copy_add(const struct histogram *histogram, struct histogram_copy *sum);

/* Returns the upper bound of bucket i in ns. A duration equal to the bound is in bucket i. */
uint64_t histogram_bound(size_t i);
uint64_t histogram_count(const struct histogram_copy *copy);
/* Returns the duration in ns that the fraction `part` (0 to 1) of all durations does not exceed,
 * interpolated within a bucket. 0: the histogram is empty. */
uint64_t histogram_quantile(const struct histogram_copy *copy, double part);
