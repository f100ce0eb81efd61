// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/dataset_pack.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t blocks_of(size_t n)
{
	return n / PACK_BLOCK + (n % PACK_BLOCK > 0);
}

size_t pack_least_bytes(size_t n)
{
	return blocks_of(n) * sizeof(struct pack_block) + PACK_TAIL;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

static unsigned bits_of(uint64_t number)
{
	return number ? 64 - (unsigned)__builtin_clzll(number) : 0;
}

/* Sets ret->base and ret->step. Returns the width in bits of a quotient. */
static unsigned measure(const uint64_t *numbers, size_t n, struct pack_block *ret)
{
	uint64_t least = numbers[0], most = numbers[0], step = 0;
	for (size_t i = 1; i < n; i++) {
		least = numbers[i] < least ? numbers[i] : least;
		most = numbers[i] > most ? numbers[i] : most;
	}
	for (size_t i = 0; i < n && step != 1; i++)
		step = common_divisor(numbers[i] - least, step);
	ret->base = least;
	ret->step = step ? step : 1;
	return bits_of((most - least) / ret->step);
}

static void put_bits(uint8_t *at, size_t bit, unsigned width, uint64_t number)
{
	uint64_t word;
	at += bit / 8;
	bit %= 8;
	memcpy(&word, at, sizeof(word));
	word = htole64(le64toh(word) | number << bit);
	memcpy(at, &word, sizeof(word));
	if (bit + width > 64)
		at[8] |= (uint8_t)(number >> (64 - bit));
}

static size_t take_block(
	size_t block, size_t n, pack_value *value, const void *context, uint64_t *ret)
{
	size_t first = block * PACK_BLOCK;
	size_t left = n - first < PACK_BLOCK ? n - first : PACK_BLOCK;
	for (size_t i = 0; i < left; i++)
		ret[i] = value(context, first + i);
	return left;
}

/* Makes room behind the first n bytes for one more block and PACK_TAIL. New bytes are 0. */
static int make_room(uint8_t **packed, size_t n, size_t *capacity)
{
	size_t needed = n + PACK_BLOCK * sizeof(uint64_t) + PACK_TAIL;
	if (needed <= *capacity)
		return 0;
	size_t more = needed + needed / 8;
	uint8_t *grown = realloc(*packed, more);
	if (!grown)
		return -ENOMEM;
	memset(grown + *capacity, 0, more - *capacity);
	*packed = grown;
	*capacity = more;
	return 0;
}

static void put_block(uint8_t *at, const struct pack_block *block,
	const uint64_t *numbers, size_t n, unsigned width)
{
	for (size_t i = 0; i < n && width; i++)
		put_bits(at, i * width, width, (numbers[i] - block->base) / block->step);
}

int pack_make(size_t n, pack_value *value, const void *context, uint8_t **ret,
	size_t *ret_bytes)
{
	uint64_t numbers[PACK_BLOCK];
	size_t n_blocks = blocks_of(n), bytes = n_blocks * sizeof(struct pack_block);
	size_t capacity = 0;
	uint8_t *packed = NULL;
	int err = make_room(&packed, bytes, &capacity);
	for (size_t i = 0; !err && i < n_blocks; i++) {
		size_t left = take_block(i, n, value, context, numbers);
		struct pack_block block;
		unsigned width = measure(numbers, left, &block);
		block.place = (uint64_t)bytes << 8 | width;
		put_block(packed + bytes, &block, numbers, left, width);
		memcpy(packed + i * sizeof(block), &block, sizeof(block));
		bytes += (left * width + 7) / 8;
		err = make_room(&packed, bytes, &capacity);
	}
	if (err) {
		free(packed);
		packed = NULL;
	}
	*ret = packed;
	*ret_bytes = bytes + PACK_TAIL;
	return err;
}

static const struct pack_block *block_of(const uint8_t *packed, size_t i)
{
	return &((const struct pack_block *)(const void *)packed)[i / PACK_BLOCK];
}

size_t pack_equal(const uint8_t *packed, size_t i)
{
	unsigned width = block_of(packed, i)->place & 0xff;
	return width == 0 ? PACK_BLOCK - i % PACK_BLOCK : 1;
}

uint64_t pack_get(const uint8_t *packed, size_t bytes, size_t i)
{
	const struct pack_block *block = block_of(packed, i);
	unsigned width = block->place & 0xff;
	size_t bit = i % PACK_BLOCK * width;
	uint64_t at = (block->place >> 8) + bit / 8, word;
	if (width == 0 || width > 64 || at > bytes - PACK_TAIL)
		return block->base;
	bit %= 8;
	memcpy(&word, packed + at, sizeof(word));
	word = le64toh(word) >> bit;
	if (bit + width > 64)
		word |= (uint64_t)packed[at + 8] << (64 - bit);
	if (width < 64)
		word &= (UINT64_C(1) << width) - 1;
	return block->base + block->step * word;
}
