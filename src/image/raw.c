// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/raw.h"

#include <string.h>

static const uint8_t bits_of[] = {[RAW_BIT] = 1,
	[RAW_BIT_INK] = 1,
	[RAW_GRAY] = 8,
	[RAW_GRAY16] = 16,
	[RAW_INDEX1] = 1,
	[RAW_INDEX4] = 4,
	[RAW_INDEX8] = 8,
	[RAW_RGB] = 24,
	[RAW_RGBX] = 32,
	[RAW_BGR] = 24,
	[RAW_BGRX] = 32,
	[RAW_XBGR] = 32,
	[RAW_BGR555] = 16,
	[RAW_BGR565] = 16};

static unsigned index_at(const uint8_t *row, unsigned bits, uint32_t x)
{
	if (bits == 8)
		return row[x];
	if (bits == 4)
		return x % 2 == 0 ? row[x / 2] >> 4 : row[x / 2] & 15;
	return row[x / 8] >> (7 - x % 8) & 1;
}

/* Scales five or six bits to eight, as Pillow does. */
static uint8_t stretch(unsigned value, unsigned most)
{
	return (uint8_t)(value * 255 / most);
}

static void unpack_16(const uint8_t *in, enum raw_kind kind, uint8_t *out)
{
	unsigned word = in[0] | (unsigned)in[1] << 8;
	bool six = kind == RAW_BGR565;
	out[2] = stretch(word & 31, 31);
	out[1] = stretch(word >> 5 & (six ? 63 : 31), six ? 63 : 31);
	out[0] = stretch(word >> (six ? 11 : 10) & 31, 31);
}

static void unpack_row(const struct raw_image *image, const uint8_t *in, uint8_t *out)
{
	/* offsets of red, green and blue in a pixel of each kind */
	static const uint8_t order[][3] = {[RAW_RGB] = {0, 1, 2},
		[RAW_RGBX] = {0, 1, 2},
		[RAW_BGR] = {2, 1, 0},
		[RAW_BGRX] = {2, 1, 0},
		[RAW_XBGR] = {3, 2, 1}};
	unsigned bits = bits_of[image->kind], ink = image->kind == RAW_BIT_INK;
	size_t pixel = pixel_modes[image->mode].channels;
	for (uint32_t x = 0; x < image->width; x++, out += pixel) {
		switch (image->kind) {
		case RAW_BIT:
		case RAW_BIT_INK:
			memset(out, index_at(in, 1, x) == ink ? 0 : 255, pixel);
			break;
		case RAW_GRAY:
			memset(out, in[x], pixel);
			break;
		case RAW_GRAY16:
			memset(out, in[2 * (size_t)x] ? 255 : in[2 * (size_t)x + 1], 3);
			break;
		case RAW_INDEX1:
		case RAW_INDEX4:
		case RAW_INDEX8:
			memcpy(out, image->palette[index_at(in, bits, x)], pixel);
			break;
		case RAW_BGR555:
		case RAW_BGR565:
			unpack_16(in + 2 * (size_t)x, image->kind, out);
			break;
		default:
			for (int i = 0; i < 3; i++)
				out[i] = in[(size_t)x * (bits / 8) +
					    order[image->kind][i]];
		}
	}
}

static void keep_row(const struct raw_image *image, const uint8_t *in, uint8_t *out)
{
	static const uint8_t alphas[] = {[RAW_RGBX] = 3, [RAW_BGRX] = 3, [RAW_XBGR] = 0};
	unsigned bits = bits_of[image->kind];
	for (size_t x = 0; x < image->width; x++)
		if (image->mode == PIXELS_P)
			*out++ = (uint8_t)index_at(in, bits, (uint32_t)x);
		else if (image->mode == PIXELS_RGBA)
			out[4 * x + 3] = in[4 * x + alphas[image->kind]];
		else
			memcpy(out + 2 * x,
				&(uint16_t){(uint16_t)(in[2 * x] << 8 | in[2 * x + 1])},
				2);
}

bool raw_unpack(const struct raw_image *image, const uint8_t *data, uint64_t bytes,
	uint8_t *pixels)
{
	uint64_t row = ((uint64_t)image->width * bits_of[image->kind] + 7) / 8;
	uint64_t stride = image->stride ? image->stride : row;
	struct tensor_shape shape = {
		.height = 1, .width = image->width, .mode = image->mode};
	size_t out_row = tensor_shape_bytes(shape);
	if (stride < row || stride * (image->height - 1) + row > bytes)
		return false;
	for (uint32_t y = 0; y < image->height; y++) {
		uint32_t to = image->from_bottom ? image->height - 1 - y : y;
		uint8_t *out = pixels + out_row * to;
		if (image->mode != PIXELS_P && image->mode != PIXELS_L16)
			unpack_row(image, data + stride * y, out);
		if (image->mode != PIXELS_RGB && image->mode != PIXELS_L)
			keep_row(image, data + stride * y, out);
	}
	return true;
}
