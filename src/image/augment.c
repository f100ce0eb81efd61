// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/augment.h"
#include "base/ensure.h"
#include "base/rng.h"

#include <math.h>
#include <string.h>

#define TRIES 10
#define MIN_SCALE 0.08
#define MAX_SCALE 1.0
#define MIN_RATIO (3.0 / 4.0)
#define MAX_RATIO (4.0 / 3.0)

uint64_t augment_seed(
	const struct augment_config *config, const char *job, uint64_t daemon_seed)
{
	return config->seed ? config->seed
			    : rng_mix(daemon_seed, fnv_add(FNV_BASIS, job, strlen(job)));
}

struct tensor_shape augment_output(
	const struct augment_config *config, struct tensor_shape image)
{
	struct tensor_shape output = image;
	if (config->random_crop.width)
		output = config->random_crop;
	else if (config->random_resized_crop.width)
		output = config->random_resized_crop;
	output.mode = image.mode;
	output.frames = image.frames;
	return output;
}

bool augment_fixed_size(const struct augment_config *config)
{
	return config->random_crop.width || config->random_resized_crop.width;
}

static double draw_fraction(struct rng *rng)
{
	return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

static double draw_between(struct rng *rng, double low, double high)
{
	return low + draw_fraction(rng) * (high - low);
}

static struct crop_axis draw_crop(struct rng *rng, uint32_t image, uint32_t crop)
{
	if (image < crop)
		return (struct crop_axis){
			.pad = (uint32_t)rng_below(rng, (uint64_t)crop - image + 1),
			.length = image};
	return (struct crop_axis){
		.first = (uint32_t)rng_below(rng, (uint64_t)image - crop + 1),
		.length = crop};
}

/* Rounds like Python's round(). */
static uint32_t round_to_even(double number)
{
	return number < UINT32_MAX ? (uint32_t)rint(number) : UINT32_MAX;
}

static struct crop_axis middle(uint32_t image, uint32_t length)
{
	return (struct crop_axis){.first = (image - length) / 2, .length = length};
}

static void plan_middle(struct augment_plan *plan, struct tensor_shape image)
{
	double ratio = (double)image.width / image.height;
	struct tensor_shape window = image;
	if (ratio < MIN_RATIO)
		window.height = round_to_even(image.width / MIN_RATIO);
	else if (ratio > MAX_RATIO)
		window.width = round_to_even(image.height * MAX_RATIO);
	plan->rows = middle(image.height, window.height);
	plan->columns = middle(image.width, window.width);
}

static void plan_resized_crop(
	struct augment_plan *plan, struct rng *rng, struct tensor_shape image)
{
	double area = (double)image.width * image.height;
	for (int i = 0; i < TRIES; i++) {
		double target = area * draw_between(rng, MIN_SCALE, MAX_SCALE);
		double ratio = exp(draw_between(rng, log(MIN_RATIO), log(MAX_RATIO)));
		uint32_t width = round_to_even(sqrt(target * ratio));
		uint32_t height = round_to_even(sqrt(target / ratio));
		if (width == 0 || height == 0 || width > image.width ||
			height > image.height)
			continue;
		plan->rows = draw_crop(rng, image.height, height);
		plan->columns = draw_crop(rng, image.width, width);
		return;
	}
	plan_middle(plan, image);
}

struct augment_plan augment_plan(const struct augment_config *config, uint64_t seed,
	uint32_t epoch, uint32_t position, struct tensor_shape image)
{
	struct augment_plan plan = {.rows.length = image.height,
		.columns.length = image.width,
		.size = augment_output(config, image),
		.filter = config->filter};
	struct rng rng;
	ensure(image.width > 0 && image.height > 0);
	rng_seed(&rng, rng_mix(seed, (uint64_t)epoch << 32 | position));
	if (config->random_crop.width) {
		plan.rows = draw_crop(&rng, image.height, plan.size.height);
		plan.columns = draw_crop(&rng, image.width, plan.size.width);
	} else if (config->random_resized_crop.width) {
		plan_resized_crop(&plan, &rng, image);
		plan.resize = true;
	}
	plan.mirror = draw_fraction(&rng) < config->hflip;
	return plan;
}
