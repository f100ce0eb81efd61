// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "image/baseline/baseline_internal.h"

#include <string.h>

/* kernels_plain.c compiles this code for every processor, kernels_avx2.c for those with AVX2. */

#define scan_inline static inline __attribute__((always_inline))
#define unlikely(condition) __builtin_expect(condition, 0)

/* Largest accepted absolute value of a DC coefficient. A DC coefficient is the sum of the DC
 * differences of its plane's blocks, from the last restart marker up to this block. */
#define MAX_DC 2047

/* BLOCK_BAD: the block is damaged. BLOCK_DC: the block has no coefficient but DC. */
enum block { BLOCK_BAD, BLOCK_DC, BLOCK_ALL };

/* Refills the buffer to at least 56 valid bits. After the valid bits the buffer may already have
 * bits that an earlier refill has set. These equal the bits of the bytes from `next` on, so setting
 * them again changes nothing. */
scan_inline void refill(struct bits *bits)
{
	uint64_t bytes;
	memcpy(&bytes, bits->next, sizeof(bytes));
	bits->buffer |= __builtin_bswap64(bytes) >> bits->count;
	bits->next += (63 - bits->count) >> 3;
	bits->count |= 56;
}

scan_inline void use(struct bits *bits, unsigned n)
{
	bits->buffer <<= n;
	bits->count -= n;
}

/* Puts the last n used bits back into the buffer. */
scan_inline void give_back(struct bits *bits, unsigned n)
{
	unsigned count = bits->count + n;
	bits->next -= (count + 7) / 8;
	bits->count = 0;
	bits->buffer = 0;
	refill(bits);
	use(bits, -count & 7);
	refill(bits);
}

/* Returns the value of the entry's last coefficient. The entry decodes the first (entry & 63) bits
 * of the buffer, and the value consists of the last of these bits. A shift by (-entry & 63) moves
 * the value to the lowest bits of a number. */
scan_inline int last_value(const struct bits *bits, ac_entry entry)
{
	unsigned ones = (1u << ac_size(entry)) - 1;
	unsigned number = (unsigned)(bits->buffer >> (-entry & 63)) & ones;
	return (int)(number - (2 * number <= ones ? ones : 0));
}

/* Takes the value of a coefficient, which has `size` > 0 bits. */
scan_inline int take_value(struct bits *bits, unsigned size)
{
	int value = (int)(bits->buffer >> (64 - size));
	int negative = (int)(bits->buffer >> 63) - 1; /* -1: yes; 0: no */
	use(bits, size);
	return value - (((1 << size) - 1) & negative);
}

/* Takes a code of any length and returns its symbol, or -1 if there is no such code. */
scan_inline int take_symbol(struct bits *bits, const struct huffman_codes *codes)
{
	uint32_t next = (uint32_t)(bits->buffer >> (64 - MAX_CODE_BITS));
	for (unsigned length = 1; length <= MAX_CODE_BITS; length++)
		if (next < codes->end[length]) {
			int code = (int)(next >> (MAX_CODE_BITS - length));
			use(bits, length);
			return codes->symbols[(codes->first[length] + code) & 255];
		}
	return -1;
}

/* The progress of the decoding of a block. */
struct place {
	/* the bits after this place; a copy, so that the caller's bits stay in registers */
	struct bits bits;
	/* index of the coefficient decoded last, plus END_OF_BLOCK if the block has ended; 64 if
	 * the block is damaged */
	size_t k;
};

/* Decodes one coefficient, a run of zeros, or the end of the block, with a code of any length. */
static __attribute__((noinline)) struct place take_single(
	struct bits bits, const struct huffman *huffman, size_t k, int16_t *block)
{
	struct place bad = {bits, COEFFICIENTS};
	int symbol = take_symbol(&bits, &huffman->ac_codes);
	if (symbol < 0)
		return bad;
	if (symbol == 0)
		return (struct place){bits, k | END_OF_BLOCK};
	unsigned run = (unsigned)symbol >> 4, size = symbol & 15;
	k += run + 1;
	if (size > MAX_AC_SIZE || (size == 0 && run != ZERO_RUN) || k >= COEFFICIENTS)
		return bad;
	int value = size ? take_value(&bits, size) : 0;
	if (block)
		block[zigzag_pair[k]] = (int16_t)value;
	return (struct place){bits, k};
}

/* Decodes the DC difference. *ret_only: true if the look-up has also found the end of the block, so
 * that the block has no other coefficient. Returns false if the block is damaged. */
scan_inline bool take_dc(
	struct bits *bits, const struct huffman *huffman, int *ret, bool *ret_only)
{
	dc_entry entry = huffman->dc[bits->buffer >> (64 - DC_LOOKUP_BITS)];
	*ret_only = false;
	if (__builtin_expect(entry != 0, 1)) {
		*ret = (int16_t)((bits->buffer >> (-entry & 63)) + (entry >> 16));
		*ret_only = entry >> 8 & 1;
		use(bits, entry & 0xff);
		return true;
	}
	int size = take_symbol(bits, &huffman->dc_codes);
	if (size < 0 || size > MAX_DC_SIZE)
		return false;
	*ret = size ? take_value(bits, (unsigned)size) : 0;
	return true;
}

/* Stores the coefficients of the next entry, and adds the entry's advance to *k. Returns the entry.
 * If *k is then below COEFFICIENTS, it is the index of the coefficient decoded last. If *k has the
 * bit COEFFICIENTS, the entry can't be used. Otherwise the block has ended. */
scan_inline ac_entry take_lookup(
	struct bits *bits, const struct huffman *huffman, size_t *k, int16_t *block)
{
	ac_entry entry = huffman->ac[bits->buffer >> (64 - LOOKUP_BITS)];
	size_t first = *k + ac_place(entry);
	*k += ac_advance(entry);
	if (block) {
		block[zigzag_pair[first]] = (int16_t)ac_first(entry);
		block[zigzag_pair[*k]] = (int16_t)last_value(bits, entry);
	}
	use(bits, entry & 63);
	return entry;
}

/* Decodes all coefficients but DC; drops them if `block` is NULL. Returns false if damaged. */
scan_inline bool take_ac(struct bits *bits, const struct huffman *huffman, int16_t *block)
{
	size_t k = 0;
	for (;;) {
		ac_entry entry;
		/* A refill gives 56 bits, and three look-ups use at most 54. */
		refill(bits);
		entry = take_lookup(bits, huffman, &k, block);
		if (k < COEFFICIENTS - 1)
			entry = take_lookup(bits, huffman, &k, block);
		if (k < COEFFICIENTS - 1)
			entry = take_lookup(bits, huffman, &k, block);
		if (k < COEFFICIENTS - 1)
			continue;
		if (!(k & COEFFICIENTS))
			return true;
		give_back(bits, entry & 63);
		struct place place =
			take_single(*bits, huffman, k - ac_advance(entry), block);
		*bits = place.bits;
		k = place.k;
		if (k >= COEFFICIENTS - 1)
			return !(k & COEFFICIENTS);
	}
}

scan_inline enum block take_block(struct bits *bits, struct plane *plane, int16_t *block)
{
	int difference;
	bool only;
	refill(bits);
	if (unlikely(bits->next > bits->end + sizeof(bits->buffer)) ||
		unlikely(!take_dc(bits, plane->huffman, &difference, &only)))
		return BLOCK_BAD;
	plane->dc += difference;
	if (unlikely(plane->dc > MAX_DC || plane->dc < -MAX_DC))
		return BLOCK_BAD;
	if (only)
		return BLOCK_DC;
	if (block)
		block[0] = (int16_t)plane->dc;
	return take_ac(bits, plane->huffman, block) ? BLOCK_ALL : BLOCK_BAD;
}

/* Decodes a block, and makes its samples. If the block has other coefficients than DC, it waits for
 * a second such block, because two blocks are transformed together. Returns false if the block is
 * damaged or a number overflows. */
scan_inline bool keep_block(struct bits *bits, struct plane *plane,
	const struct kernels *kernels, uint8_t *out)
{
	struct pair *pair = &plane->pair;
	enum block block =
		take_block(bits, plane, pair->coefficients + (size_t)pair->n * BLOCK);
	if (block == BLOCK_DC)
		return transform_dc(plane->dc, &plane->quant, out, plane->stride);
	pair->out[pair->n++] = out;
	if (block == BLOCK_BAD)
		return false;
	return pair->n < 2 || kernels->transform(pair, &plane->quant, plane->stride);
}

scan_inline bool take_mcu(struct scan *scan, struct bits *bits,
	const struct kernels *kernels, uint32_t at, bool keep)
{
	for (unsigned i = 0; i < scan->n_planes; i++) {
		struct plane *plane = &scan->planes[i];
		unsigned h = plane->component->h, v = plane->component->v;
		if (!keep) {
			for (unsigned n = h * v; n > 0; n--)
				if (!take_block(bits, plane, NULL))
					return false;
			continue;
		}
		for (unsigned y = 0; y < v; y++) {
			uint8_t *out = plane->samples + y * BLOCK * plane->stride +
				       (size_t)(at - scan->first) * h * BLOCK;
			for (unsigned x = 0; x < h; x++, out += BLOCK)
				if (!keep_block(bits, plane, kernels, out))
					return false;
		}
	}
	return true;
}

static bool restart(struct scan *scan)
{
	if (!entropy_restart(&scan->entropy))
		return false;
	for (unsigned i = 0; i < scan->n_planes; i++)
		scan->planes[i].dc = 0;
	scan->until_restart = scan->restart_interval;
	return true;
}

scan_inline bool take_mcus(struct scan *scan, const struct kernels *kernels,
	uint32_t from, uint32_t to, bool keep)
{
	struct bits bits = scan->entropy.bits;
	for (uint32_t at = from; at < to; at++) {
		if (scan->restart_interval) {
			if (scan->until_restart == 0) {
				scan->entropy.bits = bits;
				if (!restart(scan))
					return false;
				bits = scan->entropy.bits;
			}
			scan->until_restart--;
		}
		if (!take_mcu(scan, &bits, kernels, at, keep))
			return false;
	}
	scan->entropy.bits = bits;
	return true;
}

/* Transforms, in each plane, a block that still waits for a second block. */
static bool transform_rest(struct scan *scan, const struct kernels *kernels)
{
	for (unsigned i = 0; i < scan->n_planes; i++) {
		struct plane *plane = &scan->planes[i];
		if (plane->pair.n > 0 &&
			!kernels->transform(&plane->pair, &plane->quant, plane->stride))
			return false;
	}
	return true;
}

/* Fetches the look-ups into the L1 cache: the pixels of the last MCU row have evicted them. */
scan_inline void fetch_lookups(const struct scan *scan)
{
	for (unsigned i = 0; i < scan->n_planes && i < 2; i++)
		for (size_t at = 0; at < sizeof(struct huffman); at += 64)
			__builtin_prefetch((const char *)scan->planes[i].huffman + at);
}

scan_inline bool take_row(struct scan *scan, const struct kernels *kernels, bool keep)
{
	fetch_lookups(scan);
	if (!keep)
		return take_mcus(scan, kernels, 0, scan->mcus, false);
	return take_mcus(scan, kernels, 0, scan->first, false) &&
	       take_mcus(scan, kernels, scan->first, scan->end, true) &&
	       take_mcus(scan, kernels, scan->end, scan->mcus, false) &&
	       transform_rest(scan, kernels);
}
