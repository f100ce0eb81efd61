// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Packed numbers, in blocks of PACK_BLOCK. Each number takes only as many bits as its block needs,
 * and can be read separately.
 *
 *     struct pack_block, ... | bits of the first block | bits of the second | ... | tail
 *
 * A number is stored as a quotient: its distance from the block's smallest number, divided by the
 * greatest common divisor of these distances. struct pack_block has the smallest number, the
 * divisor, and the width of a quotient in bits: 0 if all numbers are equal.
 *
 *   Threads: any.
 *   Errors: -ENOMEM. Damaged bytes give wrong numbers, but no reads outside the packed bytes.
 */

#define PACK_BLOCK 256
#define PACK_TAIL 16 /* bytes at the end, since pack_get reads whole words */

struct pack_block {
	uint64_t base;
	uint64_t step;
	/* lowest 8 bits: width of a quotient in bits; the other bits: offset of the block's bits,
	 * in bytes */
	uint64_t place;
};

typedef uint64_t pack_value(const void *context, size_t i);

/* Packs the numbers value(context, i) for i = 0 to n - 1. The caller frees *ret. */
must_check int pack_make(size_t n, pack_value *value, const void *context, uint8_t **ret,
	size_t *ret_bytes);
/* Returns the smallest size in bytes that n packed numbers can have. */
size_t pack_least_bytes(size_t n);
/* Returns number i. `packed` must be aligned like a uint64_t; `bytes` is its size, at
 * least pack_least_bytes(i + 1). */
uint64_t pack_get(const uint8_t *packed, size_t bytes, size_t i);
/* Returns how many numbers, from i on, are surely equal: at least 1. Reads only struct pack_block,
 * so the result may reach beyond the last number. */
size_t pack_equal(const uint8_t *packed, size_t i);
