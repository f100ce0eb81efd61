// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/tensor.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Resizing and cropping of RGB8, bit for bit as Pillow and torchvision do it.
 *
 *   Threads: any; no state.
 */

/* One axis of a centre crop: `pad` zeros, then `length` pixels from `first` on, then
 * zeros up to the crop's size. */
struct crop_axis {
	uint32_t first;
	uint32_t pad;
	uint32_t length;
};

/* torchvision.transforms.functional.center_crop; crop = 0: the whole image. */
struct crop_axis crop_axis(uint32_t image, uint32_t crop);

/*
 * The window (rows, columns; their pads are not looked at) of the image resized to
 * `size` by Pillow's antialiased bilinear filter, written to `out` with `stride` bytes
 * from row to row. Computes no more than the window needs. 0 or -ENOMEM.
 */
must_check int resample(const uint8_t *pixels, struct tensor_shape image,
	struct tensor_shape size, struct crop_axis rows, struct crop_axis columns,
	uint8_t *out, size_t stride);
