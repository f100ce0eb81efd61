// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/png_unfilter.h"

#include <stdlib.h>

enum { NONE, SUB, UP, AVERAGE, PAETH };

static uint8_t paeth(int a, int b, int c)
{
	int pa = abs(b - c), pb = abs(a - c), pc = abs(a + b - 2 * c);
	return (uint8_t)(pa <= pb && pa <= pc ? a : pb <= pc ? b : c);
}

static void undo_sub(unsigned pixel, uint8_t *row, size_t n)
{
	for (size_t i = pixel; i < n; i++)
		row[i] = (uint8_t)(row[i] + row[i - pixel]);
}

static void undo_up(uint8_t *row, const uint8_t *above, size_t n)
{
	for (size_t i = 0; i < n; i++)
		row[i] = (uint8_t)(row[i] + above[i]);
}

static void undo_average(unsigned pixel, uint8_t *row, const uint8_t *above, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned left = i < pixel ? 0 : row[i - pixel];
		row[i] = (uint8_t)(row[i] + (left + above[i]) / 2);
	}
}

static void undo_paeth(unsigned pixel, uint8_t *row, const uint8_t *above, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool first = i < pixel;
		row[i] = (uint8_t)(row[i] + paeth(first ? 0 : row[i - pixel], above[i],
						    first ? 0 : above[i - pixel]));
	}
}

bool png_unfilter_plain(unsigned filter, unsigned pixel_bytes, uint8_t *row,
	const uint8_t *above, size_t n)
{
	switch (filter) {
	case NONE:
		return true;
	case SUB:
		undo_sub(pixel_bytes, row, n);
		return true;
	case UP:
		undo_up(row, above, n);
		return true;
	case AVERAGE:
		undo_average(pixel_bytes, row, above, n);
		return true;
	case PAETH:
		undo_paeth(pixel_bytes, row, above, n);
		return true;
	default:
		return false;
	}
}

#ifdef __SSE2__

#include <emmintrin.h>
#include <string.h>

/* Vector code for one pixel at a time, because each pixel depends on its left neighbour. */

static inline __m128i load(const uint8_t *in)
{
	int32_t word;
	memcpy(&word, in, sizeof(word));
	return _mm_cvtsi32_si128(word);
}

static inline void store(uint8_t *out, __m128i value, unsigned pixel)
{
	int32_t word = _mm_cvtsi128_si32(value);
	memcpy(out, &word, pixel);
}

static inline __m128i widen(__m128i bytes)
{
	return _mm_unpacklo_epi8(bytes, _mm_setzero_si128());
}

static inline __m128i magnitude(__m128i value)
{
	return _mm_max_epi16(value, _mm_sub_epi16(_mm_setzero_si128(), value));
}

static inline __m128i choose(__m128i mask, __m128i yes, __m128i no)
{
	return _mm_or_si128(_mm_and_si128(mask, yes), _mm_andnot_si128(mask, no));
}

static inline void sub_pixels(unsigned pixel, uint8_t *row, size_t n)
{
	__m128i left = _mm_setzero_si128();
	for (size_t i = 0; i < n; i += pixel) {
		left = _mm_add_epi8(left, load(row + i));
		store(row + i, left, pixel);
	}
}

/* _mm_avg_epu8 rounds up, PNG rounds down: 1 is subtracted if left + above is odd. */
static inline void average_pixels(
	unsigned pixel, uint8_t *row, const uint8_t *above, size_t n)
{
	const __m128i one = _mm_set1_epi8(1);
	__m128i left = _mm_setzero_si128();
	for (size_t i = 0; i < n; i += pixel) {
		__m128i b = load(above + i);
		__m128i odd = _mm_and_si128(_mm_xor_si128(left, b), one);
		__m128i average = _mm_sub_epi8(_mm_avg_epu8(left, b), odd);
		left = _mm_add_epi8(average, load(row + i));
		store(row + i, left, pixel);
	}
}

/* The Paeth predictor is one of the pixels a (left), b (above) and c (above left): the nearest to
 * p = a + b - c. The distances are p - a = b - c, p - b = a - c and p - c = (b - c) + (a - c). */
static inline void paeth_pixels(
	unsigned pixel, uint8_t *row, const uint8_t *above, size_t n)
{
	const __m128i low = _mm_set1_epi16(255);
	__m128i a = _mm_setzero_si128(), c = a;
	for (size_t i = 0; i < n; i += pixel) {
		__m128i b = widen(load(above + i)), x = widen(load(row + i));
		__m128i to_a = _mm_sub_epi16(b, c), to_b = _mm_sub_epi16(a, c);
		__m128i pa = magnitude(to_a), pb = magnitude(to_b);
		__m128i pc = magnitude(_mm_add_epi16(to_a, to_b));
		__m128i least = _mm_min_epi16(pc, _mm_min_epi16(pa, pb));
		__m128i nearest = choose(_mm_cmpeq_epi16(least, pa), a,
			choose(_mm_cmpeq_epi16(least, pb), b, c));
		a = _mm_and_si128(_mm_add_epi16(nearest, x), low);
		c = b;
		store(row + i, _mm_packus_epi16(a, a), pixel);
	}
}

/* Inlined, so that each constant `pixel` gets its own loop. */
__attribute__((always_inline)) static inline bool undo(
	unsigned filter, unsigned pixel, uint8_t *row, const uint8_t *above, size_t n)
{
	switch (filter) {
	case SUB:
		sub_pixels(pixel, row, n);
		return true;
	case AVERAGE:
		average_pixels(pixel, row, above, n);
		return true;
	case PAETH:
		paeth_pixels(pixel, row, above, n);
		return true;
	default: /* the compiler itself vectorises the plain code of the other filters */
		return png_unfilter_plain(filter, pixel, row, above, n);
	}
}

bool png_unfilter_vector(unsigned filter, unsigned pixel_bytes, uint8_t *row,
	const uint8_t *above, size_t n)
{
	switch (pixel_bytes) {
	case 3:
		return undo(filter, 3, row, above, n);
	case 4:
		return undo(filter, 4, row, above, n);
	default:
		return png_unfilter_plain(filter, pixel_bytes, row, above, n);
	}
}

#else

bool png_unfilter_vector(unsigned filter, unsigned pixel_bytes, uint8_t *row,
	const uint8_t *above, size_t n)
{
	return png_unfilter_plain(filter, pixel_bytes, row, above, n);
}

#endif
