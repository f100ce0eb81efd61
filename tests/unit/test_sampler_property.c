// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "../../tools/sim/sim_sampler.h"
#include "effort.h"
#include "sampler_twin.h"

#include <criterion/criterion.h>

/*
 * Random events for the samplers of the daemon and for the paper's tree, beside sets that the test
 * keeps: each stream gets each of its ids once, and its set equals the kept one. The tree must agree
 * with its definition, which allows one tree for given sets, whatever events led to it.
 */

#define CASES effort(500, 1500)
#define STEPS 30

struct world {
	struct sampler *sampler;
	struct rng rng;
	struct twin twin;
	unsigned streams; /* mask of the streams that exist */
};

static mask random_mask(struct rng *rng)
{
	return rng_next(rng);
}

/* Returns sets of different density, also sets that equal, contain or complement another one. */
static mask random_set(struct world *world, mask universe)
{
	mask other = world->twin.r[rng_below(&world->rng, TWIN_STREAMS)];
	mask a = random_mask(&world->rng);
	mask b = random_mask(&world->rng);
	switch (rng_below(&world->rng, 8)) {
	case 0:
		return 0;
	case 1:
		return universe;
	case 2:
		return other;
	case 3:
		return other & (a | b);
	case 4:
		return (other | (a & b)) & universe;
	case 5:
		return universe & ~other;
	case 6:
		return a & b & universe;
	default:
		return a & universe;
	}
}

static void check_stream(const struct world *world, stream_id j)
{
	const struct sampler *sampler = world->sampler;
	mask r = world->twin.r[j];
	cr_assert_eq(sampler_remaining(sampler, j), twin_size(r));
	for (int b = 0; b < 64; b++)
		cr_assert_eq(sampler_contains(sampler, j, twin_sample(b)), r >> b & 1);
}

static void toggle(struct world *world, stream_id j, mask universe)
{
	if (world->streams >> j & 1) {
		sampler_remove(world->sampler, j);
		world->twin.r[j] = 0;
	} else {
		mask set = random_set(world, universe);
		cr_assert_eq(sampler_insert(world->sampler, j, 0, twin_bitmap(set)), 0);
		world->twin.r[j] = set;
	}
	world->streams ^= 1U << j;
}

static void draw(struct world *world, unsigned who)
{
	int ret[TWIN_STREAMS];
	twin_sampler_draw(world->sampler, who, ret);
	for (int j = 0; j < TWIN_STREAMS; j++) {
		if (!(who >> j & 1) || !world->twin.r[j]) {
			cr_assert_eq(ret[j], -1);
			continue;
		}
		cr_assert_geq(ret[j], 0);
		cr_assert(world->twin.r[j] >> ret[j] & 1, "given twice, or never asked");
		world->twin.r[j] &= ~((mask)1 << ret[j]);
	}
}

static void step(struct world *world, mask universe)
{
	uint64_t kind = rng_below(&world->rng, 4);
	if (kind == 0 || !world->streams)
		toggle(world, (stream_id)rng_below(&world->rng, TWIN_STREAMS), universe);
	else if (kind == 1)
		draw(world, world->streams);
	else
		draw(world, world->streams & (unsigned)random_mask(&world->rng));
	sampler_validate(world->sampler);
	for (stream_id j = 0; j < TWIN_STREAMS; j++)
		if (world->streams >> j & 1)
			check_stream(world, j);
}

static void random_events(enum sampler_kind kind)
{
	for (uint64_t seed = 0, n = CASES; seed < n; seed++) {
		struct world world = {0};
		rng_seed(&world.rng, seed);
		cr_assert_eq(sim_sampler_new(kind, seed, &world.sampler), 0);
		mask universe = ~(mask)0 >> rng_below(&world.rng, 61);
		for (int i = 0; i < STEPS; i++)
			step(&world, universe);
		sampler_free(&world.sampler);
	}
}

Test(sampler_property, dsa_gives_every_id_once)
{
	random_events(SAMPLER_DSA);
}

Test(sampler_property, isa_gives_every_id_once)
{
	random_events(SAMPLER_ISA);
}

Test(sampler_property, the_tree_gives_every_id_once)
{
	random_events(SAMPLER_DSA_TREE);
}

Test(sampler_property, sequential_gives_every_id_once)
{
	random_events(SAMPLER_SEQUENTIAL);
}

/* Sets of thousands of ids, for which CRoaring's containers change their kind. */
static void empty_large_sets(enum sampler_kind kind, uint32_t n_ids)
{
	struct sampler *sampler;
	struct rng rng;
	rng_seed(&rng, 7);
	cr_assert_eq(sim_sampler_new(kind, 7, &sampler), 0);
	roaring_bitmap_t *left[3];
	uint64_t missing = 0;
	for (uint32_t j = 0; j < 3; j++) {
		left[j] = roaring_bitmap_from_range(
			j * n_ids / 31, n_ids + j * n_ids / 18, 1);
		missing += roaring_bitmap_get_cardinality(left[j]);
		cr_assert_eq(
			sampler_insert(sampler, j, 0, roaring_bitmap_copy(left[j])), 0);
	}
	while (missing) {
		stream_id streams[TWIN_STREAMS];
		sample_id ret[TWIN_STREAMS];
		size_t n = twin_streams((unsigned)rng_below(&rng, 8), streams);
		sampler_draw(sampler, streams, n, ret);
		for (size_t i = 0; i < n; i++) {
			if (ret[i] == SAMPLE_NONE)
				continue;
			cr_assert(
				roaring_bitmap_remove_checked(left[streams[i]], ret[i]));
			missing--;
		}
		if (missing % 1000 == 0)
			sampler_validate(sampler);
	}
	for (stream_id j = 0; j < 3; j++) {
		cr_assert_eq(sampler_remaining(sampler, j), 0);
		roaring_bitmap_free(left[j]);
	}
	sampler_free(&sampler);
}

Test(sampler_property, large_sets_are_emptied_exactly)
{
	empty_large_sets(SAMPLER_DSA, 62000);
	empty_large_sets(SAMPLER_DSA_TREE, 21000);
}
