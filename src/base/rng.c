// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "base/ensure.h"

static uint64_t splitmix64(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static uint64_t rotate_left(uint64_t x, int k)
{
	return x << k | x >> (64 - k);
}

void rng_seed(struct rng *rng, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		rng->s[i] = splitmix64(&seed);
}

uint64_t rng_next(struct rng *rng)
{
	uint64_t *s = rng->s;
	uint64_t result = rotate_left(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;
	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate_left(s[3], 45);
	return result;
}

__extension__ typedef unsigned __int128 uint128;

uint64_t rng_below(struct rng *rng, uint64_t bound)
{
	ensure(bound > 0);
	uint128 m = (uint128)rng_next(rng) * bound;
	if ((uint64_t)m < bound) {
		uint64_t threshold = -bound % bound;
		while ((uint64_t)m < threshold)
			m = (uint128)rng_next(rng) * bound;
	}
	return (uint64_t)(m >> 64);
}

void rng_shuffle(struct rng *rng, uint32_t *numbers, size_t n)
{
	for (size_t i = n; i-- > 1;) {
		size_t j = rng_below(rng, i + 1);
		uint32_t number = numbers[i];
		numbers[i] = numbers[j];
		numbers[j] = number;
	}
}

uint64_t rng_mix(uint64_t a, uint64_t b)
{
	uint64_t state = a;
	uint64_t mixed = splitmix64(&state) ^ b;
	return splitmix64(&mixed);
}

uint64_t rng_mix_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = rng_mix(hash, (unsigned char)*text);
	return hash;
}
