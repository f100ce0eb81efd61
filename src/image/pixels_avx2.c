// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/pixels.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>
#include <string.h>

#define AVX2 __attribute__((target("avx2,fma,f16c")))

#define BLOCK 16       /* bytes of a vector */
#define BLOCK_PIXELS 5 /* whole RGB pixels in a block */
#define EIGHT 8	       /* numbers computed at once */

/*
 * Mirrors five pixels at a time. x is a 16th byte, of another pixel; the next store overwrites it.
 *
 *   in   | p0 p1 p2 p3 p4 x |        out  | x p4 p3 p2 p1 p0 |
 */
AVX2 static void mirror(const uint8_t *in, size_t width, uint8_t *out)
{
	const __m128i order =
		_mm_setr_epi8(15, 12, 13, 14, 9, 10, 11, 6, 7, 8, 3, 4, 5, 0, 1, 2);
	size_t x = 0;
	for (; x + BLOCK_PIXELS < width; x += BLOCK_PIXELS) {
		__m128i pixels = _mm_loadu_si128((const void *)(in + x * 3));
		uint8_t *end = out + (width - x) * 3;
		_mm_storeu_si128((void *)(end - BLOCK), _mm_shuffle_epi8(pixels, order));
	}
	pixels_plain.mirror(in + x * 3, width - x, out);
}

/* Byte i of order[k] in gather(), for channel c: the index in block k of the byte for channel c of
 * pixel i, or -1 if another block has this byte. */
#define PLACE(i, k, c)                                                                   \
	(char)((3 * (i) + (c)) / BLOCK == (k) ? (3 * (i) + (c)) % BLOCK : -1)
#define FOUR(i, k, c)                                                                    \
	PLACE(i, k, c), PLACE(i + 1, k, c), PLACE(i + 2, k, c), PLACE(i + 3, k, c)
#define ORDER(k, c)                                                                      \
	_mm_setr_epi8(FOUR(0, k, c), FOUR(4, k, c), FOUR(8, k, c), FOUR(12, k, c))

/* Gathers a channel of 16 RGB pixels, which are in three blocks. order[i]: a byte shuffle that
 * moves the bytes of this channel from block[i] to the indexes of their pixels. */
AVX2 static inline __m128i gather(const __m128i block[3], const __m128i order[3])
{
	return _mm_or_si128(_mm_or_si128(_mm_shuffle_epi8(block[0], order[0]),
				    _mm_shuffle_epi8(block[1], order[1])),
		_mm_shuffle_epi8(block[2], order[2]));
}

AVX2 static void split(const uint8_t *in, size_t width, uint8_t *const out[3])
{
	const __m128i red[3] = {ORDER(0, 0), ORDER(1, 0), ORDER(2, 0)};
	const __m128i green[3] = {ORDER(0, 1), ORDER(1, 1), ORDER(2, 1)};
	const __m128i blue[3] = {ORDER(0, 2), ORDER(1, 2), ORDER(2, 2)};
	size_t x = 0;
	for (; x + BLOCK <= width; x += BLOCK) {
		const __m128i *at = (const __m128i *)(const void *)(in + x * 3);
		const __m128i block[3] = {_mm_loadu_si128(at), _mm_loadu_si128(at + 1),
			_mm_loadu_si128(at + 2)};
		_mm_storeu_si128((void *)(out[0] + x), gather(block, red));
		_mm_storeu_si128((void *)(out[1] + x), gather(block, green));
		_mm_storeu_si128((void *)(out[2] + x), gather(block, blue));
	}
	pixels_plain.split(in + x * 3, width - x,
		(uint8_t *const[3]){out[0] + x, out[1] + x, out[2] + x});
}

/* Multiplies by the rounded reciprocal of 255, then corrects the result by the remainder, which a
 * fused multiply-add computes exactly. All 256 quotients are correctly rounded. */
AVX2 static inline __m256 divide_by_255(__m256 x)
{
	const __m256 reciprocal = _mm256_set1_ps(1.0f / 255.0f);
	__m256 quotient = _mm256_mul_ps(x, reciprocal);
	__m256 remainder = _mm256_fnmadd_ps(quotient, _mm256_set1_ps(255.0f), x);
	return _mm256_fmadd_ps(remainder, reciprocal, quotient);
}

/* Converts eight bytes to floats, and normalizes them. k: index of the first number's mean and
 * deviation in the tables of `scale`. */
AVX2 static inline __m256 scale_eight(
	__m128i bytes, const struct pixels_scale *scale, size_t k)
{
	__m256 number = divide_by_255(_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes)));
	if (scale->identity)
		return number;
	return _mm256_div_ps(_mm256_sub_ps(number, _mm256_loadu_ps(scale->mean + k)),
		_mm256_loadu_ps(scale->deviation + k));
}

static inline size_t next_in_period(size_t k)
{
	return k + EIGHT == PIXELS_PERIOD ? 0 : k + EIGHT;
}

AVX2 static inline __m128i load_eight(const uint8_t *in)
{
	return _mm_loadl_epi64((const void *)in);
}

AVX2 static inline __m128i load_rest(const uint8_t *in, size_t n)
{
	uint8_t rest[EIGHT] = {0};
	memcpy(rest, in, n);
	return load_eight(rest);
}

AVX2 static void to_float32(
	const uint8_t *in, size_t n, const struct pixels_scale *scale, float *out)
{
	float rest[EIGHT];
	size_t i = 0, k = 0;
	for (; i + EIGHT <= n; i += EIGHT, k = next_in_period(k))
		_mm256_storeu_ps(out + i, scale_eight(load_eight(in + i), scale, k));
	if (i == n)
		return;
	_mm256_storeu_ps(rest, scale_eight(load_rest(in + i, n - i), scale, k));
	memcpy(out + i, rest, (n - i) * sizeof(rest[0]));
}

AVX2 static inline __m128i half_of(__m256 numbers)
{
	return _mm256_cvtps_ph(numbers, _MM_FROUND_TO_NEAREST_INT);
}

AVX2 static void to_float16(
	const uint8_t *in, size_t n, const struct pixels_scale *scale, uint16_t *out)
{
	uint16_t rest[EIGHT];
	size_t i = 0, k = 0;
	for (; i + EIGHT <= n; i += EIGHT, k = next_in_period(k))
		_mm_storeu_si128((void *)(out + i),
			half_of(scale_eight(load_eight(in + i), scale, k)));
	if (i == n)
		return;
	_mm_storeu_si128(
		(void *)rest, half_of(scale_eight(load_rest(in + i, n - i), scale, k)));
	memcpy(out + i, rest, (n - i) * sizeof(rest[0]));
}

static const struct pixels functions = {mirror, split, to_float32, to_float16};

/* Asks the processor directly, because clang 14 does not know the name "f16c". */
static bool has_f16c(void)
{
	unsigned a, b, c, d;
	return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

const struct pixels *pixels_avx2(void)
{
	/* a lock is not needed, because each thread would compute the same value */
	static int known;
	int has = __atomic_load_n(&known, __ATOMIC_RELAXED);
	if (!has) {
		bool all = __builtin_cpu_supports("avx2") &&
			   __builtin_cpu_supports("fma") && has_f16c();
		has = all ? 1 : -1;
		__atomic_store_n(&known, has, __ATOMIC_RELAXED);
	}
	return has > 0 ? &functions : NULL;
}

#else

const struct pixels *pixels_avx2(void)
{
	return NULL;
}

#endif
