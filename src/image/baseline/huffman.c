// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/baseline/baseline_internal.h"

#include <string.h>

/* Makes look-ups, indexed by the next bits of the scan (T.81, annexes C and F.2.2). */

/* The code at the beginning of an index. */
struct code {
	uint8_t length; /* in bits; 0: the index has no whole valid code */
	uint8_t symbol;
};

/* Numbers the codes of a table. Returns false if the table has no code, or if libjpeg would refuse
 * it because it has too many codes or a code whose bits are all 1. */
static bool number_codes(const struct huffman_spec *spec, struct huffman_codes *codes)
{
	int code = 0, symbol = 0;
	memcpy(codes->symbols, spec->symbols, sizeof(codes->symbols));
	for (int length = 1; length <= MAX_CODE_BITS; length++, code *= 2) {
		codes->first[length] = symbol - code;
		code += spec->counts[length - 1];
		symbol += spec->counts[length - 1];
		if (spec->counts[length - 1] && code >= 1 << length)
			return false;
		codes->end[length] = (uint32_t)code << (MAX_CODE_BITS - length);
	}
	return symbol > 0;
}

static void look_up_codes(const struct huffman_codes *codes, struct code table[LOOKUPS])
{
	unsigned at = 0;
	for (int length = 1; length <= LOOKUP_BITS; length++) {
		unsigned end = codes->end[length] >> (MAX_CODE_BITS - LOOKUP_BITS);
		for (; at < end; at++) {
			int code = (int)(at >> (LOOKUP_BITS - length));
			table[at] = (struct code){(uint8_t)length,
				codes->symbols[(codes->first[length] + code) & 255]};
		}
	}
	for (; at < LOOKUPS; at++)
		table[at] = (struct code){0};
}

/* The value of a coefficient. The index of a look-up contains all bits of the value, or only its
 * first bits. */
struct value {
	int known; /* the value, if the bits beyond the index are 0 */
	/* The value is x + constant, modulo 2^16. x is the number in the scan that begins with the
	 * first bit of the index and ends with the last bit of the value. */
	unsigned constant;
};

/* Returns the value of a coefficient: the `size` bits that follow the first `skip` bits of the
 * index. The index has only `bits` bits: it contains the first bit of the value, but the value
 * may end beyond it. */
static struct value value_at(unsigned index, unsigned bits, unsigned skip, unsigned size)
{
	unsigned used = skip + size;
	unsigned all = used <= bits ? index >> (bits - used) : index << (used - bits);
	int value = (int)(all & ((1u << size) - 1));
	if (size > 0 && value < 1 << (size - 1))
		value -= (1 << size) - 1;
	return (struct value){value, ((unsigned)value - all) & 0xffff};
}

/* A decoded step: a coefficient with the zeros before it, a run of zeros, or the block's end. */
struct step {
	/* number of bits from the beginning of the index to the end of the step; 0: the index has
	 * no whole valid code for a step */
	unsigned bits;
	unsigned advance;
	unsigned size;
};

/* Returns the step that begins after the first `skip` bits of the index. */
static struct step step_at(
	const struct code codes[LOOKUPS], unsigned index, unsigned skip)
{
	struct code code = codes[index << skip & (LOOKUPS - 1)];
	unsigned run = code.symbol >> 4, size = code.symbol & 15;
	unsigned start = skip + code.length;
	if (code.length == 0 || start > LOOKUP_BITS || size > MAX_AC_SIZE ||
		start + size > MAX_AC_BITS || (size == 0 && run != 0 && run != ZERO_RUN))
		return (struct step){0};
	/* The end of the block counts as a coefficient, so it advances by one; END_OF_BLOCK is
	 * only a flag. After coefficient 63 the scan has no code for the end of the block, but
	 * the bits that follow may look like this code. An entry made from such bits would end
	 * at a coefficient above 63. take_ac finds this, and does not use the entry. */
	bool is_end = size == 0 && run == 0;
	return (struct step){start + size, is_end ? 1 + END_OF_BLOCK : run + 1, size};
}

static ac_entry ac_entry_of(struct step last, unsigned advance, unsigned place, int first)
{
	return last.bits | advance << 6 | place << 14 | ((unsigned)first & 127) << 19 |
	       last.size << 26;
}

/* Most bits of the first coefficient's value in an entry with two coefficients. */
#define MAX_FIRST_SIZE 6
#define NO_PLACE 31

/* Adds a second step (the next coefficient, or the end of the block) to the entries that begin with
 * the step `first`, if the index contains the code of the second step. `at` is the lowest index of
 * these entries. The second step does not depend on the value of the first coefficient, so it is
 * looked up once for all values of this coefficient. */
static void add_followers(ac_entry ac[LOOKUPS], const struct code codes[LOOKUPS],
	unsigned at, struct step first)
{
	unsigned n = 1u << (LOOKUP_BITS - first.bits);
	for (unsigned i = 0; i < n; i++) {
		struct step last = step_at(codes, at + i, first.bits);
		if (last.bits == 0)
			continue;
		for (unsigned index = at + i, k = 0; k < 1u << first.size;
			k++, index += n) {
			unsigned skip = first.bits - first.size;
			int value = value_at(index, LOOKUP_BITS, skip, first.size).known;
			ac[index] = ac_entry_of(
				last, first.advance + last.advance, first.advance, value);
		}
	}
}

/* Fills in all entries whose index begins with the same code as `at`, the lowest of these indexes.
 * Returns the number of these entries. */
static unsigned look_up_first(
	ac_entry ac[LOOKUPS], const struct code codes[LOOKUPS], unsigned at)
{
	unsigned n = codes[at].length ? 1u << (LOOKUP_BITS - codes[at].length) : 1;
	struct step first = step_at(codes, at, 0);
	ac_entry entry = COEFFICIENTS << 6 | NO_PLACE << 14;
	if (first.bits)
		entry = ac_entry_of(first, first.advance, first.advance & 31, 0);
	for (unsigned i = 0; i < n; i++)
		ac[at + i] = entry;
	if (first.bits && first.bits < LOOKUP_BITS && first.advance < END_OF_BLOCK &&
		first.size <= MAX_FIRST_SIZE)
		add_followers(ac, codes, at, first);
	return n;
}

static dc_entry make_dc_entry(
	const struct code dc[LOOKUPS], const struct code ac[LOOKUPS], unsigned index)
{
	struct code code = dc[index];
	unsigned size = code.symbol, bits = code.length + size;
	if (code.length == 0 || code.length + (size > 0) > DC_LOOKUP_BITS ||
		size > MAX_DC_SIZE)
		return 0;
	unsigned in = index >> (LOOKUP_BITS - DC_LOOKUP_BITS);
	unsigned constant = value_at(in, DC_LOOKUP_BITS, code.length, size).constant;
	if (bits >= DC_LOOKUP_BITS)
		return bits | constant << 16;
	struct code next = ac[index << bits & (LOOKUPS - 1)];
	unsigned used = bits + next.length;
	if (next.length == 0 || next.symbol != 0 || used > DC_LOOKUP_BITS)
		return bits | constant << 16;
	/* The index contains the whole value, then the code for the end of the block. */
	int value = value_at(in, DC_LOOKUP_BITS, code.length, size).known;
	constant = ((unsigned)value - (in >> (DC_LOOKUP_BITS - used))) & 0xffff;
	return used | 1 << 8 | constant << 16;
}

/* Tells whether all symbols of a DC table are valid sizes, at most 15. libjpeg refuses other
 * tables, even if the scan does not use the larger sizes. */
static bool are_sizes(const struct huffman_spec *spec)
{
	int n = 0;
	for (int i = 0; i < MAX_CODE_BITS; i++)
		n += spec->counts[i];
	for (int i = 0; i < n; i++)
		if (spec->symbols[i] > 15)
			return false;
	return true;
}

bool huffman_make(struct huffman *huffman, const struct huffman_spec *dc,
	const struct huffman_spec *ac)
{
	struct code dc_codes[LOOKUPS], ac_codes[LOOKUPS];
	if (huffman->made && memcmp(&huffman->dc_spec, dc, sizeof(*dc)) == 0 &&
		memcmp(&huffman->ac_spec, ac, sizeof(*ac)) == 0)
		return true;
	huffman->made = false;
	if (!are_sizes(dc) || !number_codes(dc, &huffman->dc_codes) ||
		!number_codes(ac, &huffman->ac_codes))
		return false;
	look_up_codes(&huffman->dc_codes, dc_codes);
	look_up_codes(&huffman->ac_codes, ac_codes);
	for (unsigned i = 0; i < LOOKUPS;)
		i += look_up_first(huffman->ac, ac_codes, i);
	for (unsigned i = 0; i < DC_LOOKUPS; i++)
		huffman->dc[i] = make_dc_entry(
			dc_codes, ac_codes, i << (LOOKUP_BITS - DC_LOOKUP_BITS));
	huffman->dc_spec = *dc;
	huffman->ac_spec = *ac;
	huffman->made = true;
	return true;
}

/* The zigzag order (T.81, figure A.6): the place in a block of each coefficient. */
const uint8_t zigzag_block[COEFFICIENTS] = {0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18,
	11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28, 35, 42,
	49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31,
	39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

const uint8_t zigzag_pair[2 * END_OF_BLOCK] = {0, 1, 16, 32, 17, 2, 3, 18, 33, 48, 64, 49,
	34, 19, 4, 5, 20, 35, 50, 65, 80, 96, 81, 66, 51, 36, 21, 6, 7, 22, 37, 52, 67,
	82, 97, 112, 113, 98, 83, 68, 53, 38, 23, 39, 54, 69, 84, 99, 114, 115, 100, 85,
	70, 55, 71, 86, 101, 116, 117, 102, 87, 103, 118, 119,
	[COEFFICIENTS... 2 * END_OF_BLOCK - 1] = PAIR_SPARE};
