// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/resample_internal.h"

/* The passes of the resampler in portable C. Tests compare the vector code with it. */

#define LANES 16 /* bytes that the vertical pass computes at once */

static uint8_t clip8(int32_t sum)
{
	int32_t value = sum >> PRECISION_BITS;
	return value < 0 ? 0 : value > 255 ? 255 : (uint8_t)value;
}

/* Computes a row of pixels. channels: a constant, so that the compiler makes a special loop for
 * each number of channels. */
static inline __attribute__((always_inline)) void make_row(uint32_t channels,
	const struct kernel *kernel, struct crop_axis columns, uint32_t source,
	const uint8_t *in, uint8_t *out)
{
	const struct taps *taps = kernel->taps + columns.first;
	const int32_t *weights = kernel->weights + columns.first * kernel->width;
	for (uint32_t x = 0; x < columns.length; x++, weights += kernel->width) {
		const uint8_t *pixel = in + (size_t)(taps[x].first - source) * channels;
		/* no array: the compiler would not keep it in registers */
		int32_t a = HALF, b = HALF, c = HALF, d = HALF;
		for (uint32_t i = 0; i < taps[x].count; i++, pixel += channels) {
			a += pixel[0] * weights[i];
			b += channels > 1 ? pixel[1] * weights[i] : 0;
			c += channels > 2 ? pixel[2] * weights[i] : 0;
			d += channels > 3 ? pixel[3] * weights[i] : 0;
		}
		*out++ = clip8(a);
		if (channels > 1)
			*out++ = clip8(b);
		if (channels > 2)
			*out++ = clip8(c);
		if (channels > 3)
			*out++ = clip8(d);
	}
}

void resample_horizontal_plain(const struct kernel *kernel, struct crop_axis columns,
	uint32_t source, const struct rows *in, uint8_t *out, size_t stride)
{
	for (uint32_t y = 0; y < in->length; y++, out += stride) {
		const uint8_t *row = in->data + y * in->stride;
		if (in->channels == 1)
			make_row(1, kernel, columns, source, row, out);
		else if (in->channels == 2)
			make_row(2, kernel, columns, source, row, out);
		else if (in->channels == 3)
			make_row(3, kernel, columns, source, row, out);
		else
			make_row(4, kernel, columns, source, row, out);
	}
}

/* Computes LANES bytes of an output row in a loop that compilers vectorise. */
static void lanes(const int32_t *weights, uint32_t count, const uint8_t *in,
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

static void column(const int32_t *weights, uint32_t count, const uint8_t *in,
	size_t stride, size_t bytes, uint8_t *out)
{
	size_t x = 0;
	for (; x + LANES <= bytes; x += LANES)
		lanes(weights, count, in + x, stride, out + x);
	for (; x < bytes; x++) {
		int32_t sum = HALF;
		for (uint32_t i = 0; i < count; i++)
			sum += in[i * stride + x] * weights[i];
		out[x] = clip8(sum);
	}
}

void resample_vertical_plain(const struct kernel *kernel, struct crop_axis rows,
	uint32_t source, const struct rows *in, uint8_t *out, size_t stride)
{
	for (uint32_t y = 0; y < rows.length; y++) {
		size_t index = (size_t)rows.first + y;
		const struct taps *taps = &kernel->taps[index];
		column(kernel->weights + index * kernel->width, taps->count,
			in->data + (taps->first - source) * in->stride, in->stride,
			in->bytes, out + y * stride);
	}
}
