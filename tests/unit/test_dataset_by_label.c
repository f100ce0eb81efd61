// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "dataset_place.h"

#include <stdlib.h>
#include <unistd.h>

#define CLASSES 5
#define FILES 6000

/* Adds links to one image with numbers in [begin, end), each in a class at random. */
static void add(struct place *place, uint32_t begin, uint32_t end)
{
	char first[4096], name[64];
	place_jpeg(place, "0/first.jpg");
	snprintf(first, sizeof(first), "%s", place_path(place, "0/first.jpg"));
	for (uint32_t i = begin; i < end; i++) {
		snprintf(name, sizeof(name), "%d/%u.jpg", (int)(rng_mix(3, i) % CLASSES),
			i);
		cr_assert_eq(link(first, place_path(place, name)), 0);
	}
}

static void remove_some(struct place *place)
{
	char name[64];
	for (uint32_t i = 0; i < FILES; i += 7) {
		snprintf(name, sizeof(name), "%d/%u.jpg", (int)(rng_mix(3, i) % CLASSES),
			i);
		cr_assert_eq(unlink(place_path(place, name)), 0);
	}
}

static void expect_sorted(const struct dataset *dataset,
	const roaring_bitmap_t *selection, const sample_id *sorted)
{
	size_t n = 0;
	for (uint32_t label = 0; label < CLASSES; label++)
		for (sample_id id = 0; id < dataset_ids(dataset); id++)
			if (roaring_bitmap_contains(selection, id) &&
				dataset_label(dataset, id) == label)
				cr_assert_eq(sorted[n++], id, "%zu", n);
	cr_assert_eq(n, roaring_bitmap_get_cardinality(selection));
}

static void expect_selected(struct place *place, const char *where)
{
	sample_id *sorted;
	char *message = NULL;
	roaring_bitmap_t *selection;
	cr_assert_eq(dataset_select(place->dataset, where, &selection, &message), 0);
	cr_assert_eq(dataset_sort_by_label(place->dataset, selection, &sorted), 0);
	expect_sorted(place->dataset, selection, sorted);
	free(sorted);
	roaring_bitmap_free(selection);
}

static void expect_all(struct place *place)
{
	char *message = NULL;
	const sample_id *sorted, *again;
	roaring_bitmap_t *all;
	cr_assert_eq(dataset_select(place->dataset, NULL, &all, &message), 0);
	cr_assert_eq(dataset_by_label(place->dataset, &sorted), 0);
	expect_sorted(place->dataset, all, sorted);
	cr_assert_eq(dataset_by_label(place->dataset, &again), 0);
	cr_assert_eq(again, sorted);
	roaring_bitmap_free(all);
}

/* After the second scan the ids of a class are not next to each other, and some are gone. */
Test(dataset_by_label, ids_are_sorted_by_label_and_by_id)
{
	struct place place;
	place_begin(&place);
	add(&place, 0, FILES);
	cr_assert_eq(place_open(&place), 0);
	expect_all(&place);
	remove_some(&place);
	add(&place, FILES, 2 * FILES);
	cr_assert_eq(place_open(&place), 0);
	cr_assert_lt(dataset_samples(place.dataset), dataset_ids(place.dataset));
	expect_all(&place);
	expect_selected(&place, "hash(path) % 3 = 1");
	expect_selected(&place, "class = '2'");
	expect_selected(&place, "id = 17");
	expect_selected(&place, "id < 0");
	place_end(&place);
}
