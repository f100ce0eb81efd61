// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/image_internal.h"
#include "image/resample_internal.h"

#include <errno.h>
#include <string.h>

/* Pillow's convolution in two passes: first the horizontal one, on the rows that the vertical pass
 * needs. An axis that keeps its size needs no pass. FILTER_NEAREST picks pixels instead. */

#define N_KERNELS 64
/* Larger tables of weights are freed after use, because only huge images need them. */
#define KEEP_KERNEL_BYTES ((size_t)256 << 10)

struct resampler {
	horizontal_pass *horizontal;
	vertical_pass *vertical;
	struct kernel kernels[N_KERNELS];
	uint64_t uses;
	/* result of the horizontal pass, input of the vertical pass */
	struct buffer middle;
	struct buffer colours; /* pixels multiplied by alpha */
};

struct crop_axis crop_axis(uint32_t image, uint32_t crop)
{
	if (crop == 0)
		return (struct crop_axis){.length = image};
	if (crop > image)
		return (struct crop_axis){.pad = (crop - image) / 2, .length = image};
	uint32_t spare = image - crop;
	uint32_t half = spare / 2;
	if (spare % 2) /* Python rounds half + 0.5 to the even neighbour */
		half += half % 2;
	return (struct crop_axis){.first = half, .length = crop};
}

struct crop_axis resample_source(enum resample_filter filter, uint32_t image,
	uint32_t size, struct crop_axis window)
{
	if (image == size)
		return (struct crop_axis){.first = window.first, .length = window.length};
	struct taps first = kernel_taps(filter, image, size, window.first);
	struct taps last =
		kernel_taps(filter, image, size, window.first + window.length - 1);
	return (struct crop_axis){
		.first = first.first, .length = last.first + last.count - first.first};
}

int resampler_new(bool plain, struct resampler **ret)
{
	struct resampler *resampler = calloc(1, sizeof(*resampler));
	*ret = resampler;
	if (!resampler)
		return -ENOMEM;
	resampler->horizontal = resample_horizontal_plain;
	resampler->vertical = resample_vertical_plain;
#if defined(__x86_64__)
	if (!plain && __builtin_cpu_supports("avx2")) {
		resampler->horizontal = resample_horizontal_avx2;
		resampler->vertical = resample_vertical_avx2;
	}
#else
	(void)plain;
#endif
	return 0;
}

void resampler_free(struct resampler **resampler_pointer)
{
	struct resampler *resampler = *resampler_pointer;
	*resampler_pointer = NULL;
	if (!resampler)
		return;
	for (size_t i = 0; i < N_KERNELS; i++)
		kernel_free(&resampler->kernels[i]);
	buffer_free(&resampler->middle);
	buffer_free(&resampler->colours);
	free(resampler);
}

size_t resample_middle_bytes(enum pixel_mode mode)
{
	size_t channels = pixel_modes[mode].channels;
	return pixel_modes[mode].bytes > 1 ? channels * sizeof(double) : channels;
}

size_t resampler_bytes(const struct resampler *resampler)
{
	size_t bytes =
		sizeof(*resampler) + resampler->middle.size + resampler->colours.size;
	for (size_t i = 0; i < N_KERNELS; i++)
		bytes += resampler->kernels[i].bytes;
	return bytes;
}

/* Returns the table of weights for these sizes, or NULL if there is no memory. A new table replaces
 * the least recently used one, so a table stays valid during N_KERNELS - 1 further calls. */
static const struct kernel *get_kernel(struct resampler *resampler,
	const struct resample_window *window, uint32_t in, uint32_t out)
{
	enum resample_filter filter = window->filter;
	bool exact = tensor_number_bytes(window->size) > 1;
	struct kernel *oldest = resampler->kernels;
	struct kernel *end = resampler->kernels + N_KERNELS;
	resampler->uses++;
	for (struct kernel *kernel = oldest; kernel < end; kernel++) {
		if (kernel->filter == filter && kernel->exact == exact &&
			kernel->in == in && kernel->out == out) {
			kernel->last_use = resampler->uses;
			return kernel;
		}
		if (kernel->last_use < oldest->last_use)
			oldest = kernel;
	}
	if (kernel_set(oldest, filter, exact, in, out))
		return NULL;
	oldest->last_use = resampler->uses;
	return oldest;
}

static void trim(struct resampler *resampler)
{
	for (size_t i = 0; i < N_KERNELS; i++)
		if (resampler->kernels[i].bytes > KEEP_KERNEL_BYTES)
			kernel_free(&resampler->kernels[i]);
	buffer_trim(&resampler->middle);
	buffer_trim(&resampler->colours);
}

static void copy_rows(const struct rows *in, uint8_t *out, size_t stride)
{
	for (uint32_t y = 0; y < in->length; y++)
		memcpy(out + y * stride, in->data + y * in->stride, in->bytes);
}

static int plan(struct resampler *resampler, const struct resample_window *window,
	struct passes *ret)
{
	struct tensor_shape image = window->image, size = window->size;
	*ret = (struct passes){
		.rows = resample_source(
			window->filter, image.height, size.height, window->rows),
		.columns = resample_source(
			window->filter, image.width, size.width, window->columns),
	};
	if (size.width != image.width)
		ret->horizontal = get_kernel(resampler, window, image.width, size.width);
	if (size.height != image.height)
		ret->vertical = get_kernel(resampler, window, image.height, size.height);
	if ((size.width != image.width && !ret->horizontal) ||
		(size.height != image.height && !ret->vertical))
		return -ENOMEM;
	return 0;
}

/* Replaces *rows by the result of the horizontal pass. */
static int pass_to_middle(struct resampler *resampler,
	const struct resample_window *window, const struct passes *passes,
	struct rows *rows)
{
	size_t bytes = (size_t)window->columns.length * rows->channels;
	size_t stride = (bytes + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
	if (buffer_reserve(&resampler->middle, rows->length * stride))
		return -ENOMEM;
	uint8_t *middle = resampler->middle.data;
	resampler->horizontal(passes->horizontal, window->columns, passes->columns.first,
		rows, middle, stride);
	*rows = (struct rows){middle, stride, bytes, rows->length, rows->channels};
	return 0;
}

static void copy_pixel(uint8_t *out, const uint8_t *in, size_t bytes)
{
	if (bytes != 1 && bytes != 3) {
		memcpy(out, in, bytes);
		return;
	}
	out[0] = in[0];
	if (bytes == 3) {
		out[1] = in[1];
		out[2] = in[2];
	}
}

static void pick_pixels(const struct resample_window *window, const struct passes *passes,
	const struct rows *in, uint8_t *out, size_t stride)
{
	const struct taps *rows = passes->vertical ? passes->vertical->taps : NULL;
	const struct taps *columns = passes->horizontal ? passes->horizontal->taps : NULL;
	size_t pixel = tensor_pixel_bytes(window->size);
	size_t bytes = window->columns.length * pixel;
	const uint8_t *last = NULL;
	for (uint32_t y = 0; y < window->rows.length; y++, out += stride) {
		size_t row =
			rows ? rows[window->rows.first + y].first - passes->rows.first
			     : y;
		const uint8_t *from = in->data + row * in->stride;
		if (from == last || !columns) {
			memcpy(out, from == last ? out - stride : from, bytes);
			continue;
		}
		for (uint32_t x = 0; x < window->columns.length; x++)
			copy_pixel(out + x * pixel,
				from + (columns[window->columns.first + x].first -
					       passes->columns.first) *
						pixel,
				pixel);
		last = from;
	}
}

static int pass_bytes(struct resampler *resampler, const struct resample_window *window,
	const struct passes *passes, struct rows *rows, uint8_t *out, size_t stride)
{
	if (passes->horizontal && passes->vertical &&
		pass_to_middle(resampler, window, passes, rows) != 0)
		return -ENOMEM;
	if (passes->vertical)
		resampler->vertical(passes->vertical, window->rows, passes->rows.first,
			rows, out, stride);
	else
		resampler->horizontal(passes->horizontal, window->columns,
			passes->columns.first, rows, out, stride);
	return 0;
}

/* Multiplies colours by alpha like Pillow's convert("RGBa") and convert("La"). Pixels have 2 or 4
 * channels of 8 bits; the last channel is alpha. */
static void alpha_multiply(
	const uint8_t *in, size_t pixels, size_t channels, uint8_t *out)
{
	for (size_t i = 0; i < pixels; i++, in += channels, out += channels) {
		uint8_t alpha = in[channels - 1];
		for (size_t c = 0; c + 1 < channels; c++)
			out[c] = times_of_255(in[c], alpha);
		out[channels - 1] = alpha;
	}
}

/* Divides colours by alpha, like Pillow's convert("RGBA") and convert("LA"). */
static void alpha_divide(uint8_t *pixel, size_t pixels, size_t channels)
{
	for (size_t i = 0; i < pixels; i++, pixel += channels) {
		unsigned alpha = pixel[channels - 1];
		for (size_t c = 0; c + 1 < channels && alpha != 0 && alpha != 255; c++) {
			unsigned value = 255 * pixel[c] / alpha;
			pixel[c] = (uint8_t)(value > 255 ? 255 : value);
		}
	}
}

static int pass_with_alpha(struct resampler *resampler,
	const struct resample_window *window, const struct passes *passes,
	const struct rows *rows, uint8_t *out, size_t stride)
{
	size_t channels = rows->channels;
	if (buffer_reserve(&resampler->colours, rows->length * rows->bytes))
		return -ENOMEM;
	struct rows colours = {resampler->colours.data, rows->bytes, rows->bytes,
		rows->length, rows->channels};
	for (uint32_t y = 0; y < rows->length; y++)
		alpha_multiply(rows->data + y * rows->stride, rows->bytes / channels,
			channels, resampler->colours.data + y * rows->bytes);
	int err = pass_bytes(resampler, window, passes, &colours, out, stride);
	for (uint32_t y = 0; !err && y < window->rows.length; y++)
		alpha_divide(out + y * stride, window->columns.length, channels);
	return err;
}

static int pass_wide(struct resampler *resampler, const struct resample_window *window,
	const struct passes *passes, const struct rows *rows, uint8_t *out, size_t stride)
{
	size_t row = window->columns.length * resample_middle_bytes(window->size.mode);
	if (buffer_reserve(&resampler->middle, rows->length * row))
		return -ENOMEM;
	resample_wide(window, passes, rows, (void *)resampler->middle.data, out, stride);
	return 0;
}

int resampler_run(struct resampler *resampler, const struct resample_window *window,
	const uint8_t *pixels, size_t in_stride, uint8_t *out, size_t out_stride)
{
	const struct pixel_mode_info *mode = &pixel_modes[window->size.mode];
	struct passes passes;
	int err = plan(resampler, window, &passes);
	struct rows rows = {pixels, in_stride,
		(size_t)passes.columns.length * tensor_pixel_bytes(window->size),
		passes.rows.length, tensor_channels(window->size)};
	if (err)
		goto out;
	if (!passes.vertical && !passes.horizontal)
		copy_rows(&rows, out, out_stride);
	else if (window->filter == FILTER_NEAREST)
		pick_pixels(window, &passes, &rows, out, out_stride);
	else if (mode->bytes > 1)
		err = pass_wide(resampler, window, &passes, &rows, out, out_stride);
	else if (mode->alpha)
		err = pass_with_alpha(resampler, window, &passes, &rows, out, out_stride);
	else
		err = pass_bytes(resampler, window, &passes, &rows, out, out_stride);
out:
	trim(resampler);
	return err;
}
