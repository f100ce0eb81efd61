// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "../../tools/sim/sim_sampler.h"
#include "effort.h"
#include "round_statistics.h"

#include <criterion/criterion.h>

/*
 * The samples that the streams of a round get together. The paper's tree and the daemon's dsa are
 * compared with each other, and both with the exact probabilities of Algorithm 1, which are
 * enumerated here step by step. For given R there is one tree (dsa_tree_validate), so rounds of
 * fresh trees stand for all rounds.
 *
 * Fixed seeds; one-sided confidence of 99.99 % for each chi-square.
 */

/* With thirty joint decisions, these rounds notice a relative error of 20 % (few) or 11 % (many)
 * in each probability. */
#define ROUNDS effort(1500, 5000)
#define RANDOM_SETTINGS 40

/* Sets of streams 0 to 3 with elements 0 to 5, and the streams that draw. */
struct setting {
	const char *name;
	struct twin twin;
	unsigned who;
	mask gone; /* the set of a stream that came and was deleted */
};

enum { SMALLEST_OUT = 9, BETWEEN_OUT = 10 }; /* indexes in the table */

static const struct setting settings[] = {
	{"2 equal", {.r = {0x3f, 0x3f}}, 3, 0x15},
	{"2 nested", {.r = {0x07, 0x3f}}, 3, 0x15},
	{"2 of one size that overlap", {.r = {0x0f, 0x3c}}, 3, 0x3f},
	{"2 of two sizes that overlap", {.r = {0x07, 0x3e}}, 3, 0x01},
	{"2 with nothing in common", {.r = {0x03, 0x3c}}, 3, 0x15},
	{"3 equal", {.r = {0x1f, 0x1f, 0x1f}}, 7, 0x2a},
	{"3 nested", {.r = {0x03, 0x0f, 0x3f}}, 7, 0x2a},
	{"3 of one size that overlap", {.r = {0x0f, 0x1e, 0x3c}}, 7, 0x39},
	{"3 of three sizes that overlap", {.r = {0x07, 0x1d, 0x3e}}, 7, 0x2a},
	[SMALLEST_OUT] = {"the smallest sits out", {.r = {0x07, 0x1d, 0x3e}}, 6, 0x15},
	[BETWEEN_OUT] = {"the one between sits out", {.r = {0x07, 0x38, 0x2f}}, 5, 0x3f},
	{"the largest sits out", {.r = {0x0f, 0x17, 0x38 | 0x07}}, 3, 0x33},
	{"nested, the one between sits out", {.r = {0x07, 0x0f, 0x3f}}, 5, 0x33},
	{"two sit out", {.r = {0x1b, 0x07, 0x3e, 0x0e}}, 5, 0x15},
	{"one of four sits out", {.r = {0x0f, 0x1c, 0x37, 0x3e}}, 13, 0x3f},
};

#define SETTINGS (sizeof(settings) / sizeof(settings[0]))

static struct setting random_setting(uint64_t seed)
{
	struct setting setting = {.name = "random"};
	struct rng rng;
	rng_seed(&rng, seed);
	for (int j = 0; j < 4; j++)
		setting.twin.r[j] = (rng_next(&rng) | rng_next(&rng)) & 0x3f;
	setting.gone = rng_next(&rng) & 0x3f;
	setting.who = (unsigned)rng_below(&rng, 16) | 1U << rng_below(&rng, 4);
	return setting;
}

/* Returns a named setting, or after these a random one. */
static struct setting setting_of(size_t i)
{
	return i < SETTINGS ? settings[i] : random_setting(i);
}

/* --- the exact probabilities ------------------------------------------------------- */

struct walk {
	const struct twin *twin;
	int order[TWIN_STREAMS];
	size_t m;
	int ret[TWIN_STREAMS];
	double *table;
};

static void walk_from(struct walk *walk, size_t first, mask s, double probability);

/* Gives each element of `from` to order[first .. end) with the same probability. */
static void give(struct walk *walk, size_t first, size_t end, mask from, mask next_s,
	double probability)
{
	if (probability <= 0)
		return;
	for (mask left = from; left; left &= left - 1) {
		for (size_t i = first; i < end; i++)
			walk->ret[walk->order[i]] = __builtin_ctzll(left);
		walk_from(walk, end, next_s, probability / twin_size(from));
	}
}

/* The while loop of Algorithm 1 with K = order[first .. m): follows every branch, with its
 * probability. */
static void walk_from(struct walk *walk, size_t first, mask s, double probability)
{
	const mask *r = walk->twin->r;
	const int *order = walk->order;
	if (first == walk->m) {
		round_add(walk->table, walk->ret, probability);
		return;
	}
	mask shared = twin_shared(walk->twin, order + first, walk->m - first) & ~s;
	double c = twin_size(shared);
	for (size_t k = first; k < walk->m; k++) {
		mask rest = r[order[k]] & ~s;
		double chooses = c / twin_size(rest);
		if (k == first)
			give(walk, k, k + 1, rest & ~shared, s | shared,
				probability * (1 - chooses));
		else
			give(walk, first, k, shared, s | shared,
				probability * (1 - chooses));
		probability *= chooses;
		c = twin_size(rest);
	}
	give(walk, first, walk->m, shared, s | shared, probability);
}

static void enumerate(const struct setting *setting, double *ret_table)
{
	struct walk walk = {.twin = &setting->twin, .table = ret_table};
	memset(ret_table, 0, ROUND_CELLS * sizeof(*ret_table));
	memset(walk.ret, -1, sizeof(walk.ret));
	walk.m = twin_order(walk.twin, setting->who, walk.order);
	walk_from(&walk, 0, 0, 1);
}

/* dsa.c describes itself in the second way: an element is drawn first, and it decides which
 * streams share. */
Test(sampler_round, both_ways_to_enumerate_a_round_agree)
{
	for (size_t i = 0; i < SETTINGS + RANDOM_SETTINGS; i++) {
		struct setting setting = setting_of(i);
		double by_walk[ROUND_CELLS], by_twin[ROUND_CELLS] = {0};
		double sum = 0;
		enumerate(&setting, by_walk);
		twin_enumerate(&setting.twin, setting.who, round_add, by_twin);
		for (size_t cell = 0; cell < ROUND_CELLS; cell++) {
			cr_assert_lt(fabs(by_walk[cell] - by_twin[cell]), 1e-12);
			sum += by_walk[cell];
		}
		cr_assert_lt(fabs(sum - 1), 1e-12);
	}
}

/* --- the samplers ------------------------------------------------------------------ */

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

static void count(enum sampler_kind kind, const struct setting *setting, uint64_t seed,
	unsigned counts[ROUND_CELLS])
{
	struct sampler *sampler = NULL;
	memset(counts, 0, ROUND_CELLS * sizeof(*counts));
	cr_assert_eq(sim_sampler_new(kind, seed, &sampler), 0);
	for (uint64_t i = 0, n = ROUNDS; i < n; i++) {
		int ret[TWIN_STREAMS];
		fill(sampler, setting, i);
		twin_sampler_draw(sampler, setting->who, ret);
		counts[round_cell(ret)]++;
		for (stream_id j = 0; j < 4; j++)
			sampler_remove(sampler, j);
	}
	sampler_free(&sampler);
}

Test(sampler_round, the_tree_and_dsa_draw_from_the_exact_distribution)
{
	for (size_t i = 0; i < SETTINGS + RANDOM_SETTINGS; i++) {
		struct setting setting = setting_of(i);
		double exact[ROUND_CELLS];
		unsigned tree[ROUND_CELLS], dsa[ROUND_CELLS];
		enumerate(&setting, exact);
		count(SAMPLER_DSA_TREE, &setting, i, tree);
		count(SAMPLER_DSA, &setting, i + 1000, dsa);
		double z_tree = round_z(tree, exact, ROUNDS);
		double z_dsa = round_z(dsa, exact, ROUNDS);
		double z_both = round_z_of_two(tree, dsa, ROUND_CELLS);
		cr_assert_lt(z_tree, Z_LIMIT, "%s: tree, z = %.2f", setting.name, z_tree);
		cr_assert_lt(z_dsa, Z_LIMIT, "%s: dsa, z = %.2f", setting.name, z_dsa);
		cr_assert_lt(z_both, Z_LIMIT, "%s: both, z = %.2f", setting.name, z_both);
	}
}

/* --- whole epochs ------------------------------------------------------------------ */

/* Streams of at most 4 elements, and the streams that draw in each round until nothing is left. */
struct timetable {
	mask r[3];
	unsigned rounds[8];
};

static const struct timetable timetables[] = {
	{{0x7, 0xe}, {3, 3, 3}},
	{{0x7, 0xf}, {3, 2, 3, 3}},
	{{0xf, 0xf}, {1, 3, 2, 3, 3}},
	{{0x3, 0x6, 0x7}, {7, 7, 7}},
	{{0x3, 0x5, 0x6}, {5, 7, 2}},
	{{0x3, 0x6, 0xd}, {6, 4, 7, 5}},
};

#define EPOCHS effort(4000, 12000)
#define ORDERS (1 << 16) /* 2 bits for each draw, at most 8 of them */

static void count_orders(enum sampler_kind kind, const struct timetable *timetable,
	uint64_t seed, unsigned counts[ORDERS])
{
	struct sampler *sampler = NULL;
	memset(counts, 0, ORDERS * sizeof(*counts));
	cr_assert_eq(sim_sampler_new(kind, seed, &sampler), 0);
	for (unsigned i = 0, n = EPOCHS; i < n; i++) {
		unsigned order = 0;
		for (stream_id j = 0; j < 3; j++)
			cr_assert_eq(sampler_insert(
					     sampler, j, 0, twin_bitmap(timetable->r[j])),
				0);
		for (int round = 0; round < 8; round++) {
			int ret[TWIN_STREAMS];
			twin_sampler_draw(sampler, timetable->rounds[round], ret);
			for (int j = 0; j < 3; j++)
				if (ret[j] >= 0)
					order = order * 4 + (unsigned)ret[j];
		}
		cr_assert_lt(order, ORDERS);
		counts[order]++;
		for (stream_id j = 0; j < 3; j++)
			sampler_remove(sampler, j);
	}
	sampler_free(&sampler);
}

/* Compares the joint orders of all streams, because each round begins with the sets that the
 * previous one leaves. */
Test(sampler_round, epochs_of_the_tree_and_of_dsa_are_alike)
{
	static unsigned tree[ORDERS], dsa[ORDERS];
	for (size_t i = 0; i < sizeof(timetables) / sizeof(timetables[0]); i++) {
		count_orders(SAMPLER_DSA_TREE, &timetables[i], i, tree);
		count_orders(SAMPLER_DSA, &timetables[i], i + 1000, dsa);
		double z = round_z_of_two(tree, dsa, ORDERS);
		cr_assert_lt(z, Z_LIMIT, "timetable %zu: z = %.2f", i, z);
	}
	count_orders(SAMPLER_ISA, &timetables[0], 0, tree);
	count_orders(SAMPLER_DSA, &timetables[0], 1000, dsa);
	cr_assert_gt(round_z_of_two(tree, dsa, ORDERS), 2 * Z_LIMIT, "isa is not dsa");
}

/* --- mutants ------------------------------------------------------------------------ */

static double twin_z(const struct setting *setting, uint64_t seed, enum mutant mutant)
{
	double exact[ROUND_CELLS];
	unsigned counts[ROUND_CELLS] = {0};
	struct rng rng;
	rng_seed(&rng, seed);
	enumerate(setting, exact);
	for (unsigned i = 0, n = ROUNDS; i < n; i++) {
		int ret[TWIN_STREAMS];
		struct twin twin = setting->twin;
		twin.mutant = mutant;
		twin_draw(&twin, setting->who, &rng, ret);
		counts[round_cell(ret)]++;
	}
	return round_z(counts, exact, ROUNDS);
}

Test(sampler_round, the_twin_decides_with_the_same_probabilities)
{
	for (size_t i = 0; i < SETTINGS + RANDOM_SETTINGS; i++) {
		struct setting setting = setting_of(i);
		double z = twin_z(&setting, i, HONEST);
		cr_assert_lt(z, Z_LIMIT, "setting %zu: z = %.2f", i, z);
	}
}

/* Each mutant must be noticed in some of the 55 settings, otherwise the statistics above have a
 * blind spot. The last two mutants are misreadings of the tree. They differ only where an
 * intersection spans several vertices, or where the streams without one that sits out share
 * more. */
Test(sampler_round, mutants_are_rejected)
{
	static const size_t least[] = {[SEES_REMOVALS] = 10,
		[BLOCK_FIRST] = 10,
		[ALL_JOIN] = 30,
		[VERTEX_FIRST] = 15,
		[TREE_ONLY] = 8};
	for (enum mutant mutant = SEES_REMOVALS; mutant <= TREE_ONLY; mutant++) {
		size_t rejected = 0;
		for (size_t i = 0; i < SETTINGS + RANDOM_SETTINGS; i++) {
			struct setting setting = setting_of(i);
			rejected += twin_z(&setting, i, mutant) > 2 * Z_LIMIT;
		}
		cr_assert_geq(
			rejected, least[mutant], "mutant %d: %zu", mutant, rejected);
	}
	cr_assert_gt(twin_z(&settings[SMALLEST_OUT], 1, VERTEX_FIRST), 2 * Z_LIMIT);
	cr_assert_gt(twin_z(&settings[BETWEEN_OUT], 1, TREE_ONLY), 2 * Z_LIMIT);
}

/* --- dsa ---------------------------------------------------------------------------- */

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
