// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "image/baseline/baseline.h"

/*
 * Terms of T.81, the JPEG standard: the scan is the compressed image data; a component is a plane
 * of samples, such as Y or Cb; an MCU has the samples of all components for 8 x 8 to 16 x 16
 * pixels; a restart interval has some MCUs between two markers; stuffing is the byte 0 that follows
 * each byte 0xff of the scan.
 *
 *   markers.c   the segments up to the scan -> struct frame
 *   huffman.c   tables of the frame -> look-ups, which decode several bits at once
 *   entropy.c   the bytes of the scan, without stuffing, one restart interval at a time
 *   scan.h      bits -> coefficients -> rows of samples, for an MCU row
 *   idct.c      coefficients -> samples
 *   colour.h    rows of samples -> rows of RGB
 *   kernels_plain.c  scan.h, idct.c and colour.h as code for every processor
 *   *_avx2.c    code for AVX2 that gives the same results
 *   baseline.c  calls all of these for the rows and columns that the caller wants
 */

#define BLOCK 8 /* samples on each side of a block */
#define COEFFICIENTS 64
#define COMPONENTS 3
#define TABLES 4
#define MAX_SIDE 65500 /* libjpeg's limit */

/* --- markers.c ------------------------------------------------------------------------ */

/* A Huffman table of the file. If all counts are 0, the file does not define the table. */
struct huffman_spec {
	uint8_t counts[16];   /* counts[n - 1]: number of codes of n bits */
	uint8_t symbols[256]; /* symbols of all codes, those of short codes first */
};

struct component {
	uint8_t id;
	uint8_t h, v; /* blocks of an MCU, horizontally and vertically */
	uint8_t quant;
	uint8_t dc, ac;
};

struct frame {
	uint32_t width, height;
	unsigned n_components; /* 1 or 3 */
	struct component components[COMPONENTS];
	unsigned restart_interval;	      /* MCUs between restart markers; 0: none */
	uint8_t quants[TABLES][COEFFICIENTS]; /* factors in zigzag order */
	bool quant_given[TABLES];
	struct huffman_spec dc[TABLES], ac[TABLES];
	const uint8_t *scan; /* first byte of entropy-coded data */
};

bool frame_parse(struct frame *frame, const uint8_t *data, size_t size);

/* --- huffman.c ------------------------------------------------------------------------ */

#define MAX_DC_SIZE 11 /* bits of the largest DC difference of 8-bit samples */
#define MAX_AC_SIZE 10
#define ZERO_RUN 15 /* the symbol for 16 coefficients of 0 has this run, and the size 0 */
#define LOOKUP_BITS 11
#define LOOKUPS (1 << LOOKUP_BITS)
#define DC_LOOKUP_BITS 10
#define DC_LOOKUPS (1 << DC_LOOKUP_BITS)
#define MAX_CODE_BITS 16

/*
 * An entry of the look-up of AC coefficients. The index of the entry is the next LOOKUP_BITS bits
 * of the scan. One look-up decodes one coefficient, or two, or one and the end of the block. The
 * end of the block, and a run of 16 zeros, count as coefficients with the value 0. The place of a
 * coefficient is its distance, in zigzag order, from the coefficient at which the previous look-up
 * ended. An entry has these fields:
 *
 *   bits  0-5   number of bits of the scan that the entry decodes
 *   bits  6-13  advance: place of the last coefficient
 *   bits 14-18  place of the first coefficient
 *   bits 19-25  value of the first coefficient
 *   bits 26-29  size of the last coefficient's value in bits
 *
 * If an entry has only one coefficient, this is the last one, and the first one is a 0 that is
 * written all the same. The index contains all codes of the entry, and the value of the first of
 * two coefficients. The value of the last coefficient may have bits beyond the index, so the entry
 * has only the size of this value.
 *
 * If the index does not contain a whole valid code, the entry decodes 0 bits, and its advance is
 * 64. Its first coefficient is then a 0. Writing this 0 does no harm, because nothing was written
 * to its place yet.
 */
typedef uint32_t ac_entry;

#define END_OF_BLOCK 128 /* flag in the advance */
/* most bits of the scan that an entry decodes; take_ac uses three entries per refill of 56 bits */
#define MAX_AC_BITS 18

static inline unsigned ac_advance(ac_entry entry)
{
	return (uint8_t)(entry >> 6);
}

static inline unsigned ac_place(ac_entry entry)
{
	return entry >> 14 & 31;
}

static inline int ac_first(ac_entry entry)
{
	return (int32_t)(entry << 6) >> 25;
}

static inline unsigned ac_size(ac_entry entry)
{
	return entry >> 26;
}

/*
 * An entry of the look-up of DC differences. The index of the entry is the next DC_LOOKUP_BITS bits
 * of the scan. An entry has these fields:
 *
 *   bits  0-7   number of bits of the scan that the entry decodes
 *   bits  8-15  1 if these bits include the end of the block, otherwise 0
 *   bits 16-31  a constant
 *
 * The difference is the decoded bits plus the constant, modulo 2^16. The entry is 0 if the index
 * lacks a whole valid code, or lacks the first bit of the value.
 */
typedef uint32_t dc_entry;

/* Maps codes of any length to symbols. Codes of equal length are consecutive numbers. */
struct huffman_codes {
	/* end[n]: the last code of n bits plus 1, shifted left by MAX_CODE_BITS - n bits */
	uint32_t end[MAX_CODE_BITS + 1];
	/* the symbol for a code of n bits is symbols[first[n] + code] */
	int first[MAX_CODE_BITS + 1];
	uint8_t symbols[256];
};

struct huffman {
	ac_entry ac[LOOKUPS];
	dc_entry dc[DC_LOOKUPS];
	struct huffman_codes ac_codes, dc_codes;
	bool made;
	/* if `made` is set: the tables from which the look-ups were made */
	struct huffman_spec ac_spec, dc_spec;
};

/* Makes the look-ups for two tables. Keeps the look-ups that exist if they were made from equal
 * tables. Returns false if a table is invalid. */
bool huffman_make(struct huffman *huffman, const struct huffman_spec *dc,
	const struct huffman_spec *ac);

/* --- entropy.c ------------------------------------------------------------------------ */

/* Zero bytes after the bytes of a segment (a restart interval): more than a block has, because the
 * decoder checks only once per block for the end of the segment. */
#define SEGMENT_PADDING 512

/* The bits of a restart interval that are not decoded yet, without stuffing. The next bits are in
 * `buffer`; the bits after these are in the bytes from `next` on. */
struct bits {
	/* bits are taken from the highest one down; the highest `count` bits are valid */
	uint64_t buffer;
	unsigned count;
	const uint8_t *next;
	const uint8_t *end;
};

struct entropy {
	const uint8_t *in; /* next byte of the file */
	const uint8_t *in_end;
	uint8_t *segment;
	size_t capacity; /* size of the memory `segment`, without padding */
	unsigned restarts;
	struct bits bits;
};

/* Loads the first segment: the bytes up to the next marker. Returns false if there is no marker, or
 * if the bytes do not fit into the memory. */
bool entropy_begin(struct entropy *entropy);
/* Loads the next segment. Returns false if the present segment is not decoded completely, if
 * another marker than the expected restart marker follows, or if entropy_begin would return
 * false. */
bool entropy_restart(struct entropy *entropy);
/* Tells whether the segment is decoded completely, and the image ends after it. */
bool entropy_end(const struct entropy *entropy);

/* --- scan.h, idct.c, kernels_*.c ------------------------------------------------------ */

#define FRACTION 13
#define BETWEEN 2 /* fractional bits of numbers between the two passes of the transform */
#define CENTRE 128

/* Two blocks are transformed together: row i of the second one lies beside row i of the first. */
#define PAIR_STRIDE (2 * BLOCK)
/* A coefficient can have a number above 63 if the block is damaged, or if it is the zero for the
 * end of a block or for a code that the look-up lacks. Such coefficients are written from here on,
 * and ignored. */
#define PAIR_SPARE (BLOCK * PAIR_STRIDE)

struct pair {
	_Alignas(32) int16_t coefficients[PAIR_SPARE + PAIR_STRIDE];
	uint8_t *out[2];
	unsigned n; /* number of blocks decoded so far */
};

/* The quantisation factors for a pair of blocks. Each row of factors appears twice: once for each
 * block. */
struct quant {
	_Alignas(32) int16_t factors[BLOCK * PAIR_STRIDE];
	/* a coefficient of 1 at index i changes no sample by more than weights[i] / 128 */
	_Alignas(32) int16_t weights[BLOCK * PAIR_STRIDE];
};

/* The weight of a block is the sum of its absolute coefficients, each times its weights[i]. Vector
 * code transforms blocks of at most MAX_WEIGHT: all their samples are in -512..511 before they are
 * clamped, and no 16-bit number of libjpeg overflows. transform_checked transforms other blocks. */
#define MAX_WEIGHT (505 * 128)

struct plane {
	const struct component *component;
	const struct huffman *huffman;
	struct quant quant;
	struct pair pair;
	int dc;
	/* samples of an MCU row; the row just before them is the last row of the previous MCU
	 * row */
	uint8_t *samples;
	size_t stride;
	uint32_t rows; /* sample rows of an MCU row */
	uint32_t top;  /* number, in the whole plane, of the first row of `samples` */
};

struct scan {
	struct entropy entropy;
	unsigned n_planes;
	struct plane planes[COMPONENTS];
	unsigned restart_interval;
	unsigned until_restart;
	uint32_t mcus; /* MCUs of a row */
	/* samples are made only for the MCUs `first` to `end` - 1 of a row */
	uint32_t first, end;
};

/* zigzag_pair[k]: index of coefficient k in pair.coefficients; if k > 63, in the spare room. */
extern const uint8_t zigzag_pair[2 * END_OF_BLOCK];
/* zigzag_block[k]: index of coefficient k in a block of 8 x 8. */
extern const uint8_t zigzag_block[COEFFICIENTS];

/* The rows of chroma from which a row of pixels is computed: `near` is the nearest row, `far` the
 * next nearest. If chroma has as many rows as the image, both are the same row. Upsampling makes
 * two samples from one, first along columns, then along rows: each is 3/4 of the sample plus 1/4 of
 * a neighbour. Both steps together compute one sum, and divide it by 16. added_even (for even
 * pixels) or added_odd (for odd pixels) is added before the division, so that the result is rounded
 * as in libjpeg. */
struct chroma {
	/* index 0: Cb, 1: Cr; the samples just before and just after each row can be read, too */
	const uint8_t *near[2];
	const uint8_t *far[2];
	int added_even, added_odd;
};

struct kernels {
	/* Decodes an MCU row. If `keep` is set, makes the samples of the MCUs scan->first to
	 * scan->end - 1. Returns false if the file is damaged or a number overflows. */
	bool (*scan_row)(struct scan *scan, const struct kernels *kernels, bool keep);
	/* Computes the samples of the pair's one or two blocks, and empties the pair. Returns false
	 * on overflow. */
	bool (*transform)(struct pair *pair, const struct quant *quant, size_t stride);
	/* Makes n pixels of RGB. Reads up to ROW_SLACK bytes past the end of each input row. */
	void (*rgb)(const uint8_t *y, const uint8_t *cb, const uint8_t *cr, uint32_t n,
		uint8_t *out);
	/* Makes n pixels of RGB from rows in which two pixels share a sample of chroma. The first
	 * pixel must be the left one of two that share a sample. Reads up to ROW_SLACK bytes past
	 * the end of each input row. */
	void (*rgb_wide)(
		const uint8_t *y, const struct chroma *chroma, uint32_t n, uint8_t *out);
	void (*gray)(const uint8_t *y, uint32_t n, uint8_t *out);
};

#define ROW_SLACK 64

extern const struct kernels kernels_plain;
/* Returns NULL on a machine without AVX2, BMI1 or BMI2. */
const struct kernels *kernels_avx2(void);

/* Transforms a pair of blocks in plain code that checks each number. Returns false on overflow. */
bool transform_checked(struct pair *pair, const struct quant *quant, size_t stride);
/* Transforms a block that has only DC. Returns false if a number overflows. */
bool transform_dc(int dc, const struct quant *quant, uint8_t *out, size_t stride);
