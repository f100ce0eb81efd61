// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "load_images.h"

/* JPEG: libjpeg's pixels, PIL's colours, and which damage is accepted. */

#define SHAPE ((struct tensor_shape){.height = 45, .width = 70})

static struct load_context *context;

static void start(void)
{
	cr_assert(zero(int, load_context_new(&context)));
}

static void stop(void)
{
	load_context_free(&context);
}

TestSuite(load_jpeg, .init = start, .fini = stop);

static struct bytes photo(bool progressive)
{
	return jpeg_bytes(SHAPE,
		(struct jpeg_options){
			.space = JCS_RGB, .channels = 3, .progressive = progressive});
}

/* Decodes from memory by libjpeg alone. */
static uint8_t *decode_plainly(struct bytes bytes)
{
	struct jpeg_decompress_struct info;
	struct jpeg_error_mgr errors;
	info.err = jpeg_std_error(&errors);
	jpeg_create_decompress(&info);
	jpeg_mem_src(&info, bytes.data, bytes.size);
	jpeg_read_header(&info, TRUE);
	info.out_color_space = JCS_RGB;
	jpeg_start_decompress(&info);
	size_t stride = (size_t)info.output_width * 3;
	uint8_t *pixels = malloc(stride * info.output_height);
	while (info.output_scanline < info.output_height) {
		uint8_t *row = pixels + info.output_scanline * stride;
		jpeg_read_scanlines(&info, &row, 1);
	}
	jpeg_finish_decompress(&info);
	jpeg_destroy_decompress(&info);
	return pixels;
}

Test(load_jpeg, the_pixels_are_libjpegs)
{
	/* The large image is longer than the part that libjpeg gets at once. */
	static const struct tensor_shape shapes[] = {{.height = 1, .width = 1},
		{.height = 45, .width = 70}, {.height = 400, .width = 500}};
	static const struct jpeg_options options[] = {
		{.space = JCS_RGB, .channels = 3},
		{.space = JCS_RGB, .channels = 3, .progressive = true, .quality = 98},
		{.space = JCS_RGB, .channels = 3, .quality = 98},
		{.space = JCS_GRAYSCALE, .channels = 1},
	};
	for (int i = 0; i < 12; i++) {
		struct tensor_shape shape = shapes[i % 3];
		struct bytes bytes = jpeg_bytes(shape, options[i / 3]);
		uint8_t *expected = decode_plainly(bytes);
		struct load_task task = bytes_prepare(context, bytes, shape);
		cr_assert(zero(int, task.status));
		cr_assert(eq(u64, task.tensor->bytes,
			(uint64_t)shape.height * shape.width * 3));
		cr_assert(memcmp(task.tensor->data, expected, task.tensor->bytes) == 0);
		tensor_free(task.tensor);
		free(expected);
		free(bytes.data);
	}
}

/* The image has one colour, so that compression does not change it. */
static struct load_task prepare_cmyk(const uint8_t ink[4])
{
	struct jpeg_compress_struct info;
	struct jpeg_error_mgr errors;
	struct bytes bytes = {0};
	unsigned long size = 0;
	uint8_t row[8 * 4];
	uint8_t *rows = row;
	for (int i = 0; i < 32; i++)
		row[i] = ink[i % 4];
	info.err = jpeg_std_error(&errors);
	jpeg_create_compress(&info);
	jpeg_mem_dest(&info, &bytes.data, &size);
	info.image_width = info.image_height = 8;
	info.input_components = 4;
	info.in_color_space = JCS_CMYK;
	jpeg_set_defaults(&info);
	jpeg_set_quality(&info, 100, TRUE);
	jpeg_start_compress(&info, TRUE);
	for (int y = 0; y < 8; y++)
		jpeg_write_scanlines(&info, &rows, 1);
	jpeg_finish_compress(&info);
	jpeg_destroy_compress(&info);
	bytes.size = size;
	struct load_task task = bytes_prepare(
		context, bytes, (struct tensor_shape){.height = 8, .width = 8});
	free(bytes.data);
	return task;
}

Test(load_jpeg, four_channels_are_inverted_ink)
{
	static const struct {
		uint8_t ink[4];
		uint8_t rgb[3];
	} cases[] = {
		{{255, 255, 255, 255}, {255, 255, 255}},
		{{0, 255, 255, 255}, {0, 255, 255}},
		{{255, 255, 255, 0}, {0, 0, 0}},
		{{200, 100, 50, 128}, {100, 50, 25}},
		{{7, 201, 133, 77}, {2, 61, 40}},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct load_task task = prepare_cmyk(cases[i].ink);
		cr_assert(zero(int, task.status));
		for (size_t at = 0; at < 8 * 8 * 3; at++)
			cr_assert(eq(u8, task.tensor->data[at], cases[i].rgb[at % 3]));
		tensor_free(task.tensor);
	}
}

Test(load_jpeg, two_channels_are_refused)
{
	struct bytes bytes = jpeg_bytes(
		SHAPE, (struct jpeg_options){.space = JCS_UNKNOWN, .channels = 2});
	assert_refused(bytes_prepare(context, bytes, SHAPE), EIO, "unsupported");
	free(bytes.data);
}

Test(load_jpeg, a_truncated_file_is_refused)
{
	for (int progressive = 0; progressive < 2; progressive++) {
		struct bytes bytes = photo(progressive);
		for (size_t cut = progressive ? 1 : 40; cut < bytes.size - 3; cut += 13)
			assert_refused(
				bytes_prepare(context, bytes_cut(bytes, cut), SHAPE), EIO,
				"truncated");
		free(bytes.data);
	}
}

Test(load_jpeg, what_follows_the_image_does_not_matter)
{
	struct bytes bytes = photo(false);
	struct bytes more = bytes_join(bytes, bytes);
	struct load_task expected = bytes_prepare(context, bytes, SHAPE);
	struct load_task task = bytes_prepare(context, more, SHAPE);
	cr_assert(zero(int, task.status));
	cr_assert(memcmp(task.tensor->data, expected.tensor->data, task.tensor->bytes) ==
		  0);
	tensor_free(task.tensor);
	tensor_free(expected.tensor);
	free(more.data);
	free(bytes.data);
}

Test(load_jpeg, damage_in_the_data_passes_as_it_does_in_pil)
{
	struct bytes bytes = photo(false);
	uint8_t *expected = decode_plainly(bytes);
	bytes.data[bytes.size / 2] ^= 0x24;
	struct load_task task = bytes_prepare(context, bytes, SHAPE);
	cr_assert(zero(int, task.status));
	cr_assert(memcmp(task.tensor->data, expected, task.tensor->bytes) != 0);
	tensor_free(task.tensor);
	free(expected);
	free(bytes.data);
}

static double mean_difference(const struct tensor *a, const struct tensor *b)
{
	uint64_t sum = 0;
	cr_assert(eq(u64, a->bytes, b->bytes));
	for (uint64_t i = 0; i < a->bytes; i++)
		sum += (uint64_t)abs(a->data[i] - b->data[i]);
	return (double)sum / (double)a->bytes;
}

Test(load_jpeg, approximate_pixels_are_near_and_only_where_it_is_made_small)
{
	const struct tensor_shape shape = {.height = 400, .width = 500};
	struct bytes bytes =
		jpeg_bytes(shape, (struct jpeg_options){.space = JCS_RGB, .channels = 3});
	for (uint32_t size = 60; size <= 220; size += 20) {
		struct load_task tasks[2];
		for (int i = 0; i < 2; i++) {
			const struct preparation preparation = {.resize_short = size,
				.crop_width = 50,
				.crop_height = 40,
				.approximate = i == 1};
			struct image_file file = file_write(bytes, shape);
			file.task.preparation = &preparation;
			tasks[i] = file_prepare(context, &file);
			cr_assert(zero(int, tasks[i].status));
		}
		double difference = mean_difference(tasks[0].tensor, tasks[1].tensor);
		cr_assert(eq(int, difference > 0, size <= 200));
		cr_assert(difference < 20, "%u: %f", size, difference);
		tensor_free(tasks[0].tensor);
		tensor_free(tasks[1].tensor);
	}
	free(bytes.data);
}

Test(load_jpeg, tables_do_not_survive_an_image)
{
	struct bytes bytes = photo(false);
	struct load_task good = bytes_prepare(context, bytes, SHAPE);
	cr_assert(zero(int, good.status));
	tensor_free(good.tensor);
	size_t frame = bytes_find(bytes, "\xff\xc0", 2);
	memmove(bytes.data + 2, bytes.data + frame, bytes.size - frame);
	bytes.size -= frame - 2; /* the quantisation tables are missing */
	assert_refused(bytes_prepare(context, bytes, SHAPE), EIO, "table");
	free(bytes.data);
}

static struct bytes repeat_last_scan(struct bytes bytes, int times)
{
	const uint8_t *scan = NULL;
	for (size_t i = 0; i + 1 < bytes.size; i++)
		if (bytes.data[i] == 0xff && bytes.data[i + 1] == 0xda)
			scan = bytes.data + i;
	cr_assert(scan != NULL);
	size_t head = (size_t)(scan - bytes.data), size = bytes.size - head - 2;
	struct bytes out = {malloc(head + size * (size_t)times + 2), head};
	memcpy(out.data, bytes.data, head);
	for (; times > 0; times--, out.size += size)
		memcpy(out.data + out.size, scan, size);
	memcpy(out.data + out.size, "\xff\xd9", 2);
	out.size += 2;
	return out;
}

Test(load_jpeg, a_bomb_of_scans_is_refused)
{
	struct bytes bytes = photo(true);
	struct bytes many = repeat_last_scan(bytes, 300);
	struct bytes bomb = repeat_last_scan(bytes, 600);
	struct load_task task = bytes_prepare(context, many, SHAPE);
	cr_assert(zero(int, task.status), "%s", task.message);
	tensor_free(task.tensor);
	assert_refused(bytes_prepare(context, bomb, SHAPE), EIO, "too many scans");
	free(many.data);
	free(bomb.data);
	free(bytes.data);
}

Test(load_jpeg, an_absurd_size_is_refused)
{
	struct bytes bytes = photo(false);
	struct tensor_shape absurd = {.height = 65500, .width = 65500};
	uint8_t *size = bytes.data + bytes_find(bytes, "\xff\xc0", 2) + 5;
	size[0] = size[2] = 0xff;
	size[1] = size[3] = 0xdc;
	assert_refused(bytes_prepare(context, bytes, absurd), EIO, "more than the limit");
	free(bytes.data);
}
