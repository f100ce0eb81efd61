// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "place/place.h"
#include "effort.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Homes of samples: each node is the home of its part of the samples, and a node that comes or
 * goes moves no sample of other homes. */

#define SPACE UINT64_C(0x5eed)
#define MOST 64
#define Z_LIMIT 4.5

struct nodes {
	struct place_node nodes[MOST];
	uint32_t n;
};

static struct place_node named(const char *prefix, uint32_t number, double capacity)
{
	char name[32];
	int n = snprintf(name, sizeof(name), "%s%u", prefix, number);
	return (struct place_node){
		.hash = place_hash(name, (size_t)n), .capacity = capacity};
}

static struct nodes cluster(uint32_t n, double first, double second, double third)
{
	struct nodes nodes = {.n = n};
	const double capacities[] = {first, second, third};
	for (uint32_t i = 0; i < n; i++)
		nodes.nodes[i] = named("node-", i, capacities[i % 3]);
	return nodes;
}

static struct place *table(const struct nodes *nodes)
{
	struct place *place = NULL;
	cr_assert_eq(place_new(nodes->nodes, nodes->n, &place), 0);
	return place;
}

/* --- parts ------------------------------------------------------------------------------- */

typedef uint32_t chooser(
	const struct nodes *nodes, const struct place *place, sample_id sample);

static uint32_t by_place(
	const struct nodes *nodes, const struct place *place, sample_id sample)
{
	(void)nodes;
	return place_home(place, SPACE, sample);
}

/* A mutant: multiplies the draw by the capacity, which looks plausible. */
static uint32_t mutant_product(
	const struct nodes *nodes, const struct place *place, sample_id sample)
{
	uint32_t home = 0;
	double best = -1;
	(void)place;
	for (uint32_t i = 0; i < nodes->n; i++) {
		double draw = (double)rng_mix(nodes->nodes[i].hash, sample) *
			      nodes->nodes[i].capacity;
		if (draw > best) {
			best = draw;
			home = i;
		}
	}
	return home;
}

/* Returns the chi-square of the number of samples of each node, in deviations from its mean. */
static double imbalance(const struct nodes *nodes, chooser *choose, uint32_t samples)
{
	struct place *place = table(nodes);
	uint32_t counts[MOST] = {0};
	double sum = 0, chi_square = 0;
	for (sample_id s = 0; s < samples; s++)
		counts[choose(nodes, place, s)]++;
	for (uint32_t i = 0; i < nodes->n; i++)
		sum += nodes->nodes[i].capacity;
	for (uint32_t i = 0; i < nodes->n; i++) {
		double expected = samples * nodes->nodes[i].capacity / sum;
		chi_square += pow(counts[i] - expected, 2) / expected;
	}
	place_free(&place);
	double degrees = nodes->n - 1;
	return (chi_square - degrees) / sqrt(2 * degrees);
}

Test(place, a_node_is_home_of_its_part_by_capacity)
{
	uint32_t samples = effort(200000, 2000000);
	struct nodes equal = cluster(16, 1, 1, 1), unequal = cluster(12, 1, .5, 2);
	cr_assert_lt(imbalance(&equal, by_place, samples), Z_LIMIT);
	cr_assert_lt(imbalance(&unequal, by_place, samples), Z_LIMIT);
}

Test(place, mutants_are_rejected)
{
	struct nodes unequal = cluster(12, 1, .5, 2);
	cr_assert_gt(imbalance(&unequal, mutant_product, 200000), Z_LIMIT);
}

/* Returns the dependence between the homes of one sample in two spaces, or of two samples in one
 * space. */
static double dependence(uint64_t other_space, sample_id other_sample)
{
	struct nodes nodes = cluster(8, 1, 1, 1);
	struct place *place = table(&nodes);
	uint32_t counts[8][8] = {{0}}, samples = 200000;
	double chi_square = 0, expected = samples / 64.0;
	for (sample_id s = 0; s < samples; s++)
		counts[place_home(place, SPACE, s)]
		      [place_home(place, other_space, s ^ other_sample)]++;
	for (uint32_t i = 0; i < 64; i++)
		chi_square += pow(counts[i / 8][i % 8] - expected, 2) / expected;
	place_free(&place);
	return (chi_square - 63) / sqrt(2 * 63);
}

Test(place, homes_of_samples_and_spaces_are_independent)
{
	cr_assert_lt(dependence(SPACE + 1, 0), Z_LIMIT);
	cr_assert_lt(dependence(SPACE, 1 << 20), Z_LIMIT);
	cr_assert_gt(dependence(SPACE, 0), Z_LIMIT); /* the test sees dependence */
}

/* --- nodes that come and go -------------------------------------------------------------- */

Test(place, a_node_that_joins_takes_its_part_to_itself_alone)
{
	struct nodes nodes = cluster(17, 1, 1, 1);
	struct place *after = table(&nodes);
	nodes.n--;
	struct place *before = table(&nodes);
	uint32_t samples = effort(100000, 1000000), moved = 0;
	for (sample_id s = 0; s < samples; s++) {
		uint32_t was = place_home(before, SPACE, s);
		uint32_t is = place_home(after, SPACE, s);
		cr_assert(is == was || is == 16, "sample %u went from %u to %u", s, was,
			is);
		moved += is != was;
	}
	double part = 1.0 / 17, deviation = sqrt(samples * part * (1 - part));
	cr_assert_lt(fabs(moved - samples * part), Z_LIMIT * deviation, "%u of %u moved",
		moved, samples);
	place_free(&before);
	place_free(&after);
}

Test(place, a_node_that_leaves_moves_only_its_own_and_to_the_next)
{
	struct nodes nodes = cluster(13, 1, .5, 2), left = nodes;
	struct place *before = table(&nodes);
	const uint32_t gone = 5;
	left.nodes[gone] = left.nodes[--left.n];
	struct place *after = table(&left);
	for (sample_id s = 0; s < 50000; s++) {
		uint32_t was = place_home(before, SPACE, s);
		uint32_t is = place_home(after, SPACE, s);
		uint32_t expected = was == gone ? place_next(before, SPACE, s, was) : was;
		cr_assert_eq(is == gone ? left.n : is, expected, "sample %u", s);
	}
	place_free(&before);
	place_free(&after);
}

/* Checks that the order has each node once, and that each node is the home if the nodes before it
 * are absent. */
static void check_order(const struct nodes *nodes, sample_id sample)
{
	struct place *place = table(nodes);
	struct nodes rest = *nodes;
	uint32_t number[MOST], n = 0;
	for (uint32_t i = 0; i < nodes->n; i++)
		number[i] = i;
	uint32_t at = place_home(place, SPACE, sample);
	for (; at != PLACE_NONE; at = place_next(place, SPACE, sample, at)) {
		struct place *without = table(&rest);
		uint32_t home = place_home(without, SPACE, sample);
		cr_assert_eq(number[home], at);
		rest.nodes[home] = rest.nodes[--rest.n];
		number[home] = number[rest.n];
		place_free(&without);
		n++;
	}
	cr_assert_eq(n, nodes->n);
	place_free(&place);
}

Test(place, the_order_is_that_of_homes_without_those_before)
{
	struct nodes nodes = cluster(9, 1, .5, 2);
	for (sample_id s = 0; s < 300; s++)
		check_order(&nodes, s);
}

Test(place, the_order_in_which_nodes_are_named_decides_nothing)
{
	struct nodes nodes = cluster(16, 1, .5, 2), shuffled = nodes;
	struct rng rng;
	rng_seed(&rng, 1);
	for (uint32_t i = nodes.n - 1; i > 0; i--) {
		uint32_t j = (uint32_t)rng_below(&rng, i + 1);
		struct place_node node = shuffled.nodes[i];
		shuffled.nodes[i] = shuffled.nodes[j];
		shuffled.nodes[j] = node;
	}
	struct place *a = table(&nodes), *b = table(&shuffled);
	for (sample_id s = 0; s < 20000; s++)
		cr_assert_eq(nodes.nodes[place_home(a, SPACE, s)].hash,
			shuffled.nodes[place_home(b, SPACE, s)].hash);
	place_free(&a);
	place_free(&b);
}

/* Daemons of different builds must agree. */
Test(place, homes_are_the_same_in_every_build)
{
	struct nodes nodes = cluster(9, 1, .5, 2);
	struct place *place = table(&nodes);
	char homes[33] = "";
	for (sample_id s = 0; s < 32; s++)
		homes[s] = (char)('0' + place_home(place, SPACE, s));
	cr_assert_str_eq(homes, "58327738830508585082515266535883");
	place_free(&place);
}

Test(place, what_is_not_allowed_is_refused)
{
	struct place *place = NULL;
	struct nodes nodes = cluster(3, 1, 1, 1);
	const double wrong[] = {0, -1, INFINITY, NAN};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		nodes.nodes[1].capacity = wrong[i];
		cr_assert_eq(place_new(nodes.nodes, nodes.n, &place), -EINVAL);
	}
	nodes.nodes[1] = nodes.nodes[2];
	cr_assert_eq(place_new(nodes.nodes, nodes.n, &place), -EINVAL);
	cr_assert_eq(place_new(NULL, 0, &place), 0);
	cr_assert_eq(place_home(place, SPACE, 1), PLACE_NONE);
	cr_assert_eq(place_next(place, SPACE, 1, 0), PLACE_NONE);
	place_free(&place);
}

/* --- the two hashes of JOADER ------------------------------------------------------------ */

Test(place, the_second_hash_is_for_jobs_that_are_not_on_the_first_ones_node)
{
	const uint32_t all[] = {0, 1, 2, 3}, some[] = {1, 3};
	uint32_t counts[4] = {0};
	for (sample_id s = 0; s < 40000; s++) {
		uint32_t first = place_joader(4, all, 4, SPACE, s);
		uint32_t second = place_joader(4, some, 2, SPACE, s);
		cr_assert(second == first || first % 2 == 0);
		cr_assert(second == 1 || second == 3);
		counts[first]++;
		counts[second]++;
	}
	cr_assert_lt(abs((int)counts[0] - 10000), 400);
	cr_assert_lt(abs((int)counts[1] - 30000), 600);
	cr_assert_eq(place_joader(4, NULL, 0, SPACE, 1), PLACE_NONE);
}
