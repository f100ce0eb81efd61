// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/resample_internal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Computes weights with Pillow's arithmetic, order and constants, so that all bits are equal. */

static double triangle(double x)
{
	x = fabs(x);
	return x < 1.0 ? 1.0 - x : 0.0;
}

static double bicubic(double x)
{
	const double a = -0.5;
	x = fabs(x);
	if (x < 1.0)
		return ((a + 2.0) * x - (a + 3.0)) * x * x + 1;
	if (x < 2.0)
		return (((x - 5) * x + 8) * x - 4) * a;
	return 0.0;
}

static double sinc(double x)
{
	if (x == 0.0)
		return 1.0;
	x = x * M_PI;
	return sin(x) / x;
}

static double lanczos(double x)
{
	return -3.0 <= x && x < 3.0 ? sinc(x) * sinc(x / 3) : 0.0;
}

static double box(double x)
{
	return x > -0.5 && x <= 0.5 ? 1.0 : 0.0;
}

static double hamming(double x)
{
	x = fabs(x);
	if (x == 0.0)
		return 1.0;
	if (x >= 1.0)
		return 0.0;
	x = x * M_PI;
	return sin(x) / x * (0.54f + 0.46f * cos(x));
}

static const struct filter {
	double (*weight)(double x);
	double support; /* weights are zero at distances larger than this */
} filters[] = {
	[FILTER_BILINEAR] = {triangle, 1.0},
	[FILTER_BICUBIC] = {bicubic, 2.0},
	[FILTER_LANCZOS] = {lanczos, 3.0},
	[FILTER_BOX] = {box, 0.5},
	[FILTER_HAMMING] = {hamming, 1.0},
	[FILTER_NEAREST] = {NULL, 0.0},
};

static double kernel_scale(uint32_t in, uint32_t out)
{
	return (double)(float)in / out; /* Pillow stores sizes in floats */
}

/* Returns the input position of output pixel `index` for FILTER_NEAREST. Adds the scale once per
 * pixel, as Pillow does: a multiplication would give other rounding errors. */
static double nearest_place(double scale, uint32_t index)
{
	double place = scale * 0.5;
	for (uint32_t i = 0; i < index; i++)
		place += scale;
	return place;
}

struct taps kernel_taps(
	enum resample_filter filter, uint32_t in, uint32_t out, uint32_t index)
{
	double scale = kernel_scale(in, out);
	if (filter == FILTER_NEAREST)
		return (struct taps){(uint32_t)nearest_place(scale, index), 1};
	double support = filters[filter].support * (scale < 1.0 ? 1.0 : scale);
	double center = (index + 0.5) * scale;
	int64_t first = (int64_t)(center - support + 0.5);
	int64_t end = (int64_t)(center + support + 0.5);
	if (first < 0)
		first = 0;
	if (end > in)
		end = in;
	return (struct taps){(uint32_t)first, (uint32_t)(end - first)};
}

uint64_t resample_most_taps(enum resample_filter filter, uint32_t image, uint32_t size)
{
	double scale = kernel_scale(image, size ? size : 1);
	double support = filters[filter].support * (scale < 1.0 ? 1.0 : scale);
	return 2 * (uint64_t)ceil(support) + 1;
}

struct weighing {
	const struct filter *filter;
	struct taps taps;
	double center, inverse, sum;
};

static double unweighed(const struct weighing *weighing, uint32_t i)
{
	return weighing->filter->weight(
		(i + (int64_t)weighing->taps.first - weighing->center + 0.5) *
		weighing->inverse);
}

static struct weighing weigh(const struct kernel *kernel, uint32_t index)
{
	double scale = kernel_scale(kernel->in, kernel->out);
	struct weighing weighing = {.filter = &filters[kernel->filter],
		.taps = kernel->taps[index],
		.center = (index + 0.5) * scale,
		.inverse = 1.0 / (scale < 1.0 ? 1.0 : scale)};
	for (uint32_t i = 0; i < weighing.taps.count; i++)
		weighing.sum += unweighed(&weighing, i);
	return weighing;
}

static double weight_of(const struct weighing *weighing, uint32_t i)
{
	double weight = unweighed(weighing, i);
	return weighing->sum != 0.0 ? weight / weighing->sum : weight;
}

static void compute_weights(const struct kernel *kernel, uint32_t index, int32_t *weights)
{
	struct weighing weighing = weigh(kernel, index);
	for (uint32_t i = 0; i < weighing.taps.count; i++) {
		double weight = weight_of(&weighing, i) * (1 << PRECISION_BITS);
		weights[i] = (int32_t)(weight < 0 ? weight - 0.5 : weight + 0.5);
	}
}

static void compute_exact_weights(
	const struct kernel *kernel, uint32_t index, double *weights)
{
	struct weighing weighing = weigh(kernel, index);
	for (uint32_t i = 0; i < weighing.taps.count; i++)
		weights[i] = weight_of(&weighing, i);
}

static uint32_t pack(uint32_t first, uint32_t second)
{
	return (first & 0xffff) | second << 16;
}

/* Fills in the low and high parts of n weights. The high part has the sign of the weight. */
static void split_weights(const int32_t *weights, size_t n, struct weight_pair *pairs)
{
	const int32_t mask = (1 << LOW_BITS) - 1;
	for (size_t i = 0; i < n; i += 2) {
		int32_t a = weights[i], b = weights[i + 1];
		pairs[i / 2].low = pack((uint32_t)(a & mask), (uint32_t)(b & mask));
		pairs[i / 2].high =
			pack((uint32_t)(a >> LOW_BITS), (uint32_t)(b >> LOW_BITS));
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

static size_t kernel_width(enum resample_filter filter, uint32_t in, uint32_t out)
{
	size_t most = 1;
	if (filter == FILTER_NEAREST)
		return 0;
	for (uint32_t i = 0; i < out; i++) {
		struct taps taps = kernel_taps(filter, in, out, i);
		if (taps.count > most)
			most = taps.count;
	}
	return (most + TAPS_GROUP - 1) / TAPS_GROUP * TAPS_GROUP;
}

/* Lays out the kernel's tables in one block of memory: exact weights, or rounded weights and their
 * pairs. Both variants need the same number of bytes. */
static int lay_out(struct kernel *kernel, uint32_t out, size_t width)
{
	size_t n = out * width;
	size_t pairs = n / 2 * sizeof(struct weight_pair);
	size_t taps = out * sizeof(struct taps);
	kernel->in = kernel->out = 0;
	if (reserve(kernel, pairs + taps + n * sizeof(int32_t)))
		return -ENOMEM;
	char *memory = kernel->memory;
	kernel->pairs = (void *)memory;
	kernel->weights = (void *)(memory + pairs);
	kernel->exact_weights = (void *)memory;
	kernel->taps = (void *)(memory + pairs + n * sizeof(int32_t));
	kernel->width = width;
	memset(memory, 0, pairs + n * sizeof(int32_t));
	return 0;
}

static void set_nearest(struct kernel *kernel)
{
	double scale = kernel_scale(kernel->in, kernel->out);
	double place = nearest_place(scale, 0);
	for (uint32_t i = 0; i < kernel->out; i++, place += scale)
		kernel->taps[i] = (struct taps){(uint32_t)place, 1};
}

int kernel_set(struct kernel *kernel, enum resample_filter filter, bool exact,
	uint32_t in, uint32_t out)
{
	size_t width = kernel_width(filter, in, out);
	if (lay_out(kernel, out, width))
		return -ENOMEM;
	kernel->filter = filter;
	kernel->exact = exact;
	kernel->in = in;
	kernel->out = out;
	if (filter == FILTER_NEAREST) {
		set_nearest(kernel);
		return 0;
	}
	for (uint32_t i = 0; i < out; i++) {
		kernel->taps[i] = kernel_taps(filter, in, out, i);
		if (exact)
			compute_exact_weights(
				kernel, i, kernel->exact_weights + i * width);
		else
			compute_weights(kernel, i, kernel->weights + i * width);
	}
	if (!exact)
		split_weights(kernel->weights, out * width, kernel->pairs);
	return 0;
}

void kernel_free(struct kernel *kernel)
{
	free(kernel->memory);
	*kernel = (struct kernel){0};
}
