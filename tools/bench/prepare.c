// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/*
 * prepare WAY RESIZE CROP FILE...: prepares files in one thread, for tools/bench/bench-prepare. WAY
 * is one of:
 *
 *   plain            joaderfs, portable code
 *   fast             joaderfs, the best code for this processor; fast:bicubic chooses a filter
 *   approx           joaderfs, the best code, with accuracy = approx
 *   libpng, libjpeg  only decodes PNG or JPEG files to RGB, with this library
 *
 * RESIZE is the shorter side, CROP the side of a square, in pixels; 0: none. Each file is prepared
 * once before the measurement. Prints one line of JSON.
 */

#include "base/cleanup.h"
#include "base/clock.h"
#include "load/load.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <jpeglib.h>
#include <png.h>

#define SIZE_AT 16 /* offset of width and height in a PNG */

static bool jpeg_size(FILE *file, struct tensor_shape *ret)
{
	struct jpeg_decompress_struct info;
	struct jpeg_error_mgr errors;
	info.err = jpeg_std_error(&errors);
	jpeg_create_decompress(&info);
	jpeg_stdio_src(&info, file);
	bool good = jpeg_read_header(&info, TRUE) == JPEG_HEADER_OK;
	*ret = (struct tensor_shape){
		.height = info.image_height, .width = info.image_width};
	jpeg_destroy_decompress(&info);
	return good;
}

static bool image_size(const char *path, struct tensor_shape *ret)
{
	uint8_t head[SIZE_AT + 8];
	auto_fclose FILE *file = fopen(path, "rb");
	if (!file || fread(head, sizeof(head), 1, file) != 1)
		return false;
	*ret = (struct tensor_shape){.height = png_get_uint_32(head + SIZE_AT + 4),
		.width = png_get_uint_32(head + SIZE_AT)};
	rewind(file);
	return head[0] != 0xff || jpeg_size(file, ret);
}

static bool make_task(
	const char *path, const struct preparation *preparation, struct load_task *ret)
{
	struct stat st;
	*ret = (struct load_task){.path = path, .preparation = preparation};
	if (stat(path, &st) != 0 || !image_size(path, &ret->expected_image))
		return false;
	ret->expected_bytes = (uint64_t)st.st_size;
	ret->expected_mtime_ns = timespec_ns(st.st_mtim);
	return true;
}

static bool prepare_all(struct load_context *context, struct load_task *tasks, int n)
{
	for (int i = 0; i < n; i++) {
		load_prepare(context, &tasks[i]);
		if (tasks[i].status != 0) {
			fprintf(stderr, "%s: %s\n", tasks[i].path, tasks[i].message);
			return false;
		}
		tensor_free(tasks[i].tensor);
	}
	return true;
}

static void print_result(
	struct load_usage before, struct load_usage after, uint64_t ns, int n)
{
	double us = 1e-3 / n;
	printf("{\"us\": %.1f, \"read_us\": %.1f, \"decode_us\": %.1f, "
	       "\"resample_us\": %.1f, \"peak_bytes\": %zu}\n",
		(double)ns * us, (double)(after.read_ns - before.read_ns) * us,
		(double)(after.decode_ns - before.decode_ns) * us,
		(double)(after.resample_ns - before.resample_ns) * us, after.peak_bytes);
}

static bool measure(struct load_context *context, struct load_task *tasks, int n)
{
	if (!prepare_all(context, tasks, n))
		return false;
	struct load_usage before = load_context_usage(context);
	uint64_t begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	bool good = prepare_all(context, tasks, n);
	uint64_t ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin;
	if (good)
		print_result(before, load_context_usage(context), ns, n);
	return good;
}

static bool decode_with_libpng(const char *path)
{
	auto_fclose FILE *file = fopen(path, "rb");
	png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_infop info = png ? png_create_info_struct(png) : NULL;
	if (!file || !info || setjmp(png_jmpbuf(png)))
		return false;
	png_init_io(png, file);
	png_read_png(png, info, PNG_TRANSFORM_STRIP_ALPHA, NULL);
	png_destroy_read_struct(&png, &info, NULL);
	return true;
}

static void read_rows(struct jpeg_decompress_struct *info, uint8_t *pixels)
{
	size_t stride = (size_t)info->output_width * 3;
	while (info->output_scanline < info->output_height) {
		/* libjpeg returns at most four rows at a time, and two with 4:2:0 */
		uint8_t *rows[4];
		for (unsigned i = 0; i < 4; i++)
			rows[i] = pixels + (info->output_scanline + i) * stride;
		jpeg_read_scanlines(info, rows, 4);
	}
}

/* Reuses `info`, which is the fastest way. An error of libjpeg ends the program. */
static bool decode_with_libjpeg(const char *path)
{
	static struct jpeg_decompress_struct info;
	static struct jpeg_error_mgr errors;
	struct stat st;
	auto_fclose FILE *file = fopen(path, "rb");
	if (!file || fstat(fileno(file), &st) != 0)
		return false;
	auto_free uint8_t *data = malloc((size_t)st.st_size);
	setbuf(file, NULL);
	if (!data || fread(data, (size_t)st.st_size, 1, file) != 1)
		return false;
	if (!info.err) {
		info.err = jpeg_std_error(&errors);
		jpeg_create_decompress(&info);
	}
	jpeg_mem_src(&info, data, (size_t)st.st_size);
	jpeg_read_header(&info, TRUE);
	info.out_color_space = JCS_RGB;
	jpeg_start_decompress(&info);
	auto_free uint8_t *pixels =
		malloc((size_t)info.output_width * info.output_height * 3);
	if (pixels) {
		read_rows(&info, pixels);
		jpeg_finish_decompress(&info);
	}
	return pixels;
}

static bool measure_library(bool (*decode)(const char *path), char **paths, int n)
{
	uint64_t begin = 0;
	for (int round = 0; round < 2; round++) {
		begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		for (int i = 0; i < n; i++)
			if (!decode(paths[i]))
				return false;
	}
	printf("{\"us\": %.1f}\n",
		(double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) * 1e-3 / n);
	return true;
}

/* Parses the filter in WAY:FILTER. The default is bilinear. */
static enum resample_filter filter_of(const char *way)
{
	const char *name = strchr(way, ':');
	enum resample_filter filter = FILTER_BILINEAR;
	while (name && filter < FILTER_NEAREST &&
		strcmp(resample_filter_name(filter), name + 1) != 0)
		++filter;
	return filter;
}

int main(int argc, char **argv)
{
	if (argc < 5) {
		fputs("usage: prepare plain|fast|approx|libpng|libjpeg RESIZE CROP "
		      "FILE...\n",
			stderr);
		return 2;
	}
	int n = argc - 4;
	char **paths = argv + 4;
	if (strcmp(argv[1], "libpng") == 0)
		return measure_library(decode_with_libpng, paths, n) ? 0 : 1;
	if (strcmp(argv[1], "libjpeg") == 0)
		return measure_library(decode_with_libjpeg, paths, n) ? 0 : 1;
	struct preparation preparation = {
		.resize_short = (uint32_t)strtoul(argv[2], NULL, 10),
		.filter = filter_of(argv[1]),
		.crop_width = (uint32_t)strtoul(argv[3], NULL, 10),
		.crop_height = (uint32_t)strtoul(argv[3], NULL, 10),
		.approximate = strcmp(argv[1], "approx") == 0,
	};
	struct load_context *context = NULL;
	auto_free struct load_task *tasks = calloc((size_t)n, sizeof(*tasks));
	bool good = tasks && load_context_new(&context) == 0;
	if (good && strcmp(argv[1], "plain") == 0)
		good = load_context_use_plain(context) == 0;
	for (int i = 0; good && i < n; i++)
		good = make_task(paths[i], &preparation, &tasks[i]);
	good = good && measure(context, tasks, n);
	load_context_free(&context);
	return good ? 0 : 1;
}
