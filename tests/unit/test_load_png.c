// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "load_images.h"

#include <zlib.h>

/* PNG: every kind gives the pixels of PIL's convert('RGB'), and the same damage is accepted. */

#define WIDTH 19
#define HEIGHT 11
#define SHAPE ((struct tensor_shape){.height = HEIGHT, .width = WIDTH})
#define N_PALETTE 5

static struct load_context *context;
/* for every kind of PNG, because all bytes are valid */
static uint8_t rows[HEIGHT * WIDTH * 8];
static png_color palette[N_PALETTE];

static void start(void)
{
	cr_assert(zero(int, load_context_new(&context)));
	for (size_t i = 0; i < sizeof(rows); i++) {
		rows[i] = (uint8_t)(i * 73 ^ (i >> 3) * 31);
		if (i % 6 == 0)
			rows[i] = 0; /* also high bytes */
	}
	for (int i = 0; i < N_PALETTE; i++)
		palette[i] = (png_color){
			(uint8_t)(40 * i), (uint8_t)(7 * i), (uint8_t)(200 - i)};
}

static void stop(void)
{
	load_context_free(&context);
}

TestSuite(load_png, .init = start, .fini = stop);

static struct png_options kind(int color, int depth)
{
	bool indexed = color == PNG_COLOR_TYPE_PALETTE;
	return (struct png_options){.color = color,
		.depth = depth,
		.palette = indexed ? palette : NULL,
		.n_palette = !indexed			? 0
			     : (1 << depth) < N_PALETTE ? 1 << depth
							: N_PALETTE};
}

static int channels(int color)
{
	switch (color) {
	case PNG_COLOR_TYPE_GRAY_ALPHA:
		return 2;
	case PNG_COLOR_TYPE_RGB:
		return 3;
	case PNG_COLOR_TYPE_RGB_ALPHA:
		return 4;
	default:
		return 1;
	}
}

static size_t stride(struct png_options options)
{
	return ((size_t)(WIDTH * channels(options.color) * options.depth) + 7) / 8;
}

/* Returns the value of a channel by the definition of the format. */
static int sample(struct png_options options, int x, int y, int channel)
{
	size_t bit = (size_t)((x * channels(options.color) + channel) * options.depth);
	const uint8_t *at = rows + (size_t)y * stride(options) + bit / 8;
	if (options.depth == 16)
		return at[0] << 8 | at[1];
	return at[0] >> (8 - options.depth - (int)(bit % 8)) & ((1 << options.depth) - 1);
}

/* Returns the pixels that PIL shows, with a case for each kind. */
static int shown(struct png_options options, int x, int y, int channel)
{
	bool gray = !(options.color & PNG_COLOR_MASK_COLOR);
	int value = sample(options, x, y, gray || options.palette ? 0 : channel);
	if (options.palette && value < options.n_palette)
		return channel == 0   ? palette[value].red
		       : channel == 1 ? palette[value].green
				      : palette[value].blue;
	if (options.palette)
		return value;
	if (options.color == PNG_COLOR_TYPE_GRAY && options.depth == 16)
		return value > 255 ? 255 : value;
	if (options.depth == 16)
		return value >> 8;
	return value * 255 / ((1 << options.depth) - 1);
}

static void assert_shown(struct load_task task, struct png_options options)
{
	cr_assert(zero(int, task.status), "%s", task.message);
	cr_assert(eq(u64, task.tensor->bytes, WIDTH * HEIGHT * 3));
	for (int i = 0; i < WIDTH * HEIGHT * 3; i++)
		cr_assert(eq(int, task.tensor->data[i],
			shown(options, i / 3 % WIDTH, i / 3 / WIDTH, i % 3)));
	tensor_free(task.tensor);
}

static const int kinds[][2] = {
	{PNG_COLOR_TYPE_GRAY, 1},
	{PNG_COLOR_TYPE_GRAY, 2},
	{PNG_COLOR_TYPE_GRAY, 4},
	{PNG_COLOR_TYPE_GRAY, 8},
	{PNG_COLOR_TYPE_GRAY, 16},
	{PNG_COLOR_TYPE_PALETTE, 1},
	{PNG_COLOR_TYPE_PALETTE, 2},
	{PNG_COLOR_TYPE_PALETTE, 4},
	{PNG_COLOR_TYPE_PALETTE, 8},
	{PNG_COLOR_TYPE_GRAY_ALPHA, 8},
	{PNG_COLOR_TYPE_GRAY_ALPHA, 16},
	{PNG_COLOR_TYPE_RGB, 8},
	{PNG_COLOR_TYPE_RGB, 16},
	{PNG_COLOR_TYPE_RGB_ALPHA, 8},
	{PNG_COLOR_TYPE_RGB_ALPHA, 16},
};

Test(load_png, every_kind_is_shown_as_pil_shows_it)
{
	for (size_t i = 0; i < 2 * sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct png_options options = kind(kinds[i / 2][0], kinds[i / 2][1]);
		options.interlaced = i % 2;
		struct bytes bytes = png_bytes(SHAPE, options, rows);
		assert_shown(bytes_prepare(context, bytes, SHAPE), options);
		free(bytes.data);
	}
}

Test(load_png, a_transparent_colour_is_a_colour)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct png_options options = kind(kinds[i][0], kinds[i][1]);
		options.transparent = !(options.color & PNG_COLOR_MASK_ALPHA);
		struct bytes bytes = png_bytes(SHAPE, options, rows);
		assert_shown(bytes_prepare(context, bytes, SHAPE), options);
		free(bytes.data);
	}
}

static struct bytes photo(bool interlaced)
{
	struct png_options options = kind(PNG_COLOR_TYPE_RGB, 8);
	options.interlaced = interlaced;
	return png_bytes(SHAPE, options, rows);
}

Test(load_png, a_wrong_checksum_counts_only_before_the_data)
{
	struct bytes bytes = photo(false);
	bytes.data[bytes.size - 13] ^= 1;
	assert_shown(bytes_prepare(context, bytes, SHAPE), kind(PNG_COLOR_TYPE_RGB, 8));
	bytes.data[29] ^= 1;
	assert_refused(bytes_prepare(context, bytes, SHAPE), EIO, "checksum of IHDR");
	free(bytes.data);
}

Test(load_png, the_file_may_end_behind_the_last_row)
{
	/* without IEND; without the checksum of IDAT; without a part of the checksum of the
	 * pixels */
	static const size_t cuts[] = {1, 12, 13, 16, 17, 18, 19};
	for (size_t i = 0; i < 2 * sizeof(cuts) / sizeof(cuts[0]); i++) {
		struct bytes bytes = photo(i % 2);
		assert_shown(bytes_prepare(context, bytes_cut(bytes, cuts[i / 2]), SHAPE),
			kind(PNG_COLOR_TYPE_RGB, 8));
		free(bytes.data);
	}
}

Test(load_png, a_truncated_file_is_refused)
{
	for (int interlaced = 0; interlaced < 2; interlaced++) {
		struct bytes bytes = photo(interlaced);
		for (size_t cut = 30; cut < bytes.size - 8; cut += 7)
			assert_refused(
				bytes_prepare(context, bytes_cut(bytes, cut), SHAPE), EIO,
				"PNG: ");
		free(bytes.data);
	}
}

Test(load_png, damaged_pixels_are_refused)
{
	struct bytes bytes = photo(false);
	size_t data = bytes_find(bytes, "IDAT", 4) + 4;
	for (size_t at = data; at < bytes.size - 20; at += 5) {
		bytes.data[at] ^= 0x55;
		struct load_task task = bytes_prepare(context, bytes, SHAPE);
		cr_assert(eq(int, task.status, -EIO));
		bytes.data[at] ^= 0x55;
	}
	free(bytes.data);
}

static void patch_header(struct bytes bytes, size_t at, uint32_t value)
{
	png_save_uint_32(bytes.data + at, value);
	uint32_t crc = (uint32_t)crc32(0, bytes.data + 12, 17);
	png_save_uint_32(bytes.data + 29, crc);
}

Test(load_png, an_absurd_size_is_refused)
{
	struct bytes bytes = photo(false);
	patch_header(bytes, 16, 20000);
	patch_header(bytes, 20, 20000);
	struct tensor_shape absurd = {.height = 20000, .width = 20000};
	assert_refused(bytes_prepare(context, bytes, absurd), EIO, "more than the limit");
	patch_header(bytes, 16, 0);
	assert_refused(bytes_prepare(context, bytes, absurd), EIO, "bad header");
	free(bytes.data);
}

Test(load_png, a_file_without_pixels_is_refused)
{
	struct bytes bytes = photo(false);
	size_t data = bytes_find(bytes, "IDAT", 4) - 4;
	memmove(bytes.data + data, bytes.data + bytes.size - 12, 12);
	bytes.size = data + 12;
	assert_refused(bytes_prepare(context, bytes, SHAPE), EIO, "no image data");
	free(bytes.data);
}
