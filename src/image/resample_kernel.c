// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/resample_internal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static double triangle(double x)
{
	x = fabs(x);
	return x < 1.0 ? 1.0 - x : 0.0;
}

static double kernel_scale(uint32_t in, uint32_t out)
{
	return (double)(float)in / out; /* Pillow's box is of floats */
}

struct taps kernel_taps(uint32_t in, uint32_t out, uint32_t index)
{
	double scale = kernel_scale(in, out);
	double filter_scale = scale < 1.0 ? 1.0 : scale;
	double center = (index + 0.5) * scale;
	int64_t first = (int64_t)(center - filter_scale + 0.5);
	int64_t end = (int64_t)(center + filter_scale + 0.5);
	if (first < 0)
		first = 0;
	if (end > in)
		end = in;
	return (struct taps){(uint32_t)first, (uint32_t)(end - first)};
}

/* The arithmetic, its order and its conversions are Pillow's: bits depend on them. */
static void compute_weights(
	const struct taps *taps, double scale, uint32_t index, int32_t *weights)
{
	double center = (index + 0.5) * scale;
	double inverse = 1.0 / (scale < 1.0 ? 1.0 : scale);
	double sum = 0.0;
	for (uint32_t i = 0; i < taps->count; i++)
		sum += triangle((i + (int64_t)taps->first - center + 0.5) * inverse);
	for (uint32_t i = 0; i < taps->count; i++) {
		double weight =
			triangle((i + (int64_t)taps->first - center + 0.5) * inverse);
		if (sum != 0.0)
			weight /= sum;
		weights[i] = (int32_t)(0.5 + weight * (1 << PRECISION_BITS));
	}
}

static uint32_t pack(uint32_t first, uint32_t second)
{
	return first | second << 16;
}

static void split_weights(const int32_t *weights, size_t n, struct weight_pair *pairs)
{
	const uint32_t mask = (1u << LOW_BITS) - 1;
	for (size_t i = 0; i < n; i += 2) {
		uint32_t a = (uint32_t)weights[i], b = (uint32_t)weights[i + 1];
		pairs[i / 2].low = pack(a & mask, b & mask);
		pairs[i / 2].high = pack(a >> LOW_BITS, b >> LOW_BITS);
	}
}

static int reserve(struct kernel *kernel, size_t bytes)
{
	if (bytes <= kernel->bytes)
		return 0;
	kernel_free(kernel);
	kernel->memory = malloc(bytes);
	if (!kernel->memory)
		return -ENOMEM;
	kernel->bytes = bytes;
	return 0;
}

static size_t most_taps(uint32_t in, uint32_t out)
{
	size_t most = 1;
	for (uint32_t i = 0; i < out; i++) {
		struct taps taps = kernel_taps(in, out, i);
		if (taps.count > most)
			most = taps.count;
	}
	return most;
}

int kernel_set(struct kernel *kernel, uint32_t in, uint32_t out)
{
	double scale = kernel_scale(in, out);
	size_t width = most_taps(in, out);
	width = (width + TAPS_GROUP - 1) / TAPS_GROUP * TAPS_GROUP;
	size_t n = out * width;
	size_t pairs = n / 2 * sizeof(struct weight_pair);
	size_t taps = out * sizeof(struct taps);
	kernel->in = kernel->out = 0;
	if (reserve(kernel, pairs + taps + n * sizeof(int32_t)))
		return -ENOMEM;
	char *memory = kernel->memory;
	kernel->pairs = (void *)memory;
	kernel->taps = (void *)(memory + pairs);
	kernel->weights = (void *)(memory + pairs + taps);
	kernel->width = width;
	memset(kernel->weights, 0, n * sizeof(int32_t));
	for (uint32_t i = 0; i < out; i++) {
		kernel->taps[i] = kernel_taps(in, out, i);
		compute_weights(&kernel->taps[i], scale, i, kernel->weights + i * width);
	}
	split_weights(kernel->weights, n, kernel->pairs);
	kernel->in = in;
	kernel->out = out;
	return 0;
}

void kernel_free(struct kernel *kernel)
{
	free(kernel->memory);
	*kernel = (struct kernel){0};
}
