// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/types.h"
#include "dataset/source_part.h"

/* Hashes of texts, samples and files. */

__extension__ typedef unsigned __int128 uint128;

/* Mixes a word into a hash by the method of the hash function wyhash (Wang Yi, public domain):
 * multiplies, and combines the upper and the lower half of the product by XOR. */
static inline uint64_t hash_fold(uint64_t hash, uint64_t word)
{
	uint128 product = (uint128)(hash ^ UINT64_C(0xa0761d6478bd642f)) *
			  (word ^ UINT64_C(0xe7037ed1a0b428db));
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Scatters z: the bits of the result look random, and different z have different results. This is
 * the last step of the generator splitmix64. */
static inline uint64_t hash_scatter(uint64_t z)
{
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Mixes a text into a hash, eight bytes at a time; the last word is filled up with zeros. */
uint64_t hash_fold_text(uint64_t hash, const char *text, size_t length);

/* Returns a hash of the text that is equal on every machine and in every version. hash() in
 * predicates uses it. */
uint64_t text_hash(const char *text, size_t length);
/* Returns a hash by which a sample is recognized: of its path (relative to the root), size and
 * mtime. */
uint32_t sample_identity(const char *path, uint64_t bytes, int64_t mtime_ns);
/* Returns a number that depends on the id and on the sample_identity of a sample. A fingerprint is
 * the sum of these numbers over its samples. */
static inline uint64_t sample_scatter(sample_id id, uint32_t identity)
{
	return hash_scatter((uint64_t)id << 32 | identity);
}

/* Returns the sample_identity of a sample in a container. `identity` is the sample_identity of its
 * path, size and mtime. The result also depends on the container's size and the sample's place in
 * it. */
uint32_t part_identity(uint32_t identity, const struct source_part *part);
/* Returns a 64-bit checksum of the bytes. */
uint64_t content_sum(const void *bytes, size_t n);
