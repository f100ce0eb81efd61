// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Packed numbers. PACK_BLOCK consecutive numbers are a block. Each number takes only as many bits
 * as its block needs, and can be read separately.
 *
 *     struct pack_block, ... | bits of the first block | bits of the second | ... | tail
 *
 * Instead of a number, its quotient is stored: its distance from the smallest number of the block,
 * divided by the greatest common divisor of all distances in the block. A struct pack_block has the
 * smallest number, the divisor, and the width of a quotient in bits. The width is 0 if all numbers
 * are equal.
 *
 *   Threads: any.   Errors: -ENOMEM. Damaged bytes give wrong numbers, but no function reads
 *   outside the packed bytes.
 */

#define PACK_BLOCK 256
/* bytes after the last number, so that pack_get can read whole words */
#define PACK_TAIL 16

struct pack_block {
	uint64_t base;
	uint64_t step;
	/* 256 * (offset of the block's bits) + width of a quotient in bits */
	uint64_t place;
};

/* Returns the i-th number to pack. */
typedef uint64_t pack_value(const void *context, size_t i);

/* Packs the n numbers that `value` returns. The caller frees *ret. */
must_check int pack_make(size_t n, pack_value *value, const void *context, uint8_t **ret,
	size_t *ret_bytes);
/* Returns the smallest size in bytes that n packed numbers can have. */
size_t pack_least_bytes(size_t n);
/* Returns the i-th number. `packed` must be aligned like a uint64_t. `bytes`, the size of the
 * packed numbers, must be at least pack_least_bytes(i + 1). */
uint64_t pack_get(const uint8_t *packed, size_t bytes, size_t i);
/* Returns for how many consecutive numbers, from number i on, it is known that they are equal; at
 * least 1. Reads only the struct pack_block, so the result may reach beyond the last number. */
size_t pack_equal(const uint8_t *packed, size_t i);
