// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "image/resample.h"

/* The taps of a pixel are the input pixels from which it is computed. Pillow computes weights in
 * double, and rounds them to 22 fractional bits. Each pass sums up in 32 bits, and rounds to 8
 * bits. The order of an integer sum does not matter, so all implementations give the same bits. */

#define PRECISION_BITS 22
#define HALF (1 << (PRECISION_BITS - 1))
/* Weights of 0 fill up the weights of a pixel to a multiple of TAPS_GROUP. */
#define TAPS_GROUP 4
/* Weights are split into high << LOW_BITS | low, because 16-bit multiplications are cheap. */
#define LOW_BITS 15

/* The input pixels of an output pixel: `count` pixels from `first` on. */
struct taps {
	uint32_t first;
	uint32_t count;
};

/* The low parts of two neighbouring weights, and their high parts. In each field, bits 0 to 15
 * belong to the first weight, bits 16 to 31 to the second weight. */
struct weight_pair {
	uint32_t low;
	uint32_t high;
};

/* The weights for resizing an axis from `in` to `out` pixels. */
struct kernel {
	enum resample_filter filter;
	bool exact; /* the kernel has exact_weights instead of weights and pairs */
	uint32_t in;
	uint32_t out;
	uint64_t last_use;
	size_t width; /* weights per output pixel */
	struct taps *taps;
	int32_t *weights;	   /* out * width weights */
	struct weight_pair *pairs; /* the weights in pairs; out * width / 2 pairs */
	double *exact_weights;	   /* out * width weights, not rounded */
	void *memory;		   /* the block of memory in which the tables are */
	size_t bytes;
};

/* Fills in all fields except last_use. After -ENOMEM the kernel is empty. A kernel for
 * FILTER_NEAREST has no weights, and one tap per output pixel. */
must_check int kernel_set(struct kernel *kernel, enum resample_filter filter, bool exact,
	uint32_t in, uint32_t out);
void kernel_free(struct kernel *kernel);

struct taps kernel_taps(
	enum resample_filter filter, uint32_t in, uint32_t out, uint32_t index);

/* Rows of pixels: `length` rows of `bytes` bytes, `stride` bytes apart. */
struct rows {
	const uint8_t *data;
	size_t stride;
	size_t bytes;
	uint32_t length;
	uint32_t channels; /* 1 to 4 */
};

/* Makes these columns of the output. source: the image column with which the rows of `in` begin. */
typedef void horizontal_pass(const struct kernel *kernel, struct crop_axis columns,
	uint32_t source, const struct rows *in, uint8_t *out, size_t stride);
/* Makes these rows of the output. source: the image row with which `in` begins. */
typedef void vertical_pass(const struct kernel *kernel, struct crop_axis rows,
	uint32_t source, const struct rows *in, uint8_t *out, size_t stride);

/* The passes of a resize. An axis whose kernel is NULL keeps its size. */
struct passes {
	const struct kernel *horizontal;
	const struct kernel *vertical;
	struct crop_axis rows; /* rows of the image that the window depends on */
	struct crop_axis columns;
};

/* Resamples numbers of more than 8 bits. middle: memory for in->length rows of
 * window->columns.length pixels, with resample_middle_bytes bytes per pixel. */
void resample_wide(const struct resample_window *window, const struct passes *passes,
	const struct rows *in, double *middle, uint8_t *out, size_t stride);

horizontal_pass resample_horizontal_plain;
vertical_pass resample_vertical_plain;

#if defined(__x86_64__)
horizontal_pass resample_horizontal_avx2;
vertical_pass resample_vertical_avx2;
/* Computes a row of four channels. */
void resample_row_four_avx2(const struct kernel *kernel, struct crop_axis columns,
	uint32_t source, const uint8_t *in, uint8_t *out);
#endif
