// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "image/baseline/baseline.h"

/*
 * Shared by the files of the decoder. Terms of T.81: a component is a plane of samples; an MCU
 * has the samples of all components for 8 x 8 to 16 x 16 pixels.
 *
 *   markers.c   the segments up to the scan -> struct frame
 *   huffman.c   tables of the frame -> look-ups
 *   entropy.c   the bytes of the scan, without stuffing, one restart interval at a time
 *   scan.h      bits -> coefficients -> rows of samples, for an MCU row
 *   idct.c      coefficients -> samples
 *   colour.h    rows of samples -> rows of RGB
 *   kernels_*.c, *_avx2.c  the last three for every processor, and for one with AVX2
 *   baseline.c  all of it, for the rows and columns that are asked for
 */

#define BLOCK 8 /* samples of a side */
#define COEFFICIENTS 64
#define COMPONENTS 3
#define TABLES 4
#define MAX_SIDE 65500 /* libjpeg's limit */

/* --- markers.c ------------------------------------------------------------------------ */

/* A Huffman table as the file has it: counts of codes of 1 to 16 bits, and their symbols. The file
 * did not define a table without codes. */
struct huffman_spec {
	uint8_t counts[16];
	uint8_t symbols[256];
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
	uint8_t quants[TABLES][COEFFICIENTS]; /* in zigzag order */
	bool quant_given[TABLES];
	struct huffman_spec dc[TABLES], ac[TABLES];
	const uint8_t *scan; /* first byte of entropy-coded data */
};

bool frame_parse(struct frame *frame, const uint8_t *data, size_t size);

/* --- huffman.c ------------------------------------------------------------------------ */

#define LOOKUP_BITS 11
#define LOOKUPS (1 << LOOKUP_BITS)
#define DC_LOOKUP_BITS 10
#define DC_LOOKUPS (1 << DC_LOOKUP_BITS)
#define MAX_CODE_BITS 16

/*
 * An entry of the look-up of AC coefficients. One look-up decodes one coefficient, or two, or one
 * and the end of the block. The end of the block, and a run of 16 zeros, are treated as
 * coefficients with the value 0. All codes lie within the bits of the index, and so does the value
 * of the first of two coefficients; the value of the last coefficient may have bits beyond the
 * index. The place of a coefficient is its distance, in zigzag order, from the last coefficient of
 * the previous look-up. The first coefficient is always written: it is 0 if the entry has only one
 * coefficient.
 *
 *   bits 0-5 used bits, 6-13 advance: the place of the last coefficient, 14-18 place of the first,
 *        19-25 value of the first, 26-29 size of the last
 *
 * An entry that can't decode the code uses 0 bits. Its advance is 64, and the place of its first
 * coefficient is one where nothing was written yet.
 */
typedef uint32_t ac_entry;

#define END_OF_BLOCK 128 /* flag in the advance */
/* most bits of a code and its value together, in a file that the decoder accepts */
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
 * An entry of the look-up of DC differences: bits 0-7 the number of used bits; bits 8-15 whether
 * these include the end of a block without other coefficients; bits 16-31 a constant. The
 * difference is the number in the used bits plus the constant, modulo 2^16. An entry of 0 can't
 * decode the code.
 */
typedef uint32_t dc_entry;

/* Maps codes of any length to symbols. Codes of equal length are consecutive numbers. */
struct huffman_codes {
	/* The number after the last code of a length, left-aligned in 16 bits. Indexed by
	 * length. */
	uint32_t end[MAX_CODE_BITS + 1];
	/* The index of the first symbol of a length, minus the first code of this length. */
	int first[MAX_CODE_BITS + 1];
	uint8_t symbols[256];
};

struct huffman {
	ac_entry ac[LOOKUPS];
	dc_entry dc[DC_LOOKUPS];
	struct huffman_codes ac_codes, dc_codes;
	bool made;
	struct huffman_spec ac_spec,
		/* the tables from which the look-ups were made, if `made` is set */
		dc_spec;
};

/* Makes the look-ups, unless they exist for the same tables. false: a table is invalid. */
bool huffman_make(struct huffman *huffman, const struct huffman_spec *dc,
	const struct huffman_spec *ac);

/* --- entropy.c ------------------------------------------------------------------------ */

/* Number of zero bytes that follow a segment. No block is longer, so the decoder has to check for
 * the end of the segment only once per block. */
#define SEGMENT_PADDING 512

/* The bytes of one restart interval, without stuffing. `buffer` has the bits that were read and not
 * yet used. */
struct bits {
	/* used from the highest bit down; only `count` bits are defined */
	uint64_t buffer;
	unsigned count;
	const uint8_t *next;
	const uint8_t *end;
};

struct entropy {
	const uint8_t *in; /* next byte of the file */
	const uint8_t *in_end;
	uint8_t *segment;
	size_t capacity; /* size of the segment, without padding */
	unsigned restarts;
	struct bits bits;
};

/* Loads the bytes up to the next marker as the new segment. */
bool entropy_begin(struct entropy *entropy);
/* Checks that the segment was used up and that the expected restart marker follows, then begins the
 * next segment. */
bool entropy_restart(struct entropy *entropy);
/* Tells whether the segment was used up, and the image ends after it. */
bool entropy_end(const struct entropy *entropy);

/* --- scan.h, idct.c, kernels_*.c ---------------------------------------------------------------- */

/* The coefficients of two blocks. Row i of both blocks lies side by side. Spare room follows for
 * the coefficients beyond the 63rd of a damaged block. */
#define PAIR_STRIDE (2 * BLOCK)
#define PAIR_SPARE (BLOCK * PAIR_STRIDE)

struct pair {
	_Alignas(32) int16_t coefficients[PAIR_SPARE + PAIR_STRIDE];
	uint8_t *out[2];
	unsigned n;
};

/* The factors of a pair of blocks. Each row of factors appears twice, once for each block. */
struct quant {
	_Alignas(32) int16_t factors[BLOCK * PAIR_STRIDE];
	/* The most that a coefficient of 1 can add to a sample, in 1/128, rounded up. */
	_Alignas(32) int16_t weights[BLOCK * PAIR_STRIDE];
};

/* If the sum of all weights times coefficients is at most this, then no sample leaves -512..511
 * before it is clamped, and all of libjpeg's 16-bit numbers fit. */
#define MAX_WEIGHT (505 * 128)

/* Memory that receives the samples of a component. */
struct plane {
	const struct component *component;
	const struct huffman *huffman;
	struct quant quant;
	struct pair pair;
	int dc;
	/* samples of an MCU row, below the last sample row of the previous MCU row */
	uint8_t *samples;
	size_t stride;
	uint32_t rows; /* sample rows of an MCU row */
	uint32_t top;  /* number of the first of these rows in the image */
};

struct scan {
	struct entropy entropy;
	unsigned n_planes;
	struct plane planes[COMPONENTS];
	unsigned restart_interval;
	unsigned until_restart;
	uint32_t mcus; /* MCUs of a row */
	/* range of MCUs whose samples are kept, if the row is kept */
	uint32_t first, end;
};

/* zigzag_pair[k] is the place of coefficient k in a pair; for k > 63 it is in the spare room. */
extern const uint8_t zigzag_pair[2 * END_OF_BLOCK];
/* zigzag_block[k] is the place of coefficient k in a block of 8 x 8. */
extern const uint8_t zigzag_block[COEFFICIENTS];

/*
 * Two rows of Cb and Cr: the row nearest to the row of pixels, and the next nearest. Both are the
 * same row if the chroma has a row for each row of pixels. Upsampling makes two samples from one,
 * along rows and along columns: 3/4 of the sample plus 1/4 of its neighbour, computed in 1/16. The
 * number added before the division alternates.
 */
struct chroma {
	/* The rows have one more sample on each side. */
	const uint8_t *near[2];
	const uint8_t *far[2];
	int added_even, added_odd;
};

struct kernels {
	/* Decodes an MCU row. keep: computes the samples, too. */
	bool (*scan_row)(struct scan *scan, const struct kernels *kernels, bool keep);
	/* Transforms both blocks of the pair and clears the coefficients. false: a number could
	 * overflow. */
	bool (*transform)(struct pair *pair, const struct quant *quant, size_t stride);
	/* Makes n pixels of RGB. rgb and rgb_wide read up to ROW_SLACK bytes beyond the samples
	 * that they need. */
	void (*rgb)(const uint8_t *y, const uint8_t *cb, const uint8_t *cr, uint32_t n,
		uint8_t *out);
	/* Makes n pixels of RGB where one sample of chroma covers two pixels. The first pixel is
	 * the left one of two. */
	void (*rgb_wide)(
		const uint8_t *y, const struct chroma *chroma, uint32_t n, uint8_t *out);
	void (*gray)(const uint8_t *y, uint32_t n, uint8_t *out);
};

#define ROW_SLACK 64

extern const struct kernels kernels_plain;
/* Returns the kernels for AVX2, or NULL on a machine without it. */
const struct kernels *kernels_avx2(void);

/* Transforms a pair with any coefficients. false: a number of one block overflows. */
bool transform_checked(struct pair *pair, const struct quant *quant, size_t stride);
/* Transforms a block that has no coefficient but DC. */
bool transform_dc(int dc, const struct quant *quant, uint8_t *out, size_t stride);
