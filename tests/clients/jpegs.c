// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/*
 * jpegs DIRECTORY: writes JPEGs that PIL can't write, for tests/clients/exact: other sampling
 * factors, arithmetic coding, restart markers, colour spaces, and one with very many scans.
 */

#include "base/rng.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

#define WIDTH 97
#define HEIGHT 61

struct kind {
	const char *name;
	J_COLOR_SPACE from;
	J_COLOR_SPACE to;
	int channels;
	int factors[4]; /* horizontal * 10 + vertical; 0: libjpeg's default */
	bool arithmetic;
	bool progressive;
	unsigned restart_blocks;
	unsigned restart_rows;
	int scans; /* 0: libjpeg's default */
};

#define YCC JCS_RGB, JCS_YCbCr, 3
static const struct kind kinds[] = {
	{"444", YCC, .factors = {11, 11, 11}},
	{"422", YCC, .factors = {21, 11, 11}},
	{"420", YCC, .factors = {22, 11, 11}},
	{"440", YCC, .factors = {12, 11, 11}},
	{"411", YCC, .factors = {41, 11, 11}},
	{"410", YCC, .factors = {42, 11, 11}},
	{"441", YCC, .factors = {14, 11, 11}},
	{"sampling-uneven", YCC, .factors = {22, 21, 12}},
	{"sampling-luma-less", YCC, .factors = {11, 22, 22}},
	{"sampling-all-2", YCC, .factors = {21, 21, 21}},
	{"440-progressive", YCC, .factors = {12, 11, 11}, .progressive = true},
	{"411-progressive", YCC, .factors = {41, 11, 11}, .progressive = true},
	{"arithmetic", YCC, .arithmetic = true},
	{"arithmetic-progressive", YCC, .arithmetic = true, .progressive = true},
	{"arithmetic-restarts", YCC, .arithmetic = true, .restart_rows = 1},
	{"restarts-blocks", YCC, .restart_blocks = 3},
	{"restarts-rows", YCC, .restart_rows = 1},
	{"restarts-progressive", YCC, .restart_rows = 1, .progressive = true},
	{"rgb", JCS_RGB, JCS_RGB, 3, .scans = 0},
	{"gray", JCS_GRAYSCALE, JCS_GRAYSCALE, 1, .scans = 0},
	{"gray-factors-2", JCS_GRAYSCALE, JCS_GRAYSCALE, 1, .factors = {22}},
	{"cmyk", JCS_CMYK, JCS_CMYK, 4, .scans = 0},
	{"ycck", JCS_CMYK, JCS_YCCK, 4, .scans = 0},
	{"ycck-444", JCS_CMYK, JCS_YCCK, 4, .factors = {11, 11, 11, 11}},
	{"ycck-progressive", JCS_CMYK, JCS_YCCK, 4, .progressive = true},
	{"two-channels", JCS_UNKNOWN, JCS_UNKNOWN, 2, .scans = 0},
	{"scans-400", YCC, .progressive = true, .scans = 400},
	{"scans-bomb", YCC, .progressive = true, .scans = 3000},
};

/* Makes smooth pixels with noise. */
static void fill(uint8_t *pixels, int channels)
{
	struct rng rng;
	rng_seed(&rng, 1);
	for (int i = 0; i < WIDTH * HEIGHT * channels; i++) {
		int x = i / channels % WIDTH, y = i / channels / WIDTH, c = i % channels;
		int noise = (int)(rng_next(&rng) % 40);
		pixels[i] = (uint8_t)((x * (2 - c % 2) + y * (1 + c)) % 215 + noise);
	}
}

static void set_factors(struct jpeg_compress_struct *info, const struct kind *kind)
{
	for (int c = 0; c < kind->channels && kind->factors[c]; c++) {
		info->comp_info[c].h_samp_factor = kind->factors[c] / 10;
		info->comp_info[c].v_samp_factor = kind->factors[c] % 10;
	}
}

static void write_pixels(
	struct jpeg_compress_struct *info, const struct kind *kind, uint8_t *pixels)
{
	info->image_width = WIDTH;
	info->image_height = HEIGHT;
	info->input_components = kind->channels;
	info->in_color_space = kind->from;
	jpeg_set_defaults(info);
	jpeg_set_colorspace(info, kind->to);
	set_factors(info, kind);
	if (kind->progressive)
		jpeg_simple_progression(info);
	info->arith_code = kind->arithmetic;
	info->restart_interval = kind->restart_blocks;
	info->restart_in_rows = (int)kind->restart_rows;
	jpeg_start_compress(info, TRUE);
	while (info->next_scanline < HEIGHT) {
		JSAMPROW row =
			pixels + (size_t)info->next_scanline * WIDTH * kind->channels;
		jpeg_write_scanlines(info, &row, 1);
	}
	jpeg_finish_compress(info);
}

/* Repeats the last scan until there are this many scans. */
static void write_file(FILE *out, const uint8_t *data, size_t size, int scans)
{
	size_t last = size - 2, end = size - 2;
	int n = 0;
	for (size_t i = 0; i < end; i++)
		if (data[i] == 0xff && data[i + 1] == 0xda) {
			last = i;
			n++;
		}
	fwrite(data, 1, end, out);
	for (; n < scans; n++)
		fwrite(data + last, 1, end - last, out);
	fwrite(data + end, 1, 2, out);
}

static bool write_kind(const char *directory, const struct kind *kind)
{
	static uint8_t pixels[WIDTH * HEIGHT * 4];
	struct jpeg_compress_struct info;
	struct jpeg_error_mgr errors;
	unsigned char *data = NULL;
	unsigned long size = 0;
	char path[4096];
	snprintf(path, sizeof(path), "%s/jpeg-%s", directory, kind->name);
	fill(pixels, kind->channels);
	info.err = jpeg_std_error(&errors);
	jpeg_create_compress(&info);
	jpeg_mem_dest(&info, &data, &size);
	write_pixels(&info, kind, pixels);
	jpeg_destroy_compress(&info);
	FILE *out = fopen(path, "wb");
	if (out)
		write_file(out, data, size, kind->scans);
	free(data);
	return out && fclose(out) == 0;
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!write_kind(argv[1], &kinds[i])) {
			perror(argv[1]);
			return 1;
		}
	return 0;
}
