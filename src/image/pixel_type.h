// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "image/array.h"

#include <stddef.h>

/* The type of a pixel in a file or in an augmented tensor. Threads: any; no state. */

enum sample_dtype { DTYPE_UINT8, DTYPE_FLOAT32, DTYPE_FLOAT16 };
enum sample_axes { AXES_HWC, AXES_CHW };

/* The type of the numbers that a reader gets. DTYPE_UINT8 means the cached tensor's own numbers,
 * which have 1, 2 or 4 bytes. The reader gets the cached tensor as it is if all fields are 0. */
struct pixel_type {
	enum sample_dtype dtype;
	enum sample_axes axes;
	const struct array_type *array; /* an array without pixels; NULL: an image */
	/* how many float32 numbers a label has (format = record); 0: the label is the number of a
	 * class */
	uint32_t targets;
};

/* Returns the bytes of one number. shape: the shape of the cached tensor. */
size_t pixel_type_bytes(struct pixel_type type, struct tensor_shape shape);

/* Fills in the lengths of the axes of an array of pixels. Returns the number of axes. */
size_t pixel_type_axes(
	struct pixel_type type, struct tensor_shape shape, uint32_t ret[static 4]);

/* Returns NumPy's name of the type, such as "<f4". */
const char *pixel_type_npy(struct pixel_type type, struct tensor_shape shape);
