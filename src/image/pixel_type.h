// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "image/array.h"

#include <stddef.h>

/*
 * How a pixel looks in a file or in an augmented tensor.
 *
 *   Threads: any; no state.   Errors: none.
 */

enum sample_dtype { DTYPE_UINT8, DTYPE_FLOAT32, DTYPE_FLOAT16 };
enum sample_axes { AXES_HWC, AXES_CHW };

/* The type of the numbers that a reader gets. All zero: that of the cached tensor. */
struct pixel_type {
	enum sample_dtype dtype;
	enum sample_axes axes;
	const struct array_type *array; /* not of pixels, but of this type; or NULL */
	uint32_t
		targets; /* numbers of float32 that are the label of a record; 0: a class */
};

/* Bytes of one number of a pixel; shape: of the cached tensor. */
size_t pixel_type_bytes(struct pixel_type type, struct tensor_shape shape);

/* The axes of an array of such pixels; returns how many there are. */
size_t pixel_type_axes(
	struct pixel_type type, struct tensor_shape shape, uint32_t ret[static 4]);

/* NumPy's name of the type, as "<f4". */
const char *pixel_type_npy(struct pixel_type type, struct tensor_shape shape);
