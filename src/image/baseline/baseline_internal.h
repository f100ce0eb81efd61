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

/* A Huffman table as the file has it: counts of codes of 1 to 16 bits, and their symbols. A
 * table without codes was not given. */
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
 * An entry of the look-up of AC coefficients has one coefficient, or two, or one and the end of
 * the block. The end and a run of 16 zeros are coefficients that are 0. The codes lie within the
 * bits of the look-up, and so does the value of the first of two; the value of the last may go
 * beyond them. Places are relative to the last coefficient before. An entry with one coefficient
 * only writes a 0 in its place first.
 *
 *   bits 0-5 used, 6-13 advance: the place of the last, 14-18 place of the first, 19-25
 *   the first, 26-29 size of the last
 *
 * An entry that does not help uses 0 bits; its advance is 64, and its place is one where
 * nothing was written yet.
 */
typedef uint32_t ac_entry;

#define END_OF_BLOCK 128 /* flag in the advance */
#define MAX_AC_BITS 18 /* most bits that a code of a picture and its value use together */

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
 * An entry of the look-up of DC differences: bits 0-7 used bits, 8-15 whether these include the
 * end of a block without other coefficients, 16-31 a constant. The difference is the number that the
 * bits make plus the constant, modulo 2^16. An entry of 0 does not help.
 */
typedef uint32_t dc_entry;

/* Maps codes of any length to symbols: codes of one length are numbered one after another. */
struct huffman_codes {
	/* code after the last code of each length, left-aligned in 16 bits */
	uint32_t end[MAX_CODE_BITS + 1];
	/* index of the first symbol minus its code, for each length */
	int first[MAX_CODE_BITS + 1];
	uint8_t symbols[256];
};

struct huffman {
	ac_entry ac[LOOKUPS];
	dc_entry dc[DC_LOOKUPS];
	struct huffman_codes ac_codes, dc_codes;
	bool made;
	struct huffman_spec ac_spec,
		dc_spec; /* tables from which the look-ups were made, if `made` */
};

/* Makes the look-ups, unless they exist for the same tables. false: a table is invalid. */
bool huffman_make(struct huffman *huffman, const struct huffman_spec *dc,
	const struct huffman_spec *ac);

/* --- entropy.c ------------------------------------------------------------------------ */

/* A segment is followed by this many zeros, which is more than the bytes of a block: it is enough
 * to check for the end once per block. */
#define SEGMENT_PADDING 512

/* The bytes of one restart interval, without stuffing, and the bits that were read but not used. */
struct bits {
	uint64_t buffer; /* used from the highest bit on; only `count` bits are defined */
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

/* Makes the bytes up to the next marker the segment. */
bool entropy_begin(struct entropy *entropy);
/* Tells whether the segment was used up to its last byte. */
bool entropy_is_used(const struct entropy *entropy);
/* Checks that the segment was used up, and begins the next segment after the expected restart
 * marker. */
bool entropy_restart(struct entropy *entropy);
/* Tells whether the segment was used up, and the image ends after it. */
bool entropy_end(const struct entropy *entropy);

/* --- scan.h, idct.c, kernels_*.c ---------------------------------------------------------------- */

/* The coefficients of two blocks; row i of one block lies beside row i of the other. Behind
 * them is room for coefficients beyond the 63rd of a damaged block. */
#define PAIR_STRIDE (2 * BLOCK)
#define PAIR_SPARE (BLOCK * PAIR_STRIDE)

struct pair {
	_Alignas(32) int16_t coefficients[PAIR_SPARE + PAIR_STRIDE];
	uint8_t *out[2];
	unsigned n;
};

/* Factors by row and column, twice beside each other. */
struct quant {
	_Alignas(32) int16_t factors[BLOCK * PAIR_STRIDE];
	/* The most that a coefficient of 1 can add to a sample, in 128ths, rounded up. */
	_Alignas(32) int16_t weights[BLOCK * PAIR_STRIDE];
};

/* If the sum of weights times coefficients is at most this, no sample is outside -512..511
 * before it is limited, and all numbers that libjpeg computes in 16 bits fit. */
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
	uint32_t top;  /* index of the first of these rows in the image */
};

struct scan {
	struct entropy entropy;
	unsigned n_planes;
	struct plane planes[COMPONENTS];
	unsigned restart_interval;
	unsigned until_restart;
	uint32_t mcus;	     /* MCUs of a row */
	uint32_t first, end; /* range of MCUs that are kept, if the row is kept */
};

/* zigzag_pair[k] is the place of coefficient k in a pair; for k > 63 it is in the spare room. */
extern const uint8_t zigzag_pair[2 * END_OF_BLOCK];
/* zigzag_block[k] is the place of coefficient k in a block of 8 x 8. */
extern const uint8_t zigzag_block[COEFFICIENTS];

/*
 * Rows of Cb and Cr: the row nearest to the row of pixels, and the next one. They are the same
 * row if there is one for each row of pixels. Upsampling makes two of each sample of chroma, in
 * rows as in columns: 3/4 of it and 1/4 of its neighbour, in 16ths. The number added before the
 * division alternates.
 */
struct chroma {
	/* samples beside the first and the last sample exist, too */
	const uint8_t *near[2];
	const uint8_t *far[2];
	int added_even, added_odd;
};

struct kernels {
	/* Decodes an MCU row. keep: computes the samples, too. */
	bool (*scan_row)(struct scan *scan, const struct kernels *kernels, bool keep);
	/* Transforms the blocks of the pair and clears it. false: it could overflow. */
	bool (*transform)(struct pair *pair, const struct quant *quant, size_t stride);
	/* Makes n pixels of RGB. Reads up to ROW_SLACK bytes beyond the samples that it needs, as
	 * rgb_wide does. */
	void (*rgb)(const uint8_t *y, const uint8_t *cb, const uint8_t *cr, uint32_t n,
		uint8_t *out);
	/* Makes pixels where each sample of chroma covers two pixels; the first pixel is the left
	 * one of such two. */
	void (*rgb_wide)(
		const uint8_t *y, const struct chroma *chroma, uint32_t n, uint8_t *out);
	void (*gray)(const uint8_t *y, uint32_t n, uint8_t *out);
};

#define ROW_SLACK 64

extern const struct kernels kernels_plain;
/* Returns the kernels for AVX2, or NULL on a machine without it. */
const struct kernels *kernels_avx2(void);

/* Transforms any coefficients; false: one block of the pair overflows. */
bool transform_checked(struct pair *pair, const struct quant *quant, size_t stride);
/* Transforms a block that has no coefficient but DC. */
bool transform_dc(int dc, const struct quant *quant, uint8_t *out, size_t stride);
