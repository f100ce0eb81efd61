// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "image/tensor.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Resizes and crops, bit for bit as Pillow and torchvision do it. Colours are multiplied by
 * alpha of 8 bits while they are resized; indices of a palette can only be picked. Numbers of
 * 16 bits are resized as in Pillow's mode I, within 0 to 65535, and each of several channels by
 * itself.
 *
 *   Flow: resample_source tells which part of the image a window of the result depends
 *         on; resampler_run computes the window from that part, and nothing else.
 *   Owns: a resampler keeps the weights of the sizes it met last, and memory for the
 *         pass in between.
 *   Threads: a resampler is used by one at a time.
 */

/* Filters of Pillow's Image.resize. */
enum resample_filter {
	FILTER_BILINEAR,
	FILTER_BICUBIC,
	FILTER_LANCZOS,
	FILTER_BOX,
	FILTER_HAMMING,
	FILTER_NEAREST,
};

/* One axis of a centre crop: `pad` zeros, then `length` pixels from `first` on, then
 * zeros up to the crop's size. */
struct crop_axis {
	uint32_t first;
	uint32_t pad;
	uint32_t length;
};

/* Returns the axis of torchvision.transforms.functional.center_crop; crop = 0: the whole
 * image. */
struct crop_axis crop_axis(uint32_t image, uint32_t crop);

/* A window of rows and columns of the image resized to `size`. The pads of rows and columns
 * are ignored. */
struct resample_window {
	enum resample_filter filter;
	struct tensor_shape image;
	struct tensor_shape size; /* its mode is the mode of both images */
	struct crop_axis rows;
	struct crop_axis columns;
};

/* Returns one axis of the part of the image that the window depends on. */
struct crop_axis resample_source(enum resample_filter filter, uint32_t image,
	uint32_t size, struct crop_axis window);

/* Returns the most pixels of an image axis that one pixel of the result depends on. */
uint64_t resample_most_taps(enum resample_filter filter, uint32_t image, uint32_t size);

/* Returns the bytes of a pixel between the passes over columns and over rows. */
size_t resample_middle_bytes(enum pixel_mode mode);

struct resampler;

/* Creates a resampler. plain: uses only portable code. */
must_check int resampler_new(bool plain, struct resampler **ret);
void resampler_free(struct resampler **resampler);

/* Returns the memory that the resampler holds. */
size_t resampler_bytes(const struct resampler *resampler);

/*
 * Computes the window into `out`. pixels: the source of the window (resample_source of both
 * axes), with in_stride bytes from row to row. Returns 0 or -ENOMEM.
 */
must_check int resampler_run(struct resampler *resampler,
	const struct resample_window *window, const uint8_t *pixels, size_t in_stride,
	uint8_t *out, size_t out_stride);
