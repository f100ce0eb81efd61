// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rank_parts.h"
#include "base/rng.h"
#include "effort.h"
#include "place/divide.h"

#include <criterion/criterion.h>

/*
 * Divides mini-batches by homes, and by the samples that homes lack. Random mini-batches are
 * compared with the best possible counts.
 */

#define NODES 5
#define RANKS 8
#define SAMPLES 96

struct world {
	struct rng rng;
	uint32_t n_nodes;
	uint64_t nodes[NODES], rank_node[RANKS];
	sample_id ids[SAMPLES];
	uint32_t home[SAMPLES], rank_of[SAMPLES];
	roaring_bitmap_t *lacked;
	struct coord_batch batch;
};

/* Makes a batch with random homes and with ranks on random nodes. A node may have no rank, and
 * ranks may be on nodes without samples. lacked: percentage of samples that their homes lack. */
static void any_batch(struct world *world, unsigned lacked)
{
	struct rng *rng = &world->rng;
	world->n_nodes = 1 + (uint32_t)rng_below(rng, NODES);
	for (uint32_t v = 0; v < NODES; v++)
		world->nodes[v] = 100 + v;
	world->batch = (struct coord_batch){.ids = world->ids,
		.n = 1 + (uint32_t)rng_below(rng, SAMPLES),
		.ranks = 1 + (uint32_t)rng_below(rng, RANKS),
		.rank_node = world->rank_node,
		.lacked = world->lacked};
	for (uint32_t r = 0; r < world->batch.ranks; r++)
		world->rank_node[r] = 100 + rng_below(rng, NODES);
	roaring_bitmap_clear(world->lacked);
	for (uint32_t i = 0; i < world->batch.n; i++) {
		world->ids[i] = 7 * i;
		world->home[i] = (uint32_t)rng_below(rng, world->n_nodes + 1);
		if (rng_below(rng, 100) < lacked)
			roaring_bitmap_add(world->lacked, world->ids[i]);
	}
}

static bool is_lacked(const struct world *world, uint32_t i)
{
	return roaring_bitmap_contains(world->lacked, world->ids[i]);
}

struct counts {
	uint32_t at_home, moved; /* moved: samples that leave the home that has them */
};

static struct counts counts_of(const struct world *world)
{
	struct counts counts = {0};
	for (uint32_t i = 0; i < world->batch.n; i++) {
		uint32_t home = world->home[i];
		bool there = home < world->n_nodes &&
			     world->rank_node[world->rank_of[i]] == world->nodes[home];
		counts.at_home += there;
		counts.moved += home < world->n_nodes && !there && !is_lacked(world, i);
	}
	return counts;
}

/* Returns the best counts: each node reads as many of its samples as its ranks take, and first
 * those that it has. */
static struct counts best_of(const struct world *world)
{
	struct counts best = {0};
	const struct coord_batch *batch = &world->batch;
	for (uint32_t v = 0; v < world->n_nodes; v++) {
		uint32_t takes = 0, homes = 0, has = 0;
		for (uint32_t r = 0; r < batch->ranks; r++)
			if (world->rank_node[r] == world->nodes[v])
				takes += ranks_share(batch->n, batch->ranks, r);
		for (uint32_t i = 0; i < batch->n; i++) {
			homes += world->home[i] == v;
			has += world->home[i] == v && !is_lacked(world, i);
		}
		best.at_home += homes < takes ? homes : takes;
		best.moved += has > takes ? has - takes : 0;
	}
	return best;
}

static void check_shares(const struct world *world)
{
	uint32_t n[RANKS] = {0};
	for (uint32_t i = 0; i < world->batch.n; i++) {
		cr_assert_lt(world->rank_of[i], world->batch.ranks);
		n[world->rank_of[i]]++;
	}
	for (uint32_t r = 0; r < world->batch.ranks; r++)
		cr_assert_eq(n[r], ranks_share(world->batch.n, world->batch.ranks, r));
}

static bool divide_world(struct world *world)
{
	return divide(
		&world->batch, world->home, world->nodes, world->n_nodes, world->rank_of);
}

static void begin(struct world *world)
{
	*world = (struct world){.lacked = roaring_bitmap_create()};
	cr_assert(world->lacked);
	rng_seed(&world->rng, 1);
}

Test(divide, samples_that_homes_have_stay_there_before_samples_that_homes_lack)
{
	struct world world;
	unsigned divided = 0;
	begin(&world);
	for (unsigned i = 0; i < effort(2000, 20000); i++) {
		any_batch(&world, (unsigned)rng_below(&world.rng, 101));
		if (!divide_world(&world))
			continue;
		divided++;
		check_shares(&world);
		struct counts is = counts_of(&world), best = best_of(&world);
		cr_assert_eq(is.at_home, best.at_home);
		cr_assert_eq(is.moved, best.moved);
	}
	cr_assert_gt(divided, 1000);
	roaring_bitmap_free(world.lacked);
}

/* The mutant divides by homes alone, as in a group whose nodes do not tell what they lack. */
Test(divide, mutants_are_rejected)
{
	struct world world;
	uint64_t moved = 0, best = 0;
	begin(&world);
	for (unsigned i = 0; i < 2000; i++) {
		any_batch(&world, 50);
		world.batch.lacked = NULL;
		if (!divide_world(&world))
			continue;
		check_shares(&world);
		cr_assert_eq(counts_of(&world).at_home, best_of(&world).at_home);
		moved += counts_of(&world).moved;
		best += best_of(&world).moved;
	}
	cr_assert_gt(moved, best + best / 4);
	roaring_bitmap_free(world.lacked);
}
