// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/orient.h"
#include "load_images.h"

/* Returns the source of an output pixel, with the sides named as in the EXIF specification. */
static const uint8_t *source(struct tensor_shape in, unsigned orientation, uint32_t y,
	uint32_t x, const uint8_t *pixels)
{
	uint32_t bottom = in.height - 1, right = in.width - 1;
	const uint32_t rows[] = {
		0, y, y, bottom - y, bottom - y, x, bottom - x, bottom - x, x};
	const uint32_t columns[] = {
		0, x, right - x, right - x, x, y, y, right - y, right - y};
	return pixels + ((size_t)rows[orientation] * in.width + columns[orientation]) * 3;
}

static void expect_turned(struct tensor_shape in, unsigned orientation,
	const uint8_t *pixels, const uint8_t *turned)
{
	uint32_t height = orientation < 5 ? in.height : in.width;
	uint32_t width = orientation < 5 ? in.width : in.height;
	for (uint32_t y = 0; y < height; y++)
		for (uint32_t x = 0; x < width; x++)
			cr_assert(memcmp(turned + ((size_t)y * width + x) * 3,
					  source(in, orientation, y, x, pixels), 3) == 0,
				"%ux%u, orientation %u: row %u, column %u", in.width,
				in.height, orientation, y, x);
}

static uint8_t *pattern(struct tensor_shape shape)
{
	uint8_t *pixels = malloc((size_t)shape.height * shape.width * 3);
	for (uint32_t i = 0; i < shape.height * shape.width * 3; i++)
		pixels[i] = (uint8_t)(i * 2654435761u >> 24);
	return pixels;
}

Test(load_orient, all_orientations_of_all_shapes)
{
	static const struct tensor_shape shapes[] = {{.height = 1, .width = 1},
		{.height = 1, .width = 7}, {.height = 7, .width = 1},
		{.height = 5, .width = 3}, {.height = 64, .width = 65},
		{.height = 130, .width = 63}, {.height = 64, .width = 128}};
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct tensor_shape shape = shapes[i];
		uint8_t *pixels = pattern(shape);
		uint8_t *turned = malloc((size_t)shape.height * shape.width * 3);
		for (unsigned orientation = 1; orientation <= 8; orientation++) {
			orient(shape, orientation, pixels, turned);
			expect_turned(shape, orientation, pixels, turned);
		}
		free(pixels);
		free(turned);
	}
}

static struct load_task prepare(
	struct bytes jpeg, const struct preparation *preparation, unsigned orientation)
{
	struct load_context *context;
	cr_assert(zero(int, load_context_new(&context)));
	struct image_file file =
		file_write(jpeg, (struct tensor_shape){.height = 40, .width = 70});
	file.task.preparation = preparation;
	file.task.orientation = orientation;
	struct load_task task = file_prepare(context, &file);
	load_context_free(&context);
	return task;
}

Test(load_orient, only_a_preparation_with_exif_turns)
{
	struct bytes jpeg = jpeg_bytes((struct tensor_shape){.height = 40, .width = 70},
		(struct jpeg_options){.space = JCS_RGB, .channels = 3});
	static const struct preparation turning = {.exif = true};
	struct load_task plain = prepare(jpeg, &as_it_is, 1);
	struct load_task ignored = prepare(jpeg, &as_it_is, 6);
	struct load_task turned = prepare(jpeg, &turning, 6);
	cr_assert(eq(int, memcmp(plain.tensor->data, ignored.tensor->data, 8400), 0));
	cr_assert(eq(u32, turned.tensor->shape.height, 70));
	cr_assert(eq(u32, turned.tensor->shape.width, 40));
	expect_turned(plain.tensor->shape, 6, plain.tensor->data, turned.tensor->data);
	tensor_free(plain.tensor);
	tensor_free(ignored.tensor);
	tensor_free(turned.tensor);
	free(jpeg.data);
}
