// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Decodes the image data of a regular PNG in one call of libdeflate, to the same rows as libpng. A
 * PNG is regular if its chunks have the right lengths, its zlib stream has the right checksum and
 * as many bytes as the rows need, and all its filters are known. Other files are refused; libpng
 * then decodes them. libdeflate 1.14 accepts one kind of damage that zlib and later versions
 * refuse: code lengths that are repeated beyond the last code. Even then the checksum proves that
 * the rows are right.
 *
 *   Flow: png_whole_new -> png_whole_read* -> png_whole_free.
 *   Owns: the rows, until the next read or png_whole_trim.
 *   Threads: one at a time.
 *   Source: PNG, third edition (W3C, 2025), 9 "Filtering", 10 "Compression".
 */

#define CHUNK_HEADER 8 /* bytes of a chunk's length and name */
#define CHUNK_CHECKSUM 4
#define CHUNK_EXTRA (CHUNK_HEADER + CHUNK_CHECKSUM)

static inline bool is_chunk(const uint8_t *chunk, const char *name)
{
	return memcmp(chunk + 4, name, 4) == 0;
}

struct png_whole;

struct png_whole_image {
	uint32_t width, height;
	unsigned pixel_bytes; /* 1, 2, 3 or 4 */
};

/* Returns NULL if there is no memory, or no libdeflate in this build. If `plain` is set, uses only
 * portable code. */
struct png_whole *png_whole_new(bool plain);
void png_whole_free(struct png_whole *whole); /* `whole` may be NULL */

/* Decodes the rows from `first`, the length field of the first IDAT chunk, to `end`, the end of the
 * file. *ret: the first row. Rows have width * pixel_bytes bytes, and begin png_whole_stride(image)
 * bytes apart. Returns false if the file is not regular, if rows and compressed data take more than
 * 8 bytes per pixel, or if there is no memory. */
bool png_whole_read(struct png_whole *whole, const struct png_whole_image *image,
	const uint8_t *first, const uint8_t *end, const uint8_t **ret);
size_t png_whole_stride(const struct png_whole_image *image);

void png_whole_trim(struct png_whole *whole);
size_t png_whole_bytes(const struct png_whole *whole);
