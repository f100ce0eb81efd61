// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/png_end.h"
#include "base/byte_order.h"
#include "image/image_internal.h"
#include "image/png_whole.h"

#include <string.h>

#include <zlib.h>

#define PASSES 7
#define LAST_FILTER 4

struct rows {
	const struct png_layout *layout;
	int pass;
	uint32_t left;	/* rows of the pass that are not read yet */
	size_t bytes;	/* bytes of a row of the pass, including its filter byte */
	size_t missing; /* bytes of the current row that are not read yet */
	bool at_end;	/* all rows were read */
};

static uint32_t pass_length(uint32_t length, uint32_t first, uint32_t step)
{
	return length <= first ? 0 : (length - first + step - 1) / step;
}

static void begin_pass(struct rows *rows)
{
	static const struct {
		uint8_t x, y, dx, dy;
	} passes[PASSES] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
		{0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
	uint32_t width = rows->layout->width, height = rows->layout->height;
	if (rows->layout->interlaced) {
		int p = rows->pass;
		width = pass_length(width, passes[p].x, passes[p].dx);
		height = pass_length(height, passes[p].y, passes[p].dy);
	}
	rows->left = width ? height : 0;
	rows->bytes = 1 + ((size_t)width * rows->layout->pixel_bits + 7) / 8;
	rows->missing = rows->bytes;
}

static void next_row(struct rows *rows)
{
	int passes = rows->layout->interlaced ? PASSES : 1;
	rows->missing = rows->bytes;
	if (rows->left)
		rows->left--;
	while (!rows->left && !rows->at_end) {
		rows->at_end = ++rows->pass >= passes;
		if (!rows->at_end)
			begin_pass(rows);
	}
}

enum end { GOES_ON, ENDS_BEHIND_ROW, ENDS_OTHERWISE };

/* Inflates the rest of the current row, as far as there is input. */
static enum end read_row(struct rows *rows, z_stream *stream)
{
	uint8_t out[4096] = {0};
	int status = Z_OK;
	while (status == Z_OK && rows->missing > 0 && stream->avail_in > 0) {
		bool first = rows->missing == rows->bytes;
		size_t want = rows->missing < sizeof(out) ? rows->missing : sizeof(out);
		stream->next_out = out;
		stream->avail_out = (unsigned)want;
		status = inflate(stream, Z_NO_FLUSH);
		rows->missing -= want - stream->avail_out;
		if (first && stream->avail_out < want && out[0] > LAST_FILTER)
			return ENDS_OTHERWISE;
	}
	if (status == Z_STREAM_END)
		return rows->missing ? ENDS_OTHERWISE : ENDS_BEHIND_ROW;
	return status == Z_OK || status == Z_BUF_ERROR ? GOES_ON : ENDS_OTHERWISE;
}

/* Reads one piece of the data, as PIL does. PIL accepts data that end after a row only if the end
 * of the row and the end of the data are in the same piece. */
static enum end read_piece(
	struct rows *rows, z_stream *stream, const uint8_t *data, size_t size)
{
	enum end end = GOES_ON;
	/* memcpy, because zlib's pointer to its input is not const */
	memcpy(&stream->next_in, &data, sizeof(data));
	stream->avail_in = (unsigned)size;
	while (end == GOES_ON && stream->avail_in > 0) {
		end = read_row(rows, stream);
		if (end == GOES_ON && rows->missing == 0)
			next_row(rows);
		if (rows->at_end)
			return ENDS_OTHERWISE;
	}
	return end;
}

static enum end read_chunk(
	struct rows *rows, z_stream *stream, const uint8_t *data, size_t size)
{
	enum end end = GOES_ON;
	while (end == GOES_ON && size > 0) {
		size_t piece = size < CODEC_READ_SIZE ? size : CODEC_READ_SIZE;
		end = read_piece(rows, stream, data, piece);
		data += piece;
		size -= piece;
	}
	return end;
}

bool png_ends_behind_row(
	const struct png_layout *layout, const uint8_t *data, const uint8_t *end)
{
	struct rows rows = {.layout = layout};
	z_stream stream = {0};
	enum end found = GOES_ON;
	begin_pass(&rows);
	if (inflateInit(&stream) != Z_OK)
		return false;
	while (found == GOES_ON && end - data >= 8 && is_chunk(data, "IDAT")) {
		size_t left = (size_t)(end - data) - 8;
		size_t size = get_be32(data);
		found = read_chunk(&rows, &stream, data + 8, size < left ? size : left);
		if (left < size || left - size < 4)
			break;
		data += 8 + size + 4;
	}
	inflateEnd(&stream);
	return found == ENDS_BEHIND_ROW;
}
