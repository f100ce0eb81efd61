// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/ensure.h"
#include "base/rng.h"
#include "image/baseline/baseline.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

/*
 * joaderfs' JPEG decoder beside libjpeg. libjpeg decodes each file that the decoder accepts
 * without a warning, and to the same pixels.
 */

struct twin_image {
	uint32_t width, height;
	uint8_t *pixels; /* NULL: libjpeg had an error or a warning */
};

struct twin_errors {
	/* the first member, because libjpeg points to it */
	struct jpeg_error_mgr manager;
	jmp_buf escape;
};

static inline void twin_give_up(j_common_ptr info)
{
	longjmp(((struct twin_errors *)info->err)->escape, 1);
}

static inline void twin_on_message(j_common_ptr info, int level)
{
	if (level < 0) /* a warning */
		twin_give_up(info);
}

static inline void twin_read(
	struct jpeg_decompress_struct *info, struct twin_image *image)
{
	jpeg_read_header(info, TRUE);
	info->out_color_space = JCS_RGB;
	jpeg_start_decompress(info);
	image->width = info->output_width;
	image->height = info->output_height;
	size_t stride = (size_t)image->width * 3;
	image->pixels = malloc(stride * image->height);
	ensure(image->pixels);
	while (info->output_scanline < image->height) {
		uint8_t *row = image->pixels + info->output_scanline * stride;
		jpeg_read_scanlines(info, &row, 1);
	}
	jpeg_finish_decompress(info);
}

/* Decodes by libjpeg. The caller owns the pixels. */
static inline struct twin_image twin_decode(const uint8_t *data, size_t size)
{
	static struct twin_image image; /* static, because longjmp may lose locals */
	struct jpeg_decompress_struct info;
	struct twin_errors errors;
	image = (struct twin_image){0};
	info.err = jpeg_std_error(&errors.manager);
	errors.manager.error_exit = twin_give_up;
	errors.manager.emit_message = twin_on_message;
	jpeg_create_decompress(&info);
	if (setjmp(errors.escape)) {
		free(image.pixels);
		image.pixels = NULL;
	} else {
		jpeg_mem_src(&info, data, size);
		twin_read(&info, &image);
	}
	jpeg_destroy_decompress(&info);
	return image;
}

static inline struct baseline_span twin_random_span(struct rng *rng, uint32_t length)
{
	uint32_t first = (uint32_t)rng_below(rng, length);
	return (struct baseline_span){
		first, 1 + (uint32_t)rng_below(rng, length - first)};
}

static inline bool twin_same_part(
	struct twin_image image, struct baseline_part part, const uint8_t *pixels)
{
	size_t bytes = (size_t)part.columns.length * 3;
	for (uint32_t y = 0; y < part.rows.length; y++) {
		const uint8_t *row =
			image.pixels + (size_t)(part.rows.first + y) * image.width * 3;
		if (memcmp(pixels + y * bytes, row + (size_t)part.columns.first * 3,
			    bytes) != 0)
			return false;
	}
	return true;
}

enum twin_result { TWIN_DECLINED, TWIN_SAME, TWIN_DIFFERS };

/* Decodes a part of the file and compares it; rng NULL: decodes the whole file. */
static inline enum twin_result twin_compare(struct baseline *decoder, const uint8_t *data,
	size_t size, struct twin_image image, struct rng *rng)
{
	uint32_t width, height;
	if (!baseline_open(decoder, data, size, &width, &height))
		return TWIN_DECLINED;
	struct baseline_part part = {{0, height}, {0, width}};
	if (rng)
		part = (struct baseline_part){
			twin_random_span(rng, height), twin_random_span(rng, width)};
	/* The exact size lets ASan find a write beyond the end. */
	uint8_t *pixels = malloc((size_t)part.rows.length * part.columns.length * 3);
	ensure(pixels);
	enum twin_result result = TWIN_DECLINED;
	if (baseline_read(decoder, part, pixels)) {
		bool same = image.pixels && width == image.width &&
			    height == image.height && twin_same_part(image, part, pixels);
		result = same ? TWIN_SAME : TWIN_DIFFERS;
	}
	free(pixels);
	return result;
}

/* --- regular files of any kind ---------------------------------------------------------- */

struct twin_recipe {
	uint32_t width, height;
	int components; /* 1 or 3 */
	int h, v;	/* sampling factors of the first component */
	int quality;
	unsigned restart_interval;
	bool optimized;
};

/* Fills in 8 x 8 coefficients of a component. */
typedef void twin_fill(void *context, int component, JCOEF block[DCTSIZE2]);

static inline void twin_set_up(
	struct jpeg_compress_struct *info, const struct twin_recipe *recipe)
{
	info->image_width = recipe->width;
	info->image_height = recipe->height;
	info->input_components = recipe->components;
	info->in_color_space = recipe->components == 1 ? JCS_GRAYSCALE : JCS_RGB;
	jpeg_set_defaults(info);
	jpeg_set_quality(info, recipe->quality, TRUE);
	info->comp_info[0].h_samp_factor = recipe->h;
	info->comp_info[0].v_samp_factor = recipe->v;
	info->restart_interval = recipe->restart_interval;
	info->optimize_coding = recipe->optimized;
}

static inline uint32_t twin_blocks(uint32_t length, int factor, int max)
{
	uint32_t mcu = (uint32_t)max * DCTSIZE;
	return (length + mcu - 1) / mcu * (uint32_t)factor;
}

static inline void twin_fill_all(struct jpeg_compress_struct *info,
	jvirt_barray_ptr *arrays, const struct twin_recipe *recipe, twin_fill *fill,
	void *context)
{
	for (int c = 0; c < recipe->components; c++) {
		int h = c ? 1 : recipe->h, v = c ? 1 : recipe->v;
		uint32_t rows = twin_blocks(recipe->height, v, recipe->v);
		uint32_t columns = twin_blocks(recipe->width, h, recipe->h);
		for (uint32_t y = 0; y < rows; y++) {
			JBLOCKARRAY row = info->mem->access_virt_barray(
				(j_common_ptr)info, arrays[c], y, 1, TRUE);
			for (uint32_t x = 0; x < columns; x++)
				fill(context, c, row[0][x]);
		}
	}
}

/* Encodes the coefficients. The caller owns the bytes. NULL: libjpeg can't encode them. */
static inline uint8_t *twin_encode(const struct twin_recipe *recipe, twin_fill *fill,
	void *context, size_t *ret_size)
{
	struct jpeg_compress_struct info;
	struct twin_errors errors;
	static unsigned char *data; /* static, because longjmp may lose locals */
	static unsigned long size;
	jvirt_barray_ptr arrays[3];
	data = NULL;
	info.err = jpeg_std_error(&errors.manager);
	errors.manager.error_exit = twin_give_up;
	jpeg_create_compress(&info);
	if (setjmp(errors.escape)) {
		jpeg_destroy_compress(&info);
		free(data);
		return NULL;
	}
	jpeg_mem_dest(&info, &data, &size);
	twin_set_up(&info, recipe);
	for (int c = 0; c < recipe->components; c++) {
		int h = c ? 1 : recipe->h, v = c ? 1 : recipe->v;
		arrays[c] = info.mem->request_virt_barray((j_common_ptr)&info,
			JPOOL_IMAGE, TRUE, twin_blocks(recipe->width, h, recipe->h),
			twin_blocks(recipe->height, v, recipe->v), (JDIMENSION)v);
	}
	jpeg_write_coefficients(&info, arrays);
	twin_fill_all(&info, arrays, recipe, fill, context);
	jpeg_finish_compress(&info);
	jpeg_destroy_compress(&info);
	*ret_size = size;
	return data;
}
