// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/fault.h"
#include "base/rng.h"
#include "image/augment.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Augmentation: the random draws, and the tensors made from them. */

#define SEED 7
#define N 20000

static const struct tensor_shape image = {.height = 13, .width = 17};

/* --- the draw ---------------------------------------------------------------------- */

static bool equal_plans(const struct augment_plan *a, const struct augment_plan *b)
{
	return a->rows.first == b->rows.first && a->columns.first == b->columns.first &&
	       a->rows.length == b->rows.length &&
	       a->columns.length == b->columns.length && a->mirror == b->mirror;
}

static const struct augment_config everything = {
	.random_resized_crop = {.height = 224, .width = 224}, .hflip = 0.5};
static const struct tensor_shape photo = {.height = 500, .width = 500};

Test(augment, a_plan_depends_on_seed_epoch_and_position_and_nothing_else)
{
	int same = 0;
	for (uint32_t i = 0; i < 1000; i++) {
		struct augment_plan plans[] = {
			augment_plan(&everything, SEED, 3, i, photo),
			augment_plan(&everything, SEED, 3, i, photo),
			augment_plan(&everything, SEED, 3, i + 1, photo),
			augment_plan(&everything, SEED, 4, i, photo),
			augment_plan(&everything, SEED + 1, 3, i, photo),
			augment_plan(&everything, SEED, i, 3, photo),
		};
		cr_assert(equal_plans(&plans[0], &plans[1]));
		for (int k = 2; k < 6; k++)
			same += equal_plans(&plans[0], &plans[k]);
	}
	cr_assert_leq(same, 4); /* one of them is epoch 3, position 3 */
}

Test(augment, jobs_without_a_seed_differ_by_name_and_by_the_daemons_seed)
{
	struct augment_config config = {0};
	cr_assert_eq(augment_seed(&config, "a", 1), augment_seed(&config, "a", 1));
	cr_assert_neq(augment_seed(&config, "a", 1), augment_seed(&config, "a", 2));
	cr_assert_neq(augment_seed(&config, "a", 0), augment_seed(&config, "b", 0));
	config.seed = 5;
	cr_assert_eq(augment_seed(&config, "a", 1), augment_seed(&config, "b", 2));
}

/* Returns |z| of the number of mirrored images, if each is mirrored with probability p. */
static double z_of_mirrored(double hflip, double p)
{
	struct augment_config config = {.hflip = hflip};
	double mirrored = 0;
	for (uint32_t i = 0; i < N; i++)
		mirrored += augment_plan(&config, SEED, i / 100, i % 100, image).mirror;
	if (p == 0.0 || p == 1.0)
		return mirrored == N * p ? 0 : INFINITY;
	return fabs(mirrored - N * p) / sqrt(N * p * (1 - p));
}

#define Z_MAX 3.3 /* one in a thousand; seeds are fixed */

Test(augment, images_are_mirrored_with_the_given_probability)
{
	static const double probabilities[] = {0, 0.01, 0.25, 0.5, 0.9, 1};
	for (size_t i = 0; i < 6; i++)
		cr_assert_lt(z_of_mirrored(probabilities[i], probabilities[i]), Z_MAX);
	cr_assert_gt(z_of_mirrored(0.47, 0.5), Z_MAX, "a wrong one is not noticed");
}

#define ROWS (13 - 9 + 1)
#define COLUMNS (17 - 11 + 1)
#define CELLS (ROWS * COLUMNS * 2)

/* Returns Pearson's statistic of the places of a crop, mirrored or not. mutant: changes the
 * places. */
static double chi_of_places(int mutant)
{
	struct augment_config config = {
		.random_crop = {.height = 9, .width = 11}, .hflip = 0.5};
	double counts[CELLS] = {0}, chi = 0;
	for (uint32_t i = 0; i < N; i++) {
		struct augment_plan plan = augment_plan(&config, SEED, 5, i, image);
		uint32_t row = plan.rows.first, column = plan.columns.first;
		cr_assert(row < ROWS && column < COLUMNS);
		if (mutant == 1) /* the last place is never taken */
			row %= ROWS - 1;
		if (mutant == 2) /* the column follows the row */
			column = i % 20 ? column : row;
		if (mutant == 3) /* the place decides whether the image is mirrored */
			plan.mirror = i % 10 ? plan.mirror : row & 1;
		counts[(row * COLUMNS + column) * 2 + plan.mirror]++;
	}
	for (int i = 0; i < CELLS; i++)
		chi += pow(counts[i] - (double)N / CELLS, 2) * CELLS / N;
	return chi;
}

Test(augment, every_place_of_a_random_crop_is_as_likely_as_any_other)
{
	/* 69 degrees of freedom: 99.9 % are below 111.1 */
	cr_assert_lt(chi_of_places(0), 111.1);
	for (int mutant = 1; mutant <= 3; mutant++)
		cr_assert_gt(chi_of_places(mutant), 111.1, "mutant %d", mutant);
}

/* Returns Pearson's statistic of pairs of draws: of positions or epochs that follow each other. */
static double chi_of_followers(uint32_t epochs, uint32_t positions)
{
	struct augment_config config = {
		.random_crop = {.height = 12, .width = 16}, .hflip = 0.5};
	double counts[64] = {0}, chi = 0;
	for (uint32_t i = 0; i < N; i++) {
		unsigned cell = 0;
		for (uint32_t k = 0; k < 2; k++) {
			struct augment_plan plan = augment_plan(&config, SEED,
				10 + k * epochs, 2 * i + k * positions, image);
			cell = cell * 8 + plan.rows.first * 4 + plan.columns.first * 2 +
			       plan.mirror;
		}
		counts[cell]++;
	}
	for (int i = 0; i < 64; i++)
		chi += pow(counts[i] - N / 64.0, 2) * 64 / N;
	return chi;
}

Test(augment, neighbours_are_independent)
{
	/* 63 degrees of freedom: 99.9 % are below 103.4 */
	cr_assert_lt(chi_of_followers(0, 1), 103.4);
	cr_assert_lt(chi_of_followers(1, 0), 103.4);
	cr_assert_gt(chi_of_followers(0, 0), 103.4, "the same twice is not noticed");
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Returns Kolmogorov's statistic, times sqrt(n), of numbers that should be uniform in [0, 1]. */
static double distance_from_uniform(double *numbers, size_t n)
{
	double distance = 0;
	qsort(numbers, n, sizeof(*numbers), compare_doubles);
	for (size_t i = 0; i < n; i++) {
		distance = fmax(distance, fabs((double)i / (double)n - numbers[i]));
		distance = fmax(distance, fabs((double)(i + 1) / (double)n - numbers[i]));
	}
	return distance * sqrt((double)n);
}

#define DISTANCE_MAX 1.95 /* one in a thousand */
#define SIDE 20000	  /* so large that rounding does not count */

enum what { AREA, RATIO, RATIO_NOT_LOGARITHMIC, PLACE, PLACE_SHORT };

static double measure(const struct augment_plan *plan, double area, enum what what)
{
	double ratio = (double)plan->columns.length / plan->rows.length;
	double places = SIDE - plan->rows.length + 1.0;
	switch (what) {
	case AREA:
		return (area - 0.08) / (0.7 - 0.08);
	case RATIO:
		return log(ratio * 4 / 3) / log(16.0 / 9);
	case RATIO_NOT_LOGARITHMIC:
		return (ratio - 0.75) / (4.0 / 3 - 0.75);
	case PLACE:
		return (plan->rows.first + 0.5) / places;
	default:
		return (plan->rows.first + 0.5) / places * 0.97;
	}
}

/*
 * Returns the distance for one property of the pieces. Of a square, torchvision's procedure
 * accepts all pieces up to 3/4 of the area. Among these the area is uniform, and so is the
 * logarithm of the ratio.
 */
static double distance_of(enum what what)
{
	static double numbers[N];
	static const struct tensor_shape square = {.height = SIDE, .width = SIDE};
	size_t n = 0;
	for (uint32_t i = 0; i < N; i++) {
		struct augment_plan plan = augment_plan(&everything, SEED, 0, i, square);
		double area = (double)plan.rows.length * plan.columns.length /
			      ((double)SIDE * SIDE);
		cr_assert(plan.resize);
		cr_assert_leq(plan.rows.first + plan.rows.length, SIDE);
		cr_assert_leq(plan.columns.first + plan.columns.length, SIDE);
		if (area < 0.7)
			numbers[n++] = measure(&plan, area, what);
	}
	cr_assert_gt(n, N / 2);
	return distance_from_uniform(numbers, n);
}

Test(augment, resized_crops_have_torchvisions_distribution)
{
	cr_assert_lt(distance_of(AREA), DISTANCE_MAX);
	cr_assert_lt(distance_of(RATIO), DISTANCE_MAX);
	cr_assert_lt(distance_of(PLACE), DISTANCE_MAX);
	cr_assert_gt(distance_of(RATIO_NOT_LOGARITHMIC), DISTANCE_MAX);
	cr_assert_gt(distance_of(PLACE_SHORT), DISTANCE_MAX);
}

/* No piece has a fitting ratio, so the middle is cut, as by torchvision's fallback. */
Test(augment, a_resized_crop_of_a_strip_is_its_middle)
{
	struct augment_plan wide = augment_plan(&everything, SEED, 0, 0,
		(struct tensor_shape){.height = 10, .width = 1000});
	cr_assert_eq(wide.rows.first, 0);
	cr_assert_eq(wide.rows.length, 10);
	cr_assert_eq(wide.columns.first, 493);
	cr_assert_eq(wide.columns.length, 13);
	struct augment_plan tall = augment_plan(&everything, SEED, 0, 0,
		(struct tensor_shape){.height = 1000, .width = 10});
	cr_assert_eq(tall.rows.first, 493);
	cr_assert_eq(tall.rows.length, 13);
	cr_assert_eq(tall.columns.length, 10);
	for (uint32_t i = 0; i < 100; i++) {
		struct tensor_shape pixel = {.height = 1, .width = 1};
		struct augment_plan one = augment_plan(&everything, SEED, 0, i, pixel);
		cr_assert(one.rows.length == 1 && one.columns.length == 1);
	}
}

/* --- the tensor --------------------------------------------------------------------- */

static struct tensor *random_tensor(struct tensor_shape shape)
{
	struct rng rng;
	uint64_t bytes = (uint64_t)shape.height * shape.width * 3;
	struct tensor *tensor = tensor_new(shape, bytes);
	cr_assert_not_null(tensor);
	rng_seed(&rng, bytes);
	for (uint64_t i = 0; i < bytes; i++)
		tensor->data[i] = (uint8_t)rng_next(&rng);
	return tensor;
}

/* Returns the output's byte as the plan defines it; black outside of the image. */
static unsigned byte_at(const struct tensor *tensor, const struct augment_plan *plan,
	uint32_t y, uint32_t x, uint32_t c)
{
	if (plan->mirror)
		x = plan->size.width - 1 - x;
	uint32_t inner_y = y - plan->rows.pad, inner_x = x - plan->columns.pad;
	if (inner_y >= plan->rows.length || inner_x >= plan->columns.length)
		return 0;
	return tensor->data[((inner_y + plan->rows.first) * tensor->shape.width +
				    inner_x + plan->columns.first) *
				    3 +
			    c];
}

/* Returns the output's number, converted back to a byte. */
static unsigned number_at(
	const struct tensor *tensor, struct pixel_type type, size_t index)
{
	static const float steps = 255;
	float number;
	if (type.dtype == DTYPE_UINT8)
		return tensor->data[index];
	if (type.dtype == DTYPE_FLOAT32) {
		memcpy(&number, tensor->data + index * 4, 4);
		return (unsigned)lrintf(number * steps);
	}
	uint16_t half;
	memcpy(&half, tensor->data + index * 2, 2);
	double value = half < 1024 ? ldexp(half, -24)
				   : ldexp(1024 + (half & 1023), (half >> 10) - 25);
	return (unsigned)lrint(value * 255);
}

static void expect_numbers(const struct tensor *out, struct pixel_type type,
	const struct tensor *tensor, const struct augment_plan *plan)
{
	size_t height = plan->size.height, width = plan->size.width;
	for (uint32_t y = 0; y < height; y++)
		for (uint32_t x = 0; x < width; x++)
			for (uint32_t c = 0; c < 3; c++) {
				size_t index = type.axes == AXES_CHW
						       ? (c * height + y) * width + x
						       : (y * width + x) * 3 + c;
				cr_assert_eq(number_at(out, type, index),
					byte_at(tensor, plan, y, x, c));
			}
}

/* The crops lie in the image, touch its edge, or are longer than the image in one or both
 * directions. */
Test(augment, crops_flips_types_and_axes_move_each_byte_to_its_place)
{
	static const struct tensor_shape crops[] = {{.height = 0, .width = 0},
		{.height = 1, .width = 1}, {.height = 9, .width = 11},
		{.height = 13, .width = 17}, {.height = 20, .width = 5},
		{.height = 5, .width = 30}, {.height = 21, .width = 40}};
	struct tensor *tensor = random_tensor(image), *out;
	for (uint32_t i = 0; i < 7 * 2 * 3 * 2 * 4; i++) {
		struct augment_config config = {
			.random_crop = crops[i % 7], .hflip = i / 7 % 2};
		struct pixel_type type = {.dtype = (enum sample_dtype)(i / 14 % 3),
			.axes = (enum sample_axes)(i / 42 % 2)};
		struct augment_plan plan =
			augment_plan(&config, SEED, 0, i, tensor->shape);
		cr_assert_eq(
			augment_apply(&config.normalize, type, &plan, tensor, &out), 0);
		if (out)
			expect_numbers(out, type, tensor, &plan);
		else
			cr_assert(i % 7 == 0 || i % 7 == 3);
		tensor_free(out);
	}
	tensor_free(tensor);
}

static int apply(const struct augment_config *config, const struct augment_plan *plan,
	const struct tensor *tensor, struct tensor **ret)
{
	return augment_apply(
		&config->normalize, (struct pixel_type){0}, plan, tensor, ret);
}

Test(augment, an_image_that_stays_as_it_is_is_not_copied)
{
	struct augment_config config = {.hflip = 0.5};
	struct tensor *tensor = random_tensor(image), *out;
	int copied = 0;
	for (uint32_t i = 0; i < 1000; i++) {
		struct augment_plan plan = augment_plan(&config, SEED, 0, i, image);
		cr_assert_eq(apply(&config, &plan, tensor, &out), 0);
		copied += out != NULL;
		tensor_free(out);
	}
	cr_assert(copied > 430 && copied < 570, "%d", copied);
	tensor_free(tensor);
}

/* torchvision cuts first, so the filter does not see the pixels around the piece. */
Test(augment, a_resized_crop_is_the_piece_resized_as_an_image_of_its_own)
{
	struct augment_config config = {
		.random_resized_crop = {.height = 12, .width = 20}};
	struct tensor_shape shape = {.height = 61, .width = 47};
	struct tensor *tensor = random_tensor(shape), *out, *cut_out;
	for (uint32_t i = 0; i < 50; i++) {
		struct augment_plan plan =
			augment_plan(&config, SEED, 0, i, tensor->shape);
		struct tensor_shape piece = {
			.height = plan.rows.length, .width = plan.columns.length};
		struct tensor *cut = random_tensor(piece);
		for (size_t y = 0; y < piece.height; y++)
			memcpy(cut->data + y * piece.width * 3,
				tensor->data + ((y + plan.rows.first) * shape.width +
						       plan.columns.first) *
						       3,
				(size_t)piece.width * 3);
		struct augment_plan of_cut = plan;
		of_cut.rows.first = of_cut.columns.first = 0;
		cr_assert_eq(apply(&config, &plan, tensor, &out), 0);
		cr_assert_eq(apply(&config, &of_cut, cut, &cut_out), 0);
		cr_assert_eq(out->shape.height, 12);
		cr_assert_eq(out->shape.width, 20);
		cr_assert_eq(memcmp(out->data, cut_out->data, out->bytes), 0);
		tensor_free(out);
		tensor_free(cut_out);
		tensor_free(cut);
	}
	tensor_free(tensor);
}

Test(augment, missing_memory_is_reported)
{
	struct augment_config config = {.hflip = 1};
	struct tensor *tensor = random_tensor(image), *out;
	struct augment_plan plan = augment_plan(&config, SEED, 0, 0, image);
	cr_assert_eq(fault_add("augment.memory:ENOMEM"), 0);
	cr_assert_eq(apply(&config, &plan, tensor, &out), -ENOMEM);
	cr_assert_null(out);
	fault_clear();
	tensor_free(tensor);
}
