// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/resample_internal.h"

#include <math.h>

/* Resizes numbers like Pillow's modes I and F: sums are in double, and are rounded to integers or
 * floats after each pass. At the end integers are limited to 16 bits. */

static void load_numbers(const uint8_t *in, size_t n, size_t bytes, double *out)
{
	const uint16_t *whole = (const void *)in;
	const float *real = (const void *)in;
	for (size_t i = 0; i < n; i++)
		out[i] = bytes == 2 ? whole[i] : (double)real[i];
}

static void store_numbers(const double *in, size_t n, size_t bytes, uint8_t *out)
{
	uint16_t *whole = (void *)out;
	float *real = (void *)out;
	for (size_t i = 0; i < n && bytes == 2; i++)
		whole[i] = (uint16_t)(in[i] < 0 ? 0 : in[i] > 65535 ? 65535 : in[i]);
	for (size_t i = 0; i < n && bytes == 4; i++)
		real[i] = (float)in[i];
}

static double rounded(double sum, size_t bytes)
{
	if (bytes == 4)
		return (float)sum;
	return sum >= 0.0 ? floor(sum + 0.5) : -floor(-sum + 0.5);
}

/* Returns the sum of `count` numbers, which are `channels` numbers apart, times their weights.
 * bytes: size of a number; a constant, so that the compiler makes a special loop for each size. */
static inline __attribute__((always_inline)) double sum_row(const uint8_t *in,
	const double *weights, uint32_t count, size_t channels, size_t bytes)
{
	const uint16_t *whole = (const void *)in;
	const float *real = (const void *)in;
	double sum = 0.0;
	for (uint32_t i = 0; i < count; i++, whole += channels, real += channels)
		sum += (bytes == 2 ? whole[0] : (double)real[0]) * weights[i];
	return sum;
}

static void pass_row(const struct resample_window *window, const struct passes *passes,
	const uint8_t *in, double *out)
{
	size_t bytes = tensor_number_bytes(window->size);
	size_t channels = tensor_channels(window->size);
	const struct kernel *kernel = passes->horizontal;
	for (uint32_t x = 0; x < window->columns.length; x++) {
		size_t index = (size_t)window->columns.first + x;
		const double *weights = kernel->exact_weights + index * kernel->width;
		struct taps taps = kernel->taps[index];
		const uint8_t *from =
			in + (taps.first - passes->columns.first) * channels * bytes;
		for (size_t c = 0; c < channels; c++, from += bytes)
			*out++ = rounded(
				bytes == 2
					? sum_row(from, weights, taps.count, channels, 2)
					: sum_row(from, weights, taps.count, channels, 4),
				bytes);
	}
}

#define LANES 16 /* numbers that are summed up in parallel */

/* Computes output row `index`. middle: the result of the horizontal pass, n numbers per row. */
static void pass_column(const struct kernel *kernel, size_t index, uint32_t source,
	const double *middle, size_t n, size_t bytes, uint8_t *out)
{
	const double *weights = kernel->exact_weights + index * kernel->width;
	struct taps taps = kernel->taps[index];
	middle += (taps.first - source) * n;
	for (size_t x = 0, lanes; x < n; x += lanes) {
		const double *from = middle + x;
		double sums[LANES] = {0};
		lanes = n - x < LANES ? n - x : LANES;
		for (uint32_t i = 0; i < taps.count; i++, from += n)
			for (size_t k = 0; k < lanes; k++)
				sums[k] += from[k] * weights[i];
		for (size_t k = 0; k < lanes; k++)
			sums[k] = rounded(sums[k], bytes);
		store_numbers(sums, lanes, bytes, out + x * bytes);
	}
}

void resample_wide(const struct resample_window *window, const struct passes *passes,
	const struct rows *in, double *middle, uint8_t *out, size_t stride)
{
	size_t bytes = tensor_number_bytes(window->size);
	size_t n = window->columns.length * tensor_channels(window->size);
	for (uint32_t y = 0; y < in->length; y++) {
		const uint8_t *row = in->data + y * in->stride;
		if (passes->horizontal)
			pass_row(window, passes, row, middle + y * n);
		else
			load_numbers(row, n, bytes, middle + y * n);
	}
	for (uint32_t y = 0; y < window->rows.length; y++)
		if (passes->vertical)
			pass_column(passes->vertical, (size_t)window->rows.first + y,
				passes->rows.first, middle, n, bytes, out + y * stride);
		else
			store_numbers(middle + y * n, n, bytes, out + y * stride);
}
