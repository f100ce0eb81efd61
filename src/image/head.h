// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "image/tensor.h"

#include <stddef.h>

/*
 * Heads of files: what stands before the pixels where these follow as they are.
 *
 *   Threads: none inside.   Errors: none.
 */

#define HEAD_SIZE 128 /* that hold any; an array's is as long */

/* Of those whose pixels are a tensor's. */
enum head_kind { HEAD_EMPTY, HEAD_PPM, HEAD_NPY };

/* Its length. */
size_t head_make(
	enum head_kind kind, struct tensor_shape shape, uint8_t ret[static HEAD_SIZE]);

/* Of an array with at most four axes; type: NumPy's name, as "<f4". */
void head_npy(const char *type, const uint32_t *shape, size_t axes,
	uint8_t ret[static HEAD_SIZE]);
