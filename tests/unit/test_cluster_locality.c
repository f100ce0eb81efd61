// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "place/locality.h"
#include "effort.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * Which rank takes which sample of a global mini-batch: exact counts, the least volume, and few
 * messages. Mutants are rejected by the samples that they move.
 */

/* A batch with memory of its own. */
struct world {
	uint32_t *sample_node, *rank_node, *rank_count, *rank;
	struct locality_batch batch;
};

static struct world new_world(uint32_t nodes, uint32_t ranks, uint32_t samples)
{
	struct world world = {
		.sample_node = calloc(samples + 1, sizeof(uint32_t)),
		.rank_node = calloc(ranks + 1, sizeof(uint32_t)),
		.rank_count = calloc(ranks + 1, sizeof(uint32_t)),
		.rank = calloc(samples + 1, sizeof(uint32_t)),
	};
	cr_assert(world.sample_node && world.rank_node && world.rank_count && world.rank);
	world.batch = (struct locality_batch){.sample_node = world.sample_node,
		.n_samples = samples,
		.rank_node = world.rank_node,
		.rank_count = world.rank_count,
		.n_ranks = ranks,
		.n_nodes = nodes};
	return world;
}

static void free_world(struct world *world)
{
	free(world->sample_node);
	free(world->rank_node);
	free(world->rank_count);
	free(world->rank);
}

/* Makes a batch with ranks and samples on random nodes; the ranks' counts add up to the samples.
 * nowhere: percentage of samples that are on no node. */
static void any_batch(struct world *world, struct rng *rng, uint32_t nowhere)
{
	struct locality_batch *batch = &world->batch;
	memset(world->rank_count, 0, batch->n_ranks * sizeof(uint32_t));
	for (uint32_t r = 0; r < batch->n_ranks; r++)
		world->rank_node[r] = (uint32_t)rng_below(rng, batch->n_nodes);
	for (uint32_t i = 0; i < batch->n_samples; i++) {
		world->rank_count[rng_below(rng, batch->n_ranks)]++;
		world->sample_node[i] =
			rng_below(rng, 100) < nowhere
				? LOCALITY_NOWHERE
				: (uint32_t)rng_below(rng, batch->n_nodes);
	}
}

/* Makes a batch like the paper's: one rank on each node, and b samples for each rank. */
static void learners(struct world *world, struct rng *rng, uint32_t b)
{
	for (uint32_t r = 0; r < world->batch.n_ranks; r++) {
		world->rank_node[r] = r;
		world->rank_count[r] = b;
	}
	for (uint32_t i = 0; i < world->batch.n_samples; i++)
		world->sample_node[i] = (uint32_t)rng_below(rng, world->batch.n_nodes);
}

struct outcome {
	uint32_t moved, nowhere;
	uint32_t messages; /* pairs of nodes between which samples move */
};

static struct outcome assign(struct world *world)
{
	const struct locality_batch *batch = &world->batch;
	struct outcome outcome = {0};
	bool *pairs = calloc(batch->n_nodes, batch->n_nodes);
	cr_assert_not_null(pairs);
	cr_assert_eq(locality_assign(batch, world->rank), 0);
	for (uint32_t i = 0; i < batch->n_samples; i++) {
		uint32_t from = batch->sample_node[i];
		uint32_t to = batch->rank_node[world->rank[i]];
		outcome.nowhere += from == LOCALITY_NOWHERE;
		if (from == to || from == LOCALITY_NOWHERE)
			continue;
		bool *pair = &pairs[(size_t)from * batch->n_nodes + to];
		outcome.moved++;
		outcome.messages += !*pair;
		*pair = true;
	}
	free(pairs);
	return outcome;
}

/* --- a plain sweep, and figures of a batch ----------------------------------------------- */

struct figures {
	/* surplus and lack in samples, sweep in messages */
	uint32_t surplus, lack, sweep;
};

/* Counts the messages of a plain sweep, which pairs surplus and lack in the order of nodes.
 * Samples that are on no node do not count. */
static uint32_t sweep(int64_t *imbalance, uint32_t n)
{
	uint32_t messages = 0;
	for (uint32_t from = 0, to = 0;;) {
		while (from < n && imbalance[from] <= 0)
			from++;
		while (to < n && imbalance[to] >= 0)
			to++;
		if (from == n || to == n)
			return messages;
		int64_t part = imbalance[from] < -imbalance[to] ? imbalance[from]
								: -imbalance[to];
		imbalance[from] -= part;
		imbalance[to] += part;
		messages++;
	}
}

static struct figures figures_of(const struct locality_batch *batch)
{
	struct figures figures = {0};
	int64_t *imbalance = calloc(batch->n_nodes, sizeof(*imbalance));
	cr_assert_not_null(imbalance);
	for (uint32_t r = 0; r < batch->n_ranks; r++)
		imbalance[batch->rank_node[r]] -= batch->rank_count[r];
	for (uint32_t i = 0; i < batch->n_samples; i++)
		if (batch->sample_node[i] != LOCALITY_NOWHERE)
			imbalance[batch->sample_node[i]]++;
	for (uint32_t v = 0; v < batch->n_nodes; v++) {
		figures.surplus += imbalance[v] > 0 ? (uint32_t)imbalance[v] : 0;
		figures.lack += imbalance[v] < 0 ? (uint32_t)-imbalance[v] : 0;
	}
	figures.sweep = sweep(imbalance, batch->n_nodes);
	free(imbalance);
	return figures;
}

/* --- properties of every batch ----------------------------------------------------------- */

static void check_counts(const struct world *world)
{
	const struct locality_batch *batch = &world->batch;
	uint32_t *counts = calloc(batch->n_ranks, sizeof(*counts));
	cr_assert_not_null(counts);
	for (uint32_t i = 0; i < batch->n_samples; i++) {
		cr_assert_lt(world->rank[i], batch->n_ranks);
		counts[world->rank[i]]++;
	}
	for (uint32_t r = 0; r < batch->n_ranks; r++)
		cr_assert_eq(
			counts[r], batch->rank_count[r], "rank %u has %u", r, counts[r]);
	free(counts);
}

Test(locality, counts_are_exact_and_the_least_moves)
{
	struct rng rng;
	rng_seed(&rng, 1);
	for (unsigned again = 0; again < effort(400, 10000); again++) {
		struct world world = new_world(1 + (uint32_t)rng_below(&rng, 20),
			1 + (uint32_t)rng_below(&rng, 40),
			(uint32_t)rng_below(&rng, 300));
		any_batch(&world, &rng, again % 3 * 20);
		struct outcome outcome = assign(&world);
		struct figures figures = figures_of(&world.batch);
		check_counts(&world);
		cr_assert_eq(outcome.moved, figures.surplus);
		cr_assert_eq(outcome.moved + outcome.nowhere, figures.lack);
		free_world(&world);
	}
}

/* --- brute force ------------------------------------------------------------------------- */

/* Returns the fewest samples that must leave their node, over all ways to give samples to ranks. */
static uint32_t fewest(const struct locality_batch *batch, uint32_t *left, uint32_t i)
{
	uint32_t least = UINT32_MAX;
	if (i == batch->n_samples)
		return 0;
	for (uint32_t r = 0; r < batch->n_ranks; r++) {
		if (left[r] == 0)
			continue;
		left[r]--;
		uint32_t rest = fewest(batch, left, i + 1);
		left[r]++;
		if (batch->sample_node[i] != LOCALITY_NOWHERE)
			rest += batch->sample_node[i] != batch->rank_node[r];
		least = rest < least ? rest : least;
	}
	return least;
}

Test(locality, no_other_assignment_moves_fewer)
{
	struct rng rng;
	rng_seed(&rng, 2);
	for (unsigned again = 0; again < effort(200, 2000); again++) {
		struct world world = new_world(3, 3, 7);
		any_batch(&world, &rng, again % 2 * 30);
		uint32_t left[3];
		memcpy(left, world.rank_count, sizeof(left));
		cr_assert_eq(assign(&world).moved, fewest(&world.batch, left, 0));
		free_world(&world);
	}
}

/* --- the law of the share that moves ----------------------------------------------------- */

/* e^-b b^b / b!: the mean part of its b samples that a learner lacks, if a Poisson number of
 * samples is on its node. */
static double law(double b)
{
	return exp(b * log(b) - b - lgamma(b + 1));
}

typedef uint32_t mover(struct world *world);

static uint32_t by_locality(struct world *world)
{
	return assign(world).moved;
}

/* A mutant: ranks take samples in turn, wherever the samples are. */
static uint32_t mutant_in_turn(struct world *world)
{
	uint32_t moved = 0;
	for (uint32_t i = 0; i < world->batch.n_samples; i++)
		moved += world->sample_node[i] != i % world->batch.n_nodes;
	return moved;
}

/* A mutant: moves a tenth more samples than necessary. */
static uint32_t mutant_a_tenth_too_many(struct world *world)
{
	uint32_t moved = assign(world).moved;
	return moved + moved / 10;
}

/* Returns how far the mean part of moved samples is from the law, in standard errors. */
static double off_law(mover *move, uint32_t p, uint32_t b, unsigned batches)
{
	struct world world = new_world(p, p, p * b);
	struct rng rng;
	double sum = 0, squares = 0;
	rng_seed(&rng, p + b);
	for (unsigned i = 0; i < batches; i++) {
		learners(&world, &rng, b);
		double share = (double)move(&world) / (p * b);
		sum += share;
		squares += share * share;
	}
	free_world(&world);
	double mean = sum / batches;
	double deviation = sqrt((squares / batches - mean * mean) / batches);
	return fabs(mean - law(b)) / deviation;
}

#define Z_LIMIT 4.5

Test(locality, the_share_that_moves_follows_the_law)
{
	unsigned batches = effort(200, 2000);
	const uint32_t sizes[] = {32, 64, 128};
	for (int i = 0; i < 3; i++)
		cr_assert_lt(off_law(by_locality, 1024, sizes[i], batches / 4), Z_LIMIT);
	cr_assert_lt(off_law(by_locality, 256, 32, batches), Z_LIMIT);
}

Test(locality, mutants_are_rejected)
{
	cr_assert_gt(off_law(mutant_in_turn, 256, 32, 50), Z_LIMIT);
	cr_assert_gt(off_law(mutant_a_tenth_too_many, 256, 32, 50), Z_LIMIT);
}

/* --- messages ---------------------------------------------------------------------------- */

Test(locality, two_heaps_need_fewer_messages_than_a_sweep)
{
	struct world world = new_world(1024, 1024, 1024 * 32);
	struct rng rng;
	double heaps = 0, swept = 0;
	unsigned batches = effort(20, 200);
	rng_seed(&rng, 4);
	for (unsigned i = 0; i < batches; i++) {
		learners(&world, &rng, 32);
		uint32_t messages = assign(&world).messages;
		struct figures figures = figures_of(&world.batch);
		cr_assert_leq(messages, figures.sweep);
		heaps += messages;
		swept += figures.sweep;
	}
	free_world(&world);
	heaps /= batches;
	swept /= batches;
	cr_assert_lt(fabs(heaps - 539), 20, "%.1f messages", heaps);
	cr_assert_lt(fabs(swept - 854), 30, "%.1f messages of a sweep", swept);
}

/* The two heaps are an approximation, and in small cases a sweep may be better by luck. */
Test(locality, two_heaps_are_better_on_average_in_small_cases_too)
{
	struct rng rng;
	uint64_t heaps = 0, swept = 0, worse = 0, cases = effort(2000, 50000);
	rng_seed(&rng, 5);
	for (uint64_t i = 0; i < cases; i++) {
		struct world world = new_world(8, 8, 8 * 16);
		learners(&world, &rng, 16);
		uint32_t messages = assign(&world).messages;
		uint32_t others = figures_of(&world.batch).sweep;
		heaps += messages;
		swept += others;
		worse += messages > others;
		free_world(&world);
	}
	cr_assert_lt(heaps, swept);
	cr_assert_lt(worse, cases / 40, "%lu of %lu worse, %lu %lu", worse, cases, heaps,
		swept);
}

/* --- samples that are on no node --------------------------------------------------------- */

static double share_with_cached(uint32_t p, uint32_t b, double cached)
{
	struct world world = new_world(p, p, p * b);
	struct rng rng;
	uint64_t moved = 0;
	unsigned batches = 20;
	rng_seed(&rng, 6);
	for (unsigned i = 0; i < batches; i++) {
		learners(&world, &rng, b);
		for (uint32_t s = 0; s < p * b; s++)
			if ((double)rng_below(&rng, 1000) >= 1000 * cached)
				world.sample_node[s] = LOCALITY_NOWHERE;
		moved += assign(&world).moved;
	}
	free_world(&world);
	return (double)moved / (batches * p * b);
}

Test(locality, what_nobody_has_fills_what_nodes_lack)
{
	double all = share_with_cached(1024, 128, 1),
	       most = share_with_cached(1024, 128, .9);
	cr_assert_lt(fabs(all - .035), .002, "%.4f", all);
	cr_assert_lt(fabs(most - .005), .002, "%.4f", most);
}

/* --- several mini-batches, several ranks a node ------------------------------------------ */

Test(locality, four_mini_batches_at_once_move_half_the_share)
{
	struct world world = new_world(256, 256, 256 * 128);
	struct rng rng;
	uint64_t moved = 0;
	rng_seed(&rng, 7);
	for (unsigned i = 0; i < 20; i++) {
		learners(&world, &rng, 4 * 32);
		moved += assign(&world).moved;
	}
	double share = (double)moved / (20 * 256 * 128);
	cr_assert_lt(fabs(share / law(32) - .5), .05, "%.4f", share);
	free_world(&world);
}

Test(locality, ranks_of_a_node_take_its_samples_in_turn)
{
	struct world world = new_world(2, 4, 8);
	const uint32_t rank_node[] = {0, 0, 1, 1}, rank_count[] = {3, 1, 2, 2};
	const uint32_t sample_node[] = {0, 0, 0, 0, 1, 1, 1, 1};
	const uint32_t expected[] = {0, 1, 0, 0, 2, 3, 2, 3};
	memcpy(world.rank_node, rank_node, sizeof(rank_node));
	memcpy(world.rank_count, rank_count, sizeof(rank_count));
	memcpy(world.sample_node, sample_node, sizeof(sample_node));
	cr_assert_eq(assign(&world).moved, 0);
	cr_assert_arr_eq(world.rank, expected, sizeof(expected));
	free_world(&world);
}

Test(locality, what_is_not_possible_is_refused)
{
	struct world world = new_world(2, 2, 4);
	world.rank_count[0] = 3;
	cr_assert_eq(locality_assign(&world.batch, world.rank), -EINVAL);
	world.rank_count[1] = 1;
	cr_assert_eq(locality_assign(&world.batch, world.rank), 0);
	world.sample_node[2] = 2;
	cr_assert_eq(locality_assign(&world.batch, world.rank), -EINVAL);
	world.sample_node[2] = LOCALITY_NOWHERE;
	world.rank_node[1] = 2;
	cr_assert_eq(locality_assign(&world.batch, world.rank), -EINVAL);
	free_world(&world);
}
