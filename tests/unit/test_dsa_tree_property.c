// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "../../tools/sim/dsa_tree.h"
#include "sampler_twin.h"

#include <criterion/criterion.h>

/*
 * Random events for the tree, beside sets that the test keeps. After every step the tree must
 * agree with its definition, each R must equal the kept set, and an ended epoch must have given
 * each id once. For given R the definition allows one tree, whatever events led to it.
 */

#define CASES 2000
#define STEPS 40

struct world {
	struct dsa_tree *tree;
	struct rng rng;
	mask universe;
	mask r[TWIN_STREAMS];
	mask set[TWIN_STREAMS];
	mask given[TWIN_STREAMS];
	unsigned streams; /* bits of the streams that exist */
	unsigned epochs;  /* ended epochs */
};

/* Returns sets of different density, also sets that equal, contain or complement another one. */
static mask random_set(struct world *world)
{
	mask other = world->r[rng_below(&world->rng, TWIN_STREAMS)];
	mask a = rng_next(&world->rng);
	mask b = rng_next(&world->rng);
	switch (rng_below(&world->rng, 8)) {
	case 0:
		return 0;
	case 1:
		return world->universe;
	case 2:
		return other;
	case 3:
		return other & (a | b);
	case 4:
		return (other | (a & b)) & world->universe;
	case 5:
		return world->universe & ~other;
	case 6:
		return a & b & world->universe;
	default:
		return a & world->universe;
	}
}

static void toggle(struct world *world, stream_id j)
{
	if (world->streams >> j & 1) {
		dsa_tree_remove(world->tree, j);
		world->r[j] = 0;
	} else {
		mask set = random_set(world);
		cr_assert_eq(dsa_tree_insert(world->tree, j, twin_bitmap(set)), 0);
		world->r[j] = world->set[j] = set;
		world->given[j] = 0;
	}
	world->streams ^= 1U << j;
}

static void check_draw(struct world *world, int j, int given)
{
	cr_assert_geq(given, 0);
	mask element = (mask)1 << given;
	cr_assert(world->r[j] & element, "given twice, or never asked for");
	world->r[j] &= ~element;
	world->given[j] |= element;
	if (world->r[j])
		return;
	cr_assert_eq(world->given[j], world->set[j]);
	world->epochs++;
}

static void draw(struct world *world, unsigned who)
{
	stream_id streams[TWIN_STREAMS];
	sample_id samples[TWIN_STREAMS];
	int ret[TWIN_STREAMS];
	size_t n = twin_streams(who, streams);
	dsa_tree_draw(world->tree, streams, n, samples);
	twin_given(streams, samples, n, ret);
	for (int j = 0; j < TWIN_STREAMS; j++)
		if ((who >> j & 1) && world->r[j])
			check_draw(world, j, ret[j]);
		else
			cr_assert_eq(ret[j], -1);
}

static void check_stream(const struct world *world, stream_id j)
{
	mask r = world->r[j];
	int b = (int)(j * 7 % 64);
	cr_assert_eq(dsa_tree_remaining(world->tree, j), twin_size(r));
	cr_assert_eq(dsa_tree_contains(world->tree, j, twin_sample(b)), r >> b & 1);
	roaring_bitmap_t *expected = twin_bitmap(r);
	roaring_bitmap_t *copy = dsa_tree_copy_remaining(world->tree, j);
	cr_assert(roaring_bitmap_equals(copy, expected));
	roaring_bitmap_free(copy);
	roaring_bitmap_free(expected);
}

static void check(const struct world *world)
{
	dsa_tree_validate(world->tree);
	for (stream_id j = 0; j < TWIN_STREAMS; j++)
		if (world->streams >> j & 1)
			check_stream(world, j);
}

static void step(struct world *world)
{
	uint64_t kind = rng_below(&world->rng, 4);
	if (kind == 0 || !world->streams)
		toggle(world, (stream_id)rng_below(&world->rng, TWIN_STREAMS));
	else if (kind == 1)
		draw(world, world->streams);
	else
		draw(world, world->streams & (unsigned)rng_next(&world->rng));
	check(world);
}

/* Returns the number of epochs that ended. */
static unsigned random_events(uint64_t seed)
{
	struct world world = {0};
	rng_seed(&world.rng, seed);
	cr_assert_eq(dsa_tree_new(seed, &world.tree), 0);
	world.universe = ~(mask)0 >> rng_below(&world.rng, 61);
	for (int i = 0; i < STEPS; i++)
		step(&world);
	dsa_tree_free(&world.tree);
	return world.epochs;
}

Test(dsa_tree_property, after_every_event_the_tree_is_right)
{
	unsigned epochs = 0;
	for (uint64_t seed = 0; seed < CASES; seed++)
		epochs += random_events(seed);
	cr_assert_gt(epochs, CASES);
}

/* Whole epochs: in some rounds all streams draw, in others some of them, until nothing is left. */
Test(dsa_tree_property, an_epoch_gives_each_id_once)
{
	for (uint64_t seed = 0; seed < CASES / 10; seed++) {
		struct world world = {.universe = ~(mask)0};
		rng_seed(&world.rng, seed);
		cr_assert_eq(dsa_tree_new(seed, &world.tree), 0);
		for (stream_id j = 0; j < 5; j++)
			toggle(&world, j);
		for (bool any = true; any;) {
			unsigned some = (unsigned)rng_next(&world.rng);
			draw(&world, rng_below(&world.rng, 2) ? 31 : 31 & some);
			check(&world);
			any = false;
			for (int j = 0; j < 5; j++)
				any |= world.r[j] != 0;
		}
		for (int j = 0; j < 5; j++)
			cr_assert_eq(world.given[j], world.set[j]);
		dsa_tree_free(&world.tree);
	}
}

/* Sets of thousands of ids, for which CRoaring's containers change their kind. */
Test(dsa_tree_property, large_sets_are_emptied_exactly)
{
	struct dsa_tree *tree;
	struct rng rng;
	rng_seed(&rng, 7);
	cr_assert_eq(dsa_tree_new(7, &tree), 0);
	roaring_bitmap_t *left[3];
	uint64_t missing = 0;
	for (uint32_t j = 0; j < 3; j++) {
		left[j] = roaring_bitmap_from_range(j * 700, 21000 + j * 1200, 1);
		missing += roaring_bitmap_get_cardinality(left[j]);
		cr_assert_eq(dsa_tree_insert(tree, j, roaring_bitmap_copy(left[j])), 0);
	}
	for (uint64_t round = 0; missing; round++) {
		stream_id streams[TWIN_STREAMS];
		sample_id ret[TWIN_STREAMS];
		size_t n = twin_streams((unsigned)rng_below(&rng, 8), streams);
		dsa_tree_draw(tree, streams, n, ret);
		for (size_t i = 0; i < n; i++) {
			if (ret[i] == SAMPLE_NONE)
				continue;
			cr_assert(
				roaring_bitmap_remove_checked(left[streams[i]], ret[i]));
			missing--;
		}
		if (round % 1000 == 0)
			dsa_tree_validate(tree);
	}
	dsa_tree_validate(tree);
	for (stream_id j = 0; j < 3; j++) {
		cr_assert_eq(dsa_tree_remaining(tree, j), 0);
		roaring_bitmap_free(left[j]);
	}
	dsa_tree_free(&tree);
}
