// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decodes the image data of a regular PNG in one call of libdeflate, to the same rows as libpng. A
 * PNG is regular if its chunks have the right lengths, its zlib stream has the right checksum and
 * as many bytes as the rows need, and all filters are known. This decoder refuses all other files,
 * which libpng then decodes. libdeflate 1.14 accepts one kind of damage that zlib and later
 * versions refuse: code lengths that are repeated beyond the last code. Even then the checksum of
 * the rows is right, so the rows are as they were written.
 *
 *   Flow: png_whole_new -> png_whole_read* -> png_whole_free.
 *   Owns: the rows, until the next read or png_whole_trim.
 *   Threads: one at a time.
 *   Source: PNG, third edition (W3C, 2025), 9 "Filtering", 10 "Compression".
 */

struct png_whole;

struct png_whole_image {
	uint32_t width, height;
	unsigned pixel_bytes; /* 1, 2, 3 or 4 */
};

/* Creates a decoder. plain: uses only portable code. NULL: no memory. In a build without libdeflate
 * the decoder refuses each file. */
struct png_whole *png_whole_new(bool plain);
void png_whole_free(struct png_whole *whole); /* may be NULL */

/*
 * Decodes the rows. first: the length field of the first IDAT chunk; end: the end of the file.
 * *ret: rows of width * pixel_bytes each, png_whole_stride(image) bytes apart. false: the file is
 * not regular, or there is no memory.
 */
bool png_whole_read(struct png_whole *whole, const struct png_whole_image *image,
	const uint8_t *first, const uint8_t *end, const uint8_t **ret);
size_t png_whole_stride(const struct png_whole_image *image);

/* Frees memory that only a large image needs. */
void png_whole_trim(struct png_whole *whole);
size_t png_whole_bytes(const struct png_whole *whole);
