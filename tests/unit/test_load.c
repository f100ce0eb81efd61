// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/fault.h"
#include "stats/stats.h"
#include "load_images.h"

/* load_prepare without the formats: files, refusals, crop and resize. */

#define SHAPE ((struct tensor_shape){.height = 21, .width = 34})

static struct load_context *context;

static void start(void)
{
	cr_assert(zero(int, load_context_new(&context)));
}

static void stop(void)
{
	fault_clear();
	load_context_free(&context);
	cr_assert(context == NULL);
}

TestSuite(load, .init = start, .fini = stop);

static struct bytes photo(void)
{
	return jpeg_bytes(SHAPE, (struct jpeg_options){.space = JCS_RGB, .channels = 3});
}

static struct load_task prepare_photo(const struct preparation *preparation)
{
	struct bytes bytes = photo();
	struct image_file file = file_write(bytes, SHAPE);
	file.task.preparation = preparation;
	struct load_task task = file_prepare(context, &file);
	free(bytes.data);
	return task;
}

Test(load, encoded_is_the_bytes_of_any_file)
{
	const struct preparation encoded = {.encoded = true};
	uint8_t text[] = "not an image, and nobody asks";
	for (size_t size = 0; size <= sizeof(text); size += sizeof(text)) {
		struct image_file file =
			file_write((struct bytes){text, size}, (struct tensor_shape){0});
		file.task.preparation = &encoded;
		struct load_task task = file_prepare(context, &file);
		cr_assert(zero(int, task.status));
		cr_assert(eq(u64, task.tensor->bytes, size));
		cr_assert(zero(u32, task.tensor->shape.height));
		cr_assert(memcmp(task.tensor->data, text, size) == 0);
		tensor_free(task.tensor);
	}
}

Test(load, a_file_of_another_size_or_time_is_stale)
{
	struct bytes bytes = photo();
	struct image_file longer = file_write(bytes, SHAPE);
	longer.task.expected_bytes--;
	assert_refused(file_prepare(context, &longer), ESTALE, "changed since the scan");
	struct image_file younger = file_write(bytes, SHAPE);
	younger.task.expected_mtime_ns++;
	assert_refused(file_prepare(context, &younger), ESTALE, "changed since the scan");
	free(bytes.data);
}

Test(load, an_image_of_another_shape_is_stale)
{
	struct bytes bytes = photo();
	struct tensor_shape turned = {.height = 34, .width = 21};
	assert_refused(bytes_prepare(context, bytes, turned), ESTALE, "has 34x21");
	free(bytes.data);
}

Test(load, a_file_that_is_gone_is_enoent)
{
	struct load_task task = {.path = "/nonexistent/file", .preparation = &as_it_is};
	load_prepare(context, &task);
	assert_refused(task, ENOENT, "No such file");
}

Test(load, what_is_not_a_regular_file_is_refused)
{
	char fifo[] = "/tmp/test_load_fifo.XXXXXX";
	int fd = mkstemp(fifo);
	cr_assert(fd >= 0);
	close(fd);
	unlink(fifo);
	cr_assert(zero(int, mkfifo(fifo, 0600)));
	for (int i = 0; i < 2; i++) {
		struct load_task task = {
			.path = i ? fifo : "/tmp", .preparation = &as_it_is};
		load_prepare(context, &task);
		assert_refused(task, EIO, "not a regular file");
	}
	unlink(fifo);
}

Test(load, content_decides_what_a_file_is)
{
	static const struct {
		const char *bytes;
		size_t size;
		const char *message;
	} cases[] = {
		{"", 0, "empty file"},
		{"text", 4, "not an image"},
		{"\xff\xd8", 2, "not an image"},
#ifdef HAVE_WEBP
		{"RIFF\1\2\3\4WEBPVP8 ", 16, "WebP: damaged or truncated"},
#else
		{"RIFF\1\2\3\4WEBPVP8 ", 16, "unsupported: webp"},
#endif
		{"GIF89a\1\2\3", 9, "GIF: truncated"},
		{"BM\1\2\3\4", 6, "BMP: truncated"},
		{"P6\n", 3, "PPM: bad header"},
		{"P3\n1 1 1 1 1 1", 14, "unsupported: ppm as text"},
		{"II*\0\1\2", 6, "unsupported: tiff"},
		{"MM\0*\1\2", 6, "unsupported: tiff"},
		{"\0\0\0 ftypavif", 12, "unsupported: heif or avif"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t data[32];
		memcpy(data, cases[i].bytes, cases[i].size);
		assert_refused(bytes_prepare(context, (struct bytes){data, cases[i].size},
				       SHAPE),
			EIO, cases[i].message);
	}
}

Test(load, faults_fail_reading_and_decoding)
{
	static const char *const places[] = {"load.read", "load.decode"};
	for (int i = 0; i < 2; i++) {
		char specification[64];
		snprintf(specification, sizeof(specification), "%s:ENOSPC:times=1",
			places[i]);
		cr_assert(zero(int, fault_add(specification)));
		assert_refused(prepare_photo(&as_it_is), ENOSPC, places[i]);
		struct load_task task = prepare_photo(&as_it_is);
		cr_assert(zero(int, task.status));
		tensor_free(task.tensor);
		fault_clear();
	}
}

Test(load, crop_is_the_middle_of_the_whole)
{
	const struct preparation crop = {.crop_width = 10, .crop_height = 7};
	struct load_task whole = prepare_photo(&as_it_is);
	struct load_task part = prepare_photo(&crop);
	cr_assert(eq(u32, part.tensor->shape.height, 7));
	cr_assert(eq(u32, part.tensor->shape.width, 10));
	for (size_t y = 0; y < 7; y++)
		cr_assert(memcmp(part.tensor->data + y * 30,
				  whole.tensor->data + ((y + 7) * 34 + 12) * 3, 30) == 0);
	tensor_free(whole.tensor);
	tensor_free(part.tensor);
}

Test(load, crop_pads_with_zeros_where_the_image_ends)
{
	const struct preparation crop = {.crop_width = 37, .crop_height = 21};
	struct load_task whole = prepare_photo(&as_it_is);
	struct load_task padded = prepare_photo(&crop);
	const uint8_t zeros[6] = {0};
	for (size_t y = 0; y < 21; y++) {
		const uint8_t *row = padded.tensor->data + y * 37 * 3;
		cr_assert(memcmp(row, zeros, 3) == 0);
		cr_assert(memcmp(row + 3, whole.tensor->data + y * 34 * 3, 34 * 3) == 0);
		cr_assert(memcmp(row + 35 * 3, zeros, 6) == 0);
	}
	tensor_free(whole.tensor);
	tensor_free(padded.tensor);
}

Test(load, resize_comes_before_crop)
{
	const struct preparation resize = {.resize_width = 16, .resize_height = 8};
	const struct preparation both = {.resize_width = 16,
		.resize_height = 8,
		.crop_width = 4,
		.crop_height = 4};
	struct load_task resized = prepare_photo(&resize);
	struct load_task cropped = prepare_photo(&both);
	cr_assert(eq(u64, resized.tensor->bytes, 16 * 8 * 3));
	for (size_t y = 0; y < 4; y++)
		cr_assert(
			memcmp(cropped.tensor->data + y * 12,
				resized.tensor->data + ((y + 2) * 16 + 6) * 3, 12) == 0);
	tensor_free(resized.tensor);
	tensor_free(cropped.tensor);
}

Test(load, what_was_done_is_counted)
{
	struct bytes bytes = photo();
	uint64_t decodes = stats_get(STAT_DECODES),
		 errors = stats_get(STAT_DECODE_ERRORS);
	uint64_t read = stats_get(STAT_SOURCE_BYTES), ns = stats_get(STAT_DECODE_NS);
	struct load_task task = bytes_prepare(context, bytes, SHAPE);
	tensor_free(task.tensor);
	cr_assert(eq(u64, stats_get(STAT_DECODES), decodes + 1));
	cr_assert(eq(u64, stats_get(STAT_DECODE_ERRORS), errors));
	cr_assert(eq(u64, stats_get(STAT_SOURCE_BYTES), read + bytes.size));
	cr_assert(gt(u64, stats_get(STAT_DECODE_NS), ns));
	bytes_prepare(context, bytes_cut(bytes, bytes.size / 2), SHAPE);
	cr_assert(eq(u64, stats_get(STAT_DECODES), decodes + 1));
	cr_assert(eq(u64, stats_get(STAT_DECODE_ERRORS), errors + 1));
	free(bytes.data);
}

/* Preparations with and without resize and crop, also with a crop wider than the image. */
static const struct preparation several[] = {
	{.resize_short = 20},
	{.resize_short = 24, .crop_width = 16, .crop_height = 12},
	{.crop_width = 10, .crop_height = 10},
	{.crop_width = 60, .crop_height = 8},
	{0},
};

static void check_several(struct image_file *file)
{
	enum { N = sizeof(several) / sizeof(several[0]) };
	struct load_task tasks[N], alone = file->task;
	alone.path = file->path;
	for (int i = 0; i < N; i++) {
		tasks[i] = alone;
		tasks[i].preparation = &several[i];
		tasks[i].also = i + 1 < N ? &tasks[i + 1] : NULL;
	}
	load_prepare(context, &tasks[0]);
	for (int i = 0; i < N; i++) {
		alone.preparation = &several[i];
		load_prepare(context, &alone);
		cr_assert(tasks[i].status == 0 && alone.status == 0);
		cr_assert(tasks[i].tensor->bytes == alone.tensor->bytes);
		cr_assert(memcmp(tasks[i].tensor->data, alone.tensor->data,
				  alone.tensor->bytes) == 0);
		tensor_free(alone.tensor);
		tensor_free(tasks[i].tensor);
	}
	unlink(file->path);
}

Test(load, one_decode_gives_the_same_as_several)
{
	struct bytes bytes = photo();
	struct image_file file = file_write(bytes, SHAPE);
	check_several(&file);
	free(bytes.data);
}

Test(load, several_from_one_decode_fail_together)
{
	struct bytes bytes = photo();
	struct image_file file = file_write(bytes_cut(bytes, bytes.size / 2), SHAPE);
	struct load_task also = {.preparation = &several[0]};
	file.task.also = &also;
	struct load_task task = file_prepare(context, &file);
	cr_assert(task.status == -EIO && also.status == -EIO && !also.tensor);
	cr_assert(strcmp(task.message, also.message) == 0 && also.message[0]);
	free(bytes.data);
}
