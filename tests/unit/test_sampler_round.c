// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "effort.h"
#include "round_statistics.h"
#include "sampler_twin.h"

#include <criterion/criterion.h>

/* The samples that the streams of a round get together have the paper's distribution. */

#define ELEMENTS 6
/* With thirty joint decisions, these rounds notice a relative error of 20 % (few) or 11 % (many)
 * in each probability. */
#define ROUNDS effort(1500, 5000)
#define SETTINGS 40

/* Sets of streams, and the streams that draw. The other streams leave before the round. */
struct setting {
	struct twin twin;
	unsigned who;
	mask gone;
	uint64_t seed;
};

static struct setting random_setting(uint64_t seed)
{
	struct setting setting = {.seed = seed};
	struct rng rng;
	rng_seed(&rng, seed);
	mask all = ((mask)1 << ELEMENTS) - 1;
	for (int j = 0; j < 4; j++)
		setting.twin.r[j] = (rng_next(&rng) | rng_next(&rng)) & all;
	setting.gone = rng_next(&rng) & all;
	setting.who = (unsigned)rng_below(&rng, 16) | 1U << rng_below(&rng, 4);
	return setting;
}

/* Inserts the streams in an order that changes with the turn, and removes the stream of another
 * set. */
static void fill(struct sampler *sampler, const struct setting *setting, uint64_t turn)
{
	for (uint64_t i = 0; i < 5; i++) {
		stream_id j = (stream_id)((i * (1 + turn % 4) + turn) % 5);
		mask set = j < 4 ? setting->twin.r[j] : setting->gone;
		cr_assert_eq(sampler_insert(sampler, j, 0, twin_bitmap(set)), 0);
	}
	sampler_remove(sampler, 4);
}

static double sampler_z(const struct setting *setting)
{
	unsigned counts[ROUND_CELLS] = {0};
	double probability[ROUND_CELLS] = {0};
	struct sampler *sampler;
	cr_assert_eq(sampler_new(SAMPLER_DSA, setting->seed, &sampler), 0);
	for (uint64_t i = 0, n = ROUNDS; i < n; i++) {
		int ret[TWIN_STREAMS];
		fill(sampler, setting, i);
		twin_sampler_draw(sampler, setting->who, ret);
		counts[round_cell(ret)]++;
		for (stream_id j = 0; j < 4; j++)
			sampler_remove(sampler, j);
	}
	sampler_free(&sampler);
	twin_enumerate(&setting->twin, setting->who, round_add, probability);
	return round_z(counts, probability, ROUNDS);
}

static double twin_z(const struct setting *setting, enum mutant mutant)
{
	unsigned counts[ROUND_CELLS] = {0};
	double probability[ROUND_CELLS] = {0};
	struct rng rng;
	rng_seed(&rng, setting->seed);
	for (uint64_t i = 0, n = ROUNDS; i < n; i++) {
		int ret[TWIN_STREAMS];
		struct twin twin = setting->twin;
		twin.mutant = mutant;
		twin_draw(&twin, setting->who, &rng, ret);
		counts[round_cell(ret)]++;
	}
	twin_enumerate(&setting->twin, setting->who, round_add, probability);
	return round_z(counts, probability, ROUNDS);
}

Test(sampler_round, joint_decisions_have_their_exact_probabilities)
{
	for (uint64_t seed = 0; seed < SETTINGS; seed++) {
		struct setting setting = random_setting(seed);
		double z = sampler_z(&setting);
		cr_assert_lt(z, Z_LIMIT, "setting %d: z = %.2f", (int)seed, z);
	}
}

Test(sampler_round, the_twin_decides_with_the_same_probabilities)
{
	for (uint64_t seed = 0; seed < SETTINGS; seed++) {
		struct setting setting = random_setting(seed);
		double z = twin_z(&setting, HONEST);
		cr_assert_lt(z, Z_LIMIT, "setting %d: z = %.2f", (int)seed, z);
	}
}

/* Each mutant must be noticed in some setting, otherwise the statistics above have a blind spot. */
Test(sampler_round, mutants_are_rejected)
{
	for (enum mutant mutant = SEES_REMOVALS; mutant <= ALL_JOIN; mutant++) {
		int rejected = 0;
		for (uint64_t seed = 0; seed < SETTINGS; seed++) {
			struct setting setting = random_setting(seed);
			rejected += twin_z(&setting, mutant) > 2 * Z_LIMIT;
		}
		cr_assert_geq(rejected, SETTINGS / 4, "mutant %d: %d", mutant, rejected);
	}
}

#define SHARED 300

/*
 * Streams 0, 1 and 2 have SHARED ids in common. Stream 1 has one more id, and stream 2 has that
 * one and another. Stream 3 is larger, has none of these ids, and sits out.
 */
static void draw_nested(uint64_t seed, sample_id ret[3])
{
	struct sampler *sampler;
	cr_assert_eq(sampler_new(SAMPLER_DSA, seed, &sampler), 0);
	for (stream_id j = 0; j < 4; j++) {
		roaring_bitmap_t *ids = roaring_bitmap_create();
		sample_id begin = j == 3 ? 100000 : 0;
		for (sample_id id = begin; id < begin + SHARED + j; id++)
			roaring_bitmap_add(ids, id);
		cr_assert_eq(sampler_insert(sampler, j, 0, ids), 0);
	}
	sampler_draw(sampler, (stream_id[]){0, 1, 2}, 3, ret);
	sampler_validate(sampler);
	sampler_free(&sampler);
}

static double binomial_z(int count, int n, double p)
{
	return fabs(count - n * p) / sqrt(n * p * (1 - p));
}

/* Nearly all ids that streams 1 and 2 may draw were offered before. The remaining ones must still
 * be found, and shared in the right proportion. */
Test(sampler_round, what_little_was_not_offered_is_found)
{
	const int rounds = (int)effort(20000, 40000);
	int own = 0, both = 0;
	for (int i = 0; i < rounds; i++) {
		sample_id ret[3];
		draw_nested((uint64_t)i, ret);
		cr_assert_lt(ret[0], SHARED);
		cr_assert(ret[1] == ret[0] || ret[1] == SHARED);
		cr_assert(ret[2] == ret[0] || ret[2] == SHARED || ret[2] == SHARED + 1);
		own += ret[1] == SHARED;
		both += ret[1] == SHARED && ret[2] == SHARED;
	}
	cr_assert_lt(binomial_z(own, rounds, 1. / (SHARED + 1)), Z_LIMIT, "%d", own);
	/* In this case stream 2 joins with probability (301 - 300) / (302 - 300). */
	cr_assert_lt(binomial_z(both, own, .5), Z_LIMIT, "%d of %d", both, own);
}

#define CHAIN 8

/* Returns how many nested streams, of 4, 7, 10 ... elements, get the same element as the first. */
static int chain_length(struct sampler *sampler)
{
	int ret[TWIN_STREAMS];
	int n = 0;
	for (stream_id j = 0; j < CHAIN; j++) {
		mask set = ((mask)1 << (4 + 3 * j)) - 1;
		cr_assert_eq(sampler_insert(sampler, j, 0, twin_bitmap(set)), 0);
	}
	twin_sampler_draw(sampler, (1U << CHAIN) - 1, ret);
	while (n < CHAIN && ret[n] == ret[0])
		n++;
	for (stream_id j = 0; j < CHAIN; j++)
		sampler_remove(sampler, j);
	return n;
}

/* Stream k gets the first stream's element with probability |R_0| / |R_k|. */
Test(sampler_round, a_chain_of_streams_is_as_long_as_the_sizes_say)
{
	const int rounds = (int)effort(6000, 20000); /* notice .03 (few), or .02 (many) */
	int counts[CHAIN + 1] = {0};
	double chi_square = 0;
	struct sampler *sampler;
	cr_assert_eq(sampler_new(SAMPLER_DSA, 11, &sampler), 0);
	for (int i = 0; i < rounds; i++)
		counts[chain_length(sampler)]++;
	for (int k = 1; k <= CHAIN; k++) {
		double longer = k < CHAIN ? 4. / (4 + 3 * k) : 0;
		double expected = rounds * (4. / (4 + 3 * (k - 1)) - longer);
		chi_square += (counts[k] - expected) * (counts[k] - expected) / expected;
	}
	cr_assert_lt(chi_square_z(chi_square, CHAIN - 1), Z_LIMIT);
	sampler_free(&sampler);
}

static int times_same(mask a, mask b, int rounds)
{
	struct sampler *sampler;
	int same = 0;
	cr_assert_eq(sampler_new(SAMPLER_DSA, 5, &sampler), 0);
	for (int i = 0; i < rounds; i++) {
		int ret[TWIN_STREAMS];
		cr_assert_eq(sampler_insert(sampler, 0, 0, twin_bitmap(a)), 0);
		cr_assert_eq(sampler_insert(sampler, 1, 0, twin_bitmap(b)), 0);
		twin_sampler_draw(sampler, 3, ret);
		same += ret[0] == ret[1];
		sampler_remove(sampler, 0);
		sampler_remove(sampler, 1);
	}
	sampler_free(&sampler);
	return same;
}

/* Theorem 1 of the paper: two streams share with probability |I| / max(|R_1|, |R_2|). */
Test(sampler_round, two_streams_share_as_often_as_is_possible)
{
	static const mask sets[][2] = {{0xff, 0xff}, {0xff, 0x3f}, {0x0f, 0xff},
		{0xff, 0xff0}, {0xf0f, 0xffff0}, {0x1, 0xffffffff}, {0xff, 0xff00},
		{0xffffffffff, 0xffffffff00}};
	const int rounds = (int)effort(6000, 20000);
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		mask a = sets[i][0], b = sets[i][1];
		double larger = fmax(twin_size(a), twin_size(b));
		double p = twin_size(a & b) / larger;
		double deviation = sqrt(rounds * p * (1 - p));
		double error = times_same(a, b, rounds) - rounds * p;
		cr_assert_leq(fabs(error), Z_LIMIT * deviation, "sets %zu", i);
	}
}
