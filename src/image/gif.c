// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/image_internal.h"

#include "base/byte_order.h"

#include <errno.h>
#include <string.h>

/* Decodes the first frame of a GIF as Pillow does. giflib is not used, because it treats damaged
 * files in another way. */

#define SCREEN_BYTES 13
#define FRAME_BYTES 9
#define MOST_BITS 12
#define TABLE (1 << MOST_BITS)
#define MOST_TEXT (TABLE + 1)

struct palette {
	bool there;
	uint8_t colours[256][3];
};

struct gif {
	char *message;
	const uint8_t *data;
	size_t size, at; /* `at` after open: offset of the frame's data */
	uint32_t width, height;
	uint32_t x, y, frame_width, frame_height;
	int transparent; /* index of the transparent colour, or -1 */
	bool interlaced;
	unsigned bits; /* the first LZW codes have bits + 1 bits */
	struct palette screen, frame;
	bool keep;
	struct buffer *scratch;
};

static int refuse(struct gif *gif, const char *text)
{
	return image_fail(gif->message, -EIO, "GIF: %s", text);
}

/* Reads a palette. If the palette has fewer than 256 colours, each missing colour i is the gray of
 * level i. Sets ret->there to false if all colours are such grays; the pixels then become gray. */
static int read_palette(struct gif *gif, unsigned flags, struct palette *ret)
{
	size_t bytes = (size_t)3 << ((flags & 7) + 1), left = gif->size - gif->at;
	bytes = bytes < left ? bytes : left;
	ret->there = false;
	for (size_t i = 0; i < 256; i++)
		memset(ret->colours[i], (int)i, 3);
	if (bytes % 3 != 0)
		return refuse(gif, "truncated");
	memcpy(ret->colours, gif->data + gif->at, bytes);
	for (size_t i = 0; i < bytes / 3; i++)
		for (size_t k = 0; k < 3; k++)
			ret->there = ret->there || ret->colours[i][k] != i;
	gif->at += bytes;
	return 0;
}

/* Reads a block, or the existing bytes of a truncated one. Returns false at the empty block that
 * ends the data, and at the end of the file. */
static bool read_block(struct gif *gif, const uint8_t **ret, size_t *ret_bytes)
{
	if (gif->at >= gif->size)
		return false;
	size_t bytes = gif->data[gif->at++], left = gif->size - gif->at;
	*ret = gif->data + gif->at;
	*ret_bytes = bytes < left ? bytes : left;
	gif->at += *ret_bytes;
	return bytes > 0;
}

static int read_extension(struct gif *gif)
{
	const uint8_t *block = NULL;
	size_t bytes = 0;
	if (gif->at >= gif->size)
		return refuse(gif, "truncated");
	uint8_t kind = gif->data[gif->at++];
	bool any = read_block(gif, &block, &bytes);
	if (kind == 249) {
		if (!any || bytes < 3 || (block[0] & 1 && bytes < 4))
			return refuse(gif, "bad extension");
		if (block[0] & 1)
			gif->transparent = block[3];
	} else if (kind == 254 && !any) {
		return 0;
	} else if (kind == 255 && !any) {
		return refuse(gif, "bad extension");
	}
	while (read_block(gif, &block, &bytes))
		;
	return 0;
}

static int read_frame(struct gif *gif)
{
	if (gif->size - gif->at < FRAME_BYTES)
		return refuse(gif, "truncated");
	const uint8_t *frame = gif->data + gif->at;
	gif->at += FRAME_BYTES;
	gif->x = get_le16(frame);
	gif->y = get_le16(frame + 2);
	gif->frame_width = get_le16(frame + 4);
	gif->frame_height = get_le16(frame + 6);
	gif->interlaced = frame[8] & 64;
	gif->frame = (struct palette){0};
	if (gif->x + gif->frame_width > gif->width)
		gif->width = gif->x + gif->frame_width;
	if (gif->y + gif->frame_height > gif->height)
		gif->height = gif->y + gif->frame_height;
	if (frame[8] & 128) {
		int err = read_palette(gif, frame[8], &gif->frame);
		if (err)
			return err;
	}
	if (gif->at >= gif->size)
		return refuse(gif, "truncated");
	gif->bits = gif->data[gif->at++];
	if (gif->frame_width == 0 || gif->frame_height == 0)
		return refuse(gif, "no pixels");
	return gif->bits > MOST_BITS ? refuse(gif, "damaged") : 0;
}

static int find_frame(struct gif *gif)
{
	while (gif->at < gif->size) {
		uint8_t byte = gif->data[gif->at++];
		if (byte == ';')
			break;
		if (byte == ',')
			return read_frame(gif);
		int err = byte == '!' ? read_extension(gif) : 0;
		if (err)
			return err;
	}
	return refuse(gif, "no frame");
}

static const struct palette *palette_of(const struct gif *gif)
{
	return gif->frame.there ? &gif->frame : &gif->screen;
}

static int open_image(
	void *state, const struct codec_input *input, struct tensor_shape *ret)
{
	struct gif *gif = state;
	const uint8_t *data = input->data;
	gif->message = input->message;
	gif->data = data;
	gif->size = input->size;
	gif->keep = input->keep;
	gif->scratch = input->scratch;
	gif->transparent = -1;
	gif->screen.there = false;
	if (gif->size < SCREEN_BYTES)
		return refuse(gif, "truncated");
	gif->width = get_le16(data + 6);
	gif->height = get_le16(data + 8);
	gif->at = SCREEN_BYTES;
	int err = data[10] & 128 ? read_palette(gif, data[10], &gif->screen) : 0;
	if (!err)
		err = find_frame(gif);
	if (!err && (gif->width == 0 || gif->height == 0))
		err = refuse(gif, "no pixels");
	*ret = (struct tensor_shape){.height = gif->height,
		.width = gif->width,
		.mode = palette_of(gif)->there ? PIXELS_P : PIXELS_L};
	return err;
}

struct lzw {
	struct gif *gif;
	uint8_t *rows; /* first pixel of the frame, within the rows of the whole image */
	uint32_t x, y, step, pass;
	uint32_t bit_buffer;
	unsigned bit_count, block_left, code_bits;
	int clear, next, last_code, last_data;
	bool first; /* the next code is the first of the data, or the first after a clear code */
	uint8_t data[TABLE];
	uint16_t link[TABLE];
};

/* Goes to the next row. Returns false if the present row is the last one. */
static bool next_row(struct lzw *lzw)
{
	const struct gif *gif = lzw->gif;
	static const struct {
		uint32_t begin, step;
	} passes[] = {{0, 8}, {4, 8}, {2, 4}, {1, 2}};
	lzw->x = 0;
	lzw->y += lzw->step;
	while (lzw->y >= gif->frame_height) {
		if (!gif->interlaced || lzw->pass == 3)
			return false;
		lzw->pass++;
		lzw->y = passes[lzw->pass].begin;
		lzw->step = passes[lzw->pass].step;
	}
	return true;
}

/* Returns the next code, or -1 if the file ends before or within the next block. An empty block
 * should end the data, but is skipped here, because Pillow skips it. */
static int next_code(struct lzw *lzw)
{
	struct gif *gif = lzw->gif;
	while (lzw->bit_count < lzw->code_bits) {
		if (lzw->block_left == 0) {
			if (gif->at >= gif->size ||
				gif->size - gif->at < (size_t)gif->data[gif->at] + 1)
				return -1;
			lzw->block_left = gif->data[gif->at++];
			continue;
		}
		lzw->bit_buffer |= (uint32_t)gif->data[gif->at++] << lzw->bit_count;
		lzw->bit_count += 8;
		lzw->block_left--;
	}
	int code = (int)(lzw->bit_buffer & ((1u << lzw->code_bits) - 1));
	lzw->bit_buffer >>= lzw->code_bits;
	lzw->bit_count -= lzw->code_bits;
	return code;
}

static void add_code(struct lzw *lzw)
{
	if (lzw->next >= TABLE)
		return;
	lzw->data[lzw->next] = (uint8_t)lzw->last_data;
	lzw->link[lzw->next] = (uint16_t)lzw->last_code;
	if (lzw->next == (1 << lzw->code_bits) - 1 && lzw->code_bits < MOST_BITS)
		lzw->code_bits++;
	lzw->next++;
}

/* Expands the code to palette indices at the end of `text`. Returns their number; 0: damage. */
static size_t expand(struct lzw *lzw, int code, uint8_t text[MOST_TEXT])
{
	size_t at = MOST_TEXT;
	int this_code = code;
	if (lzw->first) {
		if (code > lzw->clear)
			return 0;
		lzw->last_data = lzw->last_code = code;
		lzw->first = false;
		text[MOST_TEXT - 1] = (uint8_t)code;
		return 1;
	}
	if (code > lzw->next)
		return 0;
	if (code == lzw->next) {
		text[--at] = (uint8_t)lzw->last_data;
		code = lzw->last_code;
	}
	while (code >= lzw->clear) {
		if (at == 1 || code >= TABLE)
			return 0;
		text[--at] = lzw->data[code];
		code = lzw->link[code];
	}
	text[--at] = (uint8_t)code;
	lzw->last_data = code;
	add_code(lzw);
	lzw->last_code = this_code;
	return MOST_TEXT - at;
}

/* Writes n pixels. Returns false if the frame is full. */
static bool put(struct lzw *lzw, const uint8_t *text, size_t n)
{
	const struct gif *gif = lzw->gif;
	for (size_t i = 0; i < n; i++) {
		lzw->rows[(size_t)lzw->y * gif->width + lzw->x] = text[i];
		if (++lzw->x == gif->frame_width && !next_row(lzw))
			return false;
	}
	return true;
}

static int decode(struct lzw *lzw)
{
	struct gif *gif = lzw->gif;
	uint8_t text[MOST_TEXT];
	for (;;) {
		int code = next_code(lzw);
		if (code < 0)
			return refuse(gif, "truncated");
		if (code == lzw->clear) {
			lzw->first = true;
			lzw->next = lzw->clear + 2;
			lzw->code_bits = gif->bits + 1;
			continue;
		}
		if (code == lzw->clear + 1)
			return refuse(gif, "truncated");
		size_t n = expand(lzw, code, text);
		if (n == 0)
			return refuse(gif, "damaged");
		if (!put(lzw, text + MOST_TEXT - n, n))
			return 0;
	}
}

/* Decodes the image. Pixels outside the frame get the transparent colour or, if there is none, the
 * colour with the index 0. */
static int read_image(void *state, uint8_t *pixels)
{
	struct gif *gif = state;
	size_t n = (size_t)gif->width * gif->height;
	const struct palette *palette = palette_of(gif);
	if (buffer_reserve(gif->scratch, n + sizeof(struct lzw)))
		return image_fail(gif->message, -ENOMEM, "no memory");
	struct lzw *lzw = (void *)gif->scratch->data;
	uint8_t *indices = gif->scratch->data + sizeof(*lzw);
	memset(lzw, 0, sizeof(*lzw));
	memset(indices, gif->transparent < 0 ? 0 : gif->transparent, n);
	lzw->gif = gif;
	lzw->rows = indices + (size_t)gif->y * gif->width + gif->x;
	lzw->step = gif->interlaced ? 8 : 1;
	lzw->clear = 1 << gif->bits;
	lzw->next = lzw->clear + 2;
	lzw->code_bits = gif->bits + 1;
	lzw->first = true;
	int err = decode(lzw);
	if (!err && gif->keep)
		memcpy(pixels, indices, n);
	for (size_t i = 0; !err && !gif->keep && i < n; i++) {
		if (palette->there)
			memcpy(pixels + 3 * i, palette->colours[indices[i]], 3);
		else
			memset(pixels + 3 * i, indices[i], 3);
	}
	return err;
}

static bool knows(const uint8_t *data, size_t size)
{
	return size >= 6 &&
	       (memcmp(data, "GIF87a", 6) == 0 || memcmp(data, "GIF89a", 6) == 0);
}

const struct codec codec_gif = {
	.knows = knows,
	.head_bytes = 1 << 20,
	.keeps = true,
	.state_bytes = sizeof(struct gif),
	.open = open_image,
	.read = read_image,
};
