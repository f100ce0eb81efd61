// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/raw.h"

#include <string.h>

static unsigned bits_of(enum raw_kind kind)
{
	switch (kind) {
	case RAW_BIT:
	case RAW_BIT_INK:
	case RAW_INDEX1:
		return 1;
	case RAW_INDEX4:
		return 4;
	case RAW_GRAY:
	case RAW_GRAY_INK:
	case RAW_INDEX8:
		return 8;
	case RAW_GRAY16:
	case RAW_BGR555:
	case RAW_BGR565:
		return 16;
	case RAW_RGB:
	case RAW_BGR:
		return 24;
	default:
		return 32;
	}
}

/* Of a row of indices. */
static unsigned index_at(const uint8_t *row, unsigned bits, uint32_t x)
{
	if (bits == 8)
		return row[x];
	if (bits == 4)
		return x % 2 == 0 ? row[x / 2] >> 4 : row[x / 2] & 15;
	return row[x / 8] >> (7 - x % 8) & 1;
}

/* Pillow's: five bits of eight, or six, are stretched. */
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
	/* Where red, green and blue are in a pixel. */
	static const uint8_t order[][3] = {[RAW_RGB] = {0, 1, 2},
		[RAW_RGBX] = {0, 1, 2},
		[RAW_BGR] = {2, 1, 0},
		[RAW_BGRX] = {2, 1, 0},
		[RAW_XBGR] = {3, 2, 1}};
	unsigned bits = bits_of(image->kind);
	for (uint32_t x = 0; x < image->width; x++, out += 3) {
		switch (image->kind) {
		case RAW_BIT:
			memset(out, index_at(in, 1, x) ? 255 : 0, 3);
			break;
		case RAW_BIT_INK:
			memset(out, index_at(in, 1, x) ? 0 : 255, 3);
			break;
		case RAW_GRAY:
			memset(out, in[x], 3);
			break;
		case RAW_GRAY_INK:
			memset(out, 255 - in[x], 3);
			break;
		case RAW_GRAY16:
			memset(out, in[2 * (size_t)x] ? 255 : in[2 * (size_t)x + 1], 3);
			break;
		case RAW_INDEX1:
		case RAW_INDEX4:
		case RAW_INDEX8:
			memcpy(out, image->palette[index_at(in, bits, x)], 3);
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

bool raw_unpack(const struct raw_image *image, const uint8_t *data, uint64_t bytes,
	uint8_t *pixels)
{
	uint64_t row = ((uint64_t)image->width * bits_of(image->kind) + 7) / 8;
	uint64_t stride = image->stride ? image->stride : row;
	size_t out_row = (size_t)image->width * 3;
	if (stride < row || stride * (image->height - 1) + row > bytes)
		return false;
	for (uint32_t y = 0; y < image->height; y++) {
		uint32_t to = image->from_bottom ? image->height - 1 - y : y;
		unpack_row(image, data + stride * y, pixels + out_row * to);
	}
	return true;
}
