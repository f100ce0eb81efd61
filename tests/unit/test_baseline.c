// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "../jpeg_twin.h"
#include "effort.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

/* joaderfs' JPEG decoder gives libjpeg's pixels, in plain and in vector code, for a whole image
 * and for a part. It accepts regular files, and nothing for which libjpeg has a warning. */

static struct baseline *decoders[2];
static struct rng rng;

static void start(void)
{
	for (int plain = 0; plain < 2; plain++) {
		decoders[plain] = baseline_new(plain);
		cr_assert(decoders[plain] != NULL);
	}
	rng_seed(&rng, 7);
}

static void stop(void)
{
	for (int plain = 0; plain < 2; plain++)
		baseline_free(decoders[plain]);
}

TestSuite(baseline, .init = start, .fini = stop);

static const struct {
	int components, h, v;
} kinds[] = {{3, 1, 1}, {3, 2, 1}, {3, 2, 2}, {1, 1, 1}, {1, 2, 2}};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static struct twin_recipe recipe_of(size_t kind, uint32_t width, uint32_t height)
{
	return (struct twin_recipe){.width = width,
		.height = height,
		.components = kinds[kind].components,
		.h = kinds[kind].h,
		.v = kinds[kind].v,
		.quality = 90};
}

/* Encodes smooth or noisy samples. */
static uint8_t *encode_samples(
	const struct twin_recipe *recipe, int noise, size_t *ret_size)
{
	struct jpeg_compress_struct info;
	struct jpeg_error_mgr errors;
	unsigned char *data = NULL;
	unsigned long size = 0;
	size_t numbers = (size_t)recipe->width * (size_t)recipe->components;
	uint8_t *row = malloc(numbers);
	info.err = jpeg_std_error(&errors);
	jpeg_create_compress(&info);
	jpeg_mem_dest(&info, &data, &size);
	twin_set_up(&info, recipe);
	jpeg_start_compress(&info, TRUE);
	for (uint32_t y = 0; y < recipe->height; y++) {
		for (uint32_t i = 0; i < numbers; i++) {
			int value = (int)(i * 2 + y * 3) % 256;
			if (noise)
				value +=
					(int)rng_below(&rng, (uint64_t)noise) - noise / 2;
			row[i] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
		}
		jpeg_write_scanlines(&info, &row, 1);
	}
	jpeg_finish_compress(&info);
	jpeg_destroy_compress(&info);
	free(row);
	*ret_size = size;
	return data;
}

static void vary(struct twin_recipe *recipe)
{
	static const int qualities[] = {1, 10, 30, 50, 75, 90, 95, 100};
	recipe->quality = qualities[rng_below(&rng, 8)];
	recipe->restart_interval =
		rng_below(&rng, 3) == 0 ? 1 + (unsigned)rng_below(&rng, 9) : 0;
	recipe->optimized = rng_below(&rng, 2);
}

/* Compares the pixels of plain and vector code: of the whole image and of two parts. */
static void assert_same(
	const struct twin_recipe *recipe, const uint8_t *data, size_t size)
{
	struct twin_image image = twin_decode(data, size);
	bool narrow = recipe->components == 3 && recipe->h == 2 && recipe->width <= 4;
	enum twin_result expected = narrow ? TWIN_DECLINED : TWIN_SAME;
	cr_assert(image.pixels != NULL);
	for (int i = 0; i < 6; i++) {
		enum twin_result result = twin_compare(
			decoders[i % 2], data, size, image, i < 2 ? NULL : &rng);
		cr_assert(eq(int, (int)result, (int)expected),
			"%ux%u, %d components %dx%d, quality %d, restarts %u, case %d",
			recipe->width, recipe->height, recipe->components, recipe->h,
			recipe->v, recipe->quality, recipe->restart_interval, i);
	}
	free(image.pixels);
}

/* Covers each width and each height from 1 to 70, and wide and narrow images. */
Test(baseline, pixels_are_libjpegs_for_every_kind_and_size)
{
	unsigned rounds = 71 * effort(2, 20);
	for (unsigned i = 0; i < rounds * N_KINDS; i++) {
		uint32_t width = 1 + i / N_KINDS % 70;
		uint32_t height = 1 + i / N_KINDS * 29 % 70;
		if (i / N_KINDS % 71 == 70) {
			width = i % 2 ? 3000 : 1 + (uint32_t)rng_below(&rng, 20);
			height = i % 2 ? 1 + (uint32_t)rng_below(&rng, 20) : 2000;
		}
		struct twin_recipe recipe = recipe_of(i % N_KINDS, width, height);
		vary(&recipe);
		size_t size;
		uint8_t *data = encode_samples(&recipe, (int)(i % 4) * 80, &size);
		assert_same(&recipe, data, size);
		free(data);
	}
}

/* --- coefficients that no picture has ----------------------------------------------------- */

struct fill {
	int places; /* number of the 64 coefficients that are set */
	int most;   /* the largest coefficient */
};

static void fill_at_random(void *context, int component, JCOEF block[DCTSIZE2])
{
	const struct fill *fill = context;
	(void)component;
	for (int i = 0; i < fill->places; i++) {
		size_t k = rng_below(&rng, DCTSIZE2);
		int most = k == 0 && fill->most > 900 ? 900 : fill->most;
		block[k] = (JCOEF)((int)rng_below(&rng, 2 * (uint64_t)most + 1) - most);
	}
}

/* Files whose arithmetic could overflow are declined. Their number shows that the test has such
 * files. */
Test(baseline, any_coefficients_give_libjpegs_pixels_or_are_declined)
{
	unsigned same = 0, declined = 0;
	for (unsigned i = 0; i < effort(800, 20000); i++) {
		struct fill fill = {
			1 + (int)rng_below(&rng, 64), 1 << rng_below(&rng, 10)};
		struct twin_recipe recipe =
			recipe_of(i % N_KINDS, 5 + (uint32_t)rng_below(&rng, 40),
				1 + (uint32_t)rng_below(&rng, 40));
		vary(&recipe);
		size_t size;
		uint8_t *data = twin_encode(&recipe, fill_at_random, &fill, &size);
		struct twin_image image = twin_decode(data, size);
		cr_assert(image.pixels != NULL);
		enum twin_result fast =
			twin_compare(decoders[0], data, size, image, NULL);
		enum twin_result plain =
			twin_compare(decoders[1], data, size, image, NULL);
		cr_assert(ne(int, (int)fast, TWIN_DIFFERS));
		cr_assert(eq(int, (int)fast, (int)plain));
		same += fast == TWIN_SAME;
		declined += fast == TWIN_DECLINED;
		free(image.pixels);
		free(data);
	}
	cr_assert(
		same > 100 && declined > 100, "%u the same, %u declined", same, declined);
}

/* --- files that are not regular ----------------------------------------------------------- */

static uint8_t *ordinary(size_t *ret_size)
{
	struct twin_recipe recipe = recipe_of(2, 50, 40);
	recipe.restart_interval = 3;
	return encode_samples(&recipe, 60, ret_size);
}

static enum twin_result decode(const uint8_t *data, size_t size)
{
	struct twin_image image = twin_decode(data, size);
	enum twin_result results[2];
	for (int plain = 0; plain < 2; plain++)
		results[plain] = twin_compare(decoders[plain], data, size, image, NULL);
	cr_assert(eq(int, (int)results[0], (int)results[1]));
	free(image.pixels);
	return results[0];
}

Test(baseline, a_file_that_is_cut_is_declined)
{
	size_t size;
	uint8_t *data = ordinary(&size);
	for (size_t n = 0; n < size; n++)
		cr_assert(eq(int, (int)decode(data, n), TWIN_DECLINED));
	cr_assert(eq(int, (int)decode(data, size), TWIN_SAME));
	free(data);
}

/* A flipped bit often makes another regular file, but never other pixels than libjpeg's. */
Test(baseline, a_damaged_file_is_declined_or_the_same)
{
	unsigned declined = 0;
	size_t size;
	uint8_t *data = ordinary(&size);
	for (size_t bit = 0; bit < size * 8; bit++) {
		data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		enum twin_result result = decode(data, size);
		data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		cr_assert(ne(int, (int)result, TWIN_DIFFERS), "bit %zu", bit);
		declined += result == TWIN_DECLINED;
	}
	cr_assert(declined > size, "%u declined", declined);
	free(data);
}

/* libjpeg refuses such a table even if no code of the scan uses the symbol. */
Test(baseline, a_table_of_impossible_differences_is_declined)
{
	size_t size;
	uint8_t *data = ordinary(&size);
	uint8_t *table = memmem(data, size, "\xff\xc4", 2);
	cr_assert(table != NULL);
	table[4 + 17 + 11] = 16; /* the symbol with the longest code */
	cr_assert(eq(int, (int)decode(data, size), TWIN_DECLINED));
	table[4 + 17 + 11] = 15;
	cr_assert(eq(int, (int)decode(data, size), TWIN_SAME));
	free(data);
}

/* A table of an earlier file must not be used either, although tables are kept for the next
 * file. */
Test(baseline, a_table_that_is_not_there_is_declined)
{
	size_t size;
	uint8_t *data = ordinary(&size);
	uint8_t *table = memmem(data, size, "\xff\xc4", 2);
	uint8_t *scan = memmem(data, size, "\xff\xda", 2);
	cr_assert(table != NULL && scan != NULL);
	cr_assert(eq(int, (int)decode(data, size), TWIN_SAME));
	table[4 + 17 + 11] = 16;
	cr_assert(eq(int, (int)decode(data, size), TWIN_DECLINED));
	table[4 + 17 + 11] = 11;
	scan[6] |= 2 << 4; /* the DC table of the first component does not exist */
	cr_assert(eq(int, (int)decode(data, size), TWIN_DECLINED));
	scan[6] &= 15;
	cr_assert(eq(int, (int)decode(data, size), TWIN_SAME));
	free(data);
}

Test(baseline, what_follows_the_image_does_not_matter)
{
	size_t size;
	uint8_t *data = ordinary(&size);
	uint8_t *more = calloc(1, size + 100);
	memcpy(more, data, size);
	cr_assert(eq(int, (int)decode(more, size + 100), TWIN_SAME));
	free(more);
	free(data);
}
