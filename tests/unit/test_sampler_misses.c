// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "sampler/sampler.h"

#include <criterion/criterion.h>
#include <math.h>

/*
 * The paper's appendix A.2 with a cache of one slot: all jobs draw together, so a round loads each
 * of its distinct samples once. The expected figures come from an exact computation of the
 * algorithm.
 */

#define JOBS 4

struct range {
	uint32_t begin;
	uint32_t end;
};

/* `size` of the ids below `universe`, at random. */
static roaring_bitmap_t *random_subset(struct rng *rng, uint32_t universe, uint32_t size)
{
	roaring_bitmap_t *ids = roaring_bitmap_create();
	for (uint32_t id = 0; id < universe; id++)
		if (rng_below(rng, universe - id) < size) {
			roaring_bitmap_add(ids, id);
			size--;
		}
	return ids;
}

/* Serves jobs until none has samples left. Returns the number of loads. */
static unsigned misses(struct sampler *sampler)
{
	static const stream_id jobs[JOBS] = {0, 1, 2, 3};
	unsigned loads = 0;
	sample_id slot = SAMPLE_NONE;
	for (;;) {
		sample_id ret[JOBS];
		unsigned served = 0;
		sampler_draw(sampler, jobs, JOBS, ret);
		for (int i = 0; i < JOBS; i++) {
			bool again = ret[i] == SAMPLE_NONE || ret[i] == slot;
			for (int j = 0; j < i; j++)
				again |= ret[j] == ret[i];
			served += ret[i] != SAMPLE_NONE;
			loads += !again;
		}
		if (!served)
			return loads;
		for (int i = 0; i < JOBS; i++)
			slot = ret[i] == SAMPLE_NONE ? slot : ret[i];
	}
}

/* ranges NULL: four random subsets of 10,000 out of 13,333 ids. */
static unsigned simulate(const struct range *ranges, enum sampler_kind kind)
{
	struct sampler *sampler;
	struct rng rng;
	rng_seed(&rng, 3);
	cr_assert_eq(sampler_new(kind, 3, &sampler), 0);
	for (stream_id j = 0; j < JOBS; j++) {
		roaring_bitmap_t *ids =
			ranges ? roaring_bitmap_from_range(
					 ranges[j].begin, ranges[j].end, 1)
			       : random_subset(&rng, 13333, 10000);
		ids = ids ? ids : roaring_bitmap_create();
		cr_assert_eq(sampler_insert(sampler, j, 0, ids), 0);
	}
	unsigned loads = misses(sampler);
	sampler_validate(sampler);
	sampler_free(&sampler);
	return loads;
}

static void check(const struct range *ranges, double expected)
{
	unsigned loads = simulate(ranges, SAMPLER_DSA);
	cr_assert_lt(fabs(loads - expected), .02 * expected, "%u", loads);
}

Test(sampler_misses, four_random_subsets)
{
	check(NULL, 22630);
}

Test(sampler_misses, four_nested_sets)
{
	check((struct range[JOBS]){{0, 10000}, {0, 7500}, {0, 5000}, {0, 2500}}, 18608);
}

Test(sampler_misses, two_nested_sets)
{
	check((struct range[JOBS]){{0, 10000}, {0, 7500}, {0, 0}, {0, 0}}, 13592);
}

Test(sampler_misses, two_overlapping_sets)
{
	check((struct range[JOBS]){{0, 10000}, {5000, 15000}, {0, 0}, {0, 0}}, 15000);
}

/* The measure sees the difference: independent sampling shares nothing. */
Test(sampler_misses, isa_loads_nearly_everything_again)
{
	cr_assert_gt(simulate(NULL, SAMPLER_ISA), 39900);
}
