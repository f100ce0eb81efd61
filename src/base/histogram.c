// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/histogram.h"

#define DECADE(unit) UINT64_C(1) * (unit), UINT64_C(2) * (unit), UINT64_C(5) * (unit)

static const uint64_t bounds[HISTOGRAM_BOUNDS] = {DECADE(100), DECADE(1000),
	DECADE(10000), DECADE(100000), DECADE(1000000), DECADE(10000000),
	DECADE(100000000), DECADE(1000000000), DECADE(10000000000),
	UINT64_C(100000000000)};

/* first_of_octave[i]: the first bucket whose bound is at least 2^(FIRST_OCTAVE + i). An octave is
 * the range from one power of two to the next. */
#define FIRST_OCTAVE 6
static const uint8_t first_of_octave[] = {0, 1, 2, 3, 4, 5, 5, 6, 7, 8, 9, 10, 11, 12, 13,
	14, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 23, 24, 25, 26, 27, 28};
#define OCTAVES (sizeof(first_of_octave))

static size_t bucket_of(uint64_t ns)
{
	unsigned octave = 63 - (unsigned)__builtin_clzll(ns | 1);
	if (octave < FIRST_OCTAVE)
		return 0;
	if (octave - FIRST_OCTAVE >= OCTAVES)
		return HISTOGRAM_BOUNDS;
	size_t i = first_of_octave[octave - FIRST_OCTAVE];
	while (i < HISTOGRAM_BOUNDS && bounds[i] < ns)
		i++;
	return i;
}

void histogram_add(struct histogram *histogram, uint64_t ns)
{
	atomic_fetch_add_explicit(
		&histogram->buckets[bucket_of(ns)], 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&histogram->sum_ns, ns, memory_order_relaxed);
}

static void add_alone(_Atomic uint64_t *to, uint64_t n)
{
	uint64_t old = atomic_load_explicit(to, memory_order_relaxed);
	atomic_store_explicit(to, old + n, memory_order_relaxed);
}

void histogram_add_alone(struct histogram *histogram, uint64_t ns)
{
	add_alone(&histogram->buckets[bucket_of(ns)], 1);
	add_alone(&histogram->sum_ns, ns);
}

void histogram_add_all(const struct histogram *from, struct histogram *to)
{
	struct histogram_copy copy = {0};
	histogram_copy_add(from, &copy);
	for (size_t i = 0; i <= HISTOGRAM_BOUNDS; i++)
		atomic_fetch_add_explicit(
			&to->buckets[i], copy.buckets[i], memory_order_relaxed);
	atomic_fetch_add_explicit(&to->sum_ns, copy.sum_ns, memory_order_relaxed);
}

void histogram_copy_add(const struct histogram *histogram, struct histogram_copy *sum)
{
	for (size_t i = 0; i <= HISTOGRAM_BOUNDS; i++)
		sum->buckets[i] += atomic_load_explicit(
			&histogram->buckets[i], memory_order_relaxed);
	sum->sum_ns += atomic_load_explicit(&histogram->sum_ns, memory_order_relaxed);
}

uint64_t histogram_bound(size_t i)
{
	return bounds[i];
}

uint64_t histogram_count(const struct histogram_copy *copy)
{
	uint64_t n = 0;
	for (size_t i = 0; i <= HISTOGRAM_BOUNDS; i++)
		n += copy->buckets[i];
	return n;
}

uint64_t histogram_quantile(const struct histogram_copy *copy, double part)
{
	double rank = part * (double)histogram_count(copy);
	uint64_t n = 0;
	for (size_t i = 0; i <= HISTOGRAM_BOUNDS; i++) {
		n += copy->buckets[i];
		if (copy->buckets[i] == 0 || (double)n < rank)
			continue;
		if (i == HISTOGRAM_BOUNDS)
			return bounds[i - 1];
		double low = i > 0 ? (double)bounds[i - 1] : 0;
		double before = (double)(n - copy->buckets[i]);
		return (uint64_t)(low + ((double)bounds[i] - low) * (rank - before) /
						(double)copy->buckets[i]);
	}
	return 0;
}
