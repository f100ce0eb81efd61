// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* number of bytes behind a row that the vector code may read */
#define PNG_UNFILTER_SLACK 3

/* Undoes one of PNG's filters in place, in a row of n bytes. pixel_bytes: 1 to 4. above: the
 * previous row; for the first row, zeros. Returns false if PNG has no such filter. The vector code
 * reads up to PNG_UNFILTER_SLACK bytes behind both rows. */
typedef bool png_unfilter(unsigned filter, unsigned pixel_bytes, uint8_t *row,
	const uint8_t *above, size_t n);

png_unfilter png_unfilter_plain;
png_unfilter png_unfilter_vector; /* plain if the build has no SSE2 */
