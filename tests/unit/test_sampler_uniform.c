// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "effort.h"
#include "sampler_twin.h"

#include <criterion/criterion.h>

/*
 * The order of each stream's epoch is exactly uniform: every order of its elements is counted. Of
 * a stream that leaves early, the part of its epoch counts that it had.
 */

/* Orders of four elements are noticed that are off by 8 % of their probability (few), or by 5 %
 * (many). */
#define EPOCHS effort(8000, 24000)
#define ORDERS 256 /* at most 4 elements of 2 bits each */

struct timetable {
	const char *name;
	struct {
		mask set;	  /* at most 4 elements of 0..7 */
		unsigned period;  /* the stream takes part in every period-th round */
		unsigned phase;	  /* remainder of these rounds */
		unsigned arrives; /* the stream arrives before this round */
		/* the stream leaves before this round; 0: it stays to the end */
		unsigned leaves;
	} stream[3];
};

static const struct timetable timetables[] = {
	{"2 equal", {{0xf, 1, 0, 0, 0}, {0xf, 1, 0, 0, 0}}},
	{"2 nested", {{0xf, 1, 0, 0, 0}, {0x6, 1, 0, 0, 0}}},
	{"2 overlapping", {{0xf, 1, 0, 0, 0}, {0x3c, 1, 0, 0, 0}}},
	{"3 equal", {{0xf, 1, 0, 0, 0}, {0xf, 1, 0, 0, 0}, {0xf, 1, 0, 0, 0}}},
	{"3 nested", {{0xf, 1, 0, 0, 0}, {0x7, 1, 0, 0, 0}, {0x3, 1, 0, 0, 0}}},
	{"3 overlapping", {{0xf, 1, 0, 0, 0}, {0x1e, 1, 0, 0, 0}, {0x35, 1, 0, 0, 0}}},
	{"equal, half as fast", {{0xf, 1, 0, 0, 0}, {0xf, 2, 1, 0, 0}}},
	{"nested, half as fast", {{0x7, 1, 0, 0, 0}, {0xf, 2, 0, 0, 0}}},
	{"overlapping, half as fast", {{0xf, 1, 0, 0, 0}, {0x3c, 2, 1, 0, 0}}},
	{"3 speeds, equal", {{0xf, 1, 0, 0, 0}, {0xf, 2, 0, 0, 0}, {0xf, 3, 1, 0, 0}}},
	{"3 speeds, mixed", {{0x3c, 3, 0, 0, 0}, {0xf, 1, 0, 0, 0}, {0x1e, 2, 1, 0, 0}}},
	{"alternating", {{0xf, 2, 0, 0, 0}, {0xf, 2, 1, 0, 0}, {0x1e, 1, 0, 0, 0}}},
	{"arriving", {{0xf, 1, 0, 0, 0}, {0xf, 1, 0, 2, 0}, {0x1e, 1, 0, 1, 0}}},
	{"leaving", {{0xf, 1, 0, 0, 0}, {0x1e, 1, 0, 0, 2}, {0x3c, 2, 0, 0, 1}}},
	{"both", {{0xf, 1, 0, 0, 2}, {0x1e, 2, 1, 1, 0}, {0x17, 1, 0, 2, 0}}},
};

#define TIMETABLES (sizeof(timetables) / sizeof(timetables[0]))

/* Counts of each stream's orders, with 2 bits for each element's rank in the set. */
struct orders {
	unsigned count[3][ORDERS];
};

/* The sampler or twin that decides. */
struct subject {
	struct sampler *sampler; /* NULL: the twin decides */
	struct twin twin;
	struct rng rng;
};

static void come(struct subject *subject, int j, mask set)
{
	subject->twin.r[j] = set;
	if (subject->sampler)
		cr_assert_eq(sampler_insert(
				     subject->sampler, (stream_id)j, 0, twin_bitmap(set)),
			0);
}

static void go(struct subject *subject, int j)
{
	subject->twin.r[j] = 0;
	if (subject->sampler)
		sampler_remove(subject->sampler, (stream_id)j);
}

static void decide(struct subject *subject, unsigned who, int *ret)
{
	if (!subject->sampler) {
		twin_draw(&subject->twin, who, &subject->rng, ret);
		return;
	}
	twin_sampler_draw(subject->sampler, who, ret);
	for (int j = 0; j < 3; j++)
		if (ret[j] >= 0)
			subject->twin.r[j] &= ~((mask)1 << ret[j]);
}

/* Returns the streams of this round, after arrivals and departures. */
static unsigned turn_up(struct subject *subject, const struct timetable *timetable,
	unsigned round, unsigned *there)
{
	unsigned who = 0;
	for (int j = 0; j < 3; j++) {
		unsigned leaves = timetable->stream[j].leaves;
		unsigned period = timetable->stream[j].period;
		if (!period)
			continue;
		if (round == timetable->stream[j].arrives) {
			come(subject, j, timetable->stream[j].set);
			*there |= 1U << j;
		} else if (leaves && round == leaves) {
			go(subject, j);
			*there &= ~(1U << j);
		}
		if (round % period == timetable->stream[j].phase)
			who |= 1U << j;
	}
	return who & *there;
}

static unsigned rank_in(mask set, int element)
{
	return twin_size(set & (((mask)1 << element) - 1));
}

static void epoch(
	struct subject *subject, const struct timetable *timetable, struct orders *orders)
{
	unsigned order[3] = {0};
	unsigned there = 0;
	for (unsigned round = 0; round < 14; round++) {
		int ret[TWIN_STREAMS];
		unsigned who = turn_up(subject, timetable, round, &there);
		decide(subject, who, ret);
		for (int j = 0; j < 3; j++)
			if (ret[j] >= 0)
				order[j] = order[j] * 4 +
					   rank_in(timetable->stream[j].set, ret[j]);
	}
	for (int j = 0; j < 3; j++) {
		orders->count[j][order[j]]++;
		if (there >> j & 1) {
			cr_assert_eq(subject->twin.r[j], 0);
			go(subject, j);
		}
	}
}

/* Returns the number of rounds in which the stream takes part before it leaves. */
static unsigned length(const struct timetable *timetable, int j)
{
	unsigned n = 0;
	unsigned leaves = timetable->stream[j].leaves;
	for (unsigned round = timetable->stream[j].arrives; round < 14; round++)
		if ((!leaves || round < leaves) &&
			round % timetable->stream[j].period == timetable->stream[j].phase)
			n++;
	unsigned size = twin_size(timetable->stream[j].set);
	return n < size ? n : size;
}

/* Returns the z of the chi-square over all orders of `n` out of `size` elements. */
static double z_of(const unsigned *count, unsigned size, unsigned n)
{
	unsigned cells = 1, seen = 0;
	for (unsigned i = 0; i < n; i++)
		cells *= size - i;
	double expected = (double)EPOCHS / cells;
	double chi_square = 0;
	for (unsigned i = 0; i < ORDERS; i++) {
		if (count[i])
			chi_square +=
				(count[i] - expected) * (count[i] - expected) / expected;
		seen += count[i] > 0;
	}
	cr_assert_leq(seen, cells);
	chi_square += (cells - seen) * expected;
	return cells > 1 ? chi_square_z(chi_square, cells - 1) : 0;
}

/* The worst stream's z. */
static double worst(struct subject *subject, const struct timetable *timetable)
{
	struct orders orders = {0};
	double z = -INFINITY;
	for (unsigned i = 0, n = EPOCHS; i < n; i++)
		epoch(subject, timetable, &orders);
	for (int j = 0; j < 3; j++)
		if (timetable->stream[j].period)
			z = fmax(z,
				z_of(orders.count[j], twin_size(timetable->stream[j].set),
					length(timetable, j)));
	return z;
}

static void check_uniform(enum sampler_kind kind)
{
	for (size_t i = 0; i < TIMETABLES; i++) {
		struct subject subject = {0};
		cr_assert_eq(sampler_new(kind, 100 + i, &subject.sampler), 0);
		double z = worst(&subject, &timetables[i]);
		cr_assert_lt(z, Z_LIMIT, "%s: z = %.2f", timetables[i].name, z);
		sampler_free(&subject.sampler);
	}
}

Test(sampler_uniform, every_order_of_dsa_is_equally_likely)
{
	check_uniform(SAMPLER_DSA);
}

Test(sampler_uniform, every_order_of_isa_is_equally_likely)
{
	check_uniform(SAMPLER_ISA);
}

/* Returns the number of timetables for which the statistics reject the mutant. */
static size_t rejections(enum mutant mutant)
{
	size_t rejected = 0;
	for (size_t i = 0; i < TIMETABLES; i++) {
		struct subject subject = {.twin.mutant = mutant};
		rng_seed(&subject.rng, 100 + i);
		rejected += worst(&subject, &timetables[i]) > 2 * Z_LIMIT;
	}
	return rejected;
}

Test(sampler_uniform, biased_mutants_are_rejected)
{
	cr_assert_eq(rejections(HONEST), 0);
	/* The mutant is unbiased only where the ids happen to lie evenly in blocks. */
	cr_assert_geq(rejections(BLOCK_FIRST), 10);
	/* Visible only where sizes differ within a round. */
	cr_assert_geq(rejections(SEES_REMOVALS), 8);
	cr_assert_geq(rejections(ALL_JOIN), 8);
}
