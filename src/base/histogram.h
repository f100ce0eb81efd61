// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How long something took, and how often. The bounds of the buckets are 1, 2 and 5 of each
 * power of ten from 100 ns to 100 s; what took longer is in the last one.
 *
 *   Threads: any. Nothing waits; a copy may have the bucket of a time that is just being
 *         added, and not yet its sum.
 *   Errors: none.
 */

#define HISTOGRAM_BOUNDS 28

/* Zeroes are an empty one. */
struct histogram {
	_Atomic uint64_t buckets[HISTOGRAM_BOUNDS + 1];
	_Atomic uint64_t sum_ns;
};

struct histogram_copy {
	uint64_t buckets[HISTOGRAM_BOUNDS + 1];
	uint64_t sum_ns;
};

void histogram_add(struct histogram *histogram, uint64_t ns);
/* The same, cheaper, where no other thread adds at the same time. */
void histogram_add_alone(struct histogram *histogram, uint64_t ns);
/* Adds all that is in one to the other. */
void histogram_add_all(const struct histogram *from, struct histogram *to);
/* A copy, with what is in the other one already. */
void histogram_copy_add(const struct histogram *histogram, struct histogram_copy *sum);

/* ns; the i-th bucket has what took longer than the bound before it, and at most this. */
uint64_t histogram_bound(size_t i);
uint64_t histogram_count(const struct histogram_copy *copy);
/* ns that the part, from 0 to 1, took at most: as exact as the buckets. 0: there is none. */
uint64_t histogram_quantile(const struct histogram_copy *copy, double part);
