// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#if defined(__x86_64__)

#include "image/baseline/avx2.h"
#include "image/baseline/colour.h"

#include <immintrin.h>
#include <string.h>

/* Upsampling and colours, 32 pixels at a time. */

#define STEP 32 /* pixels */

inline_avx2 __m256i widen(const uint8_t *in)
{
	return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)in));
}

inline_avx2 __m256i times_3(__m256i x)
{
	return _mm256_add_epi16(x, _mm256_add_epi16(x, x));
}

/* Numbers below 256, each even one before its odd one, as bytes. */
inline_avx2 void store_both(__m256i even, __m256i odd, uint8_t *out)
{
	__m256i both = _mm256_or_si256(even, _mm256_slli_epi16(odd, 8));
	_mm256_storeu_si256((__m256i *)out, both);
}

avx2 void upsample_h2v1_avx2(const uint8_t *in, uint32_t n, uint8_t *out)
{
	const __m256i one = _mm256_set1_epi16(1), two = _mm256_set1_epi16(2);
	for (uint32_t i = 0; i < n; i += STEP / 2, out += STEP) {
		__m256i here = times_3(widen(in + i));
		__m256i even = _mm256_add_epi16(here, widen(in + i - 1));
		__m256i odd = _mm256_add_epi16(here, widen(in + i + 1));
		even = _mm256_srli_epi16(_mm256_add_epi16(even, one), 2);
		odd = _mm256_srli_epi16(_mm256_add_epi16(odd, two), 2);
		store_both(even, odd, out);
	}
}

inline_avx2 __m256i between(const uint8_t *near, const uint8_t *far)
{
	return _mm256_add_epi16(times_3(widen(near)), widen(far));
}

avx2 void upsample_h2v2_avx2(
	const uint8_t *near, const uint8_t *far, uint32_t n, uint8_t *out)
{
	const __m256i seven = _mm256_set1_epi16(7), eight = _mm256_set1_epi16(8);
	for (uint32_t i = 0; i < n; i += STEP / 2, out += STEP) {
		__m256i here = times_3(between(near + i, far + i));
		__m256i even = _mm256_add_epi16(here, between(near + i - 1, far + i - 1));
		__m256i odd = _mm256_add_epi16(here, between(near + i + 1, far + i + 1));
		even = _mm256_srli_epi16(_mm256_add_epi16(even, eight), 4);
		odd = _mm256_srli_epi16(_mm256_add_epi16(odd, seven), 4);
		store_both(even, odd, out);
	}
}

/* The colours of 16 pixels, in 16 bits. */
struct colours {
	__m256i red, green, blue;
};

/*
 * The factors are those of colour.h, less whole numbers, so that they fit into 16 bits:
 * red is Y + Cr + 26345 / 65536 Cr, green Y - Cr + (18734 Cr - 22554 Cb) / 65536, blue
 * Y + 2 Cb - 14942 / 65536 Cb. vpmulhw rounds down: 2 Cr are multiplied, and halved after
 * 1 was added. vpmulhrsw divides by 32768, to the nearest.
 */
inline_avx2 struct colours convert(const uint8_t *y, const uint8_t *cb, const uint8_t *cr)
{
	const __m256i centre = _mm256_set1_epi16(128), one = _mm256_set1_epi16(1);
	const __m256i half = _mm256_set1_epi32(COLOUR_HALF);
	const __m256i green_factors =
		_mm256_set1_epi32((int)((18734u << 16) | (uint16_t)GREEN_CB));
	__m256i luma = widen(y);
	__m256i b = _mm256_sub_epi16(widen(cb), centre);
	__m256i r = _mm256_sub_epi16(widen(cr), centre);
	__m256i red =
		_mm256_mulhi_epi16(_mm256_add_epi16(r, r), _mm256_set1_epi16(26345));
	red = _mm256_add_epi16(_mm256_srai_epi16(_mm256_add_epi16(red, one), 1), r);
	__m256i low = _mm256_madd_epi16(_mm256_unpacklo_epi16(b, r), green_factors);
	__m256i high = _mm256_madd_epi16(_mm256_unpackhi_epi16(b, r), green_factors);
	low = _mm256_srai_epi32(_mm256_add_epi32(low, half), COLOUR_BITS);
	high = _mm256_srai_epi32(_mm256_add_epi32(high, half), COLOUR_BITS);
	__m256i green = _mm256_sub_epi16(_mm256_packs_epi32(low, high), r);
	__m256i blue = _mm256_mulhrs_epi16(b, _mm256_set1_epi16(-7471));
	blue = _mm256_add_epi16(blue, _mm256_add_epi16(b, b));
	return (struct colours){_mm256_add_epi16(luma, red),
		_mm256_add_epi16(luma, green), _mm256_add_epi16(luma, blue)};
}

/* 32 numbers as bytes, in order. */
inline_avx2 __m256i narrow(__m256i first, __m256i second)
{
	__m256i bytes = _mm256_packus_epi16(first, second);
	return _mm256_permute4x64_epi64(bytes, 0xd8);
}

/* Byte i of a third of 48: which pixel's, or none if it is another colour. */
#define PLACE(i, colour) (char)((i) % 3 == (colour) ? (i) / 3 : -1)
#define PLACES(at, c)                                                                    \
	PLACE(at, c), PLACE(at + 1, c), PLACE(at + 2, c), PLACE(at + 3, c),              \
		PLACE(at + 4, c), PLACE(at + 5, c), PLACE(at + 6, c), PLACE(at + 7, c),  \
		PLACE(at + 8, c), PLACE(at + 9, c), PLACE(at + 10, c),                   \
		PLACE(at + 11, c), PLACE(at + 12, c), PLACE(at + 13, c),                 \
		PLACE(at + 14, c), PLACE(at + 15, c)
#define BOTH_PLACES(at, c) _mm256_setr_epi8(PLACES(at, c), PLACES(at, c))

inline_avx2 __m256i merge(__m256i red, __m256i green, __m256i blue, __m256i red_places,
	__m256i green_places, __m256i blue_places)
{
	return _mm256_or_si256(_mm256_shuffle_epi8(blue, blue_places),
		_mm256_or_si256(_mm256_shuffle_epi8(red, red_places),
			_mm256_shuffle_epi8(green, green_places)));
}

/* 32 pixels; each vector of them has 16 bytes of the first 16 and 16 of the others. */
inline_avx2 void store_rgb(__m256i red, __m256i green, __m256i blue, uint8_t *out)
{
	__m256i a = merge(red, green, blue, BOTH_PLACES(0, 0), BOTH_PLACES(0, 1),
		BOTH_PLACES(0, 2));
	__m256i b = merge(red, green, blue, BOTH_PLACES(16, 0), BOTH_PLACES(16, 1),
		BOTH_PLACES(16, 2));
	__m256i c = merge(red, green, blue, BOTH_PLACES(32, 0), BOTH_PLACES(32, 1),
		BOTH_PLACES(32, 2));
	__m256i *to = (__m256i *)out;
	_mm256_storeu_si256(to, _mm256_permute2x128_si256(a, b, 0x20));
	_mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(c, a, 0x30));
	_mm256_storeu_si256(to + 2, _mm256_permute2x128_si256(b, c, 0x31));
}

inline_avx2 void rgb_step(
	const uint8_t *y, const uint8_t *cb, const uint8_t *cr, uint8_t *out)
{
	struct colours a = convert(y, cb, cr);
	struct colours b = convert(y + 16, cb + 16, cr + 16);
	store_rgb(narrow(a.red, b.red), narrow(a.green, b.green), narrow(a.blue, b.blue),
		out);
}

avx2 void rgb_avx2(
	const uint8_t *y, const uint8_t *cb, const uint8_t *cr, uint32_t n, uint8_t *out)
{
	uint32_t i = 0;
	for (; i + STEP <= n; i += STEP)
		rgb_step(y + i, cb + i, cr + i, out + (size_t)i * 3);
	if (i < n) {
		uint8_t rest[STEP * 3];
		rgb_step(y + i, cb + i, cr + i, rest);
		memcpy(out + (size_t)i * 3, rest, (size_t)(n - i) * 3);
	}
}

avx2 void gray_avx2(const uint8_t *y, uint32_t n, uint8_t *out)
{
	uint32_t i = 0;
	for (; i + STEP <= n; i += STEP) {
		__m256i gray = _mm256_loadu_si256((const __m256i *)(y + i));
		store_rgb(gray, gray, gray, out + (size_t)i * 3);
	}
	colour_gray(y + i, n - i, out + (size_t)i * 3);
}

#endif
