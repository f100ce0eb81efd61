// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The image data of a regular PNG at once, by libdeflate: chunks of the right length, a zlib
 * stream with the right checksum, of as many bytes as the rows have, and known filters. What
 * it gives is what libpng gives; what it turns down, libpng has to judge. libdeflate 1.14
 * takes one damage for regular that zlib and later ones do not: lengths of codes that are
 * repeated beyond the last code. The checksum of the rows is right then, so they are what was
 * written.
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

/* plain: with the code for every processor. NULL: no memory, or built without libdeflate; then
 * nothing is regular. */
struct png_whole *png_whole_new(bool plain);
void png_whole_free(struct png_whole *whole); /* may be NULL */

/*
 * first: the first IDAT chunk, which has its length and name; end: of the file. *ret: the
 * rows, each of width * pixel_bytes, png_whole_stride(image) bytes apart. false: it is not
 * regular, or there is no memory.
 */
bool png_whole_read(struct png_whole *whole, const struct png_whole_image *image,
	const uint8_t *first, const uint8_t *end, const uint8_t **ret);
size_t png_whole_stride(const struct png_whole_image *image);

void png_whole_trim(
	struct png_whole *whole); /* what a large image needed is given back */
size_t png_whole_bytes(const struct png_whole *whole);
