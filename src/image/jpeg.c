// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/baseline/baseline.h"
#include "image/image_internal.h"
#include "image/jpeg_memory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <jerror.h>

/*
 * Decodes JPEG by image/baseline if that decoder accepts the file, otherwise by libjpeg. libjpeg
 * reads the header of each file in any case.
 *
 * libjpeg is called as PIL calls it, so joaderfs and PIL accept the same damaged files: libjpeg
 * suspends when it needs data, and gets the file in pieces of CODEC_READ_SIZE until all rows are
 * decoded. Damage inside the entropy-coded data only causes warnings. A baseline file may lack its
 * end marker, but not the data of its last row.
 *
 * Columns and rows outside the wanted part are not computed. But libjpeg still reads the whole
 * file, because damage outside the part must be found, too. libjpeg can't suspend while it skips
 * rows. So if rows or columns are left out, libjpeg gets the whole file at once, and the end of the
 * data is an error.
 */

/* libjpeg-turbo can skip rows and crop columns, without bugs since 2.1.2; other libraries can't. */
#if defined(LIBJPEG_TURBO_VERSION_NUMBER) && LIBJPEG_TURBO_VERSION_NUMBER >= 2001002
#define CAN_SKIP 1
#else
#define CAN_SKIP 0
#define jpeg_crop_scanline(info, first, length) ((void)0)
#define jpeg_skip_scanlines(info, n) 0
#endif

/* Rows and columns that are decoded around a part, because upsampling uses neighbouring pixels. */
#define MARGIN 17

/* largest accepted number of scans; many scans of a few bytes each could keep a decoder busy for
 * hours, and encoders write about ten */
#define MAX_SCANS 500

struct jpeg {
	struct jpeg_decompress_struct info;
	struct jpeg_error_mgr errors;
	struct jpeg_source_mgr source;
	struct jpeg_progress_mgr progress;
	/* end of the file; the piece that libjpeg has got may end earlier */
	const uint8_t *end;
	size_t skip; /* bytes to skip when libjpeg gets the next piece of the file */
	/* libjpeg has got the whole file at once, so a request for more data is an error */
	bool all_visible;
	struct image_part asked; /* the part that the caller wants */
	struct image_part part;	 /* the part that libjpeg decodes, including the margin */
	struct jpeg_memory memory;
	struct baseline *baseline; /* NULL: libjpeg is faster on this processor */
	const uint8_t *begin;
	bool by_baseline; /* our own decoder has accepted the header */
	/* the file is decoded even if it is truncated or damaged: libjpeg fills in missing rows,
	 * usually with gray; rows that it does not write become black, or white in a CMYK image */
	bool fill;
	/* `fill` is set, and libjpeg can't write any row */
	bool failed;
	/* the file has too many scans: refuse the file even if `fill` is set */
	bool refused;
	/* the rest of the file with an end marker added; NULL: not made */
	uint8_t *ended;
	char *message;
	int error;
	jmp_buf escape;
};

static _Noreturn void give_up(struct jpeg *jpeg, int error, const char *text)
{
	jpeg->error = image_fail(jpeg->message, error, "JPEG: %s", text);
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
	(void)info; /* ignores the message instead of printing it */
}

static void on_progress(j_common_ptr info)
{
	struct jpeg *jpeg = info->client_data;
	jpeg->refused = jpeg->info.input_scan_number > MAX_SCANS;
	if (jpeg->refused)
		give_up(jpeg, -EIO, "too many scans");
}

static void on_source(j_decompress_ptr info)
{
	(void)info;
}

static boolean on_fill(j_decompress_ptr info)
{
	struct jpeg *jpeg = info->client_data;
	if (jpeg->all_visible)
		give_up(jpeg, -EIO, "truncated");
	return FALSE; /* suspends the decompressor */
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

/* Adds an end marker to the rest of a truncated file, as Pillow does with LOAD_TRUNCATED_IMAGES.
 * libjpeg then fills in the missing rows. */
static void add_end(struct jpeg *jpeg)
{
	struct jpeg_source_mgr *source = &jpeg->source;
	size_t left = source->bytes_in_buffer;
	jpeg->ended = malloc(left + 2);
	if (!jpeg->ended)
		give_up(jpeg, -ENOMEM, "no memory");
	memcpy(jpeg->ended, source->next_input_byte, left);
	memcpy(jpeg->ended + left, "\xff\xd9", 2);
	source->next_input_byte = jpeg->ended;
	jpeg->end = jpeg->ended + left + 2;
}

static void feed(struct jpeg *jpeg)
{
	struct jpeg_source_mgr *source = &jpeg->source;
	do {
		const uint8_t *seen = source->next_input_byte + source->bytes_in_buffer;
		if (seen == jpeg->end && jpeg->fill && !jpeg->ended) {
			add_end(jpeg);
			seen = source->next_input_byte + source->bytes_in_buffer;
		}
		size_t more = (size_t)(jpeg->end - seen);
		if (more == 0)
			give_up(jpeg, -EIO, "truncated");
		if (more > CODEC_READ_SIZE)
			more = CODEC_READ_SIZE;
		source->bytes_in_buffer += more;
		drop(jpeg);
	} while (jpeg->skip > 0);
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

/* Returns PIXELS_RGB for four channels, too, because CMYK is converted to RGB. */
enum pixel_mode image_jpeg_mode(int components)
{
	return components == 1 ? PIXELS_L : PIXELS_RGB;
}

static int open_image(
	void *state, const struct codec_input *input, struct tensor_shape *ret)
{
	struct jpeg *jpeg = state;
	jpeg->message = input->message;
	jpeg->begin = input->data;
	jpeg->end = input->data + input->size;
	jpeg->fill = input->fill;
	jpeg->skip = 0;
	jpeg->all_visible = false;
	jpeg->source = (struct jpeg_source_mgr){
		.next_input_byte = input->data,
		.init_source = on_source,
		.fill_input_buffer = on_fill,
		.skip_input_data = on_skip,
		.resync_to_restart = jpeg_resync_to_restart,
		.term_source = on_source,
	};
	if (setjmp(jpeg->escape))
		return jpeg->error;
	read_header(jpeg);
	*ret = (struct tensor_shape){.height = jpeg->info.image_height,
		.width = jpeg->info.image_width,
		.mode = image_jpeg_mode(jpeg->info.num_components)};
	return 0;
}

static void read_row(struct jpeg *jpeg, uint8_t *row)
{
	while (jpeg_read_scanlines(&jpeg->info, &row, 1) == 0)
		feed(jpeg);
}

/* Converts CMYK to RGB. As in PIL, files with four channels are assumed to be Adobe's, whose inks
 * are inverted. */
static void cmyk_to_rgb(const uint8_t *in, uint32_t width, uint8_t *out)
{
	for (uint32_t x = 0; x < width; x++, in += 4, out += 3) {
		uint8_t white = in[3];
		for (int c = 0; c < 3; c++)
			out[c] = (uint8_t)(white - times_of_255(255u - in[c], white));
	}
}

/* Chooses a scale of 1/2, 1/4 or 1/8: for other scales libjpeg has no vector code. */
static struct tensor_shape scale_image(void *state, struct tensor_shape least)
{
	struct jpeg *jpeg = state;
	struct tensor_shape shape = {
		.height = jpeg->info.image_height, .width = jpeg->info.image_width};
	struct tensor_shape image = shape;
	for (unsigned part = 2; part <= 8; part *= 2) {
		uint32_t height = (image.height + part - 1) / part;
		uint32_t width = (image.width + part - 1) / part;
		if (height < least.height || width < least.width)
			break;
		shape = (struct tensor_shape){.height = height, .width = width};
		jpeg->info.scale_num = 1;
		jpeg->info.scale_denom = part;
	}
	return shape;
}

static struct crop_axis widen(struct crop_axis axis, uint32_t length)
{
	uint32_t first = axis.first > MARGIN ? axis.first - MARGIN : 0;
	uint32_t end = axis.first + axis.length;
	end = length - end > MARGIN ? end + MARGIN : length;
	return (struct crop_axis){.first = first, .length = end - first};
}

/* Tells whether libjpeg may leave out rows and columns of the file. It may not if the file has
 * several scans, or arithmetic coding: libjpeg then keeps all coefficients in memory, and may
 * smooth them across blocks. */
static bool can_skip(struct jpeg *jpeg)
{
	return CAN_SKIP && !jpeg->info.arith_code &&
	       !jpeg_has_multiple_scans(&jpeg->info);
}

static void narrow(struct jpeg *jpeg)
{
	struct jpeg_decompress_struct *info = &jpeg->info;
	struct jpeg_source_mgr *source = &jpeg->source;
	struct crop_axis rows = widen(jpeg->asked.rows, info->output_height);
	struct crop_axis columns = widen(jpeg->asked.columns, info->output_width);
	if (rows.length == info->output_height && columns.length == info->output_width)
		return;
	jpeg->all_visible = true;
	source->bytes_in_buffer = (size_t)(jpeg->end - source->next_input_byte);
	drop(jpeg);
	if (columns.length < info->output_width)
		jpeg_crop_scanline(info, &columns.first, &columns.length);
	jpeg->part = (struct image_part){.rows = rows, .columns = columns};
}

static void skip_rows(struct jpeg *jpeg, uint32_t n)
{
	if (n > 0 && jpeg_skip_scanlines(&jpeg->info, n) != n)
		give_up(jpeg, -EIO, "rows can not be skipped");
}

static void begin_libjpeg(struct jpeg *jpeg)
{
	struct jpeg_decompress_struct *info = &jpeg->info;
	while (!jpeg_start_decompress(info))
		feed(jpeg);
	jpeg->part = (struct image_part){
		.rows.length = info->output_height, .columns.length = info->output_width};
	if (can_skip(jpeg))
		narrow(jpeg);
}

static bool open_baseline(struct jpeg *jpeg)
{
	uint32_t width, height;
	return jpeg->baseline && jpeg->info.scale_denom == jpeg->info.scale_num &&
	       baseline_open(jpeg->baseline, jpeg->begin,
		       (size_t)(jpeg->end - jpeg->begin), &width, &height) &&
	       width == jpeg->info.image_width && height == jpeg->info.image_height;
}

static bool is_filled(const struct jpeg *jpeg)
{
	return jpeg->fill && jpeg->error == -EIO && !jpeg->refused;
}

/* Makes *part the whole image, because libjpeg must decode all rows to find the missing ones. */
static int begin_filled(struct jpeg *jpeg, struct image_part *part)
{
	struct jpeg_decompress_struct *info = &jpeg->info;
	jpeg->by_baseline = false;
	jpeg->failed = true;
	if (setjmp(jpeg->escape))
		return is_filled(jpeg) ? 0 : jpeg->error;
	jpeg_calc_output_dimensions(info);
	*part = (struct image_part){
		.rows.length = info->output_height, .columns.length = info->output_width};
	jpeg->asked = jpeg->part = *part;
	while (!jpeg_start_decompress(info))
		feed(jpeg);
	jpeg->failed = false;
	return 0;
}

static int begin_image(void *state, struct image_part *part)
{
	struct jpeg *jpeg = state;
	if (jpeg->fill)
		return begin_filled(jpeg, part);
	jpeg->asked = *part;
	jpeg->by_baseline = open_baseline(jpeg);
	if (setjmp(jpeg->escape))
		return jpeg->error;
	if (!jpeg->by_baseline)
		begin_libjpeg(jpeg);
	return 0;
}

static uint8_t *new_row(struct jpeg *jpeg, size_t bytes)
{
	uint8_t *row = scratch_take(&jpeg->memory.scratch, bytes);
	if (!row)
		give_up(jpeg, -ENOMEM, "no memory");
	return row;
}

static void read_part(struct jpeg *jpeg, uint8_t *pixels)
{
	bool cmyk = jpeg->info.out_color_space == JCS_CMYK;
	uint32_t width = jpeg->asked.columns.length;
	size_t before = jpeg->asked.columns.first - jpeg->part.columns.first;
	uint32_t above = jpeg->asked.rows.first - jpeg->part.rows.first;
	uint8_t *row = new_row(jpeg, (size_t)jpeg->part.columns.length * 4);
	for (uint32_t y = 0; y < jpeg->part.rows.length; y++) {
		read_row(jpeg, row);
		if (y < above || y - above >= jpeg->asked.rows.length)
			continue;
		if (cmyk)
			cmyk_to_rgb(row + before * 4, width, pixels);
		else
			memcpy(pixels, row + before * 3, (size_t)width * 3);
		pixels += (size_t)width * 3;
	}
}

/* Skips the rows after the part, but decodes the last row of the image, because libjpeg finds no
 * damage in rows that are skipped at the end. */
static void pass_rest(struct jpeg *jpeg)
{
	struct jpeg_decompress_struct *info = &jpeg->info;
	uint32_t left = info->output_height - info->output_scanline;
	if (left == 0)
		return;
	skip_rows(jpeg, left - 1);
	read_row(jpeg, new_row(jpeg, (size_t)info->output_width * 4));
}

static void read_libjpeg(struct jpeg *jpeg, uint8_t *pixels)
{
	skip_rows(jpeg, jpeg->part.rows.first);
	read_part(jpeg, pixels);
	pass_rest(jpeg);
	/* All rows are decoded, so a missing end of the file is no error any more. */
	jpeg->all_visible = false;
	(void)jpeg_finish_decompress(&jpeg->info);
}

static bool read_baseline(struct jpeg *jpeg, uint8_t *pixels)
{
	struct crop_axis rows = jpeg->asked.rows, columns = jpeg->asked.columns;
	struct baseline_part part = {
		{rows.first, rows.length}, {columns.first, columns.length}};
	return baseline_read(jpeg->baseline, part, pixels);
}

static int read_filled(struct jpeg *jpeg, uint8_t *pixels)
{
	struct image_part part = jpeg->asked;
	/* Pixels that libjpeg does not write become black, or white in a CMYK image. */
	bool cmyk = jpeg->info.out_color_space == JCS_CMYK;
	memset(pixels, cmyk ? 255 : 0,
		(size_t)part.rows.length * part.columns.length * 3);
	if (jpeg->failed)
		return 0;
	if (setjmp(jpeg->escape))
		return is_filled(jpeg) ? 0 : jpeg->error;
	read_part(jpeg, pixels);
	return 0;
}

static int read_image(void *state, uint8_t *pixels)
{
	struct jpeg *jpeg = state;
	if (jpeg->fill)
		return read_filled(jpeg, pixels);
	if (jpeg->by_baseline && read_baseline(jpeg, pixels))
		return 0;
	if (setjmp(jpeg->escape))
		return jpeg->error;
	if (jpeg->by_baseline)
		begin_libjpeg(jpeg);
	read_libjpeg(jpeg, pixels);
	return 0;
}

static void close_image(void *state)
{
	struct jpeg *jpeg = state;
	free(jpeg->ended);
	jpeg->ended = NULL;
	jpeg->failed = jpeg->refused = false;
	jpeg_memory_reset(&jpeg->memory, &jpeg->info);
	if (jpeg->baseline)
		baseline_trim(jpeg->baseline, KEEP_BYTES);
}

static size_t held_bytes(const void *state)
{
	const struct jpeg *jpeg = state;
	return sizeof(*jpeg) + jpeg->memory.scratch.bytes +
	       (jpeg->baseline ? baseline_bytes(jpeg->baseline) : 0);
}

static void destroy(void *state)
{
	struct jpeg *jpeg = state;
	jpeg_destroy_decompress(&jpeg->info);
	scratch_free(&jpeg->memory.scratch);
	baseline_free(jpeg->baseline);
	free(jpeg);
}

static int create(bool plain, void **ret)
{
	char no_message[IMAGE_MESSAGE];
	struct jpeg *jpeg = calloc(1, sizeof(*jpeg));
	if (!jpeg)
		return -ENOMEM;
	bool own = plain || baseline_is_fast();
	jpeg->baseline = own ? baseline_new(plain) : NULL;
	if (own && !jpeg->baseline) {
		free(jpeg);
		return -ENOMEM;
	}
	jpeg->message = no_message;
	jpeg->info.err = jpeg_std_error(&jpeg->errors);
	jpeg->info.client_data = jpeg;
	jpeg->errors.error_exit = on_error;
	jpeg->errors.output_message = on_message;
	if (setjmp(jpeg->escape)) {
		int error = jpeg->error;
		destroy(jpeg);
		return error;
	}
	jpeg_create_decompress(&jpeg->info);
	jpeg_memory_attach(&jpeg->memory, &jpeg->info);
	jpeg->info.src = &jpeg->source;
	jpeg->info.progress = &jpeg->progress;
	jpeg->progress.progress_monitor = on_progress;
	*ret = jpeg;
	return 0;
}

const struct codec codec_jpeg = {
	.magic = "\xff\xd8\xff",
	.magic_bytes = 3,
	.create = create,
	.destroy = destroy,
	.open = open_image,
	.scale = scale_image,
	.begin = begin_image,
	.read = read_image,
	.close = close_image,
	.bytes = held_bytes,
};
