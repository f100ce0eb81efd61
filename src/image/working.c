// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/image.h"
#include "image/resample.h"

/* The largest side that a JPEG can have. */
#define JPEG_SIDE 65535
/* A JPEG consists of blocks of at most so many pixels a side. */
#define JPEG_BLOCK 32
/* Rows of the pass in between are aligned to this. */
#define ROW_ALIGNMENT 64

/*
 * What the codecs hold of an image at most: four channels of 16 bits, which are the
 * coefficients of a progressive JPEG, or the rows of an interlaced PNG.
 */
static uint64_t codec_bytes(struct tensor_shape image)
{
	uint64_t height = image.height, width = image.width;
	if (height <= JPEG_SIDE && width <= JPEG_SIDE) {
		height = (height + JPEG_BLOCK - 1) / JPEG_BLOCK * JPEG_BLOCK;
		width = (width + JPEG_BLOCK - 1) / JPEG_BLOCK * JPEG_BLOCK;
	}
	return height * width * 8;
}

/* The weights of an axis; see kernel_set. */
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
	if (image.height == size.height || image.width == size.width)
		return 0;
	uint64_t row = (uint64_t)columns.length * 3 + ROW_ALIGNMENT;
	return row * resample_source(preparation->filter, image.height, size.height, rows)
			     .length;
}

uint64_t image_working_bytes(const struct preparation *preparation,
	struct tensor_shape image, uint64_t file_bytes)
{
	struct tensor_shape size = preparation_resized(preparation, image);
	uint64_t pixels = tensor_shape_bytes(image);
	return file_bytes + codec_bytes(image) + pixels +
	       (preparation->exif ? pixels : 0) + (preparation->gray ? pixels / 3 : 0) +
	       kernel_bytes(preparation->filter, image.height, size.height) +
	       kernel_bytes(preparation->filter, image.width, size.width) +
	       middle_bytes(preparation, image, size);
}
