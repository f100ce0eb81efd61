// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "load/resample.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/*
 * Pillow's two-pass convolution. Weights are computed in double and rounded to 22 bits;
 * every pass rounds to 8 bits. The horizontal pass comes first and sees only the rows
 * that the vertical pass will ask for.
 */

#define CHANNELS 3
#define PRECISION_BITS 22
#define HALF (1 << (PRECISION_BITS - 1))
#define LANES 16 /* bytes that the vertical pass handles at once */

/* The filter of an output pixel: `count` inputs from `first` on. */
struct taps {
	uint32_t first;
	uint32_t count;
};

struct kernel {
	struct taps *taps; /* one per output pixel of the window */
	int32_t *weights;  /* width of them per output pixel */
	size_t width;
};

struct crop_axis crop_axis(uint32_t image, uint32_t crop)
{
	if (crop == 0)
		return (struct crop_axis){.length = image};
	if (crop > image)
		return (struct crop_axis){.pad = (crop - image) / 2, .length = image};
	uint32_t spare = image - crop;
	uint32_t half = spare / 2;
	if (spare % 2) /* Python's round(half + 0.5) goes to the even neighbour */
		half += half % 2;
	return (struct crop_axis){.first = half, .length = crop};
}

static double triangle(double x)
{
	x = fabs(x);
	return x < 1.0 ? 1.0 - x : 0.0;
}

/* The arithmetic, its order and its conversions are Pillow's: bits depend on them. */
static struct taps compute_taps(
	uint32_t in, double scale, uint32_t index, double *scratch, int32_t *weights)
{
	double filter_scale = scale < 1.0 ? 1.0 : scale;
	double center = (index + 0.5) * scale;
	double inverse = 1.0 / filter_scale;
	int64_t first = (int64_t)(center - filter_scale + 0.5);
	int64_t end = (int64_t)(center + filter_scale + 0.5);
	double sum = 0.0;
	if (first < 0)
		first = 0;
	if (end > in)
		end = in;
	struct taps taps = {(uint32_t)first, (uint32_t)(end - first)};
	for (uint32_t i = 0; i < taps.count; i++) {
		scratch[i] = triangle((i + first - center + 0.5) * inverse);
		sum += scratch[i];
	}
	for (uint32_t i = 0; i < taps.count; i++) {
		double weight = sum != 0.0 ? scratch[i] / sum : scratch[i];
		weights[i] = (int32_t)(0.5 + weight * (1 << PRECISION_BITS));
	}
	return taps;
}

static void kernel_free(struct kernel *kernel)
{
	free(kernel->taps);
	free(kernel->weights);
}

/* For the window's part of an axis that goes from `in` to `out` pixels. */
static int kernel_init(
	struct kernel *kernel, uint32_t in, uint32_t out, struct crop_axis window)
{
	double scale = (double)(float)in / out; /* Pillow's box is of floats */
	kernel->width = (size_t)ceil(scale < 1.0 ? 1.0 : scale) * 2 + 1;
	kernel->taps = calloc(window.length, sizeof(*kernel->taps));
	kernel->weights = calloc(window.length * kernel->width, sizeof(*kernel->weights));
	auto_free double *scratch = calloc(kernel->width, sizeof(*scratch));
	if (!kernel->taps || !kernel->weights || !scratch)
		return -ENOMEM;
	for (uint32_t i = 0; i < window.length; i++)
		kernel->taps[i] = compute_taps(in, scale, window.first + i, scratch,
			kernel->weights + i * kernel->width);
	return 0;
}

static uint8_t clip8(int32_t sum)
{
	int32_t value = sum >> PRECISION_BITS;
	return value > 255 ? 255 : (uint8_t)value; /* the weights are not negative */
}

static void horizontal_row(
	const struct kernel *kernel, const uint8_t *in, uint32_t length, uint8_t *out)
{
	for (uint32_t x = 0; x < length; x++, out += CHANNELS) {
		const int32_t *weight = kernel->weights + x * kernel->width;
		const struct taps *taps = &kernel->taps[x];
		const uint8_t *pixel = in + (size_t)taps->first * CHANNELS;
		int32_t red = HALF, green = HALF, blue = HALF;
		for (uint32_t i = 0; i < taps->count; i++, pixel += CHANNELS) {
			red += pixel[0] * weight[i];
			green += pixel[1] * weight[i];
			blue += pixel[2] * weight[i];
		}
		out[0] = clip8(red);
		out[1] = clip8(green);
		out[2] = clip8(blue);
	}
}

/* LANES neighbouring bytes of an output row: a loop that compilers vectorise. */
static void vertical_lanes(const int32_t *weights, uint32_t count, const uint8_t *in,
	size_t stride, uint8_t *out)
{
	int32_t sums[LANES];
	for (int lane = 0; lane < LANES; lane++)
		sums[lane] = HALF;
	for (uint32_t i = 0; i < count; i++, in += stride)
		for (int lane = 0; lane < LANES; lane++)
			sums[lane] += in[lane] * weights[i];
	for (int lane = 0; lane < LANES; lane++)
		out[lane] = clip8(sums[lane]);
}

static void vertical_row(const int32_t *weights, uint32_t count, const uint8_t *in,
	size_t stride, size_t bytes, uint8_t *out)
{
	size_t x = 0;
	for (; x + LANES <= bytes; x += LANES)
		vertical_lanes(weights, count, in + x, stride, out + x);
	for (; x < bytes; x++) {
		int32_t sum = HALF;
		for (uint32_t i = 0; i < count; i++)
			sum += in[i * stride + x] * weights[i];
		out[x] = clip8(sum);
	}
}

/* Rows of the image, and which of its rows the first one is. */
struct rows {
	const uint8_t *data;
	size_t stride;
	uint32_t first;
	uint32_t count;
};

static void vertical_pass(const struct kernel *kernel, const struct rows *in,
	uint32_t height, size_t bytes, uint8_t *out, size_t stride)
{
	for (uint32_t y = 0; y < height; y++) {
		const struct taps *taps = &kernel->taps[y];
		vertical_row(kernel->weights + y * kernel->width, taps->count,
			in->data + (taps->first - in->first) * in->stride, in->stride,
			bytes, out + y * stride);
	}
}

static int horizontal_pass(const struct rows *in, uint32_t width, uint32_t out_width,
	struct crop_axis columns, uint8_t *out, size_t stride)
{
	struct kernel kernel = {0};
	int err = kernel_init(&kernel, width, out_width, columns);
	for (uint32_t y = 0; !err && y < in->count; y++)
		horizontal_row(&kernel, in->data + y * in->stride, columns.length,
			out + y * stride);
	kernel_free(&kernel);
	return err;
}

static void copy_rows(const struct rows *in, size_t bytes, uint8_t *out, size_t stride)
{
	for (uint32_t y = 0; y < in->count; y++)
		memcpy(out + y * stride, in->data + y * in->stride, bytes);
}

/* The horizontal pass into memory of its own, when both passes are needed. */
static int two_passes(const struct kernel *vertical, struct rows in, uint32_t width,
	uint32_t out_width, struct crop_axis rows, struct crop_axis columns, uint8_t *out,
	size_t stride)
{
	size_t bytes = (size_t)columns.length * CHANNELS;
	auto_free uint8_t *middle = malloc(in.count * bytes);
	if (!middle)
		return -ENOMEM;
	int err = horizontal_pass(&in, width, out_width, columns, middle, bytes);
	if (err)
		return err;
	in.data = middle;
	in.stride = bytes;
	vertical_pass(vertical, &in, rows.length, bytes, out, stride);
	return 0;
}

static struct rows select_rows(
	const uint8_t *pixels, size_t stride, uint32_t first, uint32_t end)
{
	return (struct rows){pixels + first * stride, stride, first, end - first};
}

int resample(const uint8_t *pixels, struct tensor_shape image, struct tensor_shape size,
	struct crop_axis rows, struct crop_axis columns, uint8_t *out, size_t stride)
{
	size_t in_stride = (size_t)image.width * CHANNELS;
	size_t bytes = (size_t)columns.length * CHANNELS;
	bool wide = size.width != image.width;

	if (size.height == image.height) {
		struct rows in = select_rows(
			pixels, in_stride, rows.first, rows.first + rows.length);
		if (wide)
			return horizontal_pass(
				&in, image.width, size.width, columns, out, stride);
		in.data += (size_t)columns.first * CHANNELS;
		copy_rows(&in, bytes, out, stride);
		return 0;
	}
	struct kernel vertical = {0};
	int err = kernel_init(&vertical, image.height, size.height, rows);
	if (!err) {
		const struct taps *last = &vertical.taps[rows.length - 1];
		struct rows in = select_rows(pixels, in_stride, vertical.taps[0].first,
			last->first + last->count);
		if (wide) {
			err = two_passes(&vertical, in, image.width, size.width, rows,
				columns, out, stride);
		} else {
			in.data += (size_t)columns.first * CHANNELS;
			vertical_pass(&vertical, &in, rows.length, bytes, out, stride);
		}
	}
	kernel_free(&vertical);
	return err;
}
