// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "image/pixels.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* Rows of pixels: each function does what its comment says, and AVX2 gives the same bytes as plain
 * code. */

#define MAX_WIDTH 120
#define GUARD 0xa5

static const struct normalize_config none;
static const struct normalize_config imagenet = {
	.given = true, .mean = {0.485, 0.456, 0.406}, .deviation = {0.229, 0.224, 0.225}};
static const struct normalize_config odd = {
	.given = true, .mean = {-3.25, 0, 1e-9}, .deviation = {1e-3, 7, 255}};

static uint8_t input[MAX_WIDTH * 3];

static void random_input(struct rng *rng)
{
	for (size_t i = 0; i < sizeof(input); i++)
		input[i] = (uint8_t)rng_next(rng);
}

static void all_bytes(uint8_t ret[256])
{
	for (int i = 0; i < 256; i++)
		ret[i] = (uint8_t)i;
}

Test(pixels, mirrored_pixels_come_in_the_reverse_order)
{
	uint8_t out[15];
	pixels_plain.mirror((const uint8_t *)"rgbRGBxyzXYZ123", 5, out);
	cr_assert_eq(memcmp(out, "123XYZxyzRGBrgb", 15), 0);
}

Test(pixels, split_pixels_are_three_planes)
{
	uint8_t red[2], green[2], blue[2];
	pixels_plain.split(
		(const uint8_t *)"rgbRGB", 2, (uint8_t *const[3]){red, green, blue});
	cr_assert_eq(memcmp(red, "rR", 2), 0);
	cr_assert_eq(memcmp(green, "gG", 2), 0);
	cr_assert_eq(memcmp(blue, "bB", 2), 0);
}

/* The function must not change output bytes that are not its own. */
static void compare_bytes(const struct pixels *fast, size_t width)
{
	uint8_t a[MAX_WIDTH * 3 + 64], b[MAX_WIDTH * 3 + 64];
	size_t part = width + 7;
	for (int mirror = 0; mirror < 2; mirror++) {
		memset(a, GUARD, sizeof(a));
		memset(b, GUARD, sizeof(b));
		if (mirror) {
			pixels_plain.mirror(input, width, a + 16);
			fast->mirror(input, width, b + 16);
		} else {
			pixels_plain.split(input, width,
				(uint8_t *const[3]){a, a + part, a + 2 * part});
			fast->split(input, width,
				(uint8_t *const[3]){b, b + part, b + 2 * part});
		}
		cr_assert_eq(memcmp(a, b, sizeof(a)), 0, "width %zu", width);
	}
}

static void compare_numbers(
	const struct pixels *fast, size_t n, const struct pixels_scale *scale)
{
	float a[MAX_WIDTH * 3 + 8], b[MAX_WIDTH * 3 + 8];
	uint16_t c[MAX_WIDTH * 3 + 8], d[MAX_WIDTH * 3 + 8];
	memset(a, GUARD, sizeof(a));
	memset(b, GUARD, sizeof(b));
	memset(c, GUARD, sizeof(c));
	memset(d, GUARD, sizeof(d));
	pixels_plain.to_float32(input, n, scale, a);
	fast->to_float32(input, n, scale, b);
	pixels_plain.to_float16(input, n, scale, c);
	fast->to_float16(input, n, scale, d);
	cr_assert_eq(memcmp(a, b, sizeof(a)), 0, "%zu numbers", n);
	cr_assert_eq(memcmp(c, d, sizeof(c)), 0, "%zu numbers", n);
}

Test(pixels, avx2_gives_the_bytes_of_plain_c)
{
	const struct pixels *fast = pixels_avx2();
	const struct normalize_config *configs[] = {&none, &imagenet, &odd};
	struct rng rng;
	if (!fast)
		cr_skip_test("this processor has no AVX2");
	rng_seed(&rng, 1);
	for (size_t width = 0; width <= MAX_WIDTH; width++) {
		random_input(&rng);
		compare_bytes(fast, width);
		for (size_t k = 0; k < 3; k++) {
			struct pixels_scale rgb = pixels_scale_row(configs[k], 3);
			struct pixels_scale blue = pixels_scale_plane(configs[k], 2);
			compare_numbers(fast, width * 3, &rgb);
			compare_numbers(fast, width, &blue);
		}
	}
}

/* No number may be off by one in the last place. */
Test(pixels, each_byte_over_255_is_the_nearest_float)
{
	uint8_t bytes[256];
	float numbers[256];
	struct pixels_scale scale = pixels_scale_plane(&none, 0);
	all_bytes(bytes);
	pixels_best()->to_float32(bytes, 256, &scale, numbers);
	for (int i = 0; i < 256; i++)
		cr_assert_eq(numbers[i], (float)(i / 255.0), "%d", i);
}

Test(pixels, channels_have_their_own_mean_and_deviation)
{
	uint8_t row[30];
	float numbers[30];
	struct pixels_scale scale = pixels_scale_row(&imagenet, 3);
	memset(row, 51, sizeof(row)); /* 0.2 */
	pixels_best()->to_float32(row, 30, &scale, numbers);
	for (int i = 0; i < 30; i++)
		cr_assert_float_eq(numbers[i],
			(0.2 - imagenet.mean[i % 3]) / imagenet.deviation[i % 3], 1e-6);
	scale = pixels_scale_plane(&imagenet, 2);
	pixels_best()->to_float32(row, 30, &scale, numbers);
	for (int i = 0; i < 30; i++)
		cr_assert_float_eq(numbers[i], (0.2 - 0.406) / 0.225, 1e-6);
}

static float half_value(uint16_t half)
{
	int exponent = half >> 10 & 31, fraction = half & 1023;
	double value =
		exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
	return (float)(half & 0x8000 ? -value : value);
}

static void expect_half(float number, unsigned expected)
{
	cr_assert_eq(pixels_half(number), expected, "%a", (double)number);
	cr_assert_eq(pixels_half(-number), expected | 0x8000, "-%a", (double)number);
}

/* Between two neighbours, the middle becomes the even one, and every other number the nearer
 * one. */
Test(pixels, half_is_rounded_to_nearest_even)
{
	for (unsigned half = 0; half < 0x7c00; half++) {
		float low = half_value((uint16_t)half);
		float high = half_value((uint16_t)(half + 1)); /* for 0x7c00: 65536 */
		float middle = (low + high) / 2;
		expect_half(low, half);
		expect_half(nextafterf(middle, 0), half);
		expect_half(middle, half + (half & 1));
		expect_half(nextafterf(middle, INFINITY), half + 1);
	}
	expect_half(INFINITY, 0x7c00);
	expect_half(1e30f, 0x7c00);
	expect_half(1e-30f, 0);
	cr_assert_gt(pixels_half(NAN) & 0x7fff, 0x7c00);
}
