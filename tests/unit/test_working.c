// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "load_images.h"

/* The estimate of the memory for preparing an image is never too low, however the image is
 * encoded. */

static const struct preparation preparations[] = {
	{0},
	{.resize_short = 100},
	{.resize_short = 700, .crop_width = 224, .crop_height = 224},
	{.resize_width = 2000, .resize_height = 50},
	{.crop_width = 64, .crop_height = 64},
	{.resize_short = 100, .exif = true},
	{.resize_short = 100, .filter = FILTER_LANCZOS},
	{.resize_long = 300, .channels = CHANNELS_GRAY, .pad_square = true, .exif = true},
	{.resize_short = 700, .filter = FILTER_NEAREST},
};
#define N_PREPARATIONS (sizeof(preparations) / sizeof(preparations[0]))

static void check(struct bytes bytes, struct tensor_shape shape, const char *name)
{
	for (size_t i = 0; i < N_PREPARATIONS; i++) {
		struct load_context *context;
		cr_assert(zero(int, load_context_new(&context)));
		size_t before = load_context_usage(context).peak_bytes;
		struct image_file file = file_write(bytes, shape);
		file.task.preparation = &preparations[i];
		file.task.orientation = 6;
		struct tensor_shape seen = preparation_image(&preparations[i], shape, 6);
		struct load_task task = file_prepare(context, &file);
		cr_assert(zero(int, task.status), "%s: %s", name, task.message);
		/* Memory that any decoder holds for any image. */
		size_t always = (size_t)256 << 10;
		size_t held = load_context_usage(context).peak_bytes - before;
		uint64_t working =
			image_working_bytes(&preparations[i], seen, bytes.size);
		cr_assert(held <= working + always,
			"%s, %zu: %zu bytes held, %zu estimated", name, i, held,
			(size_t)working);
		tensor_free(task.tensor);
		load_context_free(&context);
	}
}

static const struct tensor_shape shapes[] = {
	{.height = 900, .width = 1300},
	{.height = 3, .width = 4000},
	{.height = 2000, .width = 5},
	{.height = 61, .width = 67},
};

Test(working, of_jpegs)
{
	static const struct jpeg_options options[] = {
		{.space = JCS_RGB, .channels = 3},
		{.space = JCS_RGB, .channels = 3, .progressive = true},
		{.space = JCS_GRAYSCALE, .channels = 1, .progressive = true},
		{.space = JCS_CMYK, .channels = 4, .progressive = true},
	};
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		for (size_t k = 0; k < sizeof(options) / sizeof(options[0]); k++) {
			struct bytes bytes = jpeg_bytes(shapes[i], options[k]);
			check(bytes, shapes[i], "JPEG");
			free(bytes.data);
		}
}

Test(working, of_pngs)
{
	static const struct png_options options[] = {
		{.color = PNG_COLOR_TYPE_RGB, .depth = 8},
		{.color = PNG_COLOR_TYPE_RGB_ALPHA, .depth = 16, .interlaced = true},
	};
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		for (size_t k = 0; k < sizeof(options) / sizeof(options[0]); k++) {
			uint8_t *rows = calloc(shapes[i].height, shapes[i].width * 8);
			struct bytes bytes = png_bytes(shapes[i], options[k], rows);
			check(bytes, shapes[i], "PNG");
			free(bytes.data);
			free(rows);
		}
}
