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

/* Sets base and step of a block. Returns the bits per number. */
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

int pack_make(size_t n, pack_value *value, const void *context, uint8_t **ret,
	size_t *ret_bytes)
{
	uint64_t numbers[PACK_BLOCK];
	size_t n_blocks = blocks_of(n), bytes = n_blocks * sizeof(struct pack_block);
	struct pack_block *blocks = calloc(n_blocks + 1, sizeof(*blocks));
	if (!blocks)
		return -ENOMEM;
	for (size_t i = 0; i < n_blocks; i++) {
		size_t left = take_block(i, n, value, context, numbers);
		unsigned width = measure(numbers, left, &blocks[i]);
		blocks[i].place = (uint64_t)bytes << 8 | width;
		bytes += (left * width + 7) / 8;
	}
	bytes += PACK_TAIL;
	uint8_t *packed = calloc(1, bytes);
	for (size_t i = 0; packed && i < n_blocks; i++) {
		size_t left = take_block(i, n, value, context, numbers);
		uint8_t *at = packed + (blocks[i].place >> 8);
		unsigned width = blocks[i].place & 0xff;
		for (size_t k = 0; k < left && width; k++)
			put_bits(at, k * width, width,
				(numbers[k] - blocks[i].base) / blocks[i].step);
	}
	if (packed)
		memcpy(packed, blocks, n_blocks * sizeof(*blocks));
	free(blocks);
	*ret = packed;
	*ret_bytes = bytes;
	return packed ? 0 : -ENOMEM;
}

uint64_t pack_get(const uint8_t *packed, size_t bytes, size_t i)
{
	const struct pack_block *block =
		&((const struct pack_block *)(const void *)packed)[i / PACK_BLOCK];
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
