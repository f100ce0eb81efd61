// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Numbers in as few bits as neighbours need, each of which can be read alone.
 *
 *     block, block, ... | bits of the first block | bits of the second | ... | tail
 *
 * A block says of PACK_BLOCK numbers what is the smallest one, of what their distances from it
 * are multiples, and how many bits these take: none if all are equal.
 *
 *   Threads: any.   Errors: -ENOMEM. Damaged bytes give wrong numbers, and nothing is read
 *   outside of them.
 */

#define PACK_BLOCK 256
#define PACK_TAIL 16 /* bytes behind the last bit, so that whole words can be read */

struct pack_block {
	uint64_t base;
	uint64_t step;
	uint64_t place; /* offset of its bits << 8, and the bits of a number */
};

/* Number i of a column. */
typedef uint64_t pack_value(const void *context, size_t i);

/* The caller frees *ret. */
must_check int pack_make(size_t n, pack_value *value, const void *context, uint8_t **ret,
	size_t *ret_bytes);
/* At least as many bytes hold n numbers. */
size_t pack_least_bytes(size_t n);
/* bytes: at least pack_least_bytes of more than i numbers; packed: aligned as uint64_t. */
uint64_t pack_get(const uint8_t *packed, size_t bytes, size_t i);
