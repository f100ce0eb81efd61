// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdint.h>

/*
 * Converts YCbCr to RGB as JFIF defines it. The factors have 16 fractional bits, and results are
 * rounded to the nearest number. Cb and Cr are the samples minus CHROMA_CENTRE.
 *
 *   R = Y + 1.402 Cr    G = Y - 0.34414 Cb - 0.71414 Cr    B = Y + 1.772 Cb
 */

#define CHROMA_CENTRE 128
#define COLOUR_BITS 16
#define COLOUR_HALF (1 << (COLOUR_BITS - 1))
#define RED_CR 91881
#define GREEN_CB (-22554)
#define GREEN_CR (-46802)
#define BLUE_CB 116130

static inline uint8_t colour_limit(int number)
{
	return (uint8_t)(number < 0 ? 0 : number > 255 ? 255 : number);
}

static inline void colour_rgb(
	const uint8_t *y, const uint8_t *cb, const uint8_t *cr, uint32_t n, uint8_t *out)
{
	for (uint32_t i = 0; i < n; i++, out += 3) {
		int b = cb[i] - CHROMA_CENTRE, r = cr[i] - CHROMA_CENTRE;
		int green = GREEN_CB * b + GREEN_CR * r + COLOUR_HALF;
		out[0] = colour_limit(y[i] + ((RED_CR * r + COLOUR_HALF) >> COLOUR_BITS));
		out[1] = colour_limit(y[i] + (green >> COLOUR_BITS));
		out[2] =
			colour_limit(y[i] + ((BLUE_CB * b + COLOUR_HALF) >> COLOUR_BITS));
	}
}

static inline void colour_gray(const uint8_t *y, uint32_t n, uint8_t *out)
{
	for (uint32_t i = 0; i < n; i++, out += 3)
		out[0] = out[1] = out[2] = y[i];
}
