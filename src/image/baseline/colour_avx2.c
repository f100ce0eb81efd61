// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#if defined(__x86_64__)

#include "image/baseline/avx2.h"
#include "image/baseline/colour.h"

#include <immintrin.h>
#include <string.h>

/* Computes 32 pixels at a time, 16 per 128-bit lane. Even and odd pixels are in separate vectors of
 * 16-bit numbers, because upsampling makes them separately. */

#define STEP 32	     /* pixels that are computed at once */
#define STEP_WIDE 64 /* pixels computed at once if two pixels share a sample of chroma */

struct both {
	__m256i even, odd;
};

inline_avx2 struct both split(__m256i bytes)
{
	return (struct both){_mm256_and_si256(bytes, _mm256_set1_epi16(255)),
		_mm256_srli_epi16(bytes, 8)};
}

/* Puts, in each lane, the bytes of the even pixels before those of the odd pixels. */
inline_avx2 __m256i join(struct both numbers)
{
	return _mm256_packus_epi16(numbers.even, numbers.odd);
}

inline_avx2 __m256i load(const uint8_t *in)
{
	return _mm256_loadu_si256((const __m256i *)in);
}

inline_avx2 __m256i load_lanes(const uint8_t *first, const uint8_t *second)
{
	__m128i low = _mm_loadu_si128((const __m128i *)first);
	__m128i high = _mm_loadu_si128((const __m128i *)second);
	return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

/* The sums 3 * near + far for 32 samples, 16 per lane. In each lane, `first` has the sums for the
 * samples 0 to 7 of this lane, and `second` has the sums for its samples 8 to 15. */
struct sums {
	__m256i first, second;
};

inline_avx2 struct sums between(const uint8_t *near, const uint8_t *far)
{
	const __m256i factors = _mm256_set1_epi16(1 << 8 | 3);
	__m256i a = load(near), b = load(far);
	return (struct sums){_mm256_maddubs_epi16(_mm256_unpacklo_epi8(a, b), factors),
		_mm256_maddubs_epi16(_mm256_unpackhi_epi8(a, b), factors)};
}

/* Makes two samples from each sum in `here`. `before` has the left neighbours of these sums,
 * `behind` the right neighbours. `added` has added_even and added_odd of struct chroma, minus 16
 * times CHROMA_CENTRE. */
inline_avx2 struct both upsample(
	__m256i before, __m256i here, __m256i behind, struct both added)
{
	here = _mm256_add_epi16(here, _mm256_add_epi16(here, here));
	__m256i even = _mm256_add_epi16(_mm256_add_epi16(here, before), added.even);
	__m256i odd = _mm256_add_epi16(_mm256_add_epi16(here, behind), added.odd);
	return (struct both){_mm256_srai_epi16(even, 4), _mm256_srai_epi16(odd, 4)};
}

struct upsampled {
	struct both first, second; /* samples made from sums.first and sums.second */
};

inline_avx2 struct upsampled upsample_rows(
	const uint8_t *near, const uint8_t *far, struct both added)
{
	struct sums before = between(near - 1, far - 1);
	struct sums here = between(near, far);
	struct sums behind = between(near + 1, far + 1);
	return (struct upsampled){upsample(before.first, here.first, behind.first, added),
		upsample(before.second, here.second, behind.second, added)};
}

inline_avx2 struct both centre(struct both samples)
{
	const __m256i middle = _mm256_set1_epi16(CHROMA_CENTRE);
	return (struct both){_mm256_sub_epi16(samples.even, middle),
		_mm256_sub_epi16(samples.odd, middle)};
}

struct colours {
	__m256i red, green, blue;
};

/* Converts YCbCr to RGB as colour.h defines it, but with factors that fit into 16 bits. For this,
 * whole multiples of Y, Cb and Cr are added separately:
 *
 *   red = Y + Cr + 26345 / 65536 Cr
 *   green = Y - Cr + (18734 Cr - 22554 Cb) / 65536
 *   blue = Y + 2 Cb - 14942 / 65536 Cb
 *
 * vpmulhrsw multiplies, divides by 32768 and rounds to the nearest number. The code therefore uses
 * half of each factor: 7471 for 14942, and 13172 for 26345. 13172 is half of 26344, but the results
 * are the same for all Cr from -128 to 127. */
inline_avx2 struct colours convert(__m256i luma, __m256i b, __m256i r)
{
	const __m256i half = _mm256_set1_epi32(COLOUR_HALF);
	const __m256i green_factors =
		_mm256_set1_epi32((int)((18734u << 16) | (uint16_t)GREEN_CB));
	__m256i red = _mm256_mulhrs_epi16(r, _mm256_set1_epi16(13172));
	__m256i blue = _mm256_mulhrs_epi16(b, _mm256_set1_epi16(-7471));
	__m256i low = _mm256_madd_epi16(_mm256_unpacklo_epi16(b, r), green_factors);
	__m256i high = _mm256_madd_epi16(_mm256_unpackhi_epi16(b, r), green_factors);
	low = _mm256_srai_epi32(_mm256_add_epi32(low, half), COLOUR_BITS);
	high = _mm256_srai_epi32(_mm256_add_epi32(high, half), COLOUR_BITS);
	__m256i green = _mm256_packs_epi32(low, high);
	return (struct colours){
		_mm256_add_epi16(_mm256_add_epi16(luma, r), red),
		_mm256_add_epi16(_mm256_sub_epi16(luma, r), green),
		_mm256_add_epi16(_mm256_add_epi16(luma, blue), _mm256_add_epi16(b, b)),
	};
}

/* 16 pixels of RGB fill 48 bytes, which are three output vectors. A shuffle moves each byte of a
 * colour to the index that this byte has in its output vector. Then masks choose, for each byte of
 * each output vector, one of the three shuffled colours. One shuffle of a colour serves all three
 * output vectors, because at each index exactly one of them has this colour. */

/* PIXEL_AT is the pixel whose byte of colour c has the index i in its output vector. PLACE is the
 * index of this pixel in the shuffle's input, where the eight even pixels precede the odd ones. */
#define PIXEL_AT(i, c) ((((c) + 2 * (i)) % 3 * 16 + (i)) / 3)
#define PLACE(i, c) (char)(PIXEL_AT(i, c) / 2 + PIXEL_AT(i, c) % 2 * 8)
/* A byte of ones if byte i of vector v has colour c, otherwise 0. */
#define MASK(i, v, c) (char)(((v)*16 + (i)) % 3 == (c) ? -1 : 0)
#define SIXTEEN(f, ...)                                                                  \
	f(0, __VA_ARGS__), f(1, __VA_ARGS__), f(2, __VA_ARGS__), f(3, __VA_ARGS__),      \
		f(4, __VA_ARGS__), f(5, __VA_ARGS__), f(6, __VA_ARGS__),                 \
		f(7, __VA_ARGS__), f(8, __VA_ARGS__), f(9, __VA_ARGS__),                 \
		f(10, __VA_ARGS__), f(11, __VA_ARGS__), f(12, __VA_ARGS__),              \
		f(13, __VA_ARGS__), f(14, __VA_ARGS__), f(15, __VA_ARGS__)
#define PLACES(c) _mm256_setr_epi8(SIXTEEN(PLACE, c), SIXTEEN(PLACE, c))
#define MASKS(v, c) _mm256_setr_epi8(SIXTEEN(MASK, v, c), SIXTEEN(MASK, v, c))

inline_avx2 __m256i merge(struct colours shuffled, __m256i greens, __m256i blues)
{
	__m256i two = _mm256_blendv_epi8(shuffled.red, shuffled.green, greens);
	return _mm256_blendv_epi8(two, shuffled.blue, blues);
}

/* Writes 32 pixels of RGB. Those of the first lane begin at `out`, those of the second lane `apart`
 * bytes after `out`. */
inline_avx2 void store(struct colours from, uint8_t *out, size_t apart)
{
	struct colours shuffled = {
		_mm256_shuffle_epi8(from.red, PLACES(0)),
		_mm256_shuffle_epi8(from.green, PLACES(1)),
		_mm256_shuffle_epi8(from.blue, PLACES(2)),
	};
	__m256i a = merge(shuffled, MASKS(0, 1), MASKS(0, 2));
	__m256i b = merge(shuffled, MASKS(1, 1), MASKS(1, 2));
	__m256i c = merge(shuffled, MASKS(2, 1), MASKS(2, 2));
	__m128i *first = (__m128i *)out, *second = (__m128i *)(out + apart);
	_mm_storeu_si128(first, _mm256_castsi256_si128(a));
	_mm_storeu_si128(first + 1, _mm256_castsi256_si128(b));
	_mm_storeu_si128(first + 2, _mm256_castsi256_si128(c));
	_mm_storeu_si128(second, _mm256_extracti128_si256(a, 1));
	_mm_storeu_si128(second + 1, _mm256_extracti128_si256(b, 1));
	_mm_storeu_si128(second + 2, _mm256_extracti128_si256(c, 1));
}

inline_avx2 void convert_and_store(
	__m256i y, struct both b, struct both r, uint8_t *out, size_t apart)
{
	struct both luma = split(y);
	struct colours even = convert(luma.even, b.even, r.even);
	struct colours odd = convert(luma.odd, b.odd, r.odd);
	struct colours joined = {
		join((struct both){even.red, odd.red}),
		join((struct both){even.green, odd.green}),
		join((struct both){even.blue, odd.blue}),
	};
	store(joined, out, apart);
}

inline_avx2 void step(
	const uint8_t *y, const uint8_t *cb, const uint8_t *cr, uint8_t *out)
{
	convert_and_store(
		load(y), centre(split(load(cb))), centre(split(load(cr))), out, 48);
}

avx2 void rgb_avx2(
	const uint8_t *y, const uint8_t *cb, const uint8_t *cr, uint32_t n, uint8_t *out)
{
	uint32_t i = 0;
	for (; i + STEP <= n; i += STEP)
		step(y + i, cb + i, cr + i, out + (size_t)i * 3);
	if (i < n) {
		uint8_t rest[STEP * 3];
		step(y + i, cb + i, cr + i, rest);
		memcpy(out + (size_t)i * 3, rest, (size_t)(n - i) * 3);
	}
}

inline_avx2 void step_wide(const uint8_t *y, const struct chroma *chroma, uint32_t at,
	struct both added, uint8_t *out)
{
	struct upsampled cb =
		upsample_rows(chroma->near[0] + at, chroma->far[0] + at, added);
	struct upsampled cr =
		upsample_rows(chroma->near[1] + at, chroma->far[1] + at, added);
	convert_and_store(load_lanes(y, y + 32), cb.first, cr.first, out, 96);
	convert_and_store(load_lanes(y + 16, y + 48), cb.second, cr.second, out + 48, 96);
}

avx2 void rgb_wide_avx2(
	const uint8_t *y, const struct chroma *chroma, uint32_t n, uint8_t *out)
{
	/* a copy, so that the compiler knows that stores to `out` don't change it */
	struct chroma rows = *chroma;
	struct both added = {
		_mm256_set1_epi16((short)(rows.added_even - CHROMA_CENTRE * 16)),
		_mm256_set1_epi16((short)(rows.added_odd - CHROMA_CENTRE * 16))};
	uint32_t i = 0;
	for (; i + STEP_WIDE <= n; i += STEP_WIDE)
		step_wide(y + i, &rows, i / 2, added, out + (size_t)i * 3);
	if (i < n) {
		uint8_t rest[STEP_WIDE * 3];
		step_wide(y + i, &rows, i / 2, added, rest);
		memcpy(out + (size_t)i * 3, rest, (size_t)(n - i) * 3);
	}
}

avx2 void gray_avx2(const uint8_t *y, uint32_t n, uint8_t *out)
{
	uint32_t i = 0;
	for (; i + STEP <= n; i += STEP) {
		__m256i gray = join(split(load(y + i)));
		store((struct colours){gray, gray, gray}, out + (size_t)i * 3, 48);
	}
	colour_gray(y + i, n - i, out + (size_t)i * 3);
}

#endif
