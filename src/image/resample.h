// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "image/tensor.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Resizes, in a horizontal and a vertical pass, and crops, with the same bits as Pillow and
 * torchvision. Colours with 8-bit alpha are multiplied by alpha during a resize. Palette indices
 * need FILTER_NEAREST. 16-bit numbers are resized as in Pillow's mode I, each channel separately,
 * and limited to 0 to 65535.
 *
 *   Flow: resample_source tells on which part of the image a window of the result depends.
 *         resampler_run computes the window from this part only.
 *   Owns: the weights of recent sizes, and memory for rows between the two passes.
 *   Threads: a resampler is used by one thread at a time.
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

/* One axis of a crop: `pad` added pixels, then `length` pixels of the image from `first` on, then
 * added pixels up to the size of the crop. */
struct crop_axis {
	uint32_t first;
	uint32_t pad;
	uint32_t length;
};

/* Follows torchvision.transforms.functional.center_crop. crop 0: the whole axis. */
struct crop_axis crop_axis(uint32_t image, uint32_t crop);

/* A window of the resized image: these rows and columns, whose pads are ignored. */
struct resample_window {
	enum resample_filter filter;
	struct tensor_shape image;
	/* size after the resize; size.mode: the mode of the image and of the result */
	struct tensor_shape size;
	struct crop_axis rows;
	struct crop_axis columns;
};

/* An axis of `image` pixels is resized to `size` pixels. Returns the part of the image's axis from
 * which the part `window` of the resized axis is computed. */
struct crop_axis resample_source(enum resample_filter filter, uint32_t image,
	uint32_t size, struct crop_axis window);

/* Returns the most rows (columns) of the image on which one row (column) of the result depends. */
uint64_t resample_most_taps(enum resample_filter filter, uint32_t image, uint32_t size);

/* Returns the bytes of a pixel between the horizontal and the vertical pass. */
size_t resample_middle_bytes(enum pixel_mode mode);
#define ROW_ALIGNMENT 64 /* bytes to which rows between the passes are aligned */

struct resampler;

/* Creates a resampler. plain: uses only portable code. */
must_check int resampler_new(bool plain, struct resampler **ret);
void resampler_free(struct resampler **resampler);

size_t resampler_bytes(const struct resampler *resampler);

/* Computes the window into `out`. pixels: the part of the image that resample_source returns for
 * both axes, in rows that are in_stride bytes apart. Errors: -ENOMEM. */
must_check int resampler_run(struct resampler *resampler,
	const struct resample_window *window, const uint8_t *pixels, size_t in_stride,
	uint8_t *out, size_t out_stride);
