// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "load/load_internal.h"

#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>
#include <jerror.h>

/*
 * JPEG by libjpeg, called in the way PIL calls it: with a source that suspends and is
 * given the file in pieces of CODEC_READ_SIZE, until all rows are there. So the same
 * damaged files pass: damage inside the entropy-coded data is only a warning of
 * libjpeg's, and a baseline file may lack its end marker when the data before it
 * suffice; a file that runs dry earlier is truncated.
 *
 * The decompressor is made anew for each image, because quantisation and Huffman tables
 * stay in it: an image without tables would be decoded with those of the one before.
 */

/* A progressive file of a few bytes per scan can keep a worker busy for hours; encoders
 * write about ten scans. */
#define MAX_SCANS 500

struct jpeg {
	struct jpeg_decompress_struct info;
	struct jpeg_error_mgr errors;
	struct jpeg_source_mgr source;
	struct jpeg_progress_mgr progress;
	const uint8_t *end; /* of the file; the source knows a part of it */
	size_t skip;	    /* bytes to be dropped when more come */
	struct load_task *task;
	int error;
	jmp_buf escape;
};

static _Noreturn void give_up(struct jpeg *jpeg, int error, const char *text)
{
	jpeg->error = load_fail(jpeg->task, error, "JPEG: %s", text);
	longjmp(jpeg->escape, 1);
}

static _Noreturn void on_error(j_common_ptr info)
{
	char text[JMSG_LENGTH_MAX];
	bool no_memory = info->err->msg_code == JERR_OUT_OF_MEMORY;
	info->err->format_message(info, text);
	give_up(info->client_data, no_memory ? -ENOMEM : -EIO, text);
}

static void on_message(j_common_ptr info)
{
	(void)info; /* libjpeg would print it */
}

static void on_progress(j_common_ptr info)
{
	struct jpeg *jpeg = info->client_data;
	if (jpeg->info.input_scan_number > MAX_SCANS)
		give_up(jpeg, -EIO, "too many scans");
}

static void on_source(j_decompress_ptr info)
{
	(void)info; /* nothing to begin or to end */
}

static boolean on_fill(j_decompress_ptr info)
{
	(void)info;
	return FALSE; /* suspend */
}

static void drop(struct jpeg *jpeg)
{
	struct jpeg_source_mgr *source = &jpeg->source;
	size_t now = jpeg->skip;
	if (now > source->bytes_in_buffer)
		now = source->bytes_in_buffer;
	source->next_input_byte += now;
	source->bytes_in_buffer -= now;
	jpeg->skip -= now;
}

static void on_skip(j_decompress_ptr info, long bytes)
{
	struct jpeg *jpeg = info->client_data;
	jpeg->skip = bytes > 0 ? (size_t)bytes : 0;
	drop(jpeg);
}

/* Lets libjpeg see the next piece of the file. */
static void feed(struct jpeg *jpeg)
{
	struct jpeg_source_mgr *source = &jpeg->source;
	do {
		const uint8_t *seen = source->next_input_byte + source->bytes_in_buffer;
		size_t more = (size_t)(jpeg->end - seen);
		if (more == 0)
			give_up(jpeg, -EIO, "truncated");
		if (more > CODEC_READ_SIZE)
			more = CODEC_READ_SIZE;
		source->bytes_in_buffer += more;
		drop(jpeg);
	} while (jpeg->skip > 0);
}

static void prepare_decompressor(struct jpeg *jpeg)
{
	jpeg->info.err = jpeg_std_error(&jpeg->errors);
	jpeg->info.client_data = jpeg;
	jpeg->errors.error_exit = on_error;
	jpeg->errors.output_message = on_message;
	jpeg_create_decompress(&jpeg->info);
	jpeg->info.src = &jpeg->source;
	jpeg->info.progress = &jpeg->progress;
	jpeg->progress.progress_monitor = on_progress;
}

static void read_header(struct jpeg *jpeg)
{
	struct jpeg_decompress_struct *info = &jpeg->info;
	int found;
	while ((found = jpeg_read_header(info, FALSE)) != JPEG_HEADER_OK)
		if (found == JPEG_SUSPENDED)
			feed(jpeg);
	if (info->data_precision != 8)
		give_up(jpeg, -EIO, "unsupported: not 8 bits per channel");
	if (info->num_components != 1 && info->num_components != 3 &&
		info->num_components != 4)
		give_up(jpeg, -EIO, "unsupported: neither 1, 3 nor 4 channels");
	info->out_color_space = info->num_components == 4 ? JCS_CMYK : JCS_RGB;
}

static int open_image(void *state, struct load_task *task, const uint8_t *data,
	size_t size, struct tensor_shape *ret)
{
	struct jpeg *jpeg = state;
	jpeg->task = task;
	jpeg->end = data + size;
	jpeg->skip = 0;
	jpeg->source = (struct jpeg_source_mgr){
		.next_input_byte = data,
		.init_source = on_source,
		.fill_input_buffer = on_fill,
		.skip_input_data = on_skip,
		.resync_to_restart = jpeg_resync_to_restart,
		.term_source = on_source,
	};
	if (setjmp(jpeg->escape))
		return jpeg->error;
	prepare_decompressor(jpeg);
	read_header(jpeg);
	*ret = (struct tensor_shape){
		.height = jpeg->info.image_height, .width = jpeg->info.image_width};
	return 0;
}

static void read_row(struct jpeg *jpeg, uint8_t *row)
{
	while (jpeg_read_scanlines(&jpeg->info, &row, 1) == 0)
		feed(jpeg);
}

/* a * b / 255, rounded as PIL rounds it. */
static int scale255(int a, int b)
{
	int product = a * b + 128;
	return ((product >> 8) + product) >> 8;
}

/* PIL takes every file with four channels for one of Adobe's, whose ink is inverted. */
static void cmyk_to_rgb(const uint8_t *in, uint32_t width, uint8_t *out)
{
	for (uint32_t x = 0; x < width; x++, in += 4, out += 3) {
		int white = in[3];
		for (int c = 0; c < 3; c++)
			out[c] = (uint8_t)(white - scale255(255 - in[c], white));
	}
}

static void read_cmyk(struct jpeg *jpeg, uint8_t *pixels)
{
	struct jpeg_decompress_struct *info = &jpeg->info;
	uint32_t width = info->output_width;
	JSAMPARRAY row =
		info->mem->alloc_sarray((j_common_ptr)info, JPOOL_IMAGE, width * 4, 1);
	while (info->output_scanline < info->output_height) {
		read_row(jpeg, row[0]);
		cmyk_to_rgb(row[0], width, pixels);
		pixels += (size_t)width * 3;
	}
}

static void read_rgb(struct jpeg *jpeg, uint8_t *pixels)
{
	struct jpeg_decompress_struct *info = &jpeg->info;
	while (info->output_scanline < info->output_height) {
		read_row(jpeg, pixels);
		pixels += (size_t)info->output_width * 3;
	}
}

static int read_image(void *state, uint8_t *pixels)
{
	struct jpeg *jpeg = state;
	if (setjmp(jpeg->escape))
		return jpeg->error;
	while (!jpeg_start_decompress(&jpeg->info))
		feed(jpeg);
	if (jpeg->info.out_color_space == JCS_CMYK)
		read_cmyk(jpeg, pixels);
	else
		read_rgb(jpeg, pixels);
	/* All rows are there: an end that is missing does not matter any more. */
	(void)jpeg_finish_decompress(&jpeg->info);
	return 0;
}

static void close_image(void *state)
{
	struct jpeg *jpeg = state;
	jpeg_destroy_decompress(&jpeg->info);
}

static int create(void **ret)
{
	*ret = calloc(1, sizeof(struct jpeg));
	return *ret ? 0 : -ENOMEM;
}

const struct codec codec_jpeg = {
	.name = "jpeg",
	.magic = "\xff\xd8\xff",
	.magic_bytes = 3,
	.create = create,
	.destroy = free,
	.open = open_image,
	.read = read_image,
	.close = close_image,
};
