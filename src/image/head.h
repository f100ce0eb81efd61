// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "image/array.h"

#include <stddef.h>

/* A head: the bytes before the pixels in a file of the mount. The pixels are a tensor's unchanged
 * bytes. */

/* usual length of the head of a npy file; enough for the head of any file of pixels */
#define HEAD_SIZE 128

enum head_kind { HEAD_EMPTY, HEAD_PPM, HEAD_NPY };

/* Makes the head of a PPM or PGM file. Returns its length. */
size_t head_ppm(struct tensor_shape shape, uint8_t ret[static HEAD_SIZE]);

/* Makes the head of a npy file whose array has at most seven axes. bytes: length of the head, a
 * multiple of 64 and at least HEAD_SIZE. type: NumPy's name, such as "<f4", or the Python list that
 * describes a record, such as "[('label', '<i8'), ('image', '|u1', (2, 2, 3))]". */
void head_npy(
	const char *type, const uint32_t *shape, size_t axes, size_t bytes, uint8_t *ret);
