// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "../../tools/sim/randomness.h"

#include <criterion/criterion.h>
#include "exchange_twin.h"

/*
 * The figure for each kind of error rejects a wrong way to make orders. Figures for other kinds of
 * errors stay within their bounds.
 */

#define RUNS 4000
#define EPOCHS 2

static struct places places_new(uint32_t n)
{
	struct places places = {.n = n, .runs = RUNS, .epochs = EPOCHS};
	places.at = calloc((size_t)RUNS * EPOCHS * n, sizeof(*places.at));
	cr_assert_not_null(places.at);
	return places;
}

/* Fills at[] with the position of each sample of an epoch. */
typedef void shuffler(struct rng *rng, uint32_t n, uint32_t *at);

static struct places shuffled(shuffler *shuffle, uint32_t n, uint64_t seed)
{
	struct places places = places_new(n);
	struct rng rng;
	rng_seed(&rng, seed);
	for (uint32_t run = 0; run < RUNS; run++)
		for (uint32_t epoch = 0; epoch < EPOCHS; epoch++)
			shuffle(&rng, n, places_of(&places, run, epoch));
	return places;
}

static void swap(uint32_t *at, uint64_t i, uint64_t k)
{
	uint32_t held = at[i];
	at[i] = at[k];
	at[k] = held;
}

/* Fisher and Yates: uniform. */
static void fair(struct rng *rng, uint32_t n, uint32_t *at)
{
	for (uint32_t i = 0; i < n; i++) {
		at[i] = i;
		swap(at, i, rng_below(rng, i + 1ULL));
	}
}

static bool accepted(struct figure figure)
{
	cr_assert(figure.measured);
	return figure.p >= RANDOMNESS_P;
}

static bool rejected(struct figure figure)
{
	cr_assert(figure.measured);
	return figure.p < RANDOMNESS_P;
}

Test(randomness, a_fair_shuffle_is_accepted_by_all)
{
	struct places few = shuffled(fair, 4, 1), many = shuffled(fair, 40, 2);
	struct places other = shuffled(fair, 40, 3);
	for (uint32_t epoch = 0; epoch < EPOCHS; epoch++) {
		cr_assert(accepted(figure_orders(&few, epoch)));
		cr_assert(accepted(figure_positions(&many, epoch)));
		cr_assert(accepted(figure_neighbours(&many, epoch)));
	}
	cr_assert(accepted(figure_two_orders(&few, 0)));
	cr_assert(accepted(figure_epochs(&many, 1)));
	cr_assert(accepted(figure_gaps(&many, .5)));
	cr_assert(accepted(figure_gaps(&many, 1)));
	cr_assert(accepted(figure_gaps(&many, 1.5)));
	cr_assert(accepted(figure_jobs(&many, &other)));
	free(few.at);
	free(many.at);
	free(other.at);
}

/* p is uniform, so chance is as large as the bounds say. */
Test(randomness, the_p_of_fair_shuffles_are_spread_evenly)
{
	unsigned below[2] = {0};
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct places few = shuffled(fair, 4, 1000 + seed);
		below[0] += figure_orders(&few, 0).p < .2;
		below[1] += figure_positions(&few, 1).p < .2;
		free(few.at);
	}
	/* 20 are expected, with a deviation of 4 */
	for (int i = 0; i < 2; i++)
		cr_assert(below[i] > 4 && below[i] < 36, "%u", below[i]);
}

/* Swaps each sample with any other, also with one that was swapped before. */
static void naive(struct rng *rng, uint32_t n, uint32_t *at)
{
	for (uint32_t i = 0; i < n; i++)
		at[i] = i;
	for (uint32_t i = 0; i < n; i++)
		swap(at, i, rng_below(rng, n));
}

Test(randomness, a_biased_shuffle_is_rejected)
{
	struct places few = shuffled(naive, 4, 4), many = shuffled(naive, 40, 5);
	cr_assert(rejected(figure_orders(&few, 0)));
	cr_assert(rejected(figure_positions(&few, 0)));
	cr_assert(rejected(figure_positions(&many, 0)));
	free(few.at);
	free(many.at);
}

/* Groups of four samples stay together, as samples of one file often do. */
static void by_groups(struct rng *rng, uint32_t n, uint32_t *at)
{
	fair(rng, n / 4, at);
	for (uint32_t i = n; i-- > 0;)
		at[i] = at[i / 4] * 4 + i % 4;
}

/* Groups that are turned by a random number of positions, so that no position prefers a sample.
 * Only neighbours show the error. */
static void by_turned_groups(struct rng *rng, uint32_t n, uint32_t *at)
{
	uint32_t turn = (uint32_t)rng_below(rng, n);
	by_groups(rng, n, at);
	for (uint32_t i = 0; i < n; i++)
		at[i] = (at[i] + turn) % n;
}

Test(randomness, neighbours_that_stay_together_are_rejected)
{
	struct places many = shuffled(by_turned_groups, 40, 6);
	cr_assert(rejected(figure_neighbours(&many, 0)));
	free(many.at);
}

static struct places repeated(uint32_t n, uint64_t seed)
{
	struct places places = shuffled(fair, n, seed);
	for (uint32_t run = 0; run < RUNS; run++)
		memcpy(places_of(&places, run, 1), places_of(&places, run, 0),
			n * sizeof(*places.at));
	return places;
}

Test(randomness, repeated_epochs_are_rejected)
{
	double deciles[GAP_DECILES];
	struct places few = repeated(4, 7), many = repeated(40, 8);
	cr_assert_float_eq(figure_epochs(&many, 1).value, 1, 1e-9);
	cr_assert(rejected(figure_epochs(&many, 1)));
	cr_assert(rejected(figure_two_orders(&few, 0)));
	cr_assert(rejected(figure_gaps(&many, .5)));
	cr_assert(rejected(figure_gaps(&many, 1.5)));
	cr_assert(accepted(figure_orders(&few, 1)));
	cr_assert(accepted(figure_positions(&many, 1)));
	cr_assert(gap_deciles(&many, deciles));
	cr_assert_float_eq(deciles[0], 1, .5 / 40);
	cr_assert_float_eq(deciles[8], 1, .5 / 40);
	free(few.at);
	free(many.at);
}

Test(randomness, independent_epochs_have_the_gaps_of_a_triangle)
{
	double deciles[GAP_DECILES], expected[GAP_DECILES];
	struct places many = shuffled(fair, 40, 9);
	cr_assert(gap_deciles(&many, deciles));
	gap_deciles_expected(expected);
	for (int d = 0; d < GAP_DECILES; d++)
		cr_assert_float_eq(deciles[d], expected[d], .01, "%d: %f", d, deciles[d]);
	cr_assert_float_eq(expected[4], 1, 1e-9);
	free(many.at);
}

/* Overlapping sets: ids 0 .. 39 and 20 .. 59, with the same order of the common ids. */
Test(randomness, jobs_that_go_together_are_rejected)
{
	struct places a = shuffled(fair, 40, 10), b = shuffled(fair, 40, 11);
	b.first = 20;
	cr_assert(accepted(figure_jobs(&a, &b)));
	for (uint32_t run = 0; run < RUNS; run++)
		for (uint32_t epoch = 0; epoch < EPOCHS; epoch++)
			memcpy(places_of(&b, run, epoch), places_of(&a, run, epoch) + 20,
				20 * sizeof(*a.at));
	cr_assert_float_eq(figure_jobs(&a, &b).value, 1, 1e-9);
	cr_assert(rejected(figure_jobs(&a, &b)));
	b.first = 40;
	cr_assert_not(figure_jobs(&a, &b).measured);
	free(a.at);
	free(b.at);
}

/* Samples lie in containers of three. First one of the containers with samples left is drawn, then
 * one of its samples. */
static void container_first(struct rng *rng, uint32_t n, uint32_t *at)
{
	uint32_t left[20] = {0};
	for (uint32_t i = 0; i < n; i++)
		left[i / 3]++;
	for (uint32_t position = 0; position < n;) {
		uint32_t c = (uint32_t)rng_below(rng, (n + 2) / 3);
		if (left[c] == 0)
			continue;
		uint32_t i = c * 3 + --left[c];
		at[i] = position++;
	}
	for (uint32_t c = 0; c * 3 < n; c++)
		for (uint32_t i = 1; c * 3 + i < n && i < 3; i++)
			swap(at, c * 3 + i, c * 3 + rng_below(rng, i + 1ULL));
}

Test(randomness, a_container_first_and_then_a_sample_of_it_is_rejected)
{
	struct places few = shuffled(container_first, 4, 14);
	struct places many = shuffled(container_first, 40, 15);
	cr_assert(rejected(figure_orders(&few, 0)));
	cr_assert(rejected(figure_positions(&few, 0)));
	cr_assert(rejected(figure_positions(&many, 0)));
	free(few.at);
	free(many.at);
}

/* --- samplers that are nearly right --------------------------------------------------
 */

#define FOUR ((mask)0xf)

static void note(struct places *places, uint32_t run, uint32_t position, int element)
{
	if (element >= 0)
		places_of(places, run, 0)[element] = position;
}

/* Orders of the first of two streams, which has four samples; the other stream has three of
 * them. */
static struct places by_twin(enum mutant mutant)
{
	struct places places = places_new(4);
	struct rng rng;
	rng_seed(&rng, 12);
	for (uint32_t run = 0; run < RUNS; run++) {
		struct twin twin = {.r = {FOUR, 0xb}, .mutant = mutant};
		for (uint32_t position = 0; position < 4; position++) {
			int ret[TWIN_STREAMS];
			twin_draw(&twin, 3, &rng, ret);
			note(&places, run, position, ret[0]);
		}
	}
	return places;
}

static void check_twin(enum mutant mutant, bool right)
{
	struct places places = by_twin(mutant);
	cr_assert_eq(accepted(figure_orders(&places, 0)), right, "mutant %d", mutant);
	cr_assert_eq(accepted(figure_positions(&places, 0)), right, "mutant %d", mutant);
	free(places.at);
}

Test(randomness, mutants_of_dsa_are_rejected)
{
	check_twin(HONEST, true);
	check_twin(SEES_REMOVALS, false);
}

/* Orders of a job with four samples, beside a job with the last two of them and two others. */
static struct places by_exchange(enum ex_mutant mutant)
{
	struct places places = places_new(4);
	struct ex_world world = {.mutant = mutant, .slots = 2};
	ex_new(&world, 13, false);
	for (uint32_t run = 0; run < RUNS; run++) {
		ex_join(&world, 0, FOUR, 0);
		ex_join(&world, 1, FOUR << 2, 0);
		ex_begin(&world, 0, FOUR);
		ex_begin(&world, 1, FOUR << 2);
		for (uint32_t position = 0; position < 4; position++) {
			int ret[EX_JOBS];
			ex_round(&world, 2, ret);
			ex_round(&world, 1, ret);
			note(&places, run, position, ret[0]);
		}
		ex_clear(&world);
	}
	return places;
}

Test(randomness, mutants_that_exchange_across_classes_are_rejected)
{
	struct places right = by_exchange(EX_HONEST);
	struct places wrong = by_exchange(EX_ANY_CLASS);
	cr_assert(accepted(figure_orders(&right, 0)));
	cr_assert(accepted(figure_positions(&right, 0)));
	cr_assert(rejected(figure_orders(&wrong, 0)));
	cr_assert(rejected(figure_positions(&wrong, 0)));
	free(right.at);
	free(wrong.at);
}
