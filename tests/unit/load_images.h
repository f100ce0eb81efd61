// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/* Makes images with libjpeg and libpng, and prepares such files. */

#include "load/load.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <jpeglib.h>
#include <png.h>

struct bytes {
	uint8_t *data;
	size_t size;
};

static const struct preparation as_it_is;

static inline struct bytes bytes_cut(struct bytes bytes, size_t n)
{
	return (struct bytes){bytes.data, bytes.size - n};
}

static inline struct bytes bytes_join(struct bytes a, struct bytes b)
{
	struct bytes both = {malloc(a.size + b.size + 1), a.size + b.size};
	if (a.size)
		memcpy(both.data, a.data, a.size);
	if (b.size)
		memcpy(both.data + a.size, b.data, b.size);
	return both;
}

/* Returns the first place of the needle. */
static inline size_t bytes_find(struct bytes bytes, const char *needle, size_t n)
{
	uint8_t *at = memmem(bytes.data, bytes.size, needle, n);
	cr_assert(at != NULL);
	return (size_t)(at - bytes.data);
}

/* A pattern with edges, different in every channel. */
static inline uint8_t sample_value(uint32_t x, uint32_t y, int channel)
{
	return (uint8_t)(x * 7 + y * 13 + (uint32_t)channel * 85 + (x / 8 ^ y / 8) * 29);
}

struct jpeg_options {
	J_COLOR_SPACE space;
	int channels;
	bool progressive;
	int quality;
};

static inline struct bytes jpeg_bytes(
	struct tensor_shape shape, struct jpeg_options options)
{
	struct jpeg_compress_struct info;
	struct jpeg_error_mgr errors;
	struct bytes out = {0};
	unsigned long size = 0;
	size_t stride = (size_t)shape.width * (size_t)options.channels;
	uint8_t *row = malloc(stride);
	info.err = jpeg_std_error(&errors);
	jpeg_create_compress(&info);
	jpeg_mem_dest(&info, &out.data, &size);
	info.image_width = shape.width;
	info.image_height = shape.height;
	info.input_components = options.channels;
	info.in_color_space = options.space;
	jpeg_set_defaults(&info);
	jpeg_set_quality(&info, options.quality ? options.quality : 90, TRUE);
	if (options.progressive)
		jpeg_simple_progression(&info);
	jpeg_start_compress(&info, TRUE);
	for (uint32_t y = 0; y < shape.height; y++) {
		for (size_t i = 0; i < stride; i++)
			row[i] = sample_value((uint32_t)i / (uint32_t)options.channels, y,
				(int)(i % (size_t)options.channels));
		jpeg_write_scanlines(&info, &row, 1);
	}
	jpeg_finish_compress(&info);
	jpeg_destroy_compress(&info);
	free(row);
	out.size = size;
	return out;
}

struct png_options {
	int color;
	int depth;
	bool interlaced;
	const png_color *palette;
	int n_palette;
	bool transparent;
};

static inline void png_collect(png_structp writer, png_bytep data, size_t size)
{
	struct bytes *out = png_get_io_ptr(writer);
	out->data = realloc(out->data, out->size + size);
	memcpy(out->data + out->size, data, size);
	out->size += size;
}

static inline void png_flush_nothing(png_structp writer)
{
	(void)writer;
}

static inline void png_begin(png_structp writer, png_infop info,
	struct tensor_shape shape, struct png_options options)
{
	png_color_16 clear = {0};
	uint8_t alpha[2] = {0, 128};
	png_set_IHDR(writer, info, shape.width, shape.height, options.depth,
		options.color, options.interlaced ? PNG_INTERLACE_ADAM7 : 0, 0, 0);
	if (options.palette)
		png_set_PLTE(writer, info, options.palette, options.n_palette);
	if (options.transparent)
		png_set_tRNS(writer, info, alpha, options.palette ? 2 : 0, &clear);
	png_set_check_for_invalid_index(writer, -1);
	png_write_info(writer, info);
}

/* rows: as they are in the file, without filters. */
static inline struct bytes png_bytes(
	struct tensor_shape shape, struct png_options options, const uint8_t *rows)
{
	struct bytes out = {0};
	png_structp writer =
		png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_infop info = png_create_info_struct(writer);
	png_set_write_fn(writer, &out, png_collect, png_flush_nothing);
	png_begin(writer, info, shape, options);
	int passes = png_set_interlace_handling(writer);
	size_t stride = png_get_rowbytes(writer, info);
	for (int pass = 0; pass < passes; pass++)
		for (uint32_t y = 0; y < shape.height; y++)
			png_write_row(writer, rows + y * stride);
	png_write_end(writer, info);
	png_destroy_write_struct(&writer, &info);
	return out;
}

/* A file with given bytes, and the task that prepares it. */
struct image_file {
	char path[32];
	struct load_task task;
};

static inline struct image_file file_write(struct bytes bytes, struct tensor_shape shape)
{
	struct image_file file = {.path = "/tmp/test_load.XXXXXX"};
	struct stat st;
	int fd = mkstemp(file.path);
	cr_assert(fd >= 0);
	cr_assert(write(fd, bytes.data, bytes.size) == (ssize_t)bytes.size);
	cr_assert(zero(int, fstat(fd, &st)));
	close(fd);
	file.task.expected_bytes = bytes.size;
	file.task.expected_mtime_ns =
		(int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	file.task.expected_image = shape;
	file.task.preparation = &as_it_is;
	return file;
}

/* Prepares the file, then removes it. The caller owns the tensor. */
static inline struct load_task file_prepare(
	struct load_context *context, struct image_file *file)
{
	file->task.path = file->path;
	load_prepare(context, &file->task);
	unlink(file->path);
	bool failed = file->task.status != 0;
	cr_assert(eq(int, file->task.tensor == NULL, failed));
	cr_assert(eq(int, file->task.message[0] != '\0', failed));
	return file->task;
}

static inline struct load_task bytes_prepare(
	struct load_context *context, struct bytes bytes, struct tensor_shape shape)
{
	struct image_file file = file_write(bytes, shape);
	return file_prepare(context, &file);
}

#define assert_refused(task, error, text)                                                \
	do {                                                                             \
		struct load_task task_ = (task);                                         \
		cr_assert(eq(int, task_.status, -(error)));                              \
		cr_assert(                                                               \
			strstr(task_.message, text) != NULL, "said: %s", task_.message); \
	} while (0)
