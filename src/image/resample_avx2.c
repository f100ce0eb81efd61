// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#if defined(__x86_64__)

#include "image/resample_internal.h"

#include <immintrin.h>
#include <string.h>

/* Computes eight sums at a time. vpmaddwd multiplies sixteen 16-bit numbers by weights and adds
 * neighbouring products. Products with the low and with the high parts of weights are summed up
 * separately, modulo 2^32, and added at the end. The result fits into 32 bits, so it is exact. The
 * horizontal pass computes four pixels of two rows at once: a 128-bit lane per row. */

#define avx2 __attribute__((target("avx2")))
#define inline_avx2 static inline __attribute__((always_inline)) avx2

#define CHANNELS 3    /* of RGB */
#define LOAD_BYTES 16 /* bytes of a load; RGB rows use only its first TAPS_GROUP pixels */
#define STEP 4	      /* output pixels that are computed at once */

inline_avx2 __m256i sum_up(__m256i low, __m256i high)
{
	__m256i sum = _mm256_add_epi32(low, _mm256_slli_epi32(high, LOW_BITS));
	return _mm256_srai_epi32(sum, PRECISION_BITS);
}

inline_avx2 __m256i load_rows(const uint8_t *row, const uint8_t *next)
{
	__m128i a = _mm_loadu_si128((const __m128i *)row);
	__m128i b = _mm_loadu_si128((const __m128i *)next);
	return _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
}

/* Indexes for a byte shuffle of two RGB pixels, which begin at byte `at`. The shuffle expands
 * channels to 16 bits, and puts both reds side by side, then both greens, then both blues. */
#define PAIR(at) at, -1, at + 3, -1, at + 1, -1, at + 4, -1, at + 2, -1, at + 5, -1

/* Computes a pixel of each row. Each lane has red, green, blue and an unused 32-bit number. */
inline_avx2 __m256i pixel(const struct weight_pair *pairs, uint32_t groups,
	const uint8_t *row, const uint8_t *next)
{
	const __m256i first =
		_mm256_setr_epi8(PAIR(0), -1, -1, -1, -1, PAIR(0), -1, -1, -1, -1);
	const __m256i second =
		_mm256_setr_epi8(PAIR(6), -1, -1, -1, -1, PAIR(6), -1, -1, -1, -1);
	__m256i low = _mm256_set1_epi32(HALF), high = _mm256_setzero_si256();
	for (uint32_t i = 0; i < groups; i++) {
		size_t at = (size_t)i * TAPS_GROUP * CHANNELS;
		__m256i bytes = load_rows(row + at, next + at);
		__m256i a = _mm256_shuffle_epi8(bytes, first);
		__m256i b = _mm256_shuffle_epi8(bytes, second);
		__m256i low_a = _mm256_set1_epi32((int)pairs[0].low);
		__m256i low_b = _mm256_set1_epi32((int)pairs[1].low);
		__m256i high_a = _mm256_set1_epi32((int)pairs[0].high);
		__m256i high_b = _mm256_set1_epi32((int)pairs[1].high);
		low = _mm256_add_epi32(low, _mm256_madd_epi16(a, low_a));
		high = _mm256_add_epi32(high, _mm256_madd_epi16(a, high_a));
		low = _mm256_add_epi32(low, _mm256_madd_epi16(b, low_b));
		high = _mm256_add_epi32(high, _mm256_madd_epi16(b, high_b));
		pairs += 2;
	}
	return sum_up(low, high);
}

/* Packs four pixels of two rows: each lane gets the twelve bytes of one row. */
inline_avx2 __m256i pack_pixels(const __m256i *pixels)
{
	const __m256i order = _mm256_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1,
		-1, -1, -1, 0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
	__m256i a = _mm256_packs_epi32(pixels[0], pixels[1]);
	__m256i b = _mm256_packs_epi32(pixels[2], pixels[3]);
	return _mm256_shuffle_epi8(_mm256_packus_epi16(a, b), order);
}

inline_avx2 void store(__m256i packed, uint8_t *row, uint8_t *next)
{
	_mm_storeu_si128((__m128i *)row, _mm256_castsi256_si128(packed));
	_mm_storeu_si128((__m128i *)next, _mm256_extracti128_si256(packed, 1));
}

/* in[0] and in[1] point to column `source` of the image. */
struct two_rows {
	const uint8_t *in[2];
	uint8_t *out[2];
	uint32_t source;
};

inline_avx2 __m256i pixel_at(const struct kernel *kernel, size_t x, uint32_t groups,
	const struct two_rows *rows)
{
	size_t from = (size_t)(kernel->taps[x].first - rows->source) * CHANNELS;
	return pixel(kernel->pairs + x * (kernel->width / 2), groups, rows->in[0] + from,
		rows->in[1] + from);
}

/* Computes the last pixels of two rows one by one: a store of STEP pixels writes 16 bytes, so it
 * could write beyond the end of the row. */
avx2 static void finish_rows(const struct kernel *kernel, struct crop_axis columns,
	uint32_t done, const struct two_rows *rows)
{
	uint32_t groups = (uint32_t)(kernel->width / TAPS_GROUP);
	for (uint32_t x = done; x < columns.length; x++) {
		size_t at = (size_t)x * CHANNELS;
		uint8_t bytes[2][LOAD_BYTES];
		__m256i pixels[STEP] = {
			pixel_at(kernel, (size_t)columns.first + x, groups, rows)};
		store(pack_pixels(pixels), bytes[0], bytes[1]);
		memcpy(rows->out[0] + at, bytes[0], CHANNELS);
		memcpy(rows->out[1] + at, bytes[1], CHANNELS);
	}
}

/* Computes pixels of two rows. groups: number of groups of taps per pixel. If there is one group,
 * the caller passes the constant 1, so that the compiler makes a faster copy of this function. Each
 * store writes 16 bytes, of which 12 are pixels; the next store overwrites the last 4. */
inline_avx2 void compute_rows(const struct kernel *kernel, struct crop_axis columns,
	uint32_t groups, const struct two_rows *rows)
{
	uint32_t x = 0;
	for (; x + 2 * STEP <= columns.length; x += STEP) {
		size_t first = (size_t)columns.first + x, at = (size_t)x * CHANNELS;
		const __m256i pixels[STEP] = {
			pixel_at(kernel, first, groups, rows),
			pixel_at(kernel, first + 1, groups, rows),
			pixel_at(kernel, first + 2, groups, rows),
			pixel_at(kernel, first + 3, groups, rows),
		};
		store(pack_pixels(pixels), rows->out[0] + at, rows->out[1] + at);
	}
	finish_rows(kernel, columns, x, rows);
}

avx2 static void compute_two_rows(const struct kernel *kernel, struct crop_axis columns,
	const struct two_rows *rows)
{
	if (kernel->width == TAPS_GROUP)
		compute_rows(kernel, columns, 1, rows);
	else
		compute_rows(
			kernel, columns, (uint32_t)(kernel->width / TAPS_GROUP), rows);
}

/* Returns the number of rows whose loads stay within the memory of the image; plain C computes the
 * others. Loads also read the pixels for the zero weights of a group, and up to LOAD_BYTES bytes
 * after these. */
static uint32_t roomy_rows(const struct kernel *kernel, const struct rows *in)
{
	size_t end = (in->length - 1) * in->stride;
	size_t behind = kernel->width * in->channels + LOAD_BYTES;
	return end < behind ? 0 : (uint32_t)((end - behind) / in->stride) + 1;
}

/* Computes one gray pixel. `order` repeats each pair of input pixels, because a struct weight_pair
 * has the low parts of both weights, then their high parts. */
inline_avx2 int32_t gray_pixel(
	const struct weight_pair *pairs, uint32_t groups, const uint8_t *in)
{
	const __m128i order =
		_mm_setr_epi8(0, -1, 1, -1, 0, -1, 1, -1, 2, -1, 3, -1, 2, -1, 3, -1);
	__m128i sums = _mm_setzero_si128();
	for (uint32_t i = 0; i < groups; i++, pairs += 2, in += TAPS_GROUP) {
		int32_t four;
		memcpy(&four, in, sizeof(four));
		__m128i pixels = _mm_shuffle_epi8(_mm_cvtsi32_si128(four), order);
		__m128i weights = _mm_loadu_si128((const void *)pairs);
		sums = _mm_add_epi32(sums, _mm_madd_epi16(pixels, weights));
	}
	sums = _mm_add_epi32(sums, _mm_unpackhi_epi64(sums, sums));
	uint32_t low = (uint32_t)_mm_cvtsi128_si32(sums);
	uint32_t high = (uint32_t)_mm_extract_epi32(sums, 1);
	return (int32_t)(HALF + low + (high << LOW_BITS)) >> PRECISION_BITS;
}

avx2 static void gray_row(const struct kernel *kernel, struct crop_axis columns,
	uint32_t source, const uint8_t *in, uint8_t *out)
{
	uint32_t groups = (uint32_t)(kernel->width / TAPS_GROUP);
	for (uint32_t x = 0; x < columns.length; x++) {
		size_t index = (size_t)columns.first + x;
		int32_t value = gray_pixel(kernel->pairs + index * (kernel->width / 2),
			groups, in + (kernel->taps[index].first - source));
		out[x] = value < 0 ? 0 : value > 255 ? 255 : (uint8_t)value;
	}
}

void resample_horizontal_avx2(const struct kernel *kernel, struct crop_axis columns,
	uint32_t source, const struct rows *in, uint8_t *out, size_t stride)
{
	uint32_t roomy = in->channels == 2 ? 0 : roomy_rows(kernel, in), y = 0;
	for (; in->channels == CHANNELS && y + 2 <= roomy; y += 2) {
		const uint8_t *row = in->data + y * in->stride;
		uint8_t *to = out + y * stride;
		const struct two_rows rows = {
			{row, row + in->stride}, {to, to + stride}, source};
		compute_two_rows(kernel, columns, &rows);
	}
	for (; in->channels != CHANNELS && y < roomy; y++)
		(in->channels == 1 ? gray_row : resample_row_four_avx2)(kernel, columns,
			source, in->data + y * in->stride, out + y * stride);
	struct rows rest = *in;
	rest.data += y * in->stride;
	rest.length -= y;
	resample_horizontal_plain(
		kernel, columns, source, &rest, out + y * stride, stride);
}

/* Computes sixteen bytes of an output row. */
inline_avx2 void column(const struct weight_pair *pairs, uint32_t count,
	const uint8_t *in, size_t stride, uint8_t *out)
{
	__m256i low_a = _mm256_set1_epi32(HALF), low_b = low_a;
	__m256i high_a = _mm256_setzero_si256(), high_b = high_a;
	for (uint32_t i = 0; i < count; i += 2, pairs++, in += 2 * stride) {
		/* the second weight is 0 if the last row is loaded twice */
		const uint8_t *next = i + 1 < count ? in + stride : in;
		__m128i row = _mm_loadu_si128((const __m128i *)in);
		__m128i below = _mm_loadu_si128((const __m128i *)next);
		__m256i a = _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(row, below));
		__m256i b = _mm256_cvtepu8_epi16(_mm_unpackhi_epi8(row, below));
		__m256i low = _mm256_set1_epi32((int)pairs->low);
		__m256i high = _mm256_set1_epi32((int)pairs->high);
		low_a = _mm256_add_epi32(low_a, _mm256_madd_epi16(a, low));
		low_b = _mm256_add_epi32(low_b, _mm256_madd_epi16(b, low));
		high_a = _mm256_add_epi32(high_a, _mm256_madd_epi16(a, high));
		high_b = _mm256_add_epi32(high_b, _mm256_madd_epi16(b, high));
	}
	__m256i words = _mm256_packs_epi32(sum_up(low_a, high_a), sum_up(low_b, high_b));
	words = _mm256_permute4x64_epi64(words, _MM_SHUFFLE(3, 1, 2, 0));
	__m128i bytes = _mm_packus_epi16(
		_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
	_mm_storeu_si128((__m128i *)out, bytes);
}

avx2 static void output_row(const struct weight_pair *pairs, uint32_t count,
	const struct rows *in, size_t from, uint8_t *out)
{
	const uint8_t *data = in->data + from * in->stride;
	size_t last = in->bytes - LOAD_BYTES;
	for (size_t x = 0; x < last; x += LOAD_BYTES)
		column(pairs, count, data + x, in->stride, out + x);
	column(pairs, count, data + last, in->stride, out + last);
}

void resample_vertical_avx2(const struct kernel *kernel, struct crop_axis rows,
	uint32_t source, const struct rows *in, uint8_t *out, size_t stride)
{
	if (in->bytes < LOAD_BYTES) {
		resample_vertical_plain(kernel, rows, source, in, out, stride);
		return;
	}
	for (uint32_t y = 0; y < rows.length; y++) {
		size_t index = (size_t)rows.first + y;
		const struct taps *taps = &kernel->taps[index];
		output_row(kernel->pairs + index * (kernel->width / 2), taps->count, in,
			taps->first - source, out + y * stride);
	}
}

#endif
