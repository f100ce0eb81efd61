// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#if defined(__x86_64__)

#include "image/baseline/avx2.h"

#include <immintrin.h>

/* Transforms two blocks at once, one per 128-bit lane, by the same sums as idct.c. The blocks are
 * in eight vectors of 16-bit numbers, one vector per row. A pass transforms all columns at once. */

#define LAST_BITS (FRACTION + BETWEEN + 3)

/* Factors for vpmaddwd: if the other vector has the numbers x, y, x, y ..., the result has the sums
 * a * x + b * y. */
#define FACTORS(a, b)                                                                    \
	_mm256_set1_epi32((int)((uint32_t)(uint16_t)(a) | (uint32_t)(b) << 16))

struct block {
	__m256i rows[BLOCK];
};

/* One half of the columns of both blocks: columns 0 to 3, or columns 4 to 7. Each vector
 * interleaves two rows; x04 has the rows 0 and 4. */
struct halves {
	__m256i x04, x26, x17, x35;
};

inline_avx2 __m256i add(__m256i a, __m256i b)
{
	return _mm256_add_epi32(a, b);
}

inline_avx2 __m256i subtract(__m256i a, __m256i b)
{
	return _mm256_sub_epi32(a, b);
}

/* Returns a * x + b * y + c * z + d * w. xy interleaves x and y, ab a and b, and so on. */
inline_avx2 __m256i sum(__m256i xy, __m256i ab, __m256i zw, __m256i cd)
{
	return add(_mm256_madd_epi16(xy, ab), _mm256_madd_epi16(zw, cd));
}

/* Transforms the columns `in`. Adds `added` to each of the eight result vectors, then drops `bits`
 * fractional bits. */
inline_avx2 void transform_half(
	struct halves in, int bits, __m256i added, __m256i out[BLOCK])
{
	__m256i plus = add(_mm256_madd_epi16(in.x04, FACTORS(8192, 8192)), added);
	__m256i minus = add(_mm256_madd_epi16(in.x04, FACTORS(8192, -8192)), added);
	__m256i wide = _mm256_madd_epi16(in.x26, FACTORS(10703, 4433));
	__m256i narrow = _mm256_madd_epi16(in.x26, FACTORS(4433, -10704));
	__m256i odd0 = sum(in.x17, FACTORS(11363, 2260), in.x35, FACTORS(9633, 6437));
	__m256i odd1 = sum(in.x17, FACTORS(9633, -6436), in.x35, FACTORS(-2259, -11362));
	__m256i odd2 = sum(in.x17, FACTORS(6437, 9633), in.x35, FACTORS(-11362, 2261));
	__m256i odd3 = sum(in.x17, FACTORS(2260, -11363), in.x35, FACTORS(-6436, 9633));
	__m256i even0 = add(plus, wide), even1 = add(minus, narrow);
	__m256i even2 = subtract(minus, narrow), even3 = subtract(plus, wide);
	out[0] = _mm256_srai_epi32(add(even0, odd0), bits);
	out[1] = _mm256_srai_epi32(add(even1, odd1), bits);
	out[2] = _mm256_srai_epi32(add(even2, odd2), bits);
	out[3] = _mm256_srai_epi32(add(even3, odd3), bits);
	out[4] = _mm256_srai_epi32(subtract(even3, odd3), bits);
	out[5] = _mm256_srai_epi32(subtract(even2, odd2), bits);
	out[6] = _mm256_srai_epi32(subtract(even1, odd1), bits);
	out[7] = _mm256_srai_epi32(subtract(even0, odd0), bits);
}

/* Transforms all columns, drops `bits` fractional bits by rounding, and adds `more`. */
inline_avx2 void transform_pass(struct block *block, int bits, int more)
{
	const __m256i added = _mm256_set1_epi32((1 << (bits - 1)) + (more << bits));
	__m256i *x = block->rows;
	__m256i low[BLOCK], high[BLOCK];
	struct halves low_in = {
		_mm256_unpacklo_epi16(x[0], x[4]),
		_mm256_unpacklo_epi16(x[2], x[6]),
		_mm256_unpacklo_epi16(x[1], x[7]),
		_mm256_unpacklo_epi16(x[3], x[5]),
	};
	struct halves high_in = {
		_mm256_unpackhi_epi16(x[0], x[4]),
		_mm256_unpackhi_epi16(x[2], x[6]),
		_mm256_unpackhi_epi16(x[1], x[7]),
		_mm256_unpackhi_epi16(x[3], x[5]),
	};
	transform_half(low_in, bits, added, low);
	transform_half(high_in, bits, added, high);
	x[0] = _mm256_packs_epi32(low[0], high[0]);
	x[1] = _mm256_packs_epi32(low[1], high[1]);
	x[2] = _mm256_packs_epi32(low[2], high[2]);
	x[3] = _mm256_packs_epi32(low[3], high[3]);
	x[4] = _mm256_packs_epi32(low[4], high[4]);
	x[5] = _mm256_packs_epi32(low[5], high[5]);
	x[6] = _mm256_packs_epi32(low[6], high[6]);
	x[7] = _mm256_packs_epi32(low[7], high[7]);
}

/* Transposes the four rows a to d: out[i] gets columns 2i and 2i + 1. */
inline_avx2 void transpose_half(
	__m256i a, __m256i b, __m256i c, __m256i d, __m256i out[4])
{
	__m256i low_ab = _mm256_unpacklo_epi16(a, b),
		high_ab = _mm256_unpackhi_epi16(a, b);
	__m256i low_cd = _mm256_unpacklo_epi16(c, d),
		high_cd = _mm256_unpackhi_epi16(c, d);
	out[0] = _mm256_unpacklo_epi32(low_ab, low_cd);
	out[1] = _mm256_unpackhi_epi32(low_ab, low_cd);
	out[2] = _mm256_unpacklo_epi32(high_ab, high_cd);
	out[3] = _mm256_unpackhi_epi32(high_ab, high_cd);
}

inline_avx2 void transpose(struct block *block)
{
	__m256i *x = block->rows;
	__m256i top[4], bottom[4];
	transpose_half(x[0], x[1], x[2], x[3], top);
	transpose_half(x[4], x[5], x[6], x[7], bottom);
	x[0] = _mm256_unpacklo_epi64(top[0], bottom[0]);
	x[1] = _mm256_unpackhi_epi64(top[0], bottom[0]);
	x[2] = _mm256_unpacklo_epi64(top[1], bottom[1]);
	x[3] = _mm256_unpackhi_epi64(top[1], bottom[1]);
	x[4] = _mm256_unpacklo_epi64(top[2], bottom[2]);
	x[5] = _mm256_unpackhi_epi64(top[2], bottom[2]);
	x[6] = _mm256_unpacklo_epi64(top[3], bottom[3]);
	x[7] = _mm256_unpackhi_epi64(top[3], bottom[3]);
}

/* Packs samples, a column in each vector, into bytes. Each lane of out[i] gets rows 2i, 2i + 1. */
inline_avx2 void to_bytes(const struct block *block, __m256i out[4])
{
	const __m256i *x = block->rows;
	__m256i x04 = _mm256_packus_epi16(x[0], x[4]),
		x15 = _mm256_packus_epi16(x[1], x[5]);
	__m256i x26 = _mm256_packus_epi16(x[2], x[6]),
		x37 = _mm256_packus_epi16(x[3], x[7]);
	__m256i x01 = _mm256_unpacklo_epi8(x04, x15),
		x45 = _mm256_unpackhi_epi8(x04, x15);
	__m256i x23 = _mm256_unpacklo_epi8(x26, x37),
		x67 = _mm256_unpackhi_epi8(x26, x37);
	__m256i left_top = _mm256_unpacklo_epi16(x01, x23);
	__m256i left_bottom = _mm256_unpackhi_epi16(x01, x23);
	__m256i right_top = _mm256_unpacklo_epi16(x45, x67);
	__m256i right_bottom = _mm256_unpackhi_epi16(x45, x67);
	out[0] = _mm256_unpacklo_epi32(left_top, right_top);
	out[1] = _mm256_unpackhi_epi32(left_top, right_top);
	out[2] = _mm256_unpacklo_epi32(left_bottom, right_bottom);
	out[3] = _mm256_unpackhi_epi32(left_bottom, right_bottom);
}

inline_avx2 void store_two(__m128i rows, uint8_t *out, size_t stride)
{
	_mm_storel_epi64((__m128i *)out, rows);
	_mm_storeh_pd((double *)(void *)(out + stride), _mm_castsi128_pd(rows));
}

inline_avx2 void store_first(const __m256i bytes[4], uint8_t *out, size_t stride)
{
	store_two(_mm256_castsi256_si128(bytes[0]), out, stride);
	store_two(_mm256_castsi256_si128(bytes[1]), out + 2 * stride, stride);
	store_two(_mm256_castsi256_si128(bytes[2]), out + 4 * stride, stride);
	store_two(_mm256_castsi256_si128(bytes[3]), out + 6 * stride, stride);
}

inline_avx2 void store_second(const __m256i bytes[4], uint8_t *out, size_t stride)
{
	store_two(_mm256_extracti128_si256(bytes[0], 1), out, stride);
	store_two(_mm256_extracti128_si256(bytes[1], 1), out + 2 * stride, stride);
	store_two(_mm256_extracti128_si256(bytes[2], 1), out + 4 * stride, stride);
	store_two(_mm256_extracti128_si256(bytes[3], 1), out + 6 * stride, stride);
}

/* Returns the dequantised row i of both blocks. For each of its coefficients adds |coefficient|
 * times the coefficient's weight to *weight. */
inline_avx2 __m256i load_row(
	const struct pair *pair, const struct quant *quant, int i, __m256i *weight)
{
	const __m256i *factors = (const __m256i *)quant->factors;
	const __m256i *weights = (const __m256i *)quant->weights;
	__m256i row = ((const __m256i *)pair->coefficients)[i];
	*weight = add(*weight, _mm256_madd_epi16(_mm256_abs_epi16(row), weights[i]));
	return _mm256_mullo_epi16(row, factors[i]);
}

/* Dequantises both blocks. Returns true if a number of either block could overflow. */
inline_avx2 bool load(
	const struct pair *pair, const struct quant *quant, struct block *ret)
{
	__m256i weight = _mm256_setzero_si256();
	ret->rows[0] = load_row(pair, quant, 0, &weight);
	ret->rows[1] = load_row(pair, quant, 1, &weight);
	ret->rows[2] = load_row(pair, quant, 2, &weight);
	ret->rows[3] = load_row(pair, quant, 3, &weight);
	ret->rows[4] = load_row(pair, quant, 4, &weight);
	ret->rows[5] = load_row(pair, quant, 5, &weight);
	ret->rows[6] = load_row(pair, quant, 6, &weight);
	ret->rows[7] = load_row(pair, quant, 7, &weight);
	weight = add(weight, _mm256_shuffle_epi32(weight, 0x4e));
	weight = add(weight, _mm256_shuffle_epi32(weight, 0xb1));
	__m256i most = _mm256_set1_epi32(MAX_WEIGHT);
	return _mm256_movemask_epi8(_mm256_cmpgt_epi32(weight, most)) != 0;
}

inline_avx2 void clear(struct pair *pair)
{
	__m256i *rows = (__m256i *)pair->coefficients;
	const __m256i zero = _mm256_setzero_si256();
	rows[0] = rows[1] = rows[2] = rows[3] = zero;
	rows[4] = rows[5] = rows[6] = rows[7] = zero;
}

avx2 bool transform_avx2(struct pair *pair, const struct quant *quant, size_t stride)
{
	struct block block;
	__m256i bytes[4];
	if (__builtin_expect(load(pair, quant, &block), 0))
		return transform_checked(pair, quant, stride);
	clear(pair);
	transform_pass(&block, FRACTION - BETWEEN, 0);
	transpose(&block);
	transform_pass(&block, LAST_BITS, CENTRE);
	to_bytes(&block, bytes);
	store_first(bytes, pair->out[0], stride);
	if (pair->n == 2)
		store_second(bytes, pair->out[1], stride);
	pair->n = 0;
	return true;
}

#endif
