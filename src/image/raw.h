// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "image/tensor.h"

#include <stdbool.h>
#include <stdint.h>

/* Converts rows of uncompressed pixels to RGB like Pillow's raw decoder and convert('RGB'), or
 * keeps palette indices, 16 bits or alpha. Threads: any; no state. */

enum raw_kind {
	RAW_BIT,     /* 1 bit; a 1 is white */
	RAW_BIT_INK, /* 1 bit; a 1 is black */
	RAW_GRAY,    /* 8 bits */
	RAW_GRAY16,  /* 16 bits, big-endian; values of 255 and more are white */
	RAW_INDEX1,
	RAW_INDEX4,
	RAW_INDEX8,
	RAW_RGB,
	RAW_RGBX,
	RAW_BGR,
	RAW_BGRX,
	RAW_XBGR,
	RAW_BGR555,
	RAW_BGR565,
};

struct raw_image {
	enum raw_kind kind;
	uint32_t width, height;
	uint64_t stride; /* bytes from one row to the next; 0: rows without gaps */
	bool from_bottom;
	const uint8_t (*palette)[3]; /* 256 colours, if the pixels are palette indices */
	/* mode of the result: RGB, gray, palette indices, 16-bit gray (only RAW_GRAY16) or RGBA */
	enum pixel_mode mode;
};

/* Converts an image. Returns false if image->stride is shorter than a row, or if bytes of `data`
 * are missing. The padding of the last row may be missing. */
bool raw_unpack(const struct raw_image *image, const uint8_t *data, uint64_t bytes,
	uint8_t *pixels);
