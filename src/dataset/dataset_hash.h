// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/types.h"
#include "dataset/source_part.h"

__extension__ typedef unsigned __int128 uint128;

/* Mixes a word into a hash as the hash function wyhash does (Wang Yi, public domain). */
static inline uint64_t hash_fold(uint64_t hash, uint64_t word)
{
	uint128 product = (uint128)(hash ^ UINT64_C(0xa0761d6478bd642f)) *
			  (word ^ UINT64_C(0xe7037ed1a0b428db));
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Scatters the bits of z: the last step of the generator splitmix64, a bijection. */
static inline uint64_t hash_scatter(uint64_t z)
{
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Mixes a text into the hash, eight bytes at a time; zeros fill up the last word. */
uint64_t hash_fold_text(uint64_t hash, const char *text, size_t length);

/* Returns the value of hash(text) in predicates, which is equal on every machine and in every
 * version. */
uint64_t text_hash(const char *text, size_t length);
/* Returns a hash of a sample's path (relative to the root), size and mtime. */
uint32_t sample_identity(const char *path, uint64_t bytes, int64_t mtime_ns);
/* Returns what a sample adds to the sum from which a fingerprint is computed. */
static inline uint64_t sample_scatter(sample_id id, uint32_t identity)
{
	return hash_scatter((uint64_t)id << 32 | identity);
}

/* Mixes into a sample_identity the size of the sample's container, and the sample's place in the
 * container. */
uint32_t part_identity(uint32_t identity, const struct source_part *part);
uint64_t content_sum(const void *bytes, size_t n);
