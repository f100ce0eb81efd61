// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/orient.h"
#include "base/ensure.h"

#include <stddef.h>

/* Rows that become columns are read in squares that stay in the cache. */
#define SQUARE 64

/* Where the pixels of the output come from: the first one, and how far it is to the next
 * one on the right and below, in bytes. */
struct walk {
	ptrdiff_t first;
	ptrdiff_t right;
	ptrdiff_t down;
};

static struct walk plan(struct tensor_shape in, unsigned orientation)
{
	static const bool upwards[9] = {[3] = 1, [4] = 1, [6] = 1, [7] = 1};
	static const bool leftwards[9] = {[2] = 1, [3] = 1, [7] = 1, [8] = 1};
	ptrdiff_t row = (ptrdiff_t)in.width * 3, column = 3;
	struct walk walk = {0};
	if (upwards[orientation]) {
		walk.first += row * ((ptrdiff_t)in.height - 1);
		row = -row;
	}
	if (leftwards[orientation]) {
		walk.first += column * ((ptrdiff_t)in.width - 1);
		column = -column;
	}
	walk.right = orientation < 5 ? column : row;
	walk.down = orientation < 5 ? row : column;
	return walk;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void copy_row(
	const uint8_t *in, ptrdiff_t step, uint8_t *restrict out, uint32_t pixels)
{
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
	struct walk walk = plan(shape, orientation);
	uint32_t width = orientation < 5 ? shape.width : shape.height;
	uint32_t height = orientation < 5 ? shape.height : shape.width;
	for (uint32_t top = 0; top < height; top += smaller(SQUARE, height - top))
		for (uint32_t left = 0; left < width;
			left += smaller(SQUARE, width - left))
			for (uint32_t y = top; y < top + smaller(SQUARE, height - top);
				y++)
				copy_row(in + walk.first + walk.down * (ptrdiff_t)y +
						 walk.right * (ptrdiff_t)left,
					walk.right, out + ((size_t)y * width + left) * 3,
					smaller(SQUARE, width - left));
}
