// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "image/image_internal.h"
#include "load_images.h"

/* Decoding a part of a JPEG gives the same pixels as decoding all of it, for every kind of
 * subsampling and for damaged files; and it refuses the same files. */

static void *state;

static void start(void)
{
	cr_assert(zero(int, codec_jpeg.create(false, &state)));
}

static void stop(void)
{
	codec_jpeg.destroy(state);
}

TestSuite(load_part, .init = start, .fini = stop);

static const struct {
	int h, v;
} samplings[] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}, {1, 4}, {4, 2}};
#define N_SAMPLINGS (sizeof(samplings) / sizeof(samplings[0]))

/* Encodes in ways for which jpeg_bytes has no options. */
static struct bytes encode(struct rng *rng, struct tensor_shape shape, size_t sampling)
{
	struct jpeg_compress_struct info;
	struct jpeg_error_mgr errors;
	struct bytes out = {0};
	unsigned long size = 0;
	bool gray = rng_below(rng, 6) == 0;
	uint8_t *row = malloc((size_t)shape.width * 3);
	info.err = jpeg_std_error(&errors);
	jpeg_create_compress(&info);
	jpeg_mem_dest(&info, &out.data, &size);
	info.image_width = shape.width;
	info.image_height = shape.height;
	info.input_components = gray ? 1 : 3;
	info.in_color_space = gray ? JCS_GRAYSCALE : JCS_RGB;
	jpeg_set_defaults(&info);
	jpeg_set_quality(&info, 50 + (int)rng_below(rng, 50), TRUE);
	info.comp_info[0].h_samp_factor = samplings[sampling].h;
	info.comp_info[0].v_samp_factor = samplings[sampling].v;
	info.restart_interval = rng_below(rng, 3) == 0 ? 3 : 0;
	if (rng_below(rng, 6) == 0)
		jpeg_simple_progression(&info);
	jpeg_start_compress(&info, TRUE);
	for (uint32_t y = 0; y < shape.height; y++) {
		for (uint32_t i = 0; i < shape.width * 3; i++)
			row[i] = (uint8_t)(sample_value(i / 3, y, (int)(i % 3)) +
					   rng_below(rng, 60));
		jpeg_write_scanlines(&info, &row, 1);
	}
	jpeg_finish_compress(&info);
	jpeg_destroy_compress(&info);
	free(row);
	out.size = size;
	return out;
}

/* Decodes at least the part. *part: the decoded part; *ret: its pixels. */
static int decode(struct bytes bytes, struct image_part *part, uint8_t **ret)
{
	char message[IMAGE_MESSAGE] = "";
	struct tensor_shape shape;
	*ret = NULL;
	const struct codec_input input = {
		.data = bytes.data, .size = bytes.size, .message = message};
	int err = codec_jpeg.open(state, &input, &shape);
	if (!err)
		err = codec_jpeg.begin(state, part);
	if (!err) {
		*ret = malloc((size_t)part->rows.length * part->columns.length * 3);
		err = codec_jpeg.read(state, *ret);
	}
	codec_jpeg.close(state);
	return err;
}

static struct crop_axis random_axis(struct rng *rng, uint32_t length)
{
	uint32_t first = (uint32_t)rng_below(rng, length);
	return (struct crop_axis){
		.first = first, .length = 1 + (uint32_t)rng_below(rng, length - first)};
}

static bool contains(struct crop_axis outer, struct crop_axis inner)
{
	return outer.first <= inner.first &&
	       inner.first + inner.length <= outer.first + outer.length;
}

static void assert_same_pixels(struct image_part asked, struct image_part got,
	const uint8_t *part, const uint8_t *all, uint32_t width)
{
	cr_assert(contains(got.rows, asked.rows));
	cr_assert(contains(got.columns, asked.columns));
	for (uint32_t i = 0; i < asked.rows.length; i++) {
		size_t y = asked.rows.first + i, x = asked.columns.first;
		const uint8_t *row = part + ((y - got.rows.first) * got.columns.length +
						    x - got.columns.first) *
						    3;
		cr_assert(memcmp(row, all + (y * width + x) * 3,
				  (size_t)asked.columns.length * 3) == 0);
	}
}

/* Returns whether less than the whole image was decoded. */
static bool compare(struct rng *rng, struct bytes bytes, struct tensor_shape shape)
{
	struct image_part whole = {
		.rows.length = shape.height, .columns.length = shape.width};
	struct image_part asked = {.rows = random_axis(rng, shape.height),
		.columns = random_axis(rng, shape.width)};
	struct image_part got = asked;
	uint8_t *all, *part;
	int err = decode(bytes, &whole, &all);
	cr_assert(eq(int, decode(bytes, &got, &part), err));
	if (!err)
		assert_same_pixels(asked, got, part, all, shape.width);
	free(all);
	free(part);
	return !err &&
	       (got.rows.length < shape.height || got.columns.length < shape.width);
}

static struct tensor_shape random_shape(struct rng *rng)
{
	return (struct tensor_shape){.height = 1 + (uint32_t)rng_below(rng, 160),
		.width = 1 + (uint32_t)rng_below(rng, 160)};
}

Test(load_part, any_part_is_that_of_the_whole)
{
	struct rng rng;
	int parts = 0;
	rng_seed(&rng, 1);
	for (size_t round = 0; round < 40 * N_SAMPLINGS; round++) {
		struct tensor_shape shape = random_shape(&rng);
		struct bytes bytes = encode(&rng, shape, round % N_SAMPLINGS);
		for (int i = 0; i < 4; i++)
			parts += compare(&rng, bytes, shape);
		free(bytes.data);
	}
	cr_assert(parts > 300, "only %d were parts", parts);
}

/* The fraction of the size at which `accuracy = approx` decodes. */
Test(load_part, a_scaled_image_is_not_smaller_than_asked_for)
{
	static const struct {
		struct tensor_shape image, least, scaled;
	} cases[] = {
		{{.height = 100, .width = 200}, {.height = 100, .width = 200},
			{.height = 100, .width = 200}},
		{{.height = 100, .width = 200}, {.height = 51, .width = 20},
			{.height = 100, .width = 200}},
		{{.height = 100, .width = 200}, {.height = 20, .width = 101},
			{.height = 100, .width = 200}},
		{{.height = 100, .width = 200}, {.height = 50, .width = 100},
			{.height = 50, .width = 100}},
		{{.height = 101, .width = 199}, {.height = 26, .width = 50},
			{.height = 26, .width = 50}},
		{{.height = 101, .width = 199}, {.height = 1, .width = 1},
			{.height = 13, .width = 25}},
		{{.height = 100, .width = 200}, {.height = 300, .width = 300},
			{.height = 100, .width = 200}},
	};
	struct rng rng;
	rng_seed(&rng, 3);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char message[IMAGE_MESSAGE] = "";
		struct tensor_shape shape = cases[i].image;
		struct bytes bytes = encode(&rng, shape, 3);
		const struct codec_input input = {
			.data = bytes.data, .size = bytes.size, .message = message};
		cr_assert(zero(int, codec_jpeg.open(state, &input, &shape)));
		struct tensor_shape scaled = codec_jpeg.scale(state, cases[i].least);
		struct image_part part = {
			.rows.length = scaled.height, .columns.length = scaled.width};
		cr_assert(eq(u32, scaled.height, cases[i].scaled.height));
		cr_assert(eq(u32, scaled.width, cases[i].scaled.width));
		cr_assert(zero(int, codec_jpeg.begin(state, &part)));
		cr_assert(eq(u32, part.rows.length, scaled.height));
		cr_assert(eq(u32, part.columns.length, scaled.width));
		codec_jpeg.close(state);
		free(bytes.data);
	}
}

Test(load_part, a_damaged_file_gives_the_same_or_is_refused_alike)
{
	struct rng rng;
	rng_seed(&rng, 2);
	for (size_t round = 0; round < 60 * N_SAMPLINGS; round++) {
		struct tensor_shape shape = random_shape(&rng);
		struct bytes bytes = encode(&rng, shape, round % N_SAMPLINGS);
		struct bytes cut = bytes_cut(bytes, rng_below(&rng, bytes.size / 2));
		compare(&rng, cut, shape);
		size_t scan = bytes_find(bytes, "\xff\xda", 2) + 14;
		for (int i = 0; i < 3; i++) {
			size_t at = scan + rng_below(&rng, bytes.size - scan);
			bytes.data[at] = (uint8_t)rng_next(&rng);
			compare(&rng, bytes, shape);
		}
		free(bytes.data);
	}
}
