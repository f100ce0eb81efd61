// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/image.h"
#include "image/resample.h"

#define JPEG_SIDE 65535
#define JPEG_BLOCK 32 /* largest side, in pixels, of the blocks (MCUs) of a JPEG */

/* Returns the most bytes that a codec holds for an image of this size: 8 per pixel. A progressive
 * JPEG needs 8 for all coefficients. An interlaced PNG of 16-bit RGBA needs 8 for all rows. */
static uint64_t codec_bytes(struct tensor_shape image)
{
	uint64_t height = image.height, width = image.width;
	if (height <= JPEG_SIDE && width <= JPEG_SIDE) {
		height = (height + JPEG_BLOCK - 1) / JPEG_BLOCK * JPEG_BLOCK;
		width = (width + JPEG_BLOCK - 1) / JPEG_BLOCK * JPEG_BLOCK;
	}
	return height * width * 8;
}

/* Returns the bytes of the weights that kernel_set makes for one axis. */
static uint64_t kernel_bytes(enum resample_filter filter, uint32_t in, uint32_t out)
{
	uint64_t taps = resample_most_taps(filter, in, out) + 4;
	return in == out ? 0 : (taps * 2 * sizeof(int32_t) + 8) * out;
}

static uint64_t middle_bytes(const struct preparation *preparation,
	struct tensor_shape image, struct tensor_shape size)
{
	struct crop_axis rows, columns;
	preparation_window(preparation, size, &rows, &columns);
	enum pixel_mode mode = preparation_mode(preparation, image);
	bool wide = pixel_modes[mode].bytes > 1;
	if (image.height == size.height && image.width == size.width)
		return 0;
	if (!wide && (image.height == size.height || image.width == size.width))
		return 0;
	uint64_t row = columns.length * resample_middle_bytes(mode) + ROW_ALIGNMENT;
	return row * resample_source(preparation->filter, image.height, size.height, rows)
			     .length;
}

uint64_t image_working_bytes(const struct preparation *preparation,
	struct tensor_shape image, uint64_t file_bytes)
{
	struct tensor_shape size = preparation_resized(preparation, image);
	uint64_t all = (uint64_t)image.height * image.width;
	enum pixel_mode mode = preparation_mode(preparation, image);
	uint64_t kept = pixel_modes[mode].channels * (uint64_t)pixel_modes[mode].bytes;
	uint64_t pixels = all * (kept > 3 ? kept : 3);
	uint64_t converted = mode == PIXELS_L	       ? all
			     : pixel_modes[mode].alpha ? all * kept
						       : 0;
	return file_bytes + codec_bytes(image) + pixels +
	       (preparation->exif ? pixels : 0) + converted +
	       kernel_bytes(preparation->filter, image.height, size.height) +
	       kernel_bytes(preparation->filter, image.width, size.width) +
	       middle_bytes(preparation, image, size);
}
