// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/fault.h"
#include "base/rng.h"
#include "files/format.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <zlib.h>

/*
 * The structure of each format, read back by code that follows its specification.
 * tests/clients/formats.py lets real readers read the same files.
 */

static const struct tensor_shape shapes[] = {
	{.height = 1, .width = 1},
	{.height = 1, .width = 2},
	{.height = 3, .width = 3},
	{.height = 2, .width = 4},
	{.height = 5, .width = 5},
	{.height = 7, .width = 97},
	/* for png, rows of 85 bytes: 771 of them fill a stored block to the byte */
	{.height = 770, .width = 28},
	{.height = 771, .width = 28},
	{.height = 772, .width = 28},
	{.height = 1, .width = 30000}, /* a row of more than one block */
	/* 64 blocks fill a chunk */
	{.height = 64 * 771, .width = 28},
	{.height = 64 * 771 + 1, .width = 28},
};

static const struct pixel_type rgb8;

#define N_SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static struct tensor *random_tensor(struct tensor_shape shape)
{
	struct rng rng;
	uint64_t bytes = (uint64_t)shape.height * shape.width * 3;
	struct tensor *tensor = tensor_new(shape, bytes);
	cr_assert(tensor != NULL);
	rng_seed(&rng, bytes);
	for (uint64_t i = 0; i < bytes; i++)
		tensor->data[i] = (uint8_t)rng_next(&rng);
	return tensor;
}

/* Returns the whole file, as a reader gets it. */
static uint8_t *file_of(
	enum sample_format format, const struct tensor *tensor, uint64_t *ret_bytes)
{
	struct formatted file;
	cr_assert(zero(int, format_make(format, rgb8, tensor, 0, &file)));
	cr_assert(eq(u64, file.bytes,
		format_bytes(format, rgb8, tensor->shape, tensor->bytes)));
	*ret_bytes = file.bytes;
	uint8_t *bytes = malloc(file.bytes);
	cr_assert(bytes != NULL);
	if (file.encoded) {
		memcpy(bytes, file.encoded, file.bytes);
	} else {
		cr_assert(eq(u64, file.head_bytes + tensor->bytes, file.bytes));
		memcpy(bytes, file.head, file.head_bytes);
		memcpy(bytes + file.head_bytes, tensor->data, tensor->bytes);
	}
	format_free(&file);
	return bytes;
}

static uint32_t read_le(const uint8_t *at, int n)
{
	return n ? at[0] | read_le(at + 1, n - 1) << 8 : 0;
}

static uint32_t read_be32(const uint8_t *at)
{
	return __builtin_bswap32(read_le(at, 4));
}

Test(format, ppm_is_p6_with_width_before_height)
{
	for (size_t i = 0; i < N_SHAPES; i++) {
		struct tensor *tensor = random_tensor(shapes[i]);
		uint64_t n;
		char head[64];
		uint8_t *file = file_of(FORMAT_PPM, tensor, &n);
		int start = snprintf(head, sizeof(head), "P6\n%u %u\n255\n",
			shapes[i].width, shapes[i].height);
		cr_assert(eq(u64, n, (uint64_t)start + tensor->bytes));
		cr_assert(memcmp(file, head, (size_t)start) == 0);
		cr_assert(memcmp(file + start, tensor->data, tensor->bytes) == 0);
		free(file);
		tensor_free(tensor);
	}
}

Test(format, raw_and_source_are_the_bytes_alone)
{
	static const enum sample_format formats[] = {FORMAT_RAW, FORMAT_SOURCE};
	for (int i = 0; i < 2; i++) {
		struct tensor *tensor =
			random_tensor((struct tensor_shape){.height = 3, .width = 5});
		uint64_t n;
		uint8_t *file = file_of(formats[i], tensor, &n);
		cr_assert(eq(u64, n, 45));
		cr_assert(memcmp(file, tensor->data, 45) == 0);
		free(file);
		tensor_free(tensor);
	}
}

Test(format, source_may_have_any_size_also_none)
{
	struct formatted file;
	struct tensor *tensor = tensor_new((struct tensor_shape){0}, 0);
	cr_assert(zero(int, format_make(FORMAT_SOURCE, rgb8, tensor, 0, &file)));
	cr_assert(eq(u64, file.bytes, 0));
	cr_assert(
		eq(u64, format_bytes(FORMAT_SOURCE, rgb8, tensor->shape, 12345), 12345));
	format_free(&file);
	tensor_free(tensor);
}

static void expect_npy_head(const uint8_t *file, struct tensor_shape shape)
{
	char dictionary[128];
	cr_assert(memcmp(file, "\x93NUMPY\x01\x00", 8) == 0);
	cr_assert(eq(u32, read_le(file + 8, 2), 118));
	int n = snprintf(dictionary, sizeof(dictionary),
		"{'descr': '|u1', 'fortran_order': False, 'shape': (%u, %u, 3), }",
		shape.height, shape.width);
	cr_assert(memcmp(file + 10, dictionary, (size_t)n) == 0);
	for (int i = 10 + n; i < 127; i++)
		cr_assert(eq(int, file[i], ' '));
	cr_assert(eq(int, file[127], '\n'));
}

Test(format, npy_is_version_1_with_an_aligned_head)
{
	for (size_t i = 0; i < N_SHAPES; i++) {
		struct tensor *tensor = random_tensor(shapes[i]);
		uint64_t n;
		uint8_t *file = file_of(FORMAT_NPY, tensor, &n);
		expect_npy_head(file, shapes[i]);
		cr_assert(eq(u64, n, 128 + tensor->bytes));
		cr_assert(memcmp(file + 128, tensor->data, tensor->bytes) == 0);
		free(file);
		tensor_free(tensor);
	}
}

Test(format, npy_tells_dtype_and_axes)
{
	static const struct {
		struct pixel_type type;
		const char *head;
	} heads[] = {
		{{.dtype = DTYPE_FLOAT32},
			"'<f4', 'fortran_order': False, 'shape': (5, 7, 3), }"},
		{{.dtype = DTYPE_FLOAT16, .axes = AXES_CHW},
			"'<f2', 'fortran_order': False, 'shape': (3, 5, 7), }"},
		{{.axes = AXES_CHW},
			"'|u1', 'fortran_order': False, 'shape': (3, 5, 7), }"},
	};
	for (int i = 0; i < 3; i++) {
		struct pixel_type type = heads[i].type;
		struct tensor_shape shape = {.height = 5, .width = 7};
		struct formatted file;
		struct tensor *tensor =
			tensor_new(shape, 5 * 7 * 3 * pixel_type_bytes(type, shape));
		cr_assert(zero(int, format_make(FORMAT_NPY, type, tensor, 0, &file)));
		cr_assert(eq(u64, file.bytes, 128 + tensor->bytes));
		cr_assert(eq(u64, file.bytes, format_bytes(FORMAT_NPY, type, shape, 0)));
		cr_assert(memcmp(file.head + 10, "{'descr': ", 10) == 0);
		cr_assert(memcmp(file.head + 20, heads[i].head, strlen(heads[i].head)) ==
			  0);
		format_free(&file);
		tensor_free(tensor);
	}
}

Test(format, a_record_is_an_array_with_its_label_before_it)
{
	static const char dictionary[] =
		"{'descr': [('label', '<i8'), ('image', '|u1', (65500, 65499, 3))], "
		"'fortran_order': False, 'shape': (), }";
	struct tensor_shape largest = {.height = 65500, .width = 65499};
	uint8_t head[FILE_HEAD_SIZE];
	const struct file_head record = {
		.kind = HEAD_NPY, .record = true, .label = 70000};
	cr_assert(eq(sz, file_head_make(record, largest, head), 136));
	cr_assert(memcmp(head, "\x93NUMPY\x01\x00", 8) == 0);
	cr_assert(eq(u32, read_le(head + 8, 2), 118));
	cr_assert(memcmp(head + 10, dictionary, strlen(dictionary)) == 0);
	cr_assert(eq(int, head[127], '\n'));
	cr_assert(eq(u32, read_le(head + 128, 4), 70000));
	cr_assert(eq(u32, read_le(head + 132, 4), 0));
}

static void expect_bmp(const uint8_t *file, uint64_t n, const struct tensor *tensor)
{
	uint32_t width = tensor->shape.width, height = tensor->shape.height;
	uint64_t row = ((uint64_t)width * 3 + 3) / 4 * 4;
	cr_assert(memcmp(file, "BM", 2) == 0);
	cr_assert(eq(u64, n, 54 + row * height));
	cr_assert(eq(u32, read_le(file + 2, 4), n));
	cr_assert(eq(u32, read_le(file + 10, 4), 54), "where the pixels begin");
	cr_assert(eq(u32, read_le(file + 14, 4), 40));
	cr_assert(eq(u32, read_le(file + 18, 4), width));
	cr_assert(eq(u32, read_le(file + 22, 4), height));
	cr_assert(eq(u32, read_le(file + 26, 2), 1));
	cr_assert(eq(u32, read_le(file + 28, 2), 24));
	cr_assert(eq(u32, read_le(file + 30, 4), 0), "not compressed");
	cr_assert(eq(u32, read_le(file + 34, 4), row * height));
	for (uint64_t y = 0; y < height; y++) {
		const uint8_t *bgr = file + 54 + row * (height - 1 - y);
		const uint8_t *rgb = tensor->data + y * width * 3;
		for (uint64_t i = 0; i < (uint64_t)width * 3; i++)
			if (bgr[i] != rgb[i / 3 * 3 + 2 - i % 3])
				cr_fatal("row %lu, byte %lu", y, i);
		for (uint64_t i = (uint64_t)width * 3; i < row; i++)
			cr_assert(eq(int, bgr[i], 0));
	}
}

Test(format, bmp_is_24_bit_bottom_up_with_padded_rows)
{
	for (size_t i = 0; i < N_SHAPES; i++) {
		struct tensor *tensor = random_tensor(shapes[i]);
		uint64_t n;
		uint8_t *file = file_of(FORMAT_BMP, tensor, &n);
		expect_bmp(file, n, tensor);
		free(file);
		tensor_free(tensor);
	}
}

/* Checks the chunks of a png, joins the data of its IDATs, and returns their number. */
static int join_idat(const uint8_t *file, uint64_t n, uint8_t *stream, uint64_t *ret_n)
{
	int chunks = 0;
	uint64_t at = 8;
	*ret_n = 0;
	while (at < n) {
		uint32_t length = read_be32(file + at);
		const uint8_t *type = file + at + 4;
		cr_assert(le(u64, at + length + 12, n));
		cr_assert(eq(
			u32, read_be32(type + 4 + length), crc32(0, type, length + 4)));
		at += length + 12;
		cr_assert(eq(int, memcmp(type, "IEND", 4) == 0, at == n));
		if (memcmp(type, "IDAT", 4) != 0)
			continue;
		memcpy(stream + *ret_n, type + 4, length);
		*ret_n += length;
		chunks++;
	}
	return chunks;
}

static int expect_png(const uint8_t *file, uint64_t n, const struct tensor *tensor)
{
	uint32_t width = tensor->shape.width, height = tensor->shape.height;
	uint64_t row = (uint64_t)width * 3;
	uLongf raw_n = (row + 1) * height, stream_n;
	uint8_t *stream = malloc(n), *raw = malloc(raw_n);
	cr_assert(memcmp(file, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16) == 0);
	cr_assert(eq(u32, read_be32(file + 16), width));
	cr_assert(eq(u32, read_be32(file + 20), height));
	cr_assert(memcmp(file + 24, "\x08\x02\0\0\0", 5) == 0);
	int chunks = join_idat(file, n, stream, &stream_n);
	/* checks Adler-32, and that nothing is missing */
	cr_assert(eq(int, uncompress(raw, &raw_n, stream, stream_n), Z_OK));
	cr_assert(eq(u64, raw_n, (row + 1) * height));
	for (uint64_t y = 0; y < height; y++) {
		cr_assert(eq(int, raw[y * (row + 1)], 0), "not filtered");
		cr_assert(memcmp(raw + y * (row + 1) + 1, tensor->data + y * row, row) ==
			  0);
	}
	free(stream);
	free(raw);
	return chunks;
}

Test(format, png_is_a_stored_zlib_stream_with_right_checksums)
{
	int most_chunks = 0;
	for (size_t i = 0; i < N_SHAPES; i++) {
		struct tensor *tensor = random_tensor(shapes[i]);
		uint64_t n;
		uint8_t *file = file_of(FORMAT_PNG, tensor, &n);
		int chunks = expect_png(file, n, tensor);
		most_chunks = chunks > most_chunks ? chunks : most_chunks;
		free(file);
		tensor_free(tensor);
	}
	cr_assert(eq(int, most_chunks, 2));
}

Test(format, sizes_are_known_from_the_shape_alone)
{
	for (enum sample_format format = FORMAT_PPM; format <= FORMAT_SOURCE; format++) {
		for (uint32_t k = 1; k <= 120; k++) {
			struct tensor *tensor = random_tensor(
				(struct tensor_shape){.height = 1 + k % 7, .width = k});
			uint64_t n;
			free(file_of(format, tensor, &n)); /* file_of compares */
			tensor_free(tensor);
		}
	}
}

Test(format, sizes_beyond_32_bits_do_not_wrap)
{
	struct tensor_shape shape = {.height = 100000, .width = 100000};
	uint64_t pixels = UINT64_C(30000000000);
	for (enum sample_format format = FORMAT_PPM; format <= FORMAT_RAW; format++)
		cr_assert(ge(u64, format_bytes(format, rgb8, shape, 0), pixels));
}

Test(format, missing_memory_is_reported)
{
	struct formatted file;
	struct tensor *tensor =
		random_tensor((struct tensor_shape){.height = 3, .width = 5});
	cr_assert(zero(int, fault_add("format.memory:ENOMEM")));
	cr_assert(eq(int, format_make(FORMAT_BMP, rgb8, tensor, 0, &file), -ENOMEM));
	cr_assert(eq(int, format_make(FORMAT_PNG, rgb8, tensor, 0, &file), -ENOMEM));
	cr_assert(zero(int, format_make(FORMAT_PPM, rgb8, tensor, 0, &file)));
	fault_clear();
	tensor_free(tensor);
}

Test(format, pixels_of_a_tensor_without_a_shape_are_a_bug, .signal = SIGABRT)
{
	struct formatted file;
	uint8_t bytes[10] = {0};
	const struct tensor tensor = {.bytes = sizeof(bytes), .data = bytes};
	(void)!format_make(FORMAT_PPM, rgb8, &tensor, 0, &file);
}
