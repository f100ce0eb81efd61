// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "image/resample.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

/* Resizing and cropping against values computed by Pillow 9.4 and torchvision 0.14. */

#define CHANNELS 3

static struct crop_axis whole(uint32_t length)
{
	return (struct crop_axis){.length = length};
}

static enum resample_filter filter;
#define N_FILTERS (FILTER_NEAREST + 1)

/* Returns the place in the whole image where the source of the window begins. */
static const uint8_t *source_of(
	const struct resample_window *window, const uint8_t *pixels)
{
	struct tensor_shape image = window->image, size = window->size;
	struct crop_axis rows =
		resample_source(window->filter, image.height, size.height, window->rows);
	struct crop_axis columns =
		resample_source(window->filter, image.width, size.width, window->columns);
	return pixels + ((size_t)rows.first * image.width + columns.first) * CHANNELS;
}

/* Resamples a whole image by `filter`, with a new resampler. */
static int resample(const uint8_t *pixels, struct tensor_shape image,
	struct tensor_shape size, struct crop_axis rows, struct crop_axis columns,
	uint8_t *out, size_t stride)
{
	struct resample_window window = {filter, image, size, rows, columns};
	size_t in_stride = (size_t)image.width * CHANNELS;
	struct resampler *resampler;
	int err = resampler_new(false, &resampler);
	if (!err)
		err = resampler_run(resampler, &window, source_of(&window, pixels),
			in_stride, out, stride);
	resampler_free(&resampler);
	return err;
}

static uint8_t *resize(
	const uint8_t *pixels, struct tensor_shape image, struct tensor_shape size)
{
	size_t stride = (size_t)size.width * CHANNELS;
	uint8_t *out = malloc(stride * size.height);
	cr_assert(zero(int, resample(pixels, image, size, whole(size.height),
				    whole(size.width), out, stride)));
	return out;
}

static uint8_t *random_image(struct rng *rng, struct tensor_shape shape)
{
	size_t bytes = (size_t)shape.height * shape.width * CHANNELS;
	uint8_t *pixels = malloc(bytes);
	for (size_t i = 0; i < bytes; i++)
		pixels[i] = (uint8_t)rng_next(rng);
	return pixels;
}

static struct tensor_shape random_shape(struct rng *rng)
{
	return (struct tensor_shape){.height = 1 + (uint32_t)rng_below(rng, 40),
		.width = 1 + (uint32_t)rng_below(rng, 40)};
}

/* 7x6 pixels (x * 37 + y * 59 + c * 83 + x * y * 11) % 256, resized by Pillow. */
static const struct {
	struct tensor_shape size;
	uint8_t pixels[120];
} by_pillow[] = {
	{{.height = 2, .width = 3}, {111, 127, 126, 143, 132, 113, 138, 121, 114, 149,
					    113, 137, 136, 132, 133, 135, 131, 138}},
	{{.height = 4, .width = 10},
		{22, 105, 188, 44, 127, 158, 73, 156, 143, 102, 185, 172, 131, 152, 97,
			160, 147, 70, 184, 168, 99, 146, 85, 128, 151, 74, 113, 173, 96,
			83, 105, 159, 100, 136, 112, 84, 169, 88, 86, 188, 128, 125, 134,
			112, 146, 124, 112, 126, 158, 132, 73, 117, 172, 113, 129, 148,
			114, 160, 101, 98, 190, 46, 100, 183, 70, 140, 160, 108, 170, 111,
			159, 161, 136, 154, 114, 147, 125, 105, 135, 83, 133, 87, 134,
			125, 102, 133, 154, 141, 110, 193, 113, 100, 183, 109, 149, 144,
			127, 170, 109, 188, 119, 103, 146, 110, 160, 118, 138, 165, 117,
			192, 118, 178, 141, 112, 168, 119, 149, 128, 115, 198}},
	{{.height = 3, .width = 7}, /* vertical only */
		{42, 125, 172, 87, 133, 107, 132, 178, 152, 140, 113, 87, 185, 158, 95,
			120, 93, 140, 165, 102, 75, 148, 103, 90, 180, 71, 122, 149, 136,
			155, 117, 136, 123, 150, 105, 92, 86, 169, 124, 151, 106, 157,
			143, 80, 163, 118, 164, 137, 165, 138, 112, 140, 113, 159, 114,
			160, 134, 162, 135, 108, 136, 109, 192}},
	{{.height = 6, .width = 4}, /* horizontal only */
		{19, 102, 185, 77, 160, 171, 145, 177, 55, 203, 42, 113, 84, 167, 128,
			159, 170, 69, 196, 74, 157, 78, 149, 98, 149, 110, 59, 169, 68,
			151, 93, 176, 75, 185, 134, 95, 201, 41, 124, 118, 150, 161, 144,
			94, 105, 61, 131, 214, 157, 105, 176, 148, 160, 110, 113, 125,
			156, 168, 116, 90, 87, 158, 131, 159, 109, 140, 144, 175, 125,
			153, 126, 197}},
};

Test(resample, bytes_are_pillows)
{
	const struct tensor_shape image = {.height = 6, .width = 7};
	uint8_t pixels[6 * 7 * CHANNELS];
	for (int i = 0; i < 6 * 7 * CHANNELS; i++) {
		int x = i / 3 % 7, y = i / 21;
		pixels[i] = (uint8_t)(x * 37 + y * 59 + i % 3 * 83 + x * y * 11);
	}
	for (size_t i = 0; i < sizeof(by_pillow) / sizeof(by_pillow[0]); i++) {
		struct tensor_shape size = by_pillow[i].size;
		uint8_t *out = resize(pixels, image, size);
		cr_assert(memcmp(out, by_pillow[i].pixels,
				  (size_t)size.height * size.width * CHANNELS) == 0);
		free(out);
	}
}

Test(resample, the_same_size_is_a_copy)
{
	struct rng rng;
	rng_seed(&rng, 1);
	struct tensor_shape shape = {.height = 13, .width = 9};
	uint8_t *pixels = random_image(&rng, shape);
	uint8_t *out = resize(pixels, shape, shape);
	cr_assert(memcmp(out, pixels, 13 * 9 * CHANNELS) == 0);
	free(out);
	free(pixels);
}

Test(resample, one_colour_stays_that_colour)
{
	struct rng rng;
	rng_seed(&rng, 2);
	for (int round = 0; round < 100; round++) {
		filter = (enum resample_filter)(round % N_FILTERS);
		struct tensor_shape image = random_shape(&rng), size = random_shape(&rng);
		size_t bytes = (size_t)image.height * image.width * CHANNELS;
		size_t out_bytes = (size_t)size.height * size.width * CHANNELS;
		uint8_t colour = round == 0 ? 255 : (uint8_t)rng_next(&rng);
		uint8_t *pixels = malloc(bytes);
		memset(pixels, colour, bytes);
		uint8_t *out = resize(pixels, image, size);
		for (size_t i = 0; i < out_bytes; i++)
			cr_assert(eq(u8, out[i], colour));
		free(out);
		free(pixels);
	}
}

static struct crop_axis random_window(struct rng *rng, uint32_t length)
{
	uint32_t first = (uint32_t)rng_below(rng, length);
	return (struct crop_axis){
		.first = first, .length = 1 + (uint32_t)rng_below(rng, length - first)};
}

Test(resample, a_window_is_a_part_of_the_whole)
{
	struct rng rng;
	rng_seed(&rng, 3);
	for (int round = 0; round < 300; round++) {
		filter = (enum resample_filter)(round % N_FILTERS);
		struct tensor_shape image = random_shape(&rng), size = random_shape(&rng);
		if (round % 7 == 0)
			size.height = image.height;
		if (round % 5 == 0)
			size.width = image.width;
		struct crop_axis rows = random_window(&rng, size.height);
		struct crop_axis columns = random_window(&rng, size.width);
		size_t bytes = (size_t)columns.length * CHANNELS;
		uint8_t *pixels = random_image(&rng, image);
		uint8_t *all = resize(pixels, image, size);
		uint8_t *part = malloc(rows.length * bytes);
		cr_assert(zero(
			int, resample(pixels, image, size, rows, columns, part, bytes)));
		for (size_t y = 0; y < rows.length; y++)
			cr_assert(memcmp(part + y * bytes,
					  all + ((rows.first + y) * size.width +
							columns.first) *
							  CHANNELS,
					  bytes) == 0);
		free(part);
		free(all);
		free(pixels);
	}
}

Test(resample, rows_are_a_stride_apart_and_nothing_is_written_between)
{
	const uint8_t pixels[2 * 2 * CHANNELS] = {0};
	const struct tensor_shape image = {.height = 2, .width = 2},
				  size = {.height = 3, .width = 3};
	uint8_t out[3 * 20];
	memset(out, 7, sizeof(out));
	cr_assert(zero(int, resample(pixels, image, size, whole(3), whole(3), out, 20)));
	for (int i = 0; i < 60; i++)
		cr_assert(eq(u8, out[i], i % 20 < 9 ? 0 : 7));
}

static struct tensor_shape any_shape(struct rng *rng, uint32_t most)
{
	return (struct tensor_shape){.height = 1 + (uint32_t)rng_below(rng, most),
		.width = 1 + (uint32_t)rng_below(rng, most)};
}

/* Copies the source into a block of exactly its size, so that valgrind and ASan find reads beyond
 * it. */
static uint8_t *random_source(struct rng *rng, const struct resample_window *window,
	size_t stride, size_t *ret_bytes)
{
	uint32_t rows = resample_source(
		filter, window->image.height, window->size.height, window->rows)
				.length;
	uint32_t columns = resample_source(
		filter, window->image.width, window->size.width, window->columns)
				   .length;
	*ret_bytes = (rows - 1) * stride + columns * tensor_channels(window->size);
	uint8_t *pixels = malloc(*ret_bytes);
	for (size_t i = 0; i < *ret_bytes; i++)
		pixels[i] = rng_below(rng, 4) == 0 ? 255 : (uint8_t)rng_next(rng);
	return pixels;
}

/* On a processor without vector code both are the same, and the test shows nothing. */
Test(resample, vector_code_gives_the_bits_of_plain_code)
{
	struct rng rng;
	struct resampler *fast, *plain;
	static const enum pixel_mode modes[] = {
		PIXELS_RGB, PIXELS_L, PIXELS_RGBA, PIXELS_LA};
	rng_seed(&rng, 4);
	cr_assert(zero(int, resampler_new(false, &fast)));
	cr_assert(zero(int, resampler_new(true, &plain)));
	for (int round = 0; round < 1000; round++) {
		uint32_t most = round % 10 == 0 ? 500 : 60;
		filter = (enum resample_filter)(round / 10 % N_FILTERS);
		struct resample_window window = {.filter = filter,
			.image = any_shape(&rng, most),
			.size = any_shape(&rng, round % 3 == 0 ? 12 : most)};
		window.size.mode = modes[round / 60 % 4];
		size_t channels = tensor_channels(window.size);
		if (round % 7 == 0)
			window.size.height = window.image.height;
		if (round % 5 == 0)
			window.size.width = window.image.width;
		window.rows = random_window(&rng, window.size.height);
		window.columns = random_window(&rng, window.size.width);
		size_t in_stride = (window.image.width + rng_below(&rng, 9)) * channels;
		size_t stride = window.columns.length * channels + rng_below(&rng, 2);
		size_t in_bytes, bytes = window.rows.length * stride;
		uint8_t *in = random_source(&rng, &window, in_stride, &in_bytes);
		uint8_t *a = calloc(1, bytes), *b = calloc(1, bytes);
		cr_assert(zero(
			int, resampler_run(fast, &window, in, in_stride, a, stride)));
		cr_assert(zero(
			int, resampler_run(plain, &window, in, in_stride, b, stride)));
		cr_assert(memcmp(a, b, bytes) == 0, "round %d", round);
		free(a);
		free(b);
		free(in);
	}
	resampler_free(&fast);
	resampler_free(&plain);
}

Test(resample, tables_that_are_kept_are_bounded_and_right)
{
	struct rng rng;
	struct resampler *kept;
	size_t bytes = 0;
	rng_seed(&rng, 5);
	cr_assert(zero(int, resampler_new(false, &kept)));
	for (int round = 0; round < 2000; round++) {
		filter = (enum resample_filter)(round % N_FILTERS);
		struct resample_window window = {.filter = filter,
			.image = any_shape(&rng, 20),
			.size = any_shape(&rng, 20)};
		window.rows = whole(window.size.height);
		window.columns = whole(window.size.width);
		size_t stride = (size_t)window.size.width * CHANNELS;
		uint8_t *in = random_image(&rng, window.image);
		uint8_t *expected = resize(in, window.image, window.size);
		uint8_t *out = malloc(stride * window.size.height);
		cr_assert(zero(int,
			resampler_run(kept, &window, source_of(&window, in),
				(size_t)window.image.width * CHANNELS, out, stride)));
		cr_assert(memcmp(out, expected, stride * window.size.height) == 0);
		free(in);
		free(expected);
		free(out);
		if (round == 1000)
			bytes = resampler_bytes(kept);
	}
	cr_assert(resampler_bytes(kept) < bytes * 3 / 2);
	resampler_free(&kept);
}

Test(resample, crops_are_where_torchvision_puts_them)
{
	static const struct {
		uint32_t image, crop;
		struct crop_axis axis;
	} cases[] = {
		{9, 0, {0, 0, 9}},
		{9, 9, {0, 0, 9}},
		{9, 7, {1, 0, 7}},
		{5, 4, {0, 0, 4}},  /* round(0.5) = 0 */
		{7, 4, {2, 0, 4}},  /* round(1.5) = 2 */
		{9, 4, {2, 0, 4}},  /* round(2.5) = 2 */
		{11, 4, {4, 0, 4}}, /* round(3.5) = 4 */
		{3, 4, {0, 0, 3}},
		{3, 8, {0, 2, 3}},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct crop_axis axis = crop_axis(cases[i].image, cases[i].crop);
		cr_assert(eq(u32, axis.first, cases[i].axis.first));
		cr_assert(eq(u32, axis.pad, cases[i].axis.pad));
		cr_assert(eq(u32, axis.length, cases[i].axis.length));
	}
}
