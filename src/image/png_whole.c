// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/png_whole.h"
#include "base/byte_order.h"
#include "image/buffer.h"
#include "image/png_unfilter.h"

#include <stdlib.h>
#include <string.h>

#ifdef HAVE_DEFLATE
#include <libdeflate.h>
#else /* png_whole_new fails, so nothing else is called */
#define LIBDEFLATE_SUCCESS 0
#define libdeflate_alloc_decompressor() NULL
#define libdeflate_free_decompressor(decompressor) ((void)(decompressor))
#define libdeflate_zlib_decompress(decompressor, in, in_bytes, out, bytes, made) 1
#endif

struct png_whole {
	struct libdeflate_decompressor *decompressor;
	png_unfilter *unfilter;
	struct buffer stream; /* the data of all chunks, joined */
	/* a row of zeros, then the rows, each with its filter byte */
	struct buffer rows;
};

struct bytes {
	const uint8_t *data;
	size_t n;
};

struct png_whole *png_whole_new(bool plain)
{
	struct png_whole *whole = calloc(1, sizeof(*whole));
	if (!whole)
		return NULL;
	whole->unfilter = plain ? png_unfilter_plain : png_unfilter_vector;
	whole->decompressor = libdeflate_alloc_decompressor();
	if (!whole->decompressor) {
		free(whole);
		return NULL;
	}
	return whole;
}

void png_whole_free(struct png_whole *whole)
{
	if (!whole)
		return;
	libdeflate_free_decompressor(whole->decompressor);
	buffer_free(&whole->stream);
	buffer_free(&whole->rows);
	free(whole);
}

/* Sets *ret to the data of the IDAT chunk that begins at *chunk, and *chunk to the end of this
 * chunk. Returns false if the chunk at *chunk is not IDAT, or is truncated. */
static bool next_chunk(const uint8_t **chunk, const uint8_t *end, struct bytes *ret)
{
	const uint8_t *at = *chunk;
	size_t left = (size_t)(end - at);
	if (left < CHUNK_EXTRA || !is_chunk(at, "IDAT"))
		return false;
	uint32_t length = get_be32(at);
	if (left - CHUNK_EXTRA < length)
		return false;
	*ret = (struct bytes){at + CHUNK_HEADER, length};
	*chunk = at + CHUNK_EXTRA + length;
	return true;
}

/* Finds the zlib stream. *ret points into the file if the stream is in one chunk, otherwise to a
 * copy that joins the chunks. Returns false if there is no chunk, or no memory. */
static bool find_stream(struct png_whole *whole, const uint8_t *first, const uint8_t *end,
	struct bytes *ret)
{
	const uint8_t *chunk = first;
	struct bytes part;
	size_t n = 0;
	unsigned chunks = 0;
	for (; next_chunk(&chunk, end, &part); chunks++) {
		*ret = part;
		n += part.n;
	}
	if (chunks < 2)
		return chunks == 1;
	if (buffer_reserve(&whole->stream, n) != 0)
		return false;
	*ret = (struct bytes){whole->stream.data, n};
	n = 0;
	for (chunk = first; next_chunk(&chunk, end, &part); n += part.n)
		memcpy(whole->stream.data + n, part.data, part.n);
	return true;
}

/* Tells whether the rows and the compressed data together take at most 8 bytes per pixel, because
 * image_working_bytes reserves no more. */
static bool is_bounded(
	const struct png_whole_image *image, size_t row_bytes, const struct bytes *stream)
{
	return row_bytes + stream->n <= (size_t)image->width * image->height * 8;
}

bool png_whole_read(struct png_whole *whole, const struct png_whole_image *image,
	const uint8_t *first, const uint8_t *end, const uint8_t **ret)
{
	size_t stride = png_whole_stride(image), n = stride * image->height;
	struct bytes stream = {0};
	if (!find_stream(whole, first, end, &stream) ||
		!is_bounded(image, n + stride, &stream) ||
		buffer_reserve(&whole->rows, stride + n + PNG_UNFILTER_SLACK) != 0)
		return false;
	uint8_t *row = whole->rows.data + stride;
	/* NULL makes libdeflate demand exactly n bytes */
	if (libdeflate_zlib_decompress(whole->decompressor, stream.data, stream.n, row, n,
		    NULL) != LIBDEFLATE_SUCCESS)
		return false;
	memset(whole->rows.data, 0, stride);
	*ret = row + 1;
	for (uint32_t y = 0; y < image->height; y++, row += stride)
		if (!whole->unfilter(row[0], image->pixel_bytes, row + 1,
			    row + 1 - stride, stride - 1))
			return false;
	return true;
}

void png_whole_trim(struct png_whole *whole)
{
	buffer_trim(&whole->stream);
	buffer_trim(&whole->rows);
}

size_t png_whole_bytes(const struct png_whole *whole)
{
	return whole->stream.size + whole->rows.size;
}

size_t png_whole_stride(const struct png_whole_image *image)
{
	return (size_t)image->width * image->pixel_bytes + 1;
}
