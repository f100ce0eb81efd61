// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sampler_twin.h"

#include <criterion/criterion.h>

/*
 * Rounds in states that arose from draws, arrivals and departures, in which streams have other
 * sizes than at first and have changed places. Given the sets before the round, each decision must
 * be possible, and streams must share as often as they should.
 */

#define CASES 800
#define STEPS 25
#define STREAMS 4
#define UNIVERSE 0xff

struct expectation {
	const int *seen;
	double probability; /* of the decision */
	double distinct;    /* mean number of distinct samples */
	double squared;	    /* mean of the square of this number */
};

static double distinct(const int *ret)
{
	mask seen = 0;
	for (int j = 0; j < TWIN_STREAMS; j++)
		if (ret[j] >= 0)
			seen |= (mask)1 << ret[j];
	return twin_size(seen);
}

static void expect(void *context, const int *ret, double probability)
{
	struct expectation *e = context;
	double n = distinct(ret);
	e->distinct += probability * n;
	e->squared += probability * n * n;
	if (!memcmp(ret, e->seen, TWIN_STREAMS * sizeof(ret[0])))
		e->probability += probability;
}

struct tally {
	double error; /* number of distinct samples, minus its expectation */
	double variance;
	unsigned impossible;
	unsigned rounds;
};

static void weigh(
	struct tally *tally, const struct twin *before, unsigned who, const int *ret)
{
	struct expectation e = {.seen = ret};
	twin_enumerate(before, who, expect, &e);
	tally->error += distinct(ret) - e.distinct;
	tally->variance += e.squared - e.distinct * e.distinct;
	tally->impossible += e.probability <= 0;
	tally->rounds++;
}

static double z_of(const struct tally *tally)
{
	return fabs(tally->error) / sqrt(tally->variance);
}

/* Streams arrive and leave, in the sampler and in the twin, so that the twin's sets are those of
 * the sampler. */
static void change(struct rng *rng, struct sampler *sampler, struct twin *twin)
{
	for (stream_id j = 0; j < STREAMS; j++) {
		if (rng_below(rng, 6))
			continue;
		twin->r[j] = (rng_next(rng) | rng_next(rng)) & UNIVERSE;
		if (!sampler)
			continue;
		sampler_remove(sampler, j);
		cr_assert_eq(sampler_insert(sampler, j, 0, twin_bitmap(twin->r[j])), 0);
	}
}

static struct sampler *new_sampler(uint64_t seed)
{
	struct sampler *sampler;
	cr_assert_eq(sampler_new(SAMPLER_DSA, seed, &sampler), 0);
	for (stream_id j = 0; j < STREAMS; j++)
		cr_assert_eq(sampler_insert(sampler, j, 0, twin_bitmap(0)), 0);
	return sampler;
}

/* Plays rounds; half of them are partial. Without a sampler the mutant decides. */
static void play(struct tally *tally, uint64_t seed, bool real, enum mutant mutant)
{
	struct rng rng, twin_rng;
	struct twin twin = {.mutant = mutant};
	struct sampler *sampler = real ? new_sampler(seed) : NULL;
	rng_seed(&rng, seed);
	rng_seed(&twin_rng, seed + CASES);
	for (int i = 0; i < STEPS; i++) {
		int ret[TWIN_STREAMS];
		unsigned who = (1U << STREAMS) - 1;
		struct twin before;
		change(&rng, sampler, &twin);
		if (rng_below(&rng, 2))
			who &= (unsigned)rng_next(&rng);
		before = twin;
		if (!sampler) {
			twin_draw(&twin, who, &twin_rng, ret);
		} else {
			twin_sampler_draw(sampler, who, ret);
			for (int j = 0; j < STREAMS; j++)
				if (ret[j] >= 0)
					twin.r[j] &= ~((mask)1 << ret[j]);
		}
		weigh(tally, &before, who, ret);
	}
	sampler_free(&sampler);
}

Test(sampler_states, streams_share_as_often_as_they_should)
{
	struct tally tally = {0};
	for (uint64_t seed = 0; seed < CASES; seed++)
		play(&tally, seed, true, HONEST);
	cr_assert_eq(tally.impossible, 0);
	cr_assert_lt(z_of(&tally), Z_LIMIT, "z = %.2f", z_of(&tally));
}

Test(sampler_states, mutants_are_rejected)
{
	for (enum mutant mutant = HONEST; mutant <= ALL_JOIN; mutant++) {
		struct tally tally = {0};
		for (uint64_t seed = 0; seed < CASES; seed++)
			play(&tally, seed, false, mutant);
		bool rejected = tally.impossible || z_of(&tally) > Z_LIMIT;
		bool visible = mutant == SEES_REMOVALS || mutant == ALL_JOIN;
		cr_assert_eq(
			rejected, visible, "mutant %d: z = %.2f", mutant, z_of(&tally));
	}
}
