// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/dataset_hash.h"

#include <endian.h>
#include <string.h>

/* All versions of joaderfs must compute the same hashes: state directories contain them, to
 * recognize samples after a restart, and users divide datasets into folds by hash(). */

uint64_t hash_fold_text(uint64_t hash, const char *text, size_t length)
{
	uint64_t word;
	for (; length >= sizeof(word); length -= sizeof(word), text += sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		hash = hash_fold(hash, le64toh(word));
	}
	word = 0;
	memcpy(&word, text, length);
	return hash_fold(hash, le64toh(word));
}

uint64_t text_hash(const char *text, size_t length)
{
	return hash_scatter(hash_fold_text(length, text, length));
}

uint32_t sample_identity(const char *path, uint64_t bytes, int64_t mtime_ns)
{
	size_t length = strlen(path);
	uint64_t hash = hash_fold_text(length, path, length);
	hash = hash_scatter(hash ^ hash_scatter(bytes));
	return (uint32_t)(hash_scatter(hash ^ hash_scatter((uint64_t)mtime_ns)) >> 32);
}

uint32_t part_identity(uint32_t identity, const struct source_part *part)
{
	uint64_t hash = hash_scatter(identity ^ hash_scatter(part->container_bytes));
	hash = hash_scatter(hash ^ hash_scatter(part->offset));
	return (uint32_t)(hash_scatter(hash ^ hash_scatter(part->stored_bytes)) >> 32);
}

#define LANES 4

/* Returns a checksum of the bytes. Computes LANES hashes, each of every LANES-th word. The hashes
 * do not depend on each other, so the processor computes them in parallel. */
uint64_t content_sum(const void *bytes, size_t n)
{
	uint64_t lanes[LANES] = {1, 2, 3, 4}, words[LANES], sum = n;
	const char *at = bytes;
	for (; n >= sizeof(words); n -= sizeof(words), at += sizeof(words)) {
		memcpy(words, at, sizeof(words));
		for (int i = 0; i < LANES; i++)
			lanes[i] = hash_fold(lanes[i], le64toh(words[i]));
	}
	for (int i = 0; i < LANES; i++)
		sum = hash_fold(sum, lanes[i]);
	return hash_scatter(hash_fold_text(sum, at, n));
}
