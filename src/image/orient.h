// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "image/tensor.h"

#include <stdint.h>

/* Turns pixels of this shape by an EXIF orientation of 1 to 8, as Pillow's exif_transpose does.
 * Orientations 5 to 8 exchange width and height. `in` and `out` must not overlap. */
void orient(struct tensor_shape shape, unsigned orientation, const uint8_t *in,
	uint8_t *restrict out);
