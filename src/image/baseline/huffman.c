// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/baseline/baseline_internal.h"

#include <string.h>

/* Huffman tables become look-ups (T.81, annexes C and F.2.2). */

#define MAX_DC_SIZE 11 /* bits of a difference, with 8 bits per sample */
#define MAX_AC_SIZE 10
#define ZERO_RUN 15 /* the run of 16 zeros without a coefficient */

/* The first code of LOOKUP_BITS; length 0: it is longer, or none. */
struct code {
	uint8_t length;
	uint8_t symbol;
};

/* libjpeg refuses tables with more codes than there can be, and a code of ones only. */
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

/* The value of `size` bits behind `skip` bits of a look-up's index. */
static int value_at(unsigned index, unsigned skip, unsigned size)
{
	if (size == 0)
		return 0;
	int value = (int)(index >> (LOOKUP_BITS - skip - size) & ((1u << size) - 1));
	return value < 1 << (size - 1) ? value - (1 << size) + 1 : value;
}

/* A coefficient, or a run of zeros, or the end of the block, if it fits. */
struct step {
	unsigned bits; /* 0: does not fit */
	unsigned place;
	unsigned advance;
	int value;
};

static struct step step_at(const struct code codes[LOOKUPS], unsigned index,
	unsigned skip, unsigned max_size)
{
	struct code code = codes[index << skip & (LOOKUPS - 1)];
	unsigned run = code.symbol >> 4, size = code.symbol & 15;
	unsigned bits = skip + code.length + size;
	struct step step = {.place = run + 1, .advance = run + 1};
	if (code.length == 0 || bits > LOOKUP_BITS || size > max_size ||
		(size == 0 && run != 0 && run != ZERO_RUN))
		return step;
	/* The end takes a place too: it does not follow the 63rd coefficient. */
	if (size == 0 && run == 0)
		step.advance = 1 + END_OF_BLOCK;
	step.bits = bits - skip;
	step.value = value_at(index, skip + code.length, size);
	return step;
}

/* Of the values of an entry. */
#define MAX_FIRST_SIZE 7
#define MAX_SECOND_SIZE 4

static ac_entry ac_entry_of(unsigned bits, unsigned advance, unsigned place)
{
	return bits | advance << 6 | place << 14;
}

static ac_entry longer_entry(struct code code)
{
	unsigned run = code.symbol >> 4, size = code.symbol & 15;
	ac_entry entry = ac_entry_of(0, COEFFICIENTS, run + 1);
	if (code.length == 0 || size == 0 || size > MAX_AC_SIZE)
		return entry;
	return entry | size << 19 | (ac_entry)code.length << 24;
}

static ac_entry make_ac_entry(const struct code codes[LOOKUPS], unsigned index)
{
	struct step first = step_at(codes, index, 0, MAX_FIRST_SIZE);
	if (first.bits == 0)
		return longer_entry(codes[index]);
	struct step second = {0};
	if (first.advance < END_OF_BLOCK)
		second = step_at(codes, index, first.bits, MAX_SECOND_SIZE);
	if (second.bits == 0)
		second = (struct step){0};
	return ac_entry_of(first.bits + second.bits, first.advance + second.advance,
		       first.place) |
	       ((unsigned)second.value & 31) << 19 | (unsigned)first.value << 24;
}

/* index: of a look-up of LOOKUP_BITS. */
static dc_entry make_dc_entry(
	const struct code dc[LOOKUPS], const struct code ac[LOOKUPS], unsigned index)
{
	struct code code = dc[index];
	unsigned size = code.symbol, bits = code.length + size;
	if (code.length == 0 || code.length > DC_LOOKUP_BITS || size > MAX_DC_SIZE)
		return 0;
	if (bits > DC_LOOKUP_BITS)
		return (dc_entry)code.length << 8 | size << 16;
	dc_entry value = (uint16_t)value_at(index, code.length, size);
	struct code next = ac[index << bits & (LOOKUPS - 1)];
	if (next.length && next.symbol == 0 && bits + next.length <= DC_LOOKUP_BITS)
		return (bits + next.length) | 1 << 8 | value << 16;
	return bits | value << 16;
}

/* libjpeg refuses a table with others, even if the scan doesn't have them. */
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
	if (memcmp(&huffman->dc_spec, dc, sizeof(*dc)) == 0 &&
		memcmp(&huffman->ac_spec, ac, sizeof(*ac)) == 0)
		return true;
	huffman->dc_spec = (struct huffman_spec){0}; /* in case that it fails: no table */
	if (!are_sizes(dc) || !number_codes(dc, &huffman->dc_codes) ||
		!number_codes(ac, &huffman->ac_codes))
		return false;
	look_up_codes(&huffman->dc_codes, dc_codes);
	look_up_codes(&huffman->ac_codes, ac_codes);
	for (unsigned i = 0; i < LOOKUPS; i++)
		huffman->ac[i] = make_ac_entry(ac_codes, i);
	for (unsigned i = 0; i < DC_LOOKUPS; i++)
		huffman->dc[i] = make_dc_entry(
			dc_codes, ac_codes, i << (LOOKUP_BITS - DC_LOOKUP_BITS));
	huffman->dc_spec = *dc;
	huffman->ac_spec = *ac;
	return true;
}

/* T.81, figure A.6 */
const uint8_t zigzag_block[COEFFICIENTS] = {
	0,
	1,
	8,
	16,
	9,
	2,
	3,
	10,
	17,
	24,
	32,
	25,
	18,
	11,
	4,
	5,
	12,
	19,
	26,
	33,
	40,
	48,
	41,
	34,
	27,
	20,
	13,
	6,
	7,
	14,
	21,
	28,
	35,
	42,
	49,
	56,
	57,
	50,
	43,
	36,
	29,
	22,
	15,
	23,
	30,
	37,
	44,
	51,
	58,
	59,
	52,
	45,
	38,
	31,
	39,
	46,
	53,
	60,
	61,
	54,
	47,
	55,
	62,
	63,
};

const uint8_t zigzag_pair[2 * END_OF_BLOCK] = {
	0,
	1,
	16,
	32,
	17,
	2,
	3,
	18,
	33,
	48,
	64,
	49,
	34,
	19,
	4,
	5,
	20,
	35,
	50,
	65,
	80,
	96,
	81,
	66,
	51,
	36,
	21,
	6,
	7,
	22,
	37,
	52,
	67,
	82,
	97,
	112,
	113,
	98,
	83,
	68,
	53,
	38,
	23,
	39,
	54,
	69,
	84,
	99,
	114,
	115,
	100,
	85,
	70,
	55,
	71,
	86,
	101,
	116,
	117,
	102,
	87,
	103,
	118,
	119,
	[COEFFICIENTS... 2 * END_OF_BLOCK - 1] = PAIR_SPARE,
};
