// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/byte_order.h"
#include "image/image_internal.h"
#include "image/png_whole.h"
#include "image/preamble.h"

#include <errno.h>
#include <string.h>

#include <zlib.h>

/* Reads the chunks up to the image data as PIL does. One difference: PIL accepts a file that has
 * the data of an animation (fdAT), but no IDAT; joaderfs refuses this file. */

/* PIL refuses a profile or a text that inflates to more bytes. */
#define MAX_INFLATED ((size_t)1 << 20)

/* Tells whether PIL refuses compressed data because they inflate to more than MAX_INFLATED bytes.
 * Returns false for damaged data, which PIL treats as empty. */
static bool inflates_to_too_much(const uint8_t *data, size_t size)
{
	z_stream stream = {.avail_in = (unsigned)size};
	uint8_t out[16384];
	size_t bytes = 0;
	int status = Z_OK;
	/* memcpy, because zlib's pointer to its input is not const */
	memcpy(&stream.next_in, &data, sizeof(data));
	if (inflateInit(&stream) != Z_OK)
		return true;
	while (status == Z_OK && bytes < MAX_INFLATED) {
		stream.next_out = out;
		stream.avail_out = sizeof(out);
		status = inflate(&stream, Z_NO_FLUSH);
		bytes += sizeof(out) - stream.avail_out;
	}
	bool more = status == Z_OK && stream.avail_in > 0;
	inflateEnd(&stream);
	return more;
}

/* Returns the byte after the n-th zero byte, or NULL if there are fewer zero bytes. */
static const uint8_t *behind_zeros(const uint8_t *data, const uint8_t *end, int n)
{
	for (; n > 0 && data; n--) {
		data = memchr(data, 0, (size_t)(end - data));
		data = data ? data + 1 : NULL;
	}
	return data;
}

static bool profile_bad(const uint8_t *data, size_t size)
{
	const uint8_t *end = data + size, *name_end = behind_zeros(data, end, 1);
	if (!name_end)
		return true;
	return name_end < end &&
	       inflates_to_too_much(name_end + 1, (size_t)(end - name_end - 1));
}

static bool text_bad(const uint8_t *data, size_t size)
{
	const uint8_t *end = data + size, *text = behind_zeros(data, end, 1);
	if (!text || text == end)
		return false;
	return *text != 0 || inflates_to_too_much(text + 1, (size_t)(end - text - 1));
}

static bool international_text_bad(const uint8_t *data, size_t size)
{
	const uint8_t *end = data + size, *flags = behind_zeros(data, end, 1);
	if (!flags || end - flags < 2 || flags[0] == 0 || flags[1] != 0)
		return false;
	const uint8_t *text = behind_zeros(flags + 2, end, 2);
	return text && inflates_to_too_much(text, (size_t)(end - text));
}

struct chunks {
	const uint8_t *header;	  /* data of the IHDR chunk, or NULL */
	int64_t animation_number; /* number of the last fcTL chunk; -1: none */
};

/* Tells whether PIL refuses a tRNS chunk of `size` bytes as too short. tRNS, the transparent
 * colour, has one number of two bytes for gray, and three such numbers for RGB. */
static bool transparency_bad(const struct chunks *chunks, size_t size)
{
	if (!chunks->header)
		return false;
	uint8_t depth = chunks->header[8], color = chunks->header[9];
	if (color == 0)
		return size < 2;
	return color == 2 && (depth == 8 || depth == 16) && size < 6;
}

static bool frame_bad(struct chunks *chunks, const uint8_t *data, size_t size)
{
	if (size < 26 || get_be32(data) != chunks->animation_number + 1)
		return true;
	chunks->animation_number++;
	uint64_t width = chunks->header ? get_be32(chunks->header) : 0;
	uint64_t height = chunks->header ? get_be32(chunks->header + 4) : 0;
	return (uint64_t)get_be32(data + 12) + get_be32(data + 4) > width ||
	       (uint64_t)get_be32(data + 16) + get_be32(data + 8) > height;
}

static bool chunk_bad(struct chunks *chunks, const uint8_t *chunk, size_t size)
{
	const uint8_t *data = chunk + 8;
	if (is_chunk(chunk, "iCCP"))
		return profile_bad(data, size);
	if (is_chunk(chunk, "zTXt"))
		return text_bad(data, size);
	if (is_chunk(chunk, "iTXt"))
		return international_text_bad(data, size);
	if (is_chunk(chunk, "tRNS"))
		return transparency_bad(chunks, size);
	if (is_chunk(chunk, "fcTL"))
		return frame_bad(chunks, data, size);
	return (is_chunk(chunk, "gAMA") && size < 4) ||
	       (is_chunk(chunk, "cHRM") && size % 4 != 0) ||
	       (is_chunk(chunk, "sRGB") && size < 1) ||
	       (is_chunk(chunk, "pHYs") && size < 9) ||
	       (is_chunk(chunk, "acTL") && size < 8) ||
	       (is_chunk(chunk, "fdAT") && size < 4);
}

/* Accepts a truncated chunk. The codec decides whether PIL would accept the file. */
int preamble_check_png(char *message, const uint8_t *data, size_t size)
{
	struct chunks chunks = {.animation_number = -1};
	const uint8_t *next = data + 8, *end = data + size;
	while (end - next >= 12 && !is_chunk(next, "IDAT") && !is_chunk(next, "IEND")) {
		size_t length = get_be32(next);
		if ((size_t)(end - next) - 12 < length)
			break;
		if (is_chunk(next, "IHDR") && length >= 13)
			chunks.header = next + 8;
		if (chunk_bad(&chunks, next, length))
			return image_fail(
				message, -EIO, "PNG: bad %.4s", (const char *)next + 4);
		next += length + 12;
	}
	return 0;
}
