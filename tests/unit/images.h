// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/ensure.h"

#include <png.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

/* Makes small gray pictures of any size. */

static inline uint8_t *image_pixels(uint32_t width, uint32_t height)
{
	size_t bytes = (size_t)width * height * 3;
	uint8_t *pixels = malloc(bytes);
	ensure(pixels);
	memset(pixels, 128, bytes);
	return pixels;
}

static inline void write_png(const char *path, uint32_t width, uint32_t height)
{
	png_image image = {.version = PNG_IMAGE_VERSION,
		.width = width,
		.height = height,
		.format = PNG_FORMAT_RGB};
	uint8_t *pixels = image_pixels(width, height);
	ensure(png_image_write_to_file(&image, path, 0, pixels, 0, NULL));
	free(pixels);
}

static inline void write_jpeg(const char *path, uint32_t width, uint32_t height)
{
	struct jpeg_compress_struct info;
	struct jpeg_error_mgr errors;
	FILE *file = fopen(path, "wb");
	uint8_t *pixels = image_pixels(width, height);
	ensure(file);
	info.err = jpeg_std_error(&errors);
	jpeg_create_compress(&info);
	jpeg_stdio_dest(&info, file);
	info.image_width = width;
	info.image_height = height;
	info.input_components = 3;
	info.in_color_space = JCS_RGB;
	jpeg_set_defaults(&info);
	jpeg_start_compress(&info, TRUE);
	while (info.next_scanline < height) {
		JSAMPROW row = pixels;
		jpeg_write_scanlines(&info, &row, 1);
	}
	jpeg_finish_compress(&info);
	jpeg_destroy_compress(&info);
	free(pixels);
	ensure(fclose(file) == 0);
}
