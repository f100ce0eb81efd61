// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "sampler/idset.h"

#include <criterion/criterion.h>

/* idset is compared with CRoaring, its twin. */

/* At the borders of words, lines and blocks, and one bound with many blocks. */
static const uint32_t bounds[] = {
	1, 63, 64, 65, 511, 512, 513, 4095, 4096, 4097, 8191, 65537, 300000};

#define N_BOUNDS (sizeof(bounds) / sizeof(bounds[0]))

struct pair {
	struct idset *set;
	roaring_bitmap_t *twin;
};

/* Adds each id with a chance of `of_16` / 16; the last quarter of the bound stays empty. */
static struct pair random_pair(struct rng *rng, uint32_t bound, unsigned of_16)
{
	struct pair pair = {.twin = roaring_bitmap_create()};
	for (uint32_t id = 0; id < bound - bound / 4; id++)
		if (rng_below(rng, 16) < of_16)
			roaring_bitmap_add(pair.twin, id);
	cr_assert_eq(idset_from_bitmap(bound, pair.twin, &pair.set), 0);
	return pair;
}

static void free_pair(struct pair *pair)
{
	idset_free(&pair->set);
	roaring_bitmap_free(pair->twin);
}

/* Compares the membership of every id, and the id of every rank. */
static void compare(const struct pair *pair)
{
	uint32_t rank = 0;
	idset_validate(pair->set);
	for (uint32_t id = 0; id < idset_bound(pair->set); id++) {
		bool there = roaring_bitmap_contains(pair->twin, id);
		cr_assert_eq(idset_contains(pair->set, id), there);
		cr_assert_eq(idset_rank(pair->set, id), rank);
		if (there)
			cr_assert_eq(idset_select(pair->set, rank++), id);
	}
	cr_assert_eq(idset_rank(pair->set, idset_bound(pair->set)), rank);
	cr_assert_eq(idset_size(pair->set), rank);
}

Test(idset, is_what_the_bitmap_is)
{
	struct rng rng;
	rng_seed(&rng, 1);
	for (size_t i = 0; i < N_BOUNDS; i++)
		for (unsigned of_16 = 0; of_16 <= 16; of_16 += 4) {
			struct pair pair = random_pair(&rng, bounds[i], of_16);
			compare(&pair);
			free_pair(&pair);
		}
}

Test(idset, follows_removals)
{
	struct rng rng;
	rng_seed(&rng, 2);
	for (size_t i = 0; i < N_BOUNDS; i++) {
		struct pair pair = random_pair(&rng, bounds[i], 8);
		for (uint32_t n = 0; n < bounds[i]; n++) {
			uint32_t id = (uint32_t)rng_below(&rng, bounds[i]);
			if (idset_contains(pair.set, id))
				idset_remove(pair.set, id);
			roaring_bitmap_remove(pair.twin, id);
		}
		compare(&pair);
		free_pair(&pair);
	}
}

/* Ids come in reverse order, some of them beyond the set's bound. */
Test(idset, is_made_of_places)
{
	struct rng rng;
	rng_seed(&rng, 3);
	for (size_t i = 0; i < N_BOUNDS; i++) {
		struct pair pair = random_pair(&rng, bounds[i], 8);
		struct idset *places;
		uint32_t n = bounds[i] + 100;
		uint32_t *ids = malloc(n * sizeof(*ids));
		for (uint32_t place = 0; place < n; place++)
			ids[place] = n - 1 - place;
		cr_assert_eq(idset_from_places(pair.set, ids, n, &places), 0);
		idset_validate(places);
		cr_assert_eq(idset_bound(places), n);
		for (uint32_t place = 0; place < n; place++)
			cr_assert_eq(idset_contains(places, place),
				idset_contains(pair.set, ids[place]));
		free(ids);
		idset_free(&places);
		free_pair(&pair);
	}
}

Test(idset, becomes_the_bitmap_it_was_made_of)
{
	struct rng rng;
	rng_seed(&rng, 3);
	for (size_t i = 0; i < 2 * N_BOUNDS; i++) {
		struct pair pair = random_pair(&rng, bounds[i / 2], i % 2 ? 8 : 15);
		roaring_bitmap_t *back = idset_to_bitmap(pair.set);
		cr_assert(roaring_bitmap_equals(back, pair.twin));
		roaring_bitmap_free(back);
		free_pair(&pair);
	}
}

Test(idset, of_no_ids_contains_none)
{
	struct idset *set;
	cr_assert_eq(idset_new(0, &set), 0);
	cr_assert_eq(idset_size(set), 0);
	cr_assert_eq(idset_rank(set, 0), 0);
	cr_assert_not(idset_contains(set, 0));
	cr_assert_not(idset_contains(set, UINT32_MAX));
	idset_validate(set);
	idset_free(&set);
	cr_assert_null(set);
	idset_free(&set);
}

Test(idset, reads_runs_of_a_compressed_bitmap)
{
	struct pair pair = {.twin = roaring_bitmap_create()};
	roaring_bitmap_add_range(pair.twin, 100, 150000);
	roaring_bitmap_add_range(pair.twin, 200000, 200001);
	roaring_bitmap_run_optimize(pair.twin);
	cr_assert_eq(idset_from_bitmap(200001, pair.twin, &pair.set), 0);
	compare(&pair);
	free_pair(&pair);
}

/* Compares with the twin's ids, without those that all three sets share. */
static void compare_unshared(const struct pair *pair, const struct idset *const *sets,
	roaring_bitmap_t *shared)
{
	uint32_t rank = 0;
	for (uint32_t id = 0; id < idset_bound(pair->set); id++)
		if (roaring_bitmap_contains(pair->twin, id) &&
			!roaring_bitmap_contains(shared, id))
			cr_assert_eq(
				idset_select_unshared(pair->set, sets, 3, rank++), id);
}

/* The second set is the smallest, and the third has the largest bound. */
Test(idset, shares_what_all_of_several_have)
{
	struct rng rng;
	rng_seed(&rng, 4);
	for (uint32_t bound = 10; bound < 10000; bound *= 3) {
		struct pair pairs[] = {random_pair(&rng, bound, 12),
			random_pair(&rng, bound, 4), random_pair(&rng, bound * 2, 15)};
		const struct idset *sets[] = {pairs[0].set, pairs[1].set, pairs[2].set};
		roaring_bitmap_t *shared =
			roaring_bitmap_and(pairs[0].twin, pairs[1].twin);
		roaring_bitmap_and_inplace(shared, pairs[2].twin);
		cr_assert_eq(idset_count_shared(sets, 3),
			roaring_bitmap_get_cardinality(shared));
		for (uint32_t id = 0; id < bound * 3; id++)
			cr_assert_eq(idset_all_contain(sets, 3, id),
				roaring_bitmap_contains(shared, id));
		for (int i = 0; i < 3; i++)
			compare_unshared(&pairs[i], sets, shared);
		for (int i = 0; i < 3; i++)
			free_pair(&pairs[i]);
		roaring_bitmap_free(shared);
	}
}

/* A bit for each id, and 5 % for the counts, so that 64 streams of 14 million ids fit into
 * memory. */
Test(idset, takes_little_more_than_a_bit_for_each_id)
{
	struct idset *set;
	cr_assert_eq(idset_new(14000000, &set), 0);
	cr_assert_lt(idset_bytes(set), 14000000 / 8 * 105 / 100);
	idset_free(&set);
}
