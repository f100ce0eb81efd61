// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/image_internal.h"
#include "image/raw.h"

#include "base/byte_order.h"

#include <errno.h>
#include <string.h>

/* Decodes BMP as Pillow's BmpImagePlugin does. */

#define FILE_HEADER 14
#define MOST_COLOURS 256 /* larger palettes are refused */

enum { UNCOMPRESSED, RLE8, RLE4, BITFIELDS };

struct bmp {
	char *message;
	const uint8_t *data;
	size_t size;
	uint32_t header_bytes, width, height, bits, compression, colours;
	uint64_t offset; /* offset of the pixels */
	bool from_top, alpha, keep;
	enum raw_kind kind;
	uint8_t palette[256][3];
	struct buffer *scratch; /* for palette indices decoded from run lengths */
};

static int refuse(struct bmp *bmp, const char *text)
{
	return image_fail(bmp->message, -EIO, "BMP: %s", text);
}

static int read_sizes(struct bmp *bmp)
{
	const uint8_t *header = bmp->data + FILE_HEADER;
	if (bmp->size < FILE_HEADER + 4)
		return refuse(bmp, "truncated");
	bmp->header_bytes = get_le32(header);
	bool old = bmp->header_bytes == 12;
	if (!old && bmp->header_bytes != 40 && bmp->header_bytes != 64 &&
		bmp->header_bytes != 108 && bmp->header_bytes != 124)
		return refuse(bmp, "unknown kind of header");
	if (bmp->size - FILE_HEADER < bmp->header_bytes)
		return refuse(bmp, "truncated");
	bmp->width = old ? get_le16(header + 4) : get_le32(header + 4);
	bmp->height = old ? get_le16(header + 6) : get_le32(header + 8);
	bmp->bits = get_le16(header + (old ? 10 : 14));
	bmp->compression = old ? UNCOMPRESSED : get_le32(header + 16);
	bmp->colours = old ? 0 : get_le32(header + 32);
	bmp->from_top = !old && header[11] == 0xff;
	if (bmp->from_top)
		bmp->height = 0 - bmp->height;
	if (bmp->width == 0 || bmp->height == 0)
		return refuse(bmp, "no pixels");
	return 0;
}

struct mask {
	uint32_t bits, red, green, blue, alpha;
	enum raw_kind kind;
};

static int read_masks(struct bmp *bmp, uint64_t *at)
{
	static const struct mask masks[] = {
		{32, 0xff0000, 0xff00, 0xff, 0, RAW_BGRX},
		{32, 0xff000000, 0xff0000, 0xff00, 0, RAW_XBGR},
		{32, 0xff000000, 0xff0000, 0xff00, 0xff, RAW_XBGR},
		{32, 0xff, 0xff00, 0xff0000, 0xff000000, RAW_RGBX},
		{32, 0xff0000, 0xff00, 0xff, 0xff000000, RAW_BGRX},
		{32, 0, 0, 0, 0, RAW_BGRX},
		{24, 0xff0000, 0xff00, 0xff, 0, RAW_BGR},
		{16, 0xf800, 0x7e0, 0x1f, 0, RAW_BGR565},
		{16, 0x7c00, 0x3e0, 0x1f, 0, RAW_BGR555},
	};
	bool within = bmp->header_bytes >= 56;
	uint64_t from = within ? FILE_HEADER + 40 : *at;
	if (bmp->size < from + 12)
		return refuse(bmp, "truncated");
	const uint8_t *fields = bmp->data + from;
	uint32_t alpha = within ? get_le32(fields + 12) : 0;
	*at += within ? 0 : 12;
	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++)
		if (masks[i].bits == bmp->bits && masks[i].red == get_le32(fields) &&
			masks[i].green == get_le32(fields + 4) &&
			masks[i].blue == get_le32(fields + 8) &&
			(bmp->bits != 32 || masks[i].alpha == alpha)) {
			bmp->kind = masks[i].kind;
			bmp->alpha =
				masks[i].bits == 32 && (masks[i].alpha || !masks[i].red);
			return 0;
		}
	return refuse(bmp, "unsupported bit fields");
}

/* Reads the palette. If the palette is a gray ramp, or has the two colours black and white in this
 * order, makes the pixels gray. */
static int read_palette(struct bmp *bmp, uint64_t *at)
{
	size_t each = bmp->header_bytes == 12 ? 3 : 4;
	uint64_t left = bmp->size > *at ? bmp->size - *at : 0;
	bool gray = true;
	if (bmp->colours == 0 || bmp->colours > 65536)
		return refuse(bmp, "unsupported size of the palette");
	for (uint32_t i = 0; i < bmp->colours && gray; i++) {
		uint32_t level = bmp->colours == 2 ? i * 255 : i;
		const uint8_t *colour = bmp->data + *at + i * each;
		gray = (i + 1) * each <= left + each - 3 && level < 256 &&
		       colour[0] == level && colour[1] == level && colour[2] == level;
	}
	for (unsigned i = 0; i < 256; i++)
		memset(bmp->palette[i], (int)i, 3);
	uint64_t bytes = (uint64_t)bmp->colours * each;
	bytes = bytes < left ? bytes : left;
	if (gray) {
		bmp->kind = bmp->colours == 2 ? RAW_BIT : RAW_GRAY;
		*at += bytes;
		return 0;
	}
	if (bytes / each > MOST_COLOURS)
		return refuse(bmp, "palette too large");
	for (size_t i = 0; i < bytes / each; i++)
		for (size_t k = 0; k < 3; k++)
			bmp->palette[i][k] = bmp->data[*at + i * each + 2 - k];
	*at += bytes;
	return 0;
}

static int read_kind(struct bmp *bmp)
{
	/* A depth that is not listed gets 0. This is RAW_BIT, which no listed depth has. */
	static const enum raw_kind kinds[] = {[1] = RAW_INDEX1,
		[4] = RAW_INDEX4,
		[8] = RAW_INDEX8,
		[16] = RAW_BGR555,
		[24] = RAW_BGR,
		[32] = RAW_BGRX};
	bmp->kind = bmp->bits <= 32 ? kinds[bmp->bits] : 0;
	return bmp->kind ? 0 : refuse(bmp, "unsupported depth");
}

static enum pixel_mode mode_of(const struct bmp *bmp)
{
	bool indices = bmp->kind == RAW_INDEX1 || bmp->kind == RAW_INDEX4 ||
		       bmp->kind == RAW_INDEX8;
	bool gray = bmp->kind == RAW_BIT || bmp->kind == RAW_GRAY;
	return indices	    ? PIXELS_P
	       : gray	    ? PIXELS_L
	       : bmp->alpha ? PIXELS_RGBA
			    : PIXELS_RGB;
}

static int open_image(
	void *state, const struct codec_input *input, struct tensor_shape *ret)
{
	struct bmp *bmp = state;
	*bmp = (struct bmp){.message = input->message,
		.data = input->data,
		.size = input->size,
		.keep = input->keep,
		.scratch = input->scratch};
	int err = read_sizes(bmp);
	if (!err)
		err = read_kind(bmp);
	if (err)
		return err;
	uint64_t at = FILE_HEADER + bmp->header_bytes;
	bmp->offset = get_le32(bmp->data + 10);
	if (bmp->colours == 0)
		bmp->colours = 1u << (bmp->bits < 31 ? bmp->bits : 31);
	if (bmp->offset == at && bmp->bits <= 8)
		bmp->offset += 4 * (uint64_t)bmp->colours;
	if (bmp->compression == BITFIELDS)
		err = read_masks(bmp, &at);
	else if (bmp->compression > BITFIELDS)
		err = refuse(bmp, "unsupported compression");
	if (!err && bmp->bits <= 8)
		err = read_palette(bmp, &at);
	if (bmp->offset == 0)
		bmp->offset = at;
	*ret = (struct tensor_shape){
		.height = bmp->height, .width = bmp->width, .mode = mode_of(bmp)};
	return err;
}

/* Decodes run lengths to palette indices of one byte, as Pillow's BmpRleDecoder does. */
struct runs {
	const struct bmp *bmp;
	/* at: offset of the next byte in the file
	 * n: number of indices decoded so far
	 * all: number of indices of the image */
	uint64_t at, n, all;
	uint64_t x;
	uint8_t *out;
};

static void append(struct runs *runs, uint8_t index)
{
	if (runs->n < runs->all)
		runs->out[runs->n] = index;
	runs->n++;
}

static void append_zeros(struct runs *runs, uint64_t n)
{
	uint64_t left = runs->n < runs->all ? runs->all - runs->n : 0;
	memset(runs->out + runs->n, 0, n < left ? n : left);
	runs->n += n;
}

static void append_run(struct runs *runs, uint64_t n, uint8_t byte)
{
	bool nibbles = runs->bmp->compression == RLE4;
	if (runs->x + n > runs->bmp->width)
		n = runs->x < runs->bmp->width ? runs->bmp->width - runs->x : 0;
	for (uint64_t i = 0; i < n; i++)
		append(runs, !nibbles ? byte : i % 2 == 0 ? byte >> 4 : byte & 15);
	runs->x += n;
}

/* Appends n uncompressed pixels; one fewer if n is odd and pixels have 4 bits, as Pillow does.
 * Returns false if the file is truncated. */
static bool append_pixels(struct runs *runs, unsigned n)
{
	const struct bmp *bmp = runs->bmp;
	bool nibbles = bmp->compression == RLE4;
	unsigned bytes = nibbles ? n / 2 : n;
	uint64_t left = bmp->size - runs->at;
	unsigned some = bytes < left ? bytes : (unsigned)left;
	for (unsigned i = 0; i < some; i++) {
		uint8_t byte = bmp->data[runs->at + i];
		append(runs, nibbles ? byte >> 4 : byte);
		if (nibbles)
			append(runs, byte & 15);
	}
	runs->at += some;
	if (some < bytes)
		return false;
	runs->x += n;
	runs->at += runs->at % 2;
	return true;
}

static bool skip_pixels(struct runs *runs)
{
	const struct bmp *bmp = runs->bmp;
	/* four bytes: two that Pillow ignores, then the numbers of columns and of rows to skip */
	if (bmp->size - runs->at < 4)
		return false;
	uint64_t right = bmp->data[runs->at + 2], up = bmp->data[runs->at + 3];
	runs->at += 4;
	append_zeros(runs, right + up * bmp->width);
	runs->x = runs->n % bmp->width;
	return true;
}

/* Decodes the next code. Returns false after the last code, or if the file is truncated. */
static bool append_some(struct runs *runs)
{
	const struct bmp *bmp = runs->bmp;
	if (runs->at >= bmp->size || bmp->size - runs->at < 2)
		return false;
	uint8_t n = bmp->data[runs->at], byte = bmp->data[runs->at + 1];
	runs->at += 2;
	if (n > 0) {
		append_run(runs, n, byte);
	} else if (byte == 0) {
		if (runs->n % bmp->width != 0)
			append_zeros(runs, bmp->width - runs->n % bmp->width);
		runs->x = 0;
	} else if (byte == 1) {
		return false;
	} else if (byte == 2) {
		return skip_pixels(runs);
	} else {
		return append_pixels(runs, byte);
	}
	return true;
}

/* Decodes the run lengths of an image into bmp->scratch. */
static int read_runs(struct bmp *bmp)
{
	struct runs runs = {
		.bmp = bmp, .at = bmp->offset, .all = (uint64_t)bmp->width * bmp->height};
	if (bmp->bits > 8)
		return refuse(bmp, "unsupported compression");
	if (buffer_reserve(bmp->scratch, runs.all))
		return image_fail(bmp->message, -ENOMEM, "no memory");
	runs.out = bmp->scratch->data;
	while (runs.n < runs.all && append_some(&runs))
		;
	return runs.n < runs.all ? refuse(bmp, "truncated") : 0;
}

static int read_image(void *state, uint8_t *pixels)
{
	struct bmp *bmp = state;
	struct raw_image image = {.kind = bmp->kind,
		.width = bmp->width,
		.height = bmp->height,
		.stride = ((uint64_t)bmp->width * bmp->bits + 31) / 32 * 4,
		.from_bottom = !bmp->from_top,
		.palette = bmp->palette,
		.mode = bmp->keep ? mode_of(bmp) : PIXELS_RGB};
	uint64_t left = bmp->offset < bmp->size ? bmp->size - bmp->offset : 0;
	const uint8_t *data = bmp->data + bmp->size - left;
	if (bmp->compression == RLE8 || bmp->compression == RLE4) {
		int err = read_runs(bmp);
		if (err)
			return err;
		image.kind = bmp->kind == RAW_GRAY ? RAW_GRAY : RAW_INDEX8;
		image.stride = bmp->width;
		left = image.stride * bmp->height;
		data = bmp->scratch->data;
	}
	return raw_unpack(&image, data, left, pixels) ? 0 : refuse(bmp, "truncated");
}

const struct codec codec_bmp = {
	.magic = "BM",
	.magic_bytes = 2,
	.head_bytes = 1 << 20,
	.keeps = true,
	.state_bytes = sizeof(struct bmp),
	.open = open_image,
	.read = read_image,
};
