// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/passes.h"

#include <criterion/criterion.h>
#include <string.h>

/* The samples in epochs of a mixture: passes without repetition, and as random as possible. */

#define SPREAD 7 /* ids are not a dense range */

static roaring_bitmap_t *all_of(uint32_t n)
{
	roaring_bitmap_t *all = roaring_bitmap_create();
	for (uint32_t i = 0; i < n; i++)
		roaring_bitmap_add(all, i * SPREAD);
	return all;
}

static roaring_bitmap_t *epoch_of(
	const roaring_bitmap_t *all, uint32_t n, uint64_t seed, uint32_t epoch)
{
	roaring_bitmap_t *ids = NULL;
	cr_assert_eq(passes_of_epoch(all, n, seed, epoch, &ids), 0);
	return ids;
}

/* Checks that after each epoch each sample came as often as any other, or once more. */
static void check_passes(uint32_t n_all, uint32_t n, uint32_t epochs)
{
	roaring_bitmap_t *all = all_of(n_all);
	uint32_t had[64] = {0};
	for (uint32_t epoch = 0; epoch < epochs; epoch++) {
		roaring_bitmap_t *ids = epoch_of(all, n, n_all * 31 + n, epoch);
		uint32_t least = UINT32_MAX, most = 0;
		cr_assert_eq(roaring_bitmap_get_cardinality(ids), n,
			"epoch %u of %u of %u has %lu", epoch, n, n_all,
			(unsigned long)roaring_bitmap_get_cardinality(ids));
		cr_assert(roaring_bitmap_is_subset(ids, all));
		for (uint32_t i = 0; i < n_all; i++) {
			had[i] += roaring_bitmap_contains(ids, i * SPREAD);
			least = had[i] < least ? had[i] : least;
			most = had[i] > most ? had[i] : most;
		}
		cr_assert_leq(most - least, 1, "%u of %u: %u and %u after epoch %u", n,
			n_all, least, most, epoch);
		roaring_bitmap_free(ids);
	}
	roaring_bitmap_free(all);
}

Test(epoch_passes, no_pass_has_a_sample_twice_and_no_epoch)
{
	for (uint32_t n_all = 1; n_all <= 24; n_all++)
		for (uint32_t n = 1; n <= n_all; n++)
			check_passes(n_all, n, 3 * n_all + 2);
	check_passes(61, 17, 400);
	check_passes(61, 44, 400);
}

Test(epoch_passes, the_same_again_from_the_same_seed)
{
	roaring_bitmap_t *all = all_of(40);
	for (uint32_t epoch = 0; epoch < 20; epoch++) {
		roaring_bitmap_t *one = epoch_of(all, 13, 5, epoch);
		roaring_bitmap_t *same = epoch_of(all, 13, 5, epoch);
		roaring_bitmap_t *other = epoch_of(all, 13, 6, epoch);
		cr_assert(roaring_bitmap_equals(one, same));
		cr_assert_not(roaring_bitmap_equals(one, other));
		roaring_bitmap_free(one);
		roaring_bitmap_free(same);
		roaring_bitmap_free(other);
	}
	roaring_bitmap_free(all);
}

#define SEEDS 4000
#define N_ALL 20
#define LIMIT 52 /* chi-square with 19 degrees of freedom is above this once in 15000 */

/* Counts how often each sample is in an epoch, over all seeds. prefers: a mutant that now and then
 * gives the first sample instead of the last one. */
static void count(const roaring_bitmap_t *all, uint32_t n, uint32_t epoch, bool prefers,
	uint32_t had[N_ALL])
{
	const uint32_t last = (N_ALL - 1) * SPREAD;
	memset(had, 0, N_ALL * sizeof(*had));
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		roaring_bitmap_t *ids = epoch_of(all, n, seed, epoch);
		if (prefers && seed % 4 == 0 && !roaring_bitmap_contains(ids, 0) &&
			roaring_bitmap_remove_checked(ids, last))
			roaring_bitmap_add(ids, 0);
		for (uint32_t i = 0; i < N_ALL; i++)
			had[i] += roaring_bitmap_contains(ids, i * SPREAD);
		roaring_bitmap_free(ids);
	}
}

/* Returns the chi-square. Each epoch has n samples, so the counts vary less than with independent
 * draws, by the factor 1 - n / N_ALL. */
static double spread_of(const uint32_t had[N_ALL], uint32_t n)
{
	double expected = (double)SEEDS * n / N_ALL, sum = 0;
	for (int i = 0; i < N_ALL; i++) {
		double difference = had[i] - expected;
		sum += difference * difference / expected;
	}
	return sum / (1 - (double)n / N_ALL) * (N_ALL - 1) / N_ALL;
}

/* Tests epochs in the middle of a pass, and epochs in which two passes meet. */
Test(epoch_passes, each_sample_is_as_likely_in_each_epoch)
{
	static const uint32_t sizes[] = {3, 7, 10, 13, 17};
	roaring_bitmap_t *all = all_of(N_ALL);
	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
		for (uint32_t epoch = 0; epoch < 8; epoch++) {
			uint32_t had[N_ALL];
			count(all, sizes[k], epoch, false, had);
			double spread = spread_of(had, sizes[k]);
			cr_assert_lt(spread, LIMIT, "%u of %u, epoch %u: %.1f", sizes[k],
				N_ALL, epoch, spread);
			count(all, sizes[k], epoch, true, had);
			spread = spread_of(had, sizes[k]);
			cr_assert_geq(spread, LIMIT, "not seen: %u of %u, epoch %u: %.1f",
				sizes[k], N_ALL, epoch, spread);
		}
	roaring_bitmap_free(all);
}
