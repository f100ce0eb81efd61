// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decodes the image data of a regular PNG at once, by libdeflate. Regular means: chunks of the
 * right length, a zlib stream with the right checksum, of as many bytes as the rows have, and
 * known filters. libpng gives the same rows; the files that this decoder turns down, libpng has
 * to judge. libdeflate 1.14 accepts one kind of damage that zlib and later versions do not:
 * lengths of codes that are repeated beyond the last code. The checksum of the rows is right
 * then, so the rows are as they were written.
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

/* Creates a decoder. plain: uses only portable code. NULL: no memory, or a build without
 * libdeflate, which handles no file. */
struct png_whole *png_whole_new(bool plain);
void png_whole_free(struct png_whole *whole); /* may be NULL */

/*
 * Decodes the rows. first: the first IDAT chunk, at its length; end: of the file. *ret: rows of
 * width * pixel_bytes each, png_whole_stride(image) bytes apart. false: the file is not
 * regular, or there is no memory.
 */
bool png_whole_read(struct png_whole *whole, const struct png_whole_image *image,
	const uint8_t *first, const uint8_t *end, const uint8_t **ret);
size_t png_whole_stride(const struct png_whole_image *image);

/* Frees memory that a large image needed. */
void png_whole_trim(struct png_whole *whole);
size_t png_whole_bytes(const struct png_whole *whole);
