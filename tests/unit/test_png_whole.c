// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "image/png_unfilter.h"
#include "image/png_whole.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* The image data of regular PNGs. All other PNGs are left to libpng. */

enum { WIDTH = 23, HEIGHT = 9, MOST = 4, ROW = WIDTH * MOST };

struct file {
	uint8_t bytes[16384];
	size_t size;
};

static void random_bytes(struct rng *rng, uint8_t *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = rng_below(rng, 4) ? (uint8_t)rng_next(rng) : 0;
}

/* --- filters ------------------------------------------------------------------------- */

static int nearest(int a, int b, int c)
{
	int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
	if (pa <= pb && pa <= pc)
		return a;
	return pb <= pc ? b : c;
}

static uint8_t predict(unsigned filter, int a, int b, int c)
{
	const int by_filter[] = {0, a, b, (a + b) / 2, nearest(a, b, c)};
	return (uint8_t)by_filter[filter];
}

static void check_filter(struct rng *rng, unsigned filter, unsigned pixel, size_t n)
{
	uint8_t above[ROW + PNG_UNFILTER_SLACK], right[ROW],
		row[2][ROW + PNG_UNFILTER_SLACK];
	uint8_t behind[PNG_UNFILTER_SLACK];
	random_bytes(rng, above, sizeof(above));
	random_bytes(rng, right, n);
	random_bytes(rng, row[0], sizeof(row[0]));
	memcpy(behind, row[0] + n, sizeof(behind));
	for (size_t i = 0; i < n; i++) {
		bool first = i < pixel;
		row[0][i] = (uint8_t)(right[i] -
				      predict(filter, first ? 0 : right[i - pixel],
					      above[i], first ? 0 : above[i - pixel]));
	}
	memcpy(row[1], row[0], sizeof(row[0]));
	cr_assert(png_unfilter_plain(filter, pixel, row[0], above, n));
	cr_assert(png_unfilter_vector(filter, pixel, row[1], above, n));
	for (int i = 0; i < 2; i++) {
		cr_assert_arr_eq(row[i], right, n, "filter %u, %u bytes", filter, pixel);
		cr_assert_arr_eq(row[i] + n, behind, sizeof(behind));
	}
}

Test(png_whole, filters_are_undone)
{
	struct rng rng;
	rng_seed(&rng, 1);
	for (unsigned filter = 0; filter < 5; filter++)
		for (unsigned pixel = 1; pixel <= MOST; pixel++)
			for (unsigned width = 1; width <= WIDTH; width++)
				for (int i = 0; i < 20; i++)
					check_filter(&rng, filter, pixel,
						(size_t)width * pixel);
}

Test(png_whole, there_is_no_sixth_filter)
{
	uint8_t row[8] = {0}, above[8] = {0};
	for (unsigned pixel = 1; pixel <= MOST; pixel++)
		for (unsigned filter = 5; filter < 256; filter++) {
			cr_assert_not(png_unfilter_plain(filter, pixel, row, above, 4));
			cr_assert_not(png_unfilter_vector(filter, pixel, row, above, 4));
		}
}

/* --- files --------------------------------------------------------------------------- */

static void put_chunk(struct file *file, const char *name, const uint8_t *data, size_t n)
{
	png_save_uint_32(file->bytes + file->size, (uint32_t)n);
	memcpy(file->bytes + file->size + 4, name, 4);
	memcpy(file->bytes + file->size + 8, data, n);
	memset(file->bytes + file->size + 8 + n, 0, 4); /* nothing checks it */
	file->size += n + 12;
}

static size_t deflate_rows(const uint8_t *rows, size_t n, uint8_t *out, size_t room)
{
	uLongf bytes = room;
	cr_assert(eq(int, compress(out, &bytes, rows, n), Z_OK));
	return bytes;
}

/* Makes a file with chunks of this many bytes. */
static struct file file_of(const uint8_t *stream, size_t n, size_t chunk)
{
	static const uint8_t none[1];
	struct file file = {.size = 0};
	for (size_t at = 0; at < n; at += chunk)
		put_chunk(&file, "IDAT", stream + at, n - at < chunk ? n - at : chunk);
	put_chunk(&file, "IEND", none, 0);
	return file;
}

static bool reads(struct png_whole *whole, const struct file *file,
	const struct png_whole_image *image, const uint8_t *expected)
{
	const uint8_t *rows;
	size_t row = (size_t)image->width * image->pixel_bytes;
	if (!png_whole_read(whole, image, file->bytes, file->bytes + file->size, &rows))
		return false;
	for (uint32_t y = 0; y < image->height; y++)
		cr_assert_arr_eq(
			rows + y * png_whole_stride(image), expected + y * row, row);
	return true;
}

Test(png_whole, what_is_regular_is_read_and_nothing_else)
{
	const struct png_whole_image image = {WIDTH, HEIGHT, 3};
	const size_t row = (size_t)WIDTH * 3;
	uint8_t rows[HEIGHT * (ROW + 1)], expected[HEIGHT * ROW], stream[8192],
		none[1] = {0};
	struct png_whole *whole = png_whole_new(false);
	struct rng rng;
	if (!whole)
		cr_skip("built without libdeflate");
	rng_seed(&rng, 2);
	random_bytes(&rng, expected, sizeof(expected));
	for (uint32_t y = 0; y < HEIGHT; y++) {
		rows[y * (row + 1)] = 0;
		memcpy(rows + y * (row + 1) + 1, expected + y * row, row);
	}
	size_t all = HEIGHT * (row + 1);
	size_t n = deflate_rows(rows, all, stream, sizeof(stream));
	for (size_t chunk = 1; chunk <= n; chunk += chunk < 5 ? 1 : n - 5) {
		struct file file = file_of(stream, n, chunk);
		cr_assert(reads(whole, &file, &image, expected), "chunks of %zu", chunk);
	}
	struct file file = file_of(stream, n, n);
	file.size = n + 11;
	cr_assert_not(
		reads(whole, &file, &image, expected), "the last checksum is cut off");
	file = file_of(stream, n - 1, n);
	cr_assert_not(reads(whole, &file, &image, expected), "the stream ends early");
	stream[n - 1] ^= 1;
	file = file_of(stream, n, n);
	cr_assert_not(reads(whole, &file, &image, expected), "zlib's checksum is wrong");
	n = deflate_rows(rows, all - 1, stream, sizeof(stream));
	file = file_of(stream, n, n);
	cr_assert_not(reads(whole, &file, &image, expected), "a byte is missing");
	n = deflate_rows(rows, all + 1, stream, sizeof(stream));
	file = file_of(stream, n, n);
	cr_assert_not(reads(whole, &file, &image, expected), "there is a byte more");
	rows[4 * (row + 1)] = 5;
	n = deflate_rows(rows, all, stream, sizeof(stream));
	file = file_of(stream, n, n);
	cr_assert_not(reads(whole, &file, &image, expected), "an unknown filter");
	file = (struct file){.size = 0};
	put_chunk(&file, "IEND", none, 0);
	cr_assert_not(reads(whole, &file, &image, expected), "no data");
	png_whole_free(whole);
}
