// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stdint.h>

struct png_layout {
	uint32_t width;
	uint32_t height;
	unsigned pixel_bits;
	bool interlaced;
};

/* Tells whether the compressed data of a PNG end properly after one of its rows. PIL accepts such a
 * file, even if rows are missing. data: the file from the length field of the first IDAT on. */
bool png_ends_behind_row(
	const struct png_layout *layout, const uint8_t *data, const uint8_t *end);
