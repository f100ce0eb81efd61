// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Packed numbers. Each number takes only as many bits as its block needs, and can be read
 * separately.
 *
 *     block, block, ... | bits of the first block | bits of the second | ... | tail
 *
 * A block describes PACK_BLOCK numbers by three values: the smallest number, the greatest common
 * divisor of the distances from the smallest number, and the width of a quotient (distance /
 * divisor) in bits, which is 0 if all numbers are equal.
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
	/* offset of the block's bits * 256 + number of bits per quotient */
	uint64_t place;
};

/* Returns number i of a column. */
typedef uint64_t pack_value(const void *context, size_t i);

/* Packs the n numbers that `value` returns. The caller frees *ret. */
must_check int pack_make(size_t n, pack_value *value, const void *context, uint8_t **ret,
	size_t *ret_bytes);
/* Returns the smallest size in bytes that n packed numbers can have. */
size_t pack_least_bytes(size_t n);
/* Returns number i. packed: aligned like a uint64_t. bytes: size of the packed numbers, at least
 * pack_least_bytes(i + 1). */
uint64_t pack_get(const uint8_t *packed, size_t bytes, size_t i);
/* Returns a number n, at least 1, such that numbers i to i + n - 1 are equal. Reads only the head
 * of a block, so n may extend beyond the last number. */
size_t pack_equal(const uint8_t *packed, size_t i);
