// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#if defined(__x86_64__)

#include "image/resample_internal.h"

#include <immintrin.h>
#include <string.h>

/* Computes a pixel of four channels at a time from four input pixels, two per half of a vector. */

#define avx2 __attribute__((target("avx2")))
#define LOAD_BYTES 16 /* bytes of one load: TAPS_GROUP pixels */

/* Indexes for a byte shuffle of two pixels, which begin at byte `at`. The shuffle expands channels
 * to 16 bits, and puts equal channels of both pixels side by side. */
#define PAIR(at)                                                                         \
	at, -1, at + 4, -1, at + 1, -1, at + 5, -1, at + 2, -1, at + 6, -1, at + 3, -1,  \
		at + 7, -1

avx2 static __m256i broadcast(__m128i four, int first, int second)
{
	const __m256i order = _mm256_setr_epi32(
		first, first, first, first, second, second, second, second);
	return _mm256_permutevar8x32_epi32(_mm256_castsi128_si256(four), order);
}

avx2 static void output_pixel(
	const struct weight_pair *pairs, uint32_t groups, const uint8_t *in, uint8_t *out)
{
	const __m256i order = _mm256_setr_epi8(PAIR(0), PAIR(8));
	__m256i low = _mm256_setzero_si256(), high = low;
	for (uint32_t i = 0; i < groups; i++, pairs += 2, in += LOAD_BYTES) {
		__m128i four = _mm_loadu_si128((const void *)in);
		__m128i weights = _mm_loadu_si128((const void *)pairs);
		__m256i taps =
			_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(four), order);
		low = _mm256_add_epi32(
			low, _mm256_madd_epi16(taps, broadcast(weights, 0, 2)));
		high = _mm256_add_epi32(
			high, _mm256_madd_epi16(taps, broadcast(weights, 1, 3)));
	}
	__m256i sums = _mm256_add_epi32(low, _mm256_slli_epi32(high, LOW_BITS));
	__m128i sum = _mm_add_epi32(
		_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
	sum = _mm_srai_epi32(_mm_add_epi32(sum, _mm_set1_epi32(HALF)), PRECISION_BITS);
	sum = _mm_packus_epi16(_mm_packs_epi32(sum, sum), sum);
	int32_t pixel = _mm_cvtsi128_si32(sum);
	memcpy(out, &pixel, sizeof(pixel));
}

avx2 void resample_row_four_avx2(const struct kernel *kernel, struct crop_axis columns,
	uint32_t source, const uint8_t *in, uint8_t *out)
{
	uint32_t groups = (uint32_t)(kernel->width / TAPS_GROUP);
	for (uint32_t x = 0; x < columns.length; x++) {
		size_t index = (size_t)columns.first + x;
		output_pixel(kernel->pairs + index * (kernel->width / 2), groups,
			in + (size_t)(kernel->taps[index].first - source) * 4,
			out + (size_t)x * 4);
	}
}

#endif
