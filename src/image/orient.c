// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/orient.h"
#include "base/ensure.h"

#include <stddef.h>
#include <string.h>

/* Images are turned in squares of this side, so that a square fits into the processor's cache. */
#define SQUARE 64

/* Tells where the input has the pixels of the output. Unit: bytes. */
struct steps {
	ptrdiff_t first; /* offset in the input of the first pixel of the output */
	ptrdiff_t right; /* from a pixel to its right neighbour in the output */
	ptrdiff_t down;	 /* from a pixel to the pixel below it in the output */
};

static struct steps plan(struct tensor_shape in, unsigned orientation)
{
	static const bool upwards[9] = {[3] = 1, [4] = 1, [6] = 1, [7] = 1};
	static const bool leftwards[9] = {[2] = 1, [3] = 1, [7] = 1, [8] = 1};
	ptrdiff_t column = tensor_pixel_bytes(in), row = (ptrdiff_t)in.width * column;
	struct steps steps = {0};
	if (upwards[orientation]) {
		steps.first += row * ((ptrdiff_t)in.height - 1);
		row = -row;
	}
	if (leftwards[orientation]) {
		steps.first += column * ((ptrdiff_t)in.width - 1);
		column = -column;
	}
	steps.right = orientation < 5 ? column : row;
	steps.down = orientation < 5 ? row : column;
	return steps;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void copy_row(const uint8_t *in, ptrdiff_t step, uint8_t *restrict out,
	uint32_t pixels, size_t bytes)
{
	for (; bytes != 3 && pixels > 0; pixels--, in += step, out += bytes)
		memcpy(out, in, bytes);
	for (; pixels > 0; pixels--, in += step, out += 3) {
		out[0] = in[0];
		out[1] = in[1];
		out[2] = in[2];
	}
}

void orient(struct tensor_shape shape, unsigned orientation, const uint8_t *in,
	uint8_t *restrict out)
{
	ensure(orientation >= 1 && orientation <= 8);
	struct steps steps = plan(shape, orientation);
	size_t bytes = tensor_pixel_bytes(shape);
	uint32_t width = orientation < 5 ? shape.width : shape.height;
	uint32_t height = orientation < 5 ? shape.height : shape.width;
	for (uint32_t top = 0; top < height; top += smaller(SQUARE, height - top))
		for (uint32_t left = 0; left < width;
			left += smaller(SQUARE, width - left))
			for (uint32_t y = top; y < top + smaller(SQUARE, height - top);
				y++)
				copy_row(in + steps.first + steps.down * (ptrdiff_t)y +
						 steps.right * (ptrdiff_t)left,
					steps.right,
					out + ((size_t)y * width + left) * bytes,
					smaller(SQUARE, width - left), bytes);
}
