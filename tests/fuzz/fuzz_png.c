// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image.h"
#include "image/png_whole.h"

#include <png.h>
#include <zlib.h>

/*
 * Examines and prepares PNG files. Most mutations get right checksums, because otherwise only the
 * checksums would be tested. A file that the fast reader reads whole is prepared a second time
 * with a byte behind its last row, so that libpng reads it: both must have the same pixels.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(
	uint8_t *data, size_t size, size_t max_size, unsigned int seed);

static void correct_checksums(uint8_t *data, size_t size)
{
	size_t at = 8;
	while (size >= 12 && at <= size - 12) {
		uint32_t length = png_get_uint_32(data + at);
		if (length > size - 12 - at)
			break;
		uint32_t crc = (uint32_t)crc32(0, data + at + 4, length + 4);
		png_save_uint_32(data + at + 8 + length, crc);
		at += (size_t)length + 12;
	}
}

size_t LLVMFuzzerCustomMutator(
	uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	size = LLVMFuzzerMutate(data, size, max_size);
	if (seed % 8 != 0)
		correct_checksums(data, size);
	return size;
}

/* Returns the first IDAT; NULL: none. stream: the joined data of all IDATs that follow each
 * other. */
static const uint8_t *find_data(
	const uint8_t *data, size_t size, uint8_t *stream, size_t *ret_n)
{
	const uint8_t *first = NULL;
	*ret_n = 0;
	for (size_t at = 8; size >= 12 && at <= size - 12;) {
		uint32_t length = png_get_uint_32(data + at);
		bool image = memcmp(data + at + 4, "IDAT", 4) == 0;
		if (length > size - 12 - at || (first && !image))
			break;
		if (image && !first)
			first = data + at;
		if (image) {
			memcpy(stream + *ret_n, data + at + 8, length);
			*ret_n += length;
		}
		at += (size_t)length + 12;
	}
	return first;
}

/* Inflates the data by zlib. false: there is damage that libdeflate may not see
 * (image/png_whole.h). */
static bool inflate_all(const uint8_t *stream, size_t size, uint8_t *rows, size_t n)
{
	z_stream zlib = {.avail_in = (unsigned)size, .avail_out = (unsigned)n};
	/* zlib does not write to these bytes */
	memcpy(&zlib.next_in, &stream, sizeof(stream));
	zlib.next_out = rows;
	ensure(inflateInit(&zlib) == Z_OK);
	int status = inflate(&zlib, Z_FINISH);
	bool damaged = status == Z_DATA_ERROR &&
		       strcmp(zlib.msg, "invalid bit length repeat") == 0;
	ensure(damaged || (status == Z_STREAM_END && zlib.total_out == n));
	inflateEnd(&zlib);
	return !damaged;
}

/* Makes the same file with one more byte behind its n bytes of rows. NULL: zlib can't read the
 * file. */
static uint8_t *make_longer(const uint8_t *head, size_t head_size, const uint8_t *stream,
	size_t stream_size, size_t n, size_t *ret_size)
{
	uLongf packed = compressBound(n + 1);
	uint8_t *rows = calloc(1, n + 1), *file = malloc(head_size + packed + 24);
	ensure(rows && file);
	if (!inflate_all(stream, stream_size, rows, n)) {
		free(rows);
		free(file);
		return NULL;
	}
	uint8_t *chunk = file + head_size;
	memcpy(file, head, head_size);
	ensure(compress(chunk + 8, &packed, rows, n + 1) == Z_OK);
	memcpy(chunk + 4, "IDAT", 4);
	png_save_uint_32(chunk, (uint32_t)packed);
	memcpy(chunk + 12 + packed, "\0\0\0\0IEND\xae\x42\x60\x82", 12);
	*ret_size = head_size + packed + 24;
	correct_checksums(file, *ret_size);
	free(rows);
	return file;
}

/* Reads the rows, by the code for every processor or by the code for this one. NULL: the file is
 * not regular. */
static const uint8_t *read_whole(
	const struct png_whole_image *image, const uint8_t *first, const uint8_t *end)
{
	static struct png_whole *wholes[2];
	const uint8_t *rows[2] = {NULL, NULL};
	for (int plain = 0; plain < 2; plain++) {
		if (!wholes[plain])
			wholes[plain] = png_whole_new(plain);
		ensure(wholes[plain]);
		if (!png_whole_read(wholes[plain], image, first, end, &rows[plain]))
			rows[plain] = NULL;
	}
	ensure(!rows[0] == !rows[1]);
	size_t row = (size_t)image->width * image->pixel_bytes;
	for (uint32_t y = 0; rows[0] && y < image->height; y++)
		ensure(memcmp(rows[0] + y * png_whole_stride(image),
			       rows[1] + y * png_whole_stride(image), row) == 0);
	return rows[0];
}

static struct load_task prepare(struct load_context *context, const uint8_t *data,
	size_t size, struct tensor_shape image)
{
	struct memory_file file;
	memory_file_open(&file, data, size);
	struct load_task task =
		fuzz_prepare(context, file.path, size, image, 1, &fuzz_preparations[0]);
	memory_file_close(&file);
	return task;
}

/* Compares both results. The longer file has right checksums before its data; the other file may
 * not. */
static void expect_same(struct load_task task, struct load_task longer)
{
	ensure(task.status == 0 ? longer.status == 0 : !task.tensor);
	ensure(!task.tensor ||
		memcmp(task.tensor->data, longer.tensor->data, task.tensor->bytes) == 0);
	tensor_free(task.tensor);
	tensor_free(longer.tensor);
}

static void compare(const uint8_t *data, size_t size)
{
	static const unsigned channels[] = {[0] = 1, [2] = 3, [3] = 1, [4] = 2, [6] = 4};
	static struct load_context *context;
	size_t n, longer_size;
	if (size < 33 || data[24] != 8 || data[28] != 0 ||
		data[25] >= sizeof(channels) / sizeof(channels[0]))
		return;
	struct png_whole_image image = {png_get_uint_32(data + 16),
		png_get_uint_32(data + 20), channels[data[25]]};
	uint64_t pixels = (uint64_t)image.width * image.height;
	uint8_t *stream = malloc(size);
	ensure(stream);
	const uint8_t *first = find_data(data, size, stream, &n);
	if (first && image.pixel_bytes > 0 && pixels > 0 && pixels <= MAX_FUZZ_PIXELS &&
		read_whole(&image, first, data + size)) {
		if (!context)
			ensure(load_context_new(&context) == 0);
		uint8_t *longer = make_longer(data, (size_t)(first - data), stream, n,
			png_whole_stride(&image) * image.height, &longer_size);
		struct tensor_shape shape = {
			.height = image.height, .width = image.width};
		if (longer)
			expect_same(prepare(context, data, size, shape),
				prepare(context, longer, longer_size, shape));
		free(longer);
	}
	free(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_image(data, size);
	compare(data, size);
	return 0;
}
