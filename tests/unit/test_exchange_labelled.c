// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include <criterion/criterion.h>

#include "effort.h"
#include "exchange_twin.h"

/*
 * A script that shuffles says which label it reads next. Which sample of this label it gets is
 * uniformly random, also beside jobs with other sets and speeds. Every order of a label's samples
 * is counted.
 */

/* notice orders that are off by 12 % (few), or 7 % (many) */
#define RUNS effort(4000, 12000)
#define SET 8  /* ids of the first job; labels alternate */
#define EACH 4 /* ids of each label */
#define ORDERS 24

static const uint32_t labels[64] = {0, 1, 0, 1, 0, 1, 0, 1, 2};

struct counts {
	unsigned n[2][ORDERS]; /* by label: orders in the first job's second epoch */
};

/* The second job lacks a sample of each label, begins later, and is faster. */
static const mask sets[2] = {0xff, 0xfc};

struct reader {
	uint32_t order[SET]; /* labels in the order of the script */
	unsigned n;
	unsigned next;
};

static void shuffle(struct reader *reader, struct rng *rng, mask set)
{
	reader->n = reader->next = 0;
	for (int id = 0; id < SET; id++)
		if (set & ex_bit(id))
			reader->order[reader->n++] = labels[id];
	for (unsigned i = reader->n; i > 1; i--) {
		unsigned k = (unsigned)rng_below(rng, i);
		uint32_t label = reader->order[i - 1];
		reader->order[i - 1] = reader->order[k];
		reader->order[k] = label;
	}
}

static void read_next(struct ex_world *world, struct reader *reader, struct rng *rng,
	int j, unsigned *order)
{
	if (reader->next == reader->n) {
		ex_end(world, j);
		ex_begin(world, j, sets[j]);
		shuffle(reader, rng, sets[j]);
		memset(order, 0, 2 * sizeof(*order));
	}
	uint32_t label = reader->order[reader->next++];
	mask from = world->job[j].r & ex_with_label(world, label);
	int id = ex_read(world, j, label);
	unsigned rank = twin_size(from & (ex_bit(id) - 1));
	order[label] = order[label] * twin_size(from) + rank;
}

static void run(struct ex_world *world, struct rng *rng, struct counts *counts)
{
	struct reader reader[2] = {0};
	unsigned order[2][2];
	for (int j = 0; j < 2; j++)
		ex_join(world, j, sets[j], 0);
	for (int i = 0; i < 2 * SET; i++) {
		read_next(world, &reader[0], rng, 0, order[0]);
		for (int k = 0; k < 2 && i >= SET - 2; k++)
			read_next(world, &reader[1], rng, 1, order[1]);
	}
	for (int label = 0; label < 2; label++)
		counts->n[label][order[0][label]]++;
	ex_clear(world);
}

static double worst(enum ex_mutant mutant, bool real)
{
	struct ex_world world = {.slots = 4, .labels = labels, .mutant = mutant};
	struct counts counts = {0};
	struct rng rng;
	double z = -INFINITY;
	rng_seed(&rng, 4);
	ex_new(&world, 4, real);
	for (unsigned i = 0, n = RUNS; i < n; i++)
		run(&world, &rng, &counts);
	for (int label = 0; label < 2; label++) {
		double expected = (double)RUNS / ORDERS;
		double chi_square = 0;
		for (int i = 0; i < ORDERS; i++)
			chi_square += pow(counts.n[label][i] - expected, 2) / expected;
		z = fmax(z, chi_square_z(chi_square, ORDERS - 1));
	}
	sampler_free(&world.sampler);
	return z;
}

Test(exchange_labelled, every_order_within_a_label_is_equally_likely)
{
	double z = worst(EX_HONEST, true);
	cr_assert_lt(z, Z_LIMIT, "z = %.2f", z);
}

Test(exchange_labelled, mutants_are_rejected)
{
	cr_assert_lt(worst(EX_HONEST, false), Z_LIMIT);
	cr_assert_gt(worst(EX_ANY_CLASS, false), 2 * Z_LIMIT);
}

/* A sample that another job has loaded is given only for draws of its label. */
Test(exchange_labelled, exchange_stays_within_the_label)
{
	struct ex_world world = {.slots = 2, .labels = labels};
	ex_new(&world, 1, true);
	for (int j = 0; j < 2; j++) {
		ex_join(&world, j, 0xff, 0);
		ex_begin(&world, j, 0xff);
	}
	int loaded = ex_read(&world, 0, 1);
	cr_assert_neq(ex_read(&world, 1, 0), loaded);
	cr_assert_eq(ex_read(&world, 1, 1), loaded);
	sampler_free(&world.sampler);
}

Test(exchange_labelled, a_label_runs_out)
{
	struct ex_world world = {.slots = 1, .labels = labels};
	ex_new(&world, 1, true);
	ex_join(&world, 0, 0x1ff, 0);
	ex_begin(&world, 0, 0x1ff);
	for (int i = 0; i < EACH; i++)
		cr_assert_geq(ex_read(&world, 0, 1), 0);
	cr_assert_eq(ex_read(&world, 0, 1), -1);
	cr_assert_eq(ex_read(&world, 0, 77), -1);
	cr_assert_eq(ex_read(&world, 0, 2), 8);
	sampler_free(&world.sampler);
}
