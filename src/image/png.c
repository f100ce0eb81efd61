// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/byte_order.h"
#include "image/image_internal.h"
#include "image/png_end.h"
#include "image/png_whole.h"
#include "image/scratch.h"

#include <ctype.h>
#include <errno.h>
#include <setjmp.h>
#include <string.h>

#include <png.h>
#include <zlib.h>

/* Decodes PNG. libdeflate decodes files that are regular (png_whole.h), have 8 bits per channel and
 * are not interlaced; libpng decodes all other files. A file is accepted if PIL accepts it.
 * The chunks before the first IDAT need correct checksums. Checksums from the first IDAT on are
 * ignored, and the file may end anywhere after the last row. The compressed data may also end
 * properly after an earlier row: the missing rows become black, or the palette's first colour. To
 * accept the same files as PIL, png.c itself parses the chunks before the image data, and libpng
 * sees only IHDR and the chunks from the first IDAT on. libpng is told that palette indices are
 * gray levels; png.c then looks up the colours, because PIL extends the image's palette by a gray
 * ramp. */

#define SIGNATURE_BYTES 8
#define IHDR_BYTES 13
#define HEAD_BYTES (SIGNATURE_BYTES + IHDR_BYTES + CHUNK_EXTRA)

enum {
	GRAY = PNG_COLOR_TYPE_GRAY,
	RGB = PNG_COLOR_TYPE_RGB,
	PALETTE = PNG_COLOR_TYPE_PALETTE,
	GRAY_ALPHA = PNG_COLOR_TYPE_GRAY_ALPHA,
	RGB_ALPHA = PNG_COLOR_TYPE_RGB_ALPHA,
};

static const unsigned channels_of[] = {
	[GRAY] = 1, [RGB] = 3, [PALETTE] = 1, [GRAY_ALPHA] = 2, [RGB_ALPHA] = 4};

struct header {
	uint32_t width;
	uint32_t height;
	uint8_t depth; /* bits per channel */
	uint8_t color;
	bool interlaced;
	bool valid;
};

struct png {
	struct header header;
	uint8_t lookup[256][3];	  /* RGB for each palette index or gray level */
	uint8_t head[HEAD_BYTES]; /* signature and IHDR for libpng */
	size_t head_read;
	/* number of bytes of the current chunk that libpng has not yet read */
	uint64_t chunk_left;
	const uint8_t *first; /* the first chunk of image data */
	const uint8_t *next;
	const uint8_t *end;
	png_structp reader;
	png_infop info;
	size_t row_bytes;	 /* bytes of a row from libpng */
	struct buffer rows;	 /* one row, or all rows of an interlaced image */
	struct scratch scratch;	 /* libpng's memory */
	struct png_whole *whole; /* libdeflate's decoder, or NULL */
	bool keep;		 /* keep the pixels in the file's mode */
	size_t pixel;		 /* bytes of a pixel in the result */
	bool fill;		 /* if the data end early, missing rows become 0 */
	char *message;
	int error;
	jmp_buf escape;
};

static bool combination_exists(uint8_t depth, uint8_t color)
{
	switch (color) {
	case GRAY:
		return depth == 1 || depth == 2 || depth == 4 || depth == 8 ||
		       depth == 16;
	case PALETTE:
		return depth == 1 || depth == 2 || depth == 4 || depth == 8;
	case RGB:
	case GRAY_ALPHA:
	case RGB_ALPHA:
		return depth == 8 || depth == 16;
	default:
		return false;
	}
}

static int parse_ihdr(struct png *png, const uint8_t *data, uint32_t length)
{
	if (length < IHDR_BYTES || data[11] != 0)
		return image_fail(png->message, -EIO, "PNG: bad header");
	png->header = (struct header){
		.width = get_be32(data),
		.height = get_be32(data + 4),
		.depth = data[8],
		.color = data[9],
		.interlaced = data[12] != 0,
		.valid = combination_exists(data[8], data[9]),
	};
	return 0;
}

static int parse_plte(struct png *png, const uint8_t *data, uint32_t length)
{
	if (png->header.color != PALETTE || !png->header.valid)
		return 0; /* PLTE of an image without a palette is only a suggestion */
	if (length > sizeof(png->lookup))
		return image_fail(png->message, -EIO, "PNG: palette too large");
	memcpy(png->lookup, data, length - length % 3);
	return 0;
}

static int check_chunk(struct png *png, const uint8_t *chunk)
{
	size_t left = (size_t)(png->end - chunk);
	for (int i = 4; i < 8 && left >= 8; i++)
		if (!isalnum(chunk[i]) && chunk[i] != '_')
			return image_fail(png->message, -EIO, "PNG: damaged chunk");
	if (left < 8)
		return image_fail(png->message, -EIO, "PNG: truncated");
	if (is_chunk(chunk, "IDAT"))
		return 0;
	if (is_chunk(chunk, "IEND"))
		return image_fail(png->message, -EIO, "PNG: no image data");
	uint32_t length = get_be32(chunk);
	if (left < CHUNK_EXTRA || left - CHUNK_EXTRA < length)
		return image_fail(png->message, -EIO, "PNG: truncated");
	if (crc32(0, chunk + 4, length + 4) != get_be32(chunk + 8 + length))
		return image_fail(
			png->message, -EIO, "PNG: wrong checksum of %.4s", chunk + 4);
	return 0;
}

/* Reads the chunks before the image data. Sets png->next to the first IDAT. */
static int read_chunks(struct png *png)
{
	for (;; png->next += CHUNK_EXTRA + (size_t)get_be32(png->next)) {
		int err = check_chunk(png, png->next);
		if (err)
			return err;
		if (is_chunk(png->next, "IDAT"))
			return 0;
		if (is_chunk(png->next, "IHDR"))
			err = parse_ihdr(png, png->next + 8, get_be32(png->next));
		else if (is_chunk(png->next, "PLTE"))
			err = parse_plte(png, png->next + 8, get_be32(png->next));
		if (err)
			return err;
	}
}

enum pixel_mode image_png_mode(unsigned bits, unsigned color)
{
	unsigned channels = color <= RGB_ALPHA ? channels_of[color] : 0;
	return pixel_mode_of(channels, bits == 16 ? 16 : 8, color == PALETTE);
}

static void fill_gray_ramp(struct png *png, unsigned levels)
{
	for (unsigned i = 0; i < levels; i++)
		memset(png->lookup[i], (int)(i * 255 / (levels - 1)), 3);
}

static int open_image(
	void *state, const struct codec_input *input, struct tensor_shape *ret)
{
	struct png *png = state;
	png->message = input->message;
	png->next = input->data + SIGNATURE_BYTES;
	png->end = input->data + input->size;
	png->keep = input->keep;
	png->fill = input->fill;
	png->header = (struct header){0};
	fill_gray_ramp(png, 256);
	int err = read_chunks(png);
	if (err)
		return err;
	png->first = png->next;
	if (!png->header.valid || png->header.width == 0 || png->header.height == 0)
		return image_fail(png->message, -EIO, "PNG: bad header");
	if (png->header.color == GRAY && png->header.depth < 8)
		fill_gray_ramp(png, 1u << png->header.depth);
	*ret = (struct tensor_shape){.height = png->header.height,
		.width = png->header.width,
		.mode = image_png_mode(png->header.depth, png->header.color)};
	png->pixel = png->keep ? tensor_pixel_bytes(*ret) : 3;
	return 0;
}

static void make_head(struct png *png)
{
	const struct header *header = &png->header;
	uint8_t *data = png->head + SIGNATURE_BYTES + CHUNK_HEADER;
	memset(png->head, 0, sizeof(png->head));
	memcpy(png->head, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
		SIGNATURE_BYTES + CHUNK_HEADER);
	png_save_uint_32(data, header->width);
	png_save_uint_32(data + 4, header->height);
	data[8] = header->depth;
	data[9] = header->color == PALETTE ? GRAY : header->color;
	data[12] = header->interlaced;
	png->head_read = 0;
	png->chunk_left = 0;
}

static _Noreturn void on_error(png_structp reader, png_const_charp text)
{
	struct png *png = png_get_error_ptr(reader);
	png->error = image_fail(png->message, -EIO, "PNG: %s", text);
	longjmp(png->escape, 1);
}

static void on_warning(png_structp reader, png_const_charp text)
{
	(void)reader; /* ignores the message instead of printing it */
	(void)text;
}

/* Allocates memory for libpng; close_image frees it all. */
static void *on_malloc(png_structp reader, png_alloc_size_t size)
{
	return scratch_take(png_get_mem_ptr(reader), size);
}

static void on_free(png_structp reader, void *piece)
{
	(void)reader;
	(void)piece;
}

static void copy_file(struct png *png, uint8_t *out, size_t bytes)
{
	if ((size_t)(png->end - png->next) < bytes)
		png_error(png->reader, "truncated");
	memcpy(out, png->next, bytes);
	png->next += bytes;
}

/* Gives libpng the length and the name of the next chunk. libpng fails if it can't read a whole
 * chunk. So if the file ends within the chunk, libpng gets the number of existing bytes as the
 * length. These bytes may be enough for all rows. */
static void read_chunk_header(struct png *png, uint8_t *out)
{
	copy_file(png, out, CHUNK_HEADER);
	size_t left = (size_t)(png->end - png->next);
	uint32_t length = get_be32(out);
	if (length > left)
		png_save_uint_32(out, length = (uint32_t)left);
	png->chunk_left = (uint64_t)length + CHUNK_CHECKSUM;
}

/* Gives libpng the next bytes of its file. libpng asks for the length and the name of a chunk in
 * one call. */
static void on_read(png_structp reader, png_bytep out, size_t bytes)
{
	struct png *png = png_get_io_ptr(reader);
	if (png->head_read < HEAD_BYTES) {
		memcpy(out, png->head + png->head_read, bytes);
		png->head_read += bytes;
	} else if (png->chunk_left == 0) {
		if (bytes != CHUNK_HEADER)
			png_error(reader, "unsupported version of libpng");
		read_chunk_header(png, out);
	} else {
		copy_file(png, out, bytes);
		png->chunk_left -= bytes;
	}
}

static void prepare_reader(struct png *png)
{
	make_head(png);
	png_set_read_fn(png->reader, png, on_read);
	png_set_crc_action(png->reader, PNG_CRC_QUIET_USE, PNG_CRC_QUIET_USE);
	png_set_benign_errors(png->reader, 1);
	png_set_user_limits(png->reader, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
	png_set_chunk_malloc_max(png->reader, 0);
	png_set_compression_buffer_size(png->reader, CODEC_READ_SIZE);
	png_read_info(png->reader, png->info);
	png_set_packing(png->reader);
	png_set_interlace_handling(png->reader);
	png_read_update_info(png->reader, png->info);
	png->row_bytes = png_get_rowbytes(png->reader, png->info);
	size_t rows = png->header.interlaced ? png->header.height : 1;
	if (buffer_reserve(&png->rows, rows * png->row_bytes) != 0) {
		png->error = image_fail(png->message, -ENOMEM, "no memory");
		longjmp(png->escape, 1);
	}
	if (png->header.interlaced)
		memset(png->rows.data, 0, rows * png->row_bytes);
}

/* Limits 16-bit gray to 255, like PIL's convert('RGB'), instead of taking the high bytes. */
static void convert_gray16(const uint8_t *in, uint32_t width, uint8_t *out)
{
	for (uint32_t x = 0; x < width; x++, in += 2, out += 3)
		memset(out, in[0] ? 255 : in[1], 3);
}

/* Converts RGB, or pixels with alpha, to RGB of 8 bits: drops low bytes and alpha. */
static void convert_channels(const struct header *header, const uint8_t *in, uint8_t *out)
{
	size_t channel = header->depth / 8;
	size_t gap = header->color == GRAY_ALPHA ? 0 : channel;
	size_t channels = header->color == GRAY_ALPHA ? 2 : header->color == RGB ? 3 : 4;
	for (uint32_t x = 0; x < header->width; x++, out += 3) {
		out[0] = in[0];
		out[1] = in[gap];
		out[2] = in[2 * gap];
		in += channel * channels;
	}
}

/* Copies a row in the mode of the file. Scales gray of fewer than 8 bits to 8 bits, and gives
 * 16-bit numbers the byte order of this machine. */
static void keep_row(const struct png *png, const uint8_t *in, uint8_t *out)
{
	const struct header *header = &png->header;
	size_t n = (size_t)header->width * channels_of[header->color];
	if (header->color == GRAY && header->depth < 8) {
		for (size_t i = 0; i < n; i++)
			out[i] = png->lookup[in[i]][0];
	} else if (header->depth < 16) {
		memcpy(out, in, n);
	} else {
		for (size_t i = 0; i < n; i++, in += 2, out += 2)
			memcpy(out, &(uint16_t){(uint16_t)(in[0] << 8 | in[1])}, 2);
	}
}

static void convert_row(
	const struct png *png, const uint8_t *in, uint32_t y, uint8_t *pixels)
{
	const struct header *header = &png->header;
	uint8_t *out = pixels + (size_t)y * header->width * png->pixel;
	if (png->keep)
		keep_row(png, in, out);
	else if (header->color == RGB && header->depth == 8)
		memcpy(out, in, (size_t)header->width * 3);
	else if (header->color != GRAY && header->color != PALETTE)
		convert_channels(header, in, out);
	else if (header->depth == 16)
		convert_gray16(in, header->width, out);
	else
		for (uint32_t x = 0; x < header->width; x++)
			memcpy(out + (size_t)x * 3, png->lookup[in[x]], 3);
}

/* Reads all rows, and converts all but the last one. The last row stays in png->rows for
 * convert_rest, because libpng may fail after it has read this row. */
static void read_rows(struct png *png, uint8_t *pixels)
{
	for (uint32_t y = 0; y < png->header.height; y++) {
		if (y > 0)
			convert_row(png, png->rows.data, y - 1, pixels);
		png_read_row(png->reader, png->rows.data, NULL);
	}
}

static void read_passes(struct png *png)
{
	for (int pass = 0; pass < PNG_INTERLACE_ADAM7_PASSES; pass++)
		for (uint32_t y = 0; y < png->header.height; y++)
			png_read_row(
				png->reader, png->rows.data + y * png->row_bytes, NULL);
}

/* Tells whether libpng delivered all rows before it failed. */
static bool all_rows_read(const struct png *png)
{
	if (png->header.interlaced)
		return png_get_current_pass_number(png->reader) ==
		       PNG_INTERLACE_ADAM7_PASSES;
	return png_get_current_row_number(png->reader) == png->header.height;
}

static void convert_rest(const struct png *png, uint8_t *pixels)
{
	uint32_t y = png->header.interlaced ? 0 : png->header.height - 1;
	const uint8_t *row = png->rows.data;
	for (; y < png->header.height; y++, row += png->row_bytes)
		convert_row(png, row, y, pixels);
}

/* Tells, after libpng has failed, whether PIL accepts the file with missing rows. */
static bool ends_early(const struct png *png)
{
	struct png_layout layout = {
		.width = png->header.width,
		.height = png->header.height,
		.pixel_bits = png->header.depth * channels_of[png->header.color],
		.interlaced = png->header.interlaced,
	};
	return png_ends_behind_row(&layout, png->first, png->end);
}

static void convert_early_end(struct png *png, uint8_t *pixels)
{
	uint32_t y = png_get_current_row_number(png->reader);
	if (png->header.interlaced) {
		convert_rest(png, pixels);
		return;
	}
	memset(png->rows.data, 0, png->row_bytes);
	for (; y < png->header.height; y++)
		convert_row(png, png->rows.data, y, pixels);
}

/* Decodes a regular file by libdeflate. Returns false if libpng must decode it. */
static bool read_whole(struct png *png, uint8_t *pixels)
{
	const struct header *header = &png->header;
	struct png_whole_image image = {
		header->width, header->height, channels_of[header->color]};
	const uint8_t *row;
	if (!png->whole || header->depth != 8 || header->interlaced ||
		!png_whole_read(png->whole, &image, png->first, png->end, &row))
		return false;
	for (uint32_t y = 0; y < header->height; y++)
		convert_row(png, row + y * png_whole_stride(&image), y, pixels);
	return true;
}

static int read_image(void *state, uint8_t *pixels)
{
	struct png *png = state;
	png->error = 0;
	if (read_whole(png, pixels))
		return 0;
	png->row_bytes = 0;
	png->reader = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, png, on_error,
		on_warning, &png->scratch, on_malloc, on_free);
	if (png->reader)
		png->info = png_create_info_struct(png->reader);
	if (!png->info)
		return image_fail(png->message, -ENOMEM, "no memory");
	if (setjmp(png->escape) == 0) {
		prepare_reader(png);
		if (png->header.interlaced)
			read_passes(png);
		else
			read_rows(png, pixels);
	} else if (png->row_bytes == 0) {
		return png->error;
	} else if (!all_rows_read(png)) {
		if (png->error == -ENOMEM || (!png->fill && !ends_early(png)))
			return png->error;
		png->message[0] = '\0';
		convert_early_end(png, pixels);
		return 0;
	}
	/* All rows were read, so a failure of libpng does not matter. */
	png->message[0] = '\0';
	convert_rest(png, pixels);
	return 0;
}

static void close_image(void *state)
{
	struct png *png = state;
	png_destroy_read_struct(&png->reader, &png->info, NULL);
	scratch_reset(&png->scratch);
	buffer_trim(&png->rows);
	if (png->whole)
		png_whole_trim(png->whole);
}

static size_t held_bytes(const void *state)
{
	const struct png *png = state;
	return sizeof(*png) + png->rows.size + png->scratch.bytes +
	       (png->whole ? png_whole_bytes(png->whole) : 0);
}

static int create(bool plain, void **ret)
{
	struct png *png = calloc(1, sizeof(*png));
	if (png)
		png->whole = png_whole_new(plain); /* libpng is not affected by `plain` */
	*ret = png;
	return png ? 0 : -ENOMEM;
}

static void destroy(void *state)
{
	struct png *png = state;
	png_whole_free(png->whole);
	buffer_free(&png->rows);
	scratch_free(&png->scratch);
	free(png);
}

const struct codec codec_png = {
	.magic = "\x89PNG\r\n\x1a\n",
	.magic_bytes = SIGNATURE_BYTES,
	.keeps = true,
	.create = create,
	.destroy = destroy,
	.open = open_image,
	.read = read_image,
	.close = close_image,
	.bytes = held_bytes,
};
