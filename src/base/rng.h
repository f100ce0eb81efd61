// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stddef.h>
#include <stdint.h>

/* xoshiro256** 1.0 (Blackman and Vigna, 2018), seeded by splitmix64: the same numbers on every
 * machine. The caller serialises the calls. */

struct rng {
	uint64_t s[4];
};

void rng_seed(struct rng *rng, uint64_t seed);
uint64_t rng_next(struct rng *rng);

/* Returns a number in [0, bound), uniform and without bias (Lemire, 2019). bound > 0. */
uint64_t rng_below(struct rng *rng, uint64_t bound);

/* Puts n numbers into a random order. */
void rng_shuffle(struct rng *rng, uint32_t *numbers, size_t n);

uint64_t rng_mix(uint64_t a, uint64_t b);
/* Mixes the bytes of the text into the hash, one by one. */
uint64_t rng_mix_text(uint64_t hash, const char *text);

#define FNV_BASIS UINT64_C(0xcbf29ce484222325)

/* Adds n bytes to a hash of FNV-1a. The hash of no bytes is FNV_BASIS. */
static inline uint64_t fnv_add(uint64_t hash, const void *bytes, size_t n)
{
	const uint8_t *byte = bytes;
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
	return hash;
}
