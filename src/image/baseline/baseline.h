// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decodes regular baseline JPEGs: Huffman coding, 8 bits, one scan; gray, or YCbCr sampled 4:4:4,
 * 4:2:2 or 4:2:0. The pixels are those of libjpeg-turbo with its defaults (accurate integer
 * transform, fancy upsampling), byte for byte. The decoder refuses a file that is not perfectly
 * regular, or that could make 16-bit arithmetic overflow; libjpeg then decodes it. libjpeg would
 * accept each file that this decoder accepts, and would give no warning.
 *
 *   Flow: baseline_new -> (baseline_open -> baseline_read)* -> baseline_free.
 *   Owns: its tables and memory. The caller owns the data of the file.
 *   Threads: a decoder is used by one thread at a time.
 *   Errors: functions return false if the decoder refuses the file, or lacks memory.
 */

struct baseline;

struct baseline_span {
	uint32_t first;
	uint32_t length;
};

struct baseline_part {
	struct baseline_span rows;
	struct baseline_span columns;
};

/* Creates a decoder. Returns NULL if there is no memory. If `plain` is set, the decoder uses only
 * portable code; tests compare the vector code with it. */
struct baseline *baseline_new(bool plain);
/* Tells whether there is vector code for this processor. Otherwise libjpeg is faster. */
bool baseline_is_fast(void);
void baseline_free(struct baseline *decoder); /* `decoder` may be NULL */

/* Reads the segments before the image data. The caller must keep `data` until the last
 * baseline_read for this file, because baseline_read reads the image data from it. */
bool baseline_open(struct baseline *decoder, const uint8_t *data, size_t size,
	uint32_t *ret_width, uint32_t *ret_height);

/* Decodes a non-empty part of the image into rows of RGB without padding. Returns false if the file
 * is damaged, even outside the part, or if a number of the part overflows. `rgb` may then be partly
 * written. */
bool baseline_read(struct baseline *decoder, struct baseline_part part, uint8_t *rgb);

size_t baseline_bytes(const struct baseline *decoder);
/* Frees the memory for images if it has more than `keep` bytes. */
void baseline_trim(struct baseline *decoder, size_t keep);
