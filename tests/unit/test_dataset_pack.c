// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "dataset/dataset_map.h"
#include "effort.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* Packed columns, and paths stored as differences, give back what was stored. Damaged ones give
 * anything, but nothing outside of them is read (ASan). */

#define MOST (3 * PACK_BLOCK)

static uint64_t value_in(const void *context, size_t i)
{
	return ((const uint64_t *)context)[i];
}

static uint64_t draw(struct rng *rng, unsigned bits)
{
	uint64_t high = rng_below(rng, UINT64_C(1) << 32), low;
	low = rng_below(rng, UINT64_C(1) << 32);
	return bits ? (high << 32 | low) >> (64 - bits) : 0;
}

static size_t draw_column(struct rng *rng, uint64_t *ret)
{
	size_t n = (size_t)rng_below(rng, MOST + 1);
	uint64_t base = draw(rng, (unsigned)rng_below(rng, 65));
	uint64_t step = 1 + draw(rng, (unsigned)rng_below(rng, 31));
	unsigned bits = (unsigned)rng_below(rng, 65);
	for (size_t i = 0; i < n; i++)
		ret[i] = base + step * draw(rng, bits);
	return n;
}

Test(dataset_pack, gives_what_was_put_in)
{
	struct rng rng;
	uint64_t numbers[MOST];
	rng_seed(&rng, 1);
	for (unsigned trial = 0; trial < effort(300, 20000); trial++) {
		uint8_t *packed;
		size_t bytes, n = draw_column(&rng, numbers);
		cr_assert_eq(pack_make(n, value_in, numbers, &packed, &bytes), 0);
		cr_assert_geq(bytes, pack_least_bytes(n));
		for (size_t i = 0; i < n; i++)
			cr_assert_eq(pack_get(packed, bytes, i), numbers[i]);
		for (int flips = 0; flips < 8 && n > 0; flips++) {
			packed[rng_below(&rng, bytes)] ^= (uint8_t)rng_below(&rng, 256);
			for (size_t i = 0; i < n; i++)
				(void)pack_get(packed, bytes, i);
		}
		free(packed);
	}
}

Test(dataset_pack, neighbours_decide_how_much_it_takes)
{
	uint64_t numbers[MOST];
	uint8_t *packed;
	size_t bytes;
	for (size_t i = 0; i < MOST; i++)
		numbers[i] = UINT64_C(1700000000000000000) + 1000000000 * (i % 4);
	cr_assert_eq(pack_make(MOST, value_in, numbers, &packed, &bytes), 0);
	cr_assert_eq(bytes, pack_least_bytes(MOST) + 2 * MOST / 8);
	free(packed);
}

static void draw_path(struct rng *rng, char *ret)
{
	static const size_t lengths[] = {2, 14, 15, 16, 30, 255, 256, 300, 4000};
	size_t n = lengths[rng_below(rng, sizeof(lengths) / sizeof(lengths[0]))];
	size_t from = (size_t)rng_below(rng, n), same = (size_t)rng_below(rng, 3);
	for (size_t i = 0; i < n; i++)
		ret[i] = same && i < from ? 'x' : (char)('a' + rng_below(rng, same + 1));
	ret[n] = '\0';
}

static void expect_paths(const struct catalogue_map *map,
	const struct catalogue *catalogue, struct rng *rng)
{
	struct path_text row = {0}, any = {0};
	for (sample_id id = 0; id < catalogue->n_rows; id++)
		cr_assert_str_eq(map_path(map, id, &row), catalogue->rows[id].path);
	for (int i = 0; i < 100; i++) {
		sample_id id = (sample_id)rng_below(rng, catalogue->n_rows);
		cr_assert_str_eq(map_path(map, id, &any), catalogue->rows[id].path);
	}
}

Test(dataset_pack, paths_are_what_they_were_in_any_order)
{
	static char paths[50][4096];
	struct rng rng;
	rng_seed(&rng, 2);
	for (unsigned trial = 0; trial < effort(200, 5000); trial++) {
		struct row rows[50];
		struct catalogue catalogue = {
			.rows = rows, .n_rows = 1 + (size_t)rng_below(&rng, 50)};
		struct map_bytes groups, texts;
		for (size_t i = 0; i < catalogue.n_rows; i++) {
			draw_path(&rng, paths[i]);
			rows[i] = (struct row){.path = paths[i]};
		}
		cr_assert_eq(map_paths_make(&catalogue, &groups, &texts), 0);
		/* Both sections follow each other in a map that has nothing else. */
		uint8_t *bytes = malloc(groups.n + texts.n);
		memcpy(bytes, groups.at, groups.n);
		memcpy(bytes + groups.n, texts.at, texts.n);
		struct map_head head = {.n_ids = (uint32_t)catalogue.n_rows};
		head.sections[MAP_PATH_GROUPS].bytes = groups.n;
		head.sections[MAP_PATHS].offset = groups.n;
		head.sections[MAP_PATHS].bytes = texts.n;
		const struct catalogue_map map = {
			.head = &head, .bytes = bytes, .size = groups.n + texts.n};
		expect_paths(&map, &catalogue, &rng);
		for (int flips = 0; flips < 20; flips++) {
			struct path_text text = {0};
			bytes[rng_below(&rng, map.size)] ^= (uint8_t)rng_below(&rng, 256);
			for (sample_id id = 0; id < catalogue.n_rows; id++)
				(void)map_path(&map, id, &text);
		}
		free(bytes);
		free(groups.at);
		free(texts.at);
	}
}

static bool has_shape(const struct row *a, const struct row *b)
{
	return memcmp(&a->facts.image, &b->facts.image, sizeof(a->facts.image)) == 0 &&
	       a->facts.orientation == b->facts.orientation;
}

static void expect_shape(
	const struct catalogue *catalogue, const struct dataset_shape *shape)
{
	const struct row *rows = catalogue->rows;
	sample_id first = SAMPLE_NONE, last = 0;
	uint32_t n = 0;
	for (sample_id id = 0; id < catalogue->n_rows; id++) {
		if (rows[id].gone || !has_shape(&rows[id], &rows[shape->largest]))
			continue;
		cr_assert_leq(rows[id].facts.bytes, rows[shape->largest].facts.bytes);
		first = n++ ? first : id;
		last = id;
	}
	cr_assert_eq(shape->samples, n);
	cr_assert_eq(shape->first, first);
	cr_assert_eq(shape->last, last);
}

Test(dataset_pack, each_shape_is_listed_once_with_its_samples)
{
	static struct row rows[4000];
	struct catalogue catalogue = {.rows = rows, .n_rows = 4000};
	struct map_bytes made;
	struct rng rng;
	uint64_t samples = 0, there = 0;
	rng_seed(&rng, 3);
	for (size_t i = 0; i < catalogue.n_rows; i++) {
		struct facts *facts = &rows[i].facts;
		facts->image.width = (uint32_t)rng_below(&rng, 40);
		facts->image.height = (uint32_t)rng_below(&rng, 20);
		facts->image.mode = (enum pixel_mode)rng_below(&rng, N_PIXEL_MODES);
		facts->orientation = (uint8_t)(1 + rng_below(&rng, 2));
		facts->bytes = rng_below(&rng, 1000);
		rows[i].gone = rng_below(&rng, 10) == 0;
		there += !rows[i].gone;
	}
	cr_assert_eq(map_shapes_make(&catalogue, &made), 0);
	const struct dataset_shape *shapes = (const void *)made.at;
	size_t n = made.n / sizeof(*shapes);
	cr_assert_gt(n, 1000);
	cr_assert(map_shapes_fit(shapes, n, 4000));
	cr_assert_not(map_shapes_fit(shapes, n, 3000));
	for (size_t i = 0; i < n; i++) {
		expect_shape(&catalogue, &shapes[i]);
		samples += shapes[i].samples;
	}
	cr_assert_eq(samples, there); /* so no shape is listed twice */
	free(made.at);
}

Test(dataset_pack, too_many_shapes_are_not_listed)
{
	size_t n = MAP_MOST_SHAPES + 1;
	struct catalogue catalogue = {.rows = calloc(n, sizeof(struct row)), .n_rows = n};
	struct map_bytes made;
	for (size_t i = 0; i < n; i++)
		catalogue.rows[i].facts.image.width = (uint32_t)i;
	cr_assert_eq(map_shapes_make(&catalogue, &made), 0);
	cr_assert_eq(made.n, 0);
	free(made.at);
	catalogue.n_rows = n - 1;
	cr_assert_eq(map_shapes_make(&catalogue, &made), 0);
	cr_assert_eq(made.n, (n - 1) * sizeof(struct dataset_shape));
	free(made.at);
	free(catalogue.rows);
}

static uint64_t step_in(const void *context, size_t i)
{
	return i >= *(const size_t *)context;
}

Test(dataset_pack, knows_which_blocks_are_of_equal_numbers)
{
	const size_t from = PACK_BLOCK + 1;
	uint8_t *packed;
	size_t bytes;
	cr_assert_eq(pack_make(3 * PACK_BLOCK, step_in, &from, &packed, &bytes), 0);
	cr_assert_eq(pack_equal(packed, 0), PACK_BLOCK);
	cr_assert_eq(pack_equal(packed, 7), PACK_BLOCK - 7);
	cr_assert_eq(pack_equal(packed, PACK_BLOCK), 1);
	cr_assert_eq(pack_equal(packed, 2 * PACK_BLOCK), PACK_BLOCK);
	free(packed);
}
