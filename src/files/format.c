// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/format.h"
#include "base/ensure.h"
#include "base/fault.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

static uint64_t pixel_bytes(struct pixel_type type, struct tensor_shape shape)
{
	return type.array ? array_bytes(type.array)
			  : tensor_shape_bytes(shape) / tensor_number_bytes(shape) *
				    pixel_type_bytes(type, shape);
}

static uint8_t *put(uint8_t *at, const void *bytes, size_t n)
{
	memcpy(at, bytes, n);
	return at + n;
}

static uint8_t *put_le16(uint8_t *at, uint32_t value)
{
	return put(at, (uint8_t[]){(uint8_t)value, (uint8_t)(value >> 8)}, 2);
}

static uint8_t *put_le32(uint8_t *at, uint32_t value)
{
	return put_le16(put_le16(at, value), value >> 16);
}

static uint8_t *put_be32(uint8_t *at, uint32_t value)
{
	return put_le32(at, __builtin_bswap32(value));
}

static size_t array_head(enum sample_format format, struct pixel_type type,
	struct tensor_shape shape, uint32_t label, uint8_t head[static FILE_HEAD_MOST])
{
	const struct array_type *array = type.array;
	uint32_t pixels[4];
	const char *npy = array ? array->npy : pixel_type_npy(type, shape);
	const uint32_t *sizes = array ? array->shape : pixels;
	size_t axes = array ? array->axes : pixel_type_axes(type, shape, pixels);
	if (format == FORMAT_RECORD && type.targets > 0)
		return file_head_targets(npy, sizes, axes, type.targets, head);
	if (format == FORMAT_RECORD)
		return file_head_record(npy, sizes, axes, label, head);
	head_npy(npy, sizes, axes, HEAD_SIZE, head);
	return HEAD_SIZE;
}

/* --- bmp: BGR, bottom row first, which is the order that every reader knows ------- */

#define BMP_HEAD 54

static uint64_t bmp_row_bytes(struct tensor_shape shape)
{
	return ((uint64_t)shape.width * 3 + 3) / 4 * 4;
}

static uint64_t bmp_bytes(struct tensor_shape shape)
{
	return BMP_HEAD + bmp_row_bytes(shape) * shape.height;
}

static uint8_t *put_bmp_head(uint8_t *at, struct tensor_shape shape)
{
	uint64_t bytes = bmp_bytes(shape);
	at = put(at, "BM", 2);
	at = put_le32(at, (uint32_t)bytes);
	at = put_le32(at, 0);
	at = put_le32(at, BMP_HEAD);
	at = put_le32(at, 40); /* BITMAPINFOHEADER */
	at = put_le32(at, shape.width);
	at = put_le32(at, shape.height);
	at = put_le16(at, 1); /* colour planes */
	at = put_le16(at, 24);
	at = put_le32(at, 0); /* not compressed */
	at = put_le32(at, (uint32_t)(bytes - BMP_HEAD));
	at = put_le32(at, 2835); /* 72 dots per inch */
	at = put_le32(at, 2835);
	at = put_le32(at, 0); /* no palette */
	return put_le32(at, 0);
}

static void encode_bmp(uint8_t *at, const struct tensor *tensor)
{
	struct tensor_shape shape = tensor->shape;
	uint64_t padding = bmp_row_bytes(shape) - (uint64_t)shape.width * 3;
	at = put_bmp_head(at, shape);
	for (uint32_t y = shape.height; y-- > 0;) {
		const uint8_t *rgb = tensor->data + (uint64_t)y * shape.width * 3;
		for (uint32_t x = 0; x < shape.width; x++, rgb += 3, at += 3) {
			at[0] = rgb[2];
			at[1] = rgb[1];
			at[2] = rgb[0];
		}
		memset(at, 0, padding);
		at += padding;
	}
}

/*
 * png, not compressed:
 *
 *   signature  IHDR  IDAT [zlib head, block, block, ...]  IDAT [block, ...]  IEND
 *
 * Each row begins with a zero, for "not filtered". The rows are split into stored (uncompressed)
 * blocks of deflate, and the blocks into IDAT chunks, because the lengths of both are limited.
 */

#define PNG_SIGNATURE "\x89PNG\r\n\x1a\n"
#define PNG_BLOCK 65535
#define PNG_CHUNK_BLOCKS 64
#define PNG_CHUNK_EXTRA 12 /* length, type and CRC */

static uint64_t png_raw_bytes(struct tensor_shape shape)
{
	return ((uint64_t)shape.width * tensor_pixel_bytes(shape) + 1) * shape.height;
}

static uint64_t png_bytes(struct tensor_shape shape)
{
	uint64_t raw = png_raw_bytes(shape);
	uint64_t blocks = (raw + PNG_BLOCK - 1) / PNG_BLOCK;
	uint64_t chunks = (blocks + PNG_CHUNK_BLOCKS - 1) / PNG_CHUNK_BLOCKS;
	return 8 + (PNG_CHUNK_EXTRA + 13) + chunks * PNG_CHUNK_EXTRA +
	       (2 + blocks * 5 + raw + 4) + PNG_CHUNK_EXTRA;
}

struct png {
	uint8_t *at;
	uint8_t *chunk;	   /* start of the unfinished chunk */
	uint64_t raw_left; /* bytes of rows that are in no block yet */
	uint32_t block_left;
	uint32_t chunk_blocks;
	uint32_t adler;
};

static void begin_chunk(struct png *png, const char *type)
{
	png->chunk = png->at;
	png->at = put(png->at + 4, type, 4);
	png->chunk_blocks = 0;
}

static void end_chunk(struct png *png)
{
	const uint8_t *type = png->chunk + 4;
	uint32_t n = (uint32_t)(png->at - type);
	put_be32(png->chunk, n - 4);
	png->at = put_be32(png->at, (uint32_t)crc32(crc32(0, NULL, 0), type, n));
}

static void begin_block(struct png *png)
{
	if (png->chunk_blocks == PNG_CHUNK_BLOCKS) {
		end_chunk(png);
		begin_chunk(png, "IDAT");
	}
	uint32_t n = png->raw_left < PNG_BLOCK ? (uint32_t)png->raw_left : PNG_BLOCK;
	png->raw_left -= n;
	png->block_left = n;
	png->chunk_blocks++;
	*png->at++ = png->raw_left == 0; /* 1: the last block */
	png->at = put_le16(put_le16(png->at, n), ~n);
}

static void put_raw(struct png *png, const uint8_t *raw, uint64_t n)
{
	png->adler = (uint32_t)adler32_z(png->adler, raw, n);
	while (n > 0) {
		if (png->block_left == 0)
			begin_block(png);
		uint32_t part = n < png->block_left ? (uint32_t)n : png->block_left;
		png->at = put(png->at, raw, part);
		png->block_left -= part;
		raw += part;
		n -= part;
	}
}

/* Adds 16-bit numbers, the upper byte first. */
static void put_words(struct png *png, const uint8_t *words, uint64_t n)
{
	uint8_t bytes[256];
	while (n > 0) {
		size_t part = n < sizeof(bytes) / 2 ? n : sizeof(bytes) / 2;
		for (size_t i = 0; i < part; i++) {
			uint16_t word;
			memcpy(&word, words + 2 * i, sizeof(word));
			bytes[2 * i] = (uint8_t)(word >> 8);
			bytes[2 * i + 1] = (uint8_t)word;
		}
		put_raw(png, bytes, 2 * part);
		words += 2 * part;
		n -= part;
	}
}

static void put_png_head(struct png *png, struct tensor_shape shape)
{
	png->at = put(png->at, PNG_SIGNATURE, 8);
	begin_chunk(png, "IHDR");
	png->at = put_be32(put_be32(png->at, shape.width), shape.height);
	static const uint8_t kinds[] = {[1] = 0, [2] = 4, [3] = 2, [4] = 6};
	uint8_t bits = (uint8_t)(8 * tensor_number_bytes(shape));
	uint8_t kind = kinds[tensor_channels(shape)];
	png->at = put(png->at, (uint8_t[]){bits, kind, 0, 0, 0}, 5);
	end_chunk(png);
}

static void encode_png(uint8_t *at, const struct tensor *tensor)
{
	struct tensor_shape shape = tensor->shape;
	struct png png = {.at = at, .raw_left = png_raw_bytes(shape), .adler = 1};
	uint64_t row_bytes = (uint64_t)shape.width * tensor_pixel_bytes(shape);
	put_png_head(&png, shape);
	begin_chunk(&png, "IDAT");
	png.at = put(png.at, (uint8_t[]){0x78, 0x01}, 2);
	for (uint32_t y = 0; y < shape.height; y++) {
		put_raw(&png, (uint8_t[]){0}, 1);
		if (tensor_number_bytes(shape) == 1)
			put_raw(&png, tensor->data + y * row_bytes, row_bytes);
		else
			put_words(&png, tensor->data + y * row_bytes, row_bytes / 2);
	}
	png.at = put_be32(png.at, png.adler);
	end_chunk(&png);
	begin_chunk(&png, "IEND");
	end_chunk(&png);
	ensure((uint64_t)(png.at - at) == png_bytes(shape));
}

static size_t make_head(enum sample_format format, struct pixel_type type,
	struct tensor_shape shape, uint32_t label, uint8_t head[static FILE_HEAD_MOST])
{
	switch (format) {
	case FORMAT_PPM:
		return head_ppm(shape, head);
	case FORMAT_NPY:
	case FORMAT_RECORD:
		return array_head(format, type, shape, label, head);
	default:
		return 0;
	}
}

uint64_t format_bytes(enum sample_format format, struct pixel_type type,
	struct tensor_shape shape, uint64_t file_bytes)
{
	uint8_t head[FILE_HEAD_MOST];
	switch (format) {
	case FORMAT_BMP:
		return bmp_bytes(shape);
	case FORMAT_PNG:
		return png_bytes(shape);
	case FORMAT_SOURCE:
		return file_bytes;
	default:
		return make_head(format, type, shape, 0, head) + pixel_bytes(type, shape);
	}
}

static int encode(
	enum sample_format format, const struct tensor *tensor, struct formatted *file)
{
	if (fault_hit("format.memory"))
		return -ENOMEM;
	file->encoded = malloc(file->bytes);
	if (!file->encoded)
		return -ENOMEM;
	if (format == FORMAT_BMP)
		encode_bmp(file->encoded, tensor);
	else
		encode_png(file->encoded, tensor);
	return 0;
}

static bool holds(enum sample_format format, enum pixel_mode mode)
{
	switch (format) {
	case FORMAT_PPM:
		return mode == PIXELS_RGB || mode == PIXELS_L;
	case FORMAT_BMP:
		return mode == PIXELS_RGB;
	case FORMAT_PNG:
		return mode != PIXELS_F;
	default:
		return true;
	}
}

int format_make(enum sample_format format, struct pixel_type type,
	const struct tensor *tensor, uint32_t label, struct formatted *ret)
{
	ensure(format == FORMAT_SOURCE ||
		tensor->bytes == pixel_bytes(type, tensor->shape));
	ensure(config_holds_arrays(format) ||
		(type.dtype == DTYPE_UINT8 && type.axes == AXES_HWC));
	if (!holds(format, tensor->shape.mode))
		return -EIO; /* the configuration excludes jobs with such images */
	*ret = (struct formatted){
		.bytes = format_bytes(format, type, tensor->shape, tensor->bytes),
	};
	if (format == FORMAT_BMP || format == FORMAT_PNG)
		return encode(format, tensor, ret);
	ret->head_bytes = make_head(format, type, tensor->shape, label, ret->head);
	return 0;
}

void format_free(struct formatted *file)
{
	free(file->encoded);
	file->encoded = NULL;
}

bool format_head(enum sample_format format, struct file_head *ret)
{
	*ret = (struct file_head){.record = format == FORMAT_RECORD};
	switch (format) {
	case FORMAT_PPM:
		ret->kind = HEAD_PPM;
		return true;
	case FORMAT_NPY:
	case FORMAT_RECORD:
		ret->kind = HEAD_NPY;
		return true;
	case FORMAT_RAW:
	case FORMAT_SOURCE:
		ret->kind = HEAD_EMPTY;
		return true;
	case FORMAT_BMP:
	case FORMAT_PNG:
		break;
	}
	return false;
}
