// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/* augment: measures the cost of each step of the augmentation, from a tensor of 256x256 to a sample
 * of 224x224. Prints JSON: for each step, and for a copy of the sample, the microseconds of the
 * fastest of many repetitions, and the mean of all. */

#include "base/clock.h"
#include "base/rng.h"
#include "config/config.h"
#include "image/augment.h"

#include <stdio.h>
#include <string.h>

#define ROUNDS 2000
#define PLACES 500 /* enough samples to exceed every cache of the processor */
#define FLOAT_SAMPLE_BYTES (224 * 224 * 3 * sizeof(float))

struct step {
	const char *name;
	struct job_config job;
};

#define RESIZED .augment.random_resized_crop = {.height = 224, .width = 224}
#define CROP .augment.random_crop = {.height = 224, .width = 224}
#define NORMALIZE                                                                        \
	.augment.normalize = {.given = true,                                             \
		.mean = {0.485, 0.456, 0.406},                                           \
		.deviation = {0.229, 0.224, 0.225}}

static const struct step steps[] = {
	{"random_crop", {CROP}},
	{"random_crop, hflip", {CROP, .augment.hflip = 1}},
	{"random_crop, CHW", {CROP, .pixels.axes = AXES_CHW}},
	{"random_crop, float32", {CROP, .pixels.dtype = DTYPE_FLOAT32}},
	{"random_crop, normalize, float32",
		{CROP, NORMALIZE, .pixels.dtype = DTYPE_FLOAT32}},
	{"random_crop, normalize, float16",
		{CROP, NORMALIZE, .pixels.dtype = DTYPE_FLOAT16}},
	{"random_crop, normalize, float32, CHW",
		{CROP, NORMALIZE, .pixels = {.dtype = DTYPE_FLOAT32, .axes = AXES_CHW}}},
	{"random_crop, normalize, float16, CHW",
		{CROP, NORMALIZE, .pixels = {.dtype = DTYPE_FLOAT16, .axes = AXES_CHW}}},
	{"random_resized_crop", {RESIZED}},
	{"random_resized_crop, hflip, normalize, float32, CHW",
		{RESIZED, NORMALIZE, .augment.hflip = 1,
			.pixels = {.dtype = DTYPE_FLOAT32, .axes = AXES_CHW}}},
};

static struct tensor *random_tensor(void)
{
	struct tensor_shape shape = {.height = 256, .width = 256};
	struct rng rng;
	struct tensor *tensor = tensor_new(shape, 256 * 256 * 3);
	rng_seed(&rng, 1);
	for (uint64_t i = 0; tensor && i < tensor->bytes; i++)
		tensor->data[i] = (uint8_t)rng_next(&rng);
	return tensor;
}

struct times {
	double fastest;
	double mean;
};

/* Returns microseconds; negative: no memory. */
static struct times measure(const struct job_config *job, const struct tensor *tensor)
{
	struct times times = {.fastest = 1e9};
	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct tensor *out;
		uint64_t begin = clock_now_ns();
		struct augment_plan plan =
			augment_plan(&job->augment, 1, 0, i, tensor->shape);
		if (augment_apply(&job->augment.normalize, job->pixels, &plan, tensor,
			    &out) < 0)
			return (struct times){-1, -1};
		double us = (double)(clock_now_ns() - begin) / 1e3;
		times.mean += us / ROUNDS;
		if (us < times.fastest)
			times.fastest = us;
		tensor_free(out);
	}
	return times;
}

/* Measures the copying of a sample of float32. The copies read `places` places in memory in
 * turn, again and again. One place stays in the processor's caches; PLACES places exceed the
 * caches. */
static struct times measure_copy(size_t places)
{
	auto_free uint8_t *memory = malloc((places + 1) * FLOAT_SAMPLE_BYTES);
	struct times times = {.fastest = 1e9};
	if (!memory)
		return (struct times){-1, -1};
	memset(memory, 1, (places + 1) * FLOAT_SAMPLE_BYTES);
	for (size_t i = 0; i < ROUNDS; i++) {
		uint8_t *from = memory + i % places * FLOAT_SAMPLE_BYTES;
		uint64_t begin = clock_now_ns();
		memcpy(from + FLOAT_SAMPLE_BYTES, from, FLOAT_SAMPLE_BYTES);
		/* keeps the compiler from removing the copy */
		__asm__ volatile("" : : "r"(from) : "memory");
		double us = (double)(clock_now_ns() - begin) / 1e3;
		times.mean += us / ROUNDS;
		if (us < times.fastest)
			times.fastest = us;
	}
	return times;
}

static void say(const char *name, struct times times, const char *after)
{
	printf("\"%s\": {\"fastest\": %.1f, \"mean\": %.1f}%s\n", name, times.fastest,
		times.mean, after);
}

int main(void)
{
	auto_free struct tensor *tensor = random_tensor();
	puts("{");
	for (size_t i = 0; tensor && i < sizeof(steps) / sizeof(steps[0]); i++)
		say(steps[i].name, measure(&steps[i].job, tensor), ",");
	say("copy, in the caches", measure_copy(1), ",");
	say("copy, in memory", measure_copy(PLACES), "\n}");
	return tensor ? EXIT_SUCCESS : EXIT_FAILURE;
}
