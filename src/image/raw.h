// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "image/tensor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Makes RGB of rows of pixels as files hold them, as Pillow's raw decoder and convert('RGB')
 * do it, or keeps indices, 16 bits or alpha.
 *
 *   Threads: any; no state.
 */

enum raw_kind {
	RAW_BIT,      /* 1: white */
	RAW_BIT_INK,  /* 1: black */
	RAW_GRAY,     /* 8 bits */
	RAW_GRAY_INK, /* 8 bits, 0: white */
	RAW_GRAY16,   /* numbers of 16 bits, big-endian; those from 255 on are white */
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
	uint64_t stride; /* bytes from row to row; 0: there are none between rows */
	bool from_bottom;
	const uint8_t (*palette)[3]; /* 256 colours, for indices */
	enum pixel_mode mode; /* RGB; gray; indices; 16-bit gray, of RAW_GRAY16; RGBA */
};

/* Unpacks the rows. Bytes that are missing behind the last row are not needed. false: too few
 * bytes, or rows that overlap. */
bool raw_unpack(const struct raw_image *image, const uint8_t *data, uint64_t bytes,
	uint8_t *pixels);
