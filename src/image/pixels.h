// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "image/tensor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Mirrors rows of pixels, splits them into planes, and converts them to floats. Plain C code and
 * AVX2 code give the same results. Threads: any; no state. */

#define MOST_CHANNELS 4

/* Means and deviations of torchvision's Normalize: per channel, or one of each for all channels. */
struct normalize_config {
	bool given;
	unsigned channels; /* 1 to MOST_CHANNELS; used only if `given` */
	double mean[MOST_CHANNELS];
	double deviation[MOST_CHANNELS];
};

/* Length of the tables of a struct pixels_scale. The length is a multiple of 1, 2, 3 and 4, the
 * possible numbers of channels, and of 8, the count of numbers in a vector. */
#define PIXELS_PERIOD 24

/* Number x at index i becomes (x / 255 - mean[k]) / deviation[k], with k = i % PIXELS_PERIOD. */
struct pixels_scale {
	float mean[PIXELS_PERIOD];
	float deviation[PIXELS_PERIOD];
	bool identity; /* mean 0 and deviation 1 in all channels */
};

/* Returns the scale for rows of interleaved pixels: mean 0, deviation 1 if not normalize->given. */
struct pixels_scale pixels_scale_row(
	const struct normalize_config *normalize, unsigned channels);
/* Returns the scale for the plane of one channel, with the defaults of pixels_scale_row. */
struct pixels_scale pixels_scale_plane(
	const struct normalize_config *normalize, unsigned channel);

struct pixels {
	void (*mirror)(const uint8_t *in, size_t width, uint8_t *out);
	/* writes the red, green and blue planes of `width` pixels */
	void (*split)(const uint8_t *in, size_t width, uint8_t *const out[3]);
	/* writes n floats, as torchvision's ToTensor and Normalize compute them */
	void (*to_float32)(const uint8_t *in, size_t n, const struct pixels_scale *scale,
		float *out);
	/* writes the numbers of to_float32 as 16-bit floats, rounded to nearest even */
	void (*to_float16)(const uint8_t *in, size_t n, const struct pixels_scale *scale,
		uint16_t *out);
};

/* Mirrors a row of pixels of any mode. For RGB, struct pixels has a faster function. */
void pixels_mirror(
	struct tensor_shape shape, const uint8_t *in, size_t width, uint8_t *out);
void pixels_take_channel(struct tensor_shape shape, const uint8_t *in, size_t width,
	size_t channel, uint8_t *out);
/* Normalizes n numbers of any mode. First divides 8-bit numbers by 255 and 16-bit numbers by 65535,
 * but does not divide floats and palette indices. */
void pixels_to_float32(enum pixel_mode mode, const uint8_t *in, size_t n,
	const struct pixels_scale *scale, float *out);
void pixels_to_float16(enum pixel_mode mode, const uint8_t *in, size_t n,
	const struct pixels_scale *scale, uint16_t *out);

extern const struct pixels pixels_plain;
/* Returns the functions for AVX2, or NULL if the processor lacks AVX2, FMA or F16C. */
const struct pixels *pixels_avx2(void);
const struct pixels *pixels_best(void);

/* Returns the IEEE 754 binary16 of a number, rounded to nearest even. */
uint16_t pixels_half(float number);
