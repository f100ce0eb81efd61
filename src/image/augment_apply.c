// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "base/fault.h"
#include "image/augment.h"
#include "image/pixels.h"

#include <errno.h>
#include <string.h>

/*
 * Computes the pixels of an augmented sample, row by row, so that a row stays in the processor's
 * caches between two steps:
 *
 *   tensor -> window -> [resized] -> row with margins -> [mirrored] -> dtype and axes
 */

/* The part of the tensor from which the sample is made. Pixels around it are black. */
struct window {
	const uint8_t *pixels;
	size_t pixel; /* bytes of a pixel */
	size_t stride;
	struct crop_axis rows;
	struct crop_axis columns;
};

struct target {
	const struct pixels *pixels;
	struct pixel_type type;
	struct tensor_shape size;
	/* AXES_CHW: scale[c] is the scale of channel c. AXES_HWC: scale[0] is the scale of all
	 * numbers. */
	struct pixels_scale scale[MOST_CHANNELS];
	uint8_t *row;	   /* memory for a row that has pixels outside the window */
	uint8_t *mirrored; /* memory for a mirrored row */
	uint8_t *planes;   /* memory for a row whose channels follow one another */
	uint8_t *out;
};

static struct crop_axis whole(uint32_t length)
{
	return (struct crop_axis){.length = length};
}

static const uint8_t *window_start(const struct window *window)
{
	return window->pixels + window->rows.first * window->stride +
	       window->columns.first * window->pixel;
}

/* Resizes the window into `out`, which becomes the new window. Pixels outside the old window have
 * no influence: torchvision crops before it resizes. */
static int resize(struct window *window, const struct augment_plan *plan, uint8_t *out)
{
	struct resampler *resampler;
	struct tensor_shape size = plan->size;
	struct resample_window resample = {.filter = plan->filter,
		.image = {.height = window->rows.length,
			.width = window->columns.length,
			.mode = size.mode},
		.size = size,
		.rows = whole(size.height),
		.columns = whole(size.width)};
	size_t stride = size.width * window->pixel;
	struct crop_axis rows = resample_source(
		plan->filter, window->rows.length, size.height, resample.rows);
	struct crop_axis columns = resample_source(
		plan->filter, window->columns.length, size.width, resample.columns);
	window->rows.first += rows.first;
	window->columns.first += columns.first;
	int err = resampler_new(false, &resampler);
	if (!err)
		err = resampler_run(resampler, &resample, window_start(window),
			window->stride, out, stride);
	resampler_free(&resampler);
	*window = (struct window){.pixels = out,
		.pixel = window->pixel,
		.stride = stride,
		.rows = whole(size.height),
		.columns = whole(size.width)};
	return err;
}

/* Returns output row y. The row is a part of the window or, if the row has black pixels outside of
 * the image, a copy in target->row. */
static const uint8_t *find_row(
	const struct target *target, const struct window *window, uint32_t y)
{
	/* The unsigned difference is huge if the row is above the window. */
	uint32_t inside = y - window->rows.pad;
	size_t bytes = window->columns.length * window->pixel;
	size_t row_bytes = target->size.width * window->pixel;
	const uint8_t *pixels = window_start(window) + inside * window->stride;
	bool black = y < window->rows.pad || inside >= window->rows.length;
	if (!black && bytes == row_bytes)
		return pixels;
	memset(target->row, 0, row_bytes);
	if (!black)
		memcpy(target->row + window->columns.pad * window->pixel, pixels, bytes);
	return target->row;
}

static void put_numbers(const struct target *target, const uint8_t *in, size_t n,
	const struct pixels_scale *scale, size_t at)
{
	size_t size = pixel_type_bytes(target->type, target->size);
	enum pixel_mode mode = target->size.mode;
	bool usual = pixel_modes[mode].bytes == 1 && mode != PIXELS_P;
	uint8_t *out = target->out + at * size;
	switch (target->type.dtype) {
	case DTYPE_UINT8:
		memcpy(out, in, n * size);
		break;
	case DTYPE_FLOAT32:
		if (usual)
			target->pixels->to_float32(in, n, scale, (void *)out);
		else
			pixels_to_float32(mode, in, n, scale, (void *)out);
		break;
	case DTYPE_FLOAT16:
		if (usual)
			target->pixels->to_float16(in, n, scale, (void *)out);
		else
			pixels_to_float16(mode, in, n, scale, (void *)out);
		break;
	}
}

static void split(const struct target *target, const uint8_t *row, size_t width,
	uint8_t *const out[MOST_CHANNELS])
{
	if (target->size.mode == PIXELS_RGB) {
		target->pixels->split(row, width, out);
		return;
	}
	for (size_t c = 0; c < tensor_channels(target->size); c++)
		pixels_take_channel(target->size, row, width, c, out[c]);
}

static void put_row_chw(const struct target *target, const uint8_t *row, uint32_t y)
{
	size_t width = target->size.width, number = tensor_number_bytes(target->size);
	size_t plane = width * target->size.height;
	size_t channels = tensor_channels(target->size);
	bool as_it_is = target->type.dtype == DTYPE_UINT8;
	uint8_t *out[MOST_CHANNELS];
	if (channels == 1) {
		put_numbers(target, row, width, &target->scale[0], y * width);
		return;
	}
	for (size_t c = 0; c < channels; c++)
		out[c] = as_it_is ? target->out + (c * plane + y * width) * number
				  : target->planes + c * width * number;
	split(target, row, width, out);
	for (size_t c = 0; !as_it_is && c < channels; c++)
		put_numbers(
			target, out[c], width, &target->scale[c], c * plane + y * width);
}

static void put_row(
	const struct target *target, const uint8_t *row, uint32_t y, bool mirror)
{
	size_t width = target->size.width, channels = tensor_channels(target->size);
	bool last = target->type.axes == AXES_HWC && target->type.dtype == DTYPE_UINT8;
	if (mirror) {
		uint8_t *mirrored =
			last ? target->out + y * width * tensor_pixel_bytes(target->size)
			     : target->mirrored;
		if (target->size.mode == PIXELS_RGB)
			target->pixels->mirror(row, width, mirrored);
		else
			pixels_mirror(target->size, row, width, mirrored);
		row = mirrored;
	}
	if (target->type.axes == AXES_CHW)
		put_row_chw(target, row, y);
	else if (!mirror || !last)
		put_numbers(target, row, width * channels, &target->scale[0],
			y * width * channels);
}

static bool changes_nothing(struct pixel_type type, const struct augment_plan *plan,
	struct tensor_shape image)
{
	return type.dtype == DTYPE_UINT8 && type.axes == AXES_HWC && !plan->mirror &&
	       plan->rows.length == image.height && plan->columns.length == image.width &&
	       plan->size.height == image.height && plan->size.width == image.width;
}

static void set_scales(struct target *target, const struct normalize_config *normalize)
{
	unsigned channels = tensor_channels(target->size);
	bool planes = target->type.axes == AXES_CHW;
	if (!planes)
		target->scale[0] = pixels_scale_row(normalize, channels);
	for (unsigned c = 0; planes && c < channels; c++)
		target->scale[c] = pixels_scale_plane(normalize, c);
}

/* Computes one image, or one frame of a video, from its pixels in the tensor. */
static int compute(const struct normalize_config *normalize, struct pixel_type type,
	const struct augment_plan *plan, const struct tensor *tensor,
	const uint8_t *pixels, uint8_t *out)
{
	size_t pixel = tensor_pixel_bytes(plan->size);
	size_t row_bytes = plan->size.width * pixel;
	size_t resized_bytes = plan->resize ? row_bytes * plan->size.height : 0;
	auto_free uint8_t *scratch = malloc(3 * row_bytes + resized_bytes);
	if (!scratch)
		return -ENOMEM;
	struct target target = {.pixels = pixels_best(),
		.type = type,
		.size = plan->size,
		.row = scratch,
		.mirrored = scratch + row_bytes,
		.planes = scratch + 2 * row_bytes,
		.out = out};
	struct window window = {.pixels = pixels,
		.pixel = pixel,
		.stride = tensor->shape.width * pixel,
		.rows = plan->rows,
		.columns = plan->columns};
	set_scales(&target, normalize);
	if (plan->resize) {
		int err = resize(&window, plan, scratch + 3 * row_bytes);
		if (err)
			return err;
	}
	for (uint32_t y = 0; y < plan->size.height; y++)
		put_row(&target, find_row(&target, &window, y), y, plan->mirror);
	return 0;
}

int augment_apply(const struct normalize_config *normalize, struct pixel_type type,
	const struct augment_plan *plan, const struct tensor *tensor, struct tensor **ret)
{
	struct tensor_shape size = plan->size;
	uint64_t numbers = tensor_shape_bytes(size) / tensor_number_bytes(size);
	*ret = NULL;
	ensure(tensor->bytes == tensor_shape_bytes(tensor->shape));
	if (changes_nothing(type, plan, tensor->shape))
		return 0;
	if (fault_hit("augment.memory"))
		return -ENOMEM;
	struct tensor *made = tensor_new(size, numbers * pixel_type_bytes(type, size));
	if (!made)
		return -ENOMEM;
	uint32_t frames = size.frames ? size.frames : 1;
	uint64_t from = tensor->bytes / frames, to = made->bytes / frames;
	int err = 0;
	for (uint32_t i = 0; !err && i < frames; i++)
		err = compute(normalize, type, plan, tensor, tensor->data + i * from,
			made->data + i * to);
	if (err)
		tensor_free(made);
	else
		*ret = made;
	return err;
}
