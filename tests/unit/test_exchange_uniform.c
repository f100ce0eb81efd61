// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include <criterion/criterion.h>

#include "effort.h"
#include "exchange_twin.h"

/*
 * The order of each epoch of each job is exactly uniform, in the first epoch as in later ones:
 * every order is counted. For a job that is alone, so are the joint orders of two consecutive
 * epochs.
 */

/* Orders of four samples are noticed that are off by 14 % of their probability (few), or by 8 %
 * (many). */
#define RUNS effort(3000, 8000)
#define ROUNDS 24
#define JOBS 3
#define EPOCHS 3
#define ORDERS 120

struct timetable {
	const char *name;
	unsigned slots;
	enum ex_policy policy;
	struct {
		mask set;	  /* at most 5 elements */
		unsigned period;  /* the job takes part in every period-th round */
		unsigned phase;	  /* remainder of these rounds */
		unsigned arrives; /* the job arrives before this round */
		/* the job leaves before this round; 0: it stays to the end */
		unsigned leaves;
		unsigned space;
	} job[JOBS];
};

static const struct timetable timetables[] = {
	{"alone", 2, EX_REFCNT, {{0xf, 1, 0, 0, 0, 0}}},
	{"in step", 1, EX_REFCNT, {{0xf, 1, 0, 0, 0, 0}, {0xf, 1, 0, 0, 0, 0}}},
	{"half an epoch behind", 1, EX_REFCNT,
		{{0xf, 1, 0, 0, 0, 0}, {0xf, 1, 0, 2, 0, 0}}},
	{"half an epoch behind, fifo", 2, EX_FIFO,
		{{0xf, 1, 0, 0, 0, 0}, {0xf, 1, 0, 2, 0, 0}}},
	{"5 elements", 2, EX_REFCNT, {{0x1f, 1, 0, 0, 0, 0}, {0x1f, 1, 0, 3, 0, 0}}},
	{"nested", 1, EX_REFCNT, {{0xf, 1, 0, 0, 0, 0}, {0x6, 1, 0, 0, 0, 0}}},
	{"nested, 5 elements", 2, EX_REFCNT,
		{{0x1f, 1, 0, 0, 0, 0}, {0x7, 1, 0, 1, 0, 0}}},
	{"overlapping", 2, EX_REFCNT, {{0xf, 1, 0, 0, 0, 0}, {0x3c, 1, 0, 1, 0, 0}}},
	{"half as fast", 2, EX_FIFO, {{0xf, 1, 0, 0, 0, 0}, {0xf, 2, 1, 0, 0, 0}}},
	{"nested, half as fast", 1, EX_REFCNT,
		{{0xf, 2, 0, 0, 0, 0}, {0x7, 1, 0, 0, 0, 0}}},
	{"3 lagging", 2, EX_REFCNT,
		{{0xf, 1, 0, 0, 0, 0}, {0xf, 1, 0, 1, 0, 0}, {0xf, 1, 0, 2, 0, 0}}},
	{"3 speeds", 1, EX_FIFO,
		{{0xf, 1, 0, 0, 0, 0}, {0xf, 2, 0, 0, 0, 0}, {0xf, 3, 1, 0, 0, 0}}},
	{"3 nested, 2 speeds", 2, EX_REFCNT,
		{{0xf, 1, 0, 0, 0, 0}, {0x7, 2, 0, 0, 0, 0}, {0x3, 2, 1, 0, 0, 0}}},
	{"3 overlapping", 2, EX_REFCNT,
		{{0xf, 1, 0, 0, 0, 0}, {0x1e, 1, 0, 1, 0, 0}, {0x35, 1, 0, 2, 0, 0}}},
	{"3 overlapping, in step", 1, EX_REFCNT,
		{{0xf, 1, 0, 0, 0, 0}, {0x1e, 1, 0, 0, 0, 0}, {0x35, 1, 0, 0, 0, 0}}},
	{"3 of other sizes, in step", 2, EX_FIFO,
		{{0x1f, 1, 0, 0, 0, 0}, {0x36, 1, 0, 0, 0, 0}, {0x7, 1, 0, 0, 0, 0}}},
	{"2 spaces", 2, EX_REFCNT,
		{{0xf, 1, 0, 0, 0, 0}, {0xf, 1, 0, 1, 0, 1}, {0xf, 1, 0, 2, 0, 0}}},
	{"joining", 2, EX_REFCNT,
		{{0xf, 1, 0, 0, 0, 0}, {0x6, 1, 0, 2, 0, 0}, {0x1e, 1, 0, 5, 0, 0}}},
	{"leaving", 2, EX_REFCNT, {{0xf, 1, 0, 2, 0, 0}, {0x3, 1, 0, 0, 3, 0}}},
	{"coming and going", 1, EX_REFCNT,
		{{0xf, 1, 0, 0, 0, 0}, {0x3, 2, 1, 0, 4, 0}, {0xf, 1, 0, 3, 9, 0}}},
};

#define TIMETABLES (sizeof(timetables) / sizeof(timetables[0]))

struct progress {
	/* number of the order of the samples that the epoch has given so far */
	unsigned order;
	unsigned epoch;
	unsigned last; /* number of the previous epoch's order */
};

struct counts {
	unsigned n[JOBS][EPOCHS][ORDERS];
	unsigned joint[ORDERS * ORDERS]; /* orders of the first two epochs of job 0 */
};

static unsigned factorial(unsigned n)
{
	return n < 2 ? 1 : n * factorial(n - 1);
}

/* Extends the order's number by the rank of the given sample among the remaining ones. */
static void follow(struct progress *progress, mask remained, int given)
{
	unsigned rank = twin_size(remained & (ex_bit(given) - 1));
	progress->order = progress->order * twin_size(remained) + rank;
}

static void finish(struct counts *counts, struct progress *progress, unsigned j)
{
	if (progress->epoch < EPOCHS)
		counts->n[j][progress->epoch][progress->order]++;
	if (j == 0 && progress->epoch == 1)
		counts->joint[progress->last * ORDERS + progress->order]++;
	progress->last = progress->order;
	progress->order = 0;
	progress->epoch++;
}

/* Jobs arrive, leave or begin an epoch before this round. Returns the jobs that take part. */
static unsigned turn_up(
	struct ex_world *world, const struct timetable *timetable, unsigned round)
{
	unsigned who = 0;
	for (int j = 0; j < JOBS; j++) {
		unsigned period = timetable->job[j].period;
		unsigned leaves = timetable->job[j].leaves;
		mask set = timetable->job[j].set;
		if (!period)
			continue;
		if (round == timetable->job[j].arrives)
			ex_join(world, j, set, timetable->job[j].space);
		else if (leaves && round == leaves)
			ex_leave(world, j);
		if (world->job[j].here && !world->job[j].running)
			ex_begin(world, j, set);
		if (round % period == timetable->job[j].phase)
			who |= 1U << j;
	}
	return who;
}

static void run(
	struct ex_world *world, const struct timetable *timetable, struct counts *counts)
{
	struct progress progress[JOBS] = {0};
	for (unsigned round = 0; round < ROUNDS; round++) {
		int ret[EX_JOBS];
		unsigned who = turn_up(world, timetable, round);
		ex_round(world, who, ret);
		for (unsigned j = 0; j < JOBS; j++) {
			if (ret[j] < 0)
				continue;
			mask r = world->job[j].r;
			follow(&progress[j], r | ex_bit(ret[j]), ret[j]);
			if (r)
				continue;
			finish(counts, &progress[j], j);
			ex_end(world, (int)j);
		}
	}
	ex_clear(world);
}

static double z_of(const unsigned *count, unsigned cells, unsigned stride)
{
	double n = 0;
	double chi_square = 0;
	for (unsigned i = 0; i < cells; i++)
		n += count[i / stride * ORDERS + i % stride];
	for (unsigned i = 0; i < cells; i++) {
		double expected = n / cells;
		double error = count[i / stride * ORDERS + i % stride] - expected;
		chi_square += error * error / expected;
	}
	return n > 0 && cells > 1 ? chi_square_z(chi_square, cells - 1) : -INFINITY;
}

/* Returns the worst z of all jobs and epochs; for a job alone, also that of two epochs together. */
static double worst(struct ex_world *world, const struct timetable *timetable)
{
	static struct counts counts;
	double z = -INFINITY;
	memset(&counts, 0, sizeof(counts));
	world->slots = timetable->slots;
	world->policy = timetable->policy;
	for (unsigned i = 0, n = RUNS; i < n; i++)
		run(world, timetable, &counts);
	for (int j = 0; j < JOBS; j++) {
		unsigned cells = factorial(twin_size(timetable->job[j].set));
		for (int epoch = 0; epoch < EPOCHS; epoch++)
			z = fmax(z, z_of(counts.n[j][epoch], cells, cells));
	}
	unsigned cells = factorial(twin_size(timetable->job[0].set));
	if (!timetable->job[1].period)
		z = fmax(z, z_of(counts.joint, cells * cells, cells));
	return z;
}

Test(exchange_uniform, every_order_of_every_epoch_is_equally_likely)
{
	for (size_t i = 0; i < TIMETABLES; i++) {
		struct ex_world world = {0};
		ex_new(&world, 300 + i, true);
		double z = worst(&world, &timetables[i]);
		cr_assert_lt(z, Z_LIMIT, "%s: z = %.2f", timetables[i].name, z);
		sampler_free(&world.sampler);
	}
}

Test(exchange_uniform, every_order_is_equally_likely_while_candidates_settle)
{
	for (size_t i = 0; i < TIMETABLES; i++) {
		struct ex_world world = {.by_steps = true};
		ex_new(&world, 300 + i, true);
		double z = worst(&world, &timetables[i]);
		cr_assert_lt(z, Z_LIMIT, "%s: z = %.2f", timetables[i].name, z);
		sampler_free(&world.sampler);
	}
}

/* Returns the number of timetables for which the statistics reject the mutant. */
static unsigned rejections(enum ex_mutant mutant)
{
	unsigned rejected = 0;
	for (size_t i = 0; i < TIMETABLES; i++) {
		struct ex_world world = {.mutant = mutant};
		ex_new(&world, 300 + i, false);
		rejected += worst(&world, &timetables[i]) > 2 * Z_LIMIT;
	}
	return rejected;
}

Test(exchange_uniform, mutants_are_rejected)
{
	static const unsigned at_least[EX_MUTANTS] = {
		[EX_ANY_CLASS] = 8,
		[EX_TAKEN] = 1, /* epochs are uniform, but not independent */
		[EX_SMALLEST] = 8,
		[EX_MERGE] = 2, /* visible where a job leaves that had fewer ids */
		/* visible where sets differ and a round has several jobs */
		[EX_FOLLOW] = 8,
		[EX_REDRAW] = 8,
		[EX_OTHERS] = 8,
	};
	for (enum ex_mutant mutant = EX_HONEST; mutant < EX_MUTANTS; mutant++) {
		unsigned n = rejections(mutant);
		cr_assert_geq(n, at_least[mutant], "mutant %d: %u", mutant, n);
		cr_assert(n == 0 || mutant > EX_WALKS);
	}
}
