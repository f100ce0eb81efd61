// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset_place.h"
#include "effort.h"

/*
 * hash() in a predicate, as it divides a dataset into folds. The paths are typical: they have
 * numbers that count up.
 */

#define FOLDS 5
#define CLASSES 10
/* Chi-square with 40 and with 16 degrees of freedom is above these limits once in a million. */
#define BALANCED 94.0
#define INDEPENDENT 57.1

struct folds {
	uint32_t n;
	uint8_t *of; /* by id: the fold */
};

/* expression: the fold of a row. Checks that each sample is in exactly one fold. */
static struct folds folds_of(struct place *place, const char *expression)
{
	struct folds folds = {.n = dataset_ids(place->dataset)};
	uint64_t total = 0;
	folds.of = calloc(folds.n, 1);
	for (uint8_t fold = 0; fold < FOLDS; fold++) {
		char where[128], *message = NULL;
		roaring_bitmap_t *ids;
		snprintf(where, sizeof(where), "%s = %u", expression, fold);
		cr_assert_eq(dataset_select(place->dataset, where, &ids, &message), 0,
			"%s: %s", where, message ? message : "");
		for (uint32_t id = 0; id < folds.n; id++)
			if (roaring_bitmap_contains(ids, id))
				folds.of[id] = fold;
		total += roaring_bitmap_get_cardinality(ids);
		roaring_bitmap_free(ids);
	}
	cr_assert_eq(total, dataset_samples(place->dataset), "%s", expression);
	return folds;
}

/* Returns the chi-square of the sizes of the folds within the classes. */
static double balance(struct place *place, const char *expression)
{
	double count[CLASSES][FOLDS] = {{0}}, sum[CLASSES] = {0}, chi_square = 0;
	struct folds folds = folds_of(place, expression);
	for (uint32_t id = 0; id < folds.n; id++) {
		uint32_t label = dataset_label(place->dataset, id);
		count[label][folds.of[id]]++;
		sum[label]++;
	}
	for (int c = 0; c < CLASSES; c++)
		for (int f = 0; f < FOLDS; f++) {
			double expected = sum[c] / FOLDS, off = count[c][f] - expected;
			chi_square += off * off / expected;
		}
	free(folds.of);
	return chi_square;
}

/* Returns the chi-square of the folds of neighbours, compared with independent folds. */
static double dependence(struct place *place, const char *expression)
{
	double count[FOLDS][FOLDS] = {{0}}, row[FOLDS] = {0}, column[FOLDS] = {0};
	double chi_square = 0;
	struct folds folds = folds_of(place, expression);
	for (uint32_t id = 0; id + 1 < folds.n; id++) {
		count[folds.of[id]][folds.of[id + 1]]++;
		row[folds.of[id]]++;
		column[folds.of[id + 1]]++;
	}
	for (int a = 0; a < FOLDS; a++)
		for (int b = 0; b < FOLDS; b++) {
			double expected = row[a] * column[b] / (folds.n - 1);
			double off = count[a][b] - expected;
			chi_square += expected > 0 ? off * off / expected : folds.n;
		}
	free(folds.of);
	return chi_square;
}

Test(dataset_hash, folds_are_equal_in_each_class_and_independent_of_the_names)
{
	uint32_t each = effort(300, 2000);
	struct place place;
	char name[64];
	place_begin(&place);
	for (uint32_t i = 0; i < CLASSES * each; i++) {
		snprintf(
			name, sizeof(name), "class%u/%05u.jpg", i % CLASSES, i / CLASSES);
		place_text(&place, name, "");
	}
	cr_assert_eq(place_open(&place), 0);
	cr_expect_lt(balance(&place, "hash(path) % 5"), BALANCED);
	cr_expect_lt(dependence(&place, "hash(path) % 5"), INDEPENDENT);
	/* the rest outside of a fold can be divided again */
	cr_expect_lt(balance(&place, "hash(path) / 5 % 5"), BALANCED);
	cr_expect_lt(balance(&place, "hash(class || id) % 5"), BALANCED);
	/* mutants */
	cr_expect_gt(balance(&place, "hash(length(path)) % 5"), BALANCED);
	cr_expect_gt(balance(&place, "hash(class) % 5"), BALANCED);
	cr_expect_gt(dependence(&place, "id % 5"), INDEPENDENT);
	cr_expect_gt(dependence(&place, "hash(id / 2) % 5"), INDEPENDENT);
	place_end(&place);
}

/* Returns how many of the files have another fold than in *before; fills *before if it is empty. */
static uint32_t changed(struct place *place, const char *expression, int8_t before[60])
{
	struct folds folds = folds_of(place, expression);
	uint32_t n = 0;
	char name[64];
	for (uint32_t i = 0; i < 60; i++) {
		snprintf(name, sizeof(name), "class%u/%02u.jpg", i % 3, i);
		int8_t fold = (int8_t)folds.of[place_id(place, name)];
		n += before[i] >= 0 && before[i] != fold;
		before[i] = fold;
	}
	free(folds.of);
	return n;
}

Test(dataset_hash, a_file_stays_in_its_fold)
{
	int8_t by_hash[60], by_id[60];
	struct place place;
	char name[64], moved[96];
	memset(by_hash, -1, sizeof(by_hash));
	memset(by_id, -1, sizeof(by_id));
	place_begin(&place);
	for (uint32_t i = 0; i < 60; i++) {
		snprintf(name, sizeof(name), "class%u/%02u.jpg", i % 3, i);
		place_text(&place, name, "");
	}
	cr_assert_eq(place_open(&place), 0);
	changed(&place, "hash(path) % 5", by_hash);
	changed(&place, "id % 5", by_id);
	/* The directory moves, new files come first by name, and the catalogue is made anew. */
	for (uint32_t i = 0; i < 7; i++) {
		snprintf(name, sizeof(name), "class%u/-%02u.jpg", i % 3, i);
		place_text(&place, name, "");
	}
	snprintf(moved, sizeof(moved), "%s-moved", place.root);
	cr_assert_eq(rename(place.root, moved), 0);
	place.config.path = moved;
	cr_assert_eq(unlink(place.catalogue), 0);
	cr_assert_eq(place_open(&place), 0);
	cr_expect_eq(changed(&place, "hash(path) % 5", by_hash), 0);
	cr_expect_gt(changed(&place, "id % 5", by_id), 20); /* a mutant */
	place_end(&place);
}

/* The values are the same on every machine and in every version. */
Test(dataset_hash, has_these_values)
{
	static const char *const cases[] = {
		"hash('') = 5650585516096373764",
		"hash('tulip/0001.jpg') = 4303116135128845440",
		"hash('1') = hash(1)",
		"hash(null) is null",
		"typeof(hash(path)) = 'integer' and hash(path) >= 0",
	};
	struct place place;
	place_begin(&place);
	place_text(&place, "a/1.jpg", "");
	place_text(&place, "a/2.jpg", "");
	cr_assert_eq(place_open(&place), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *message = NULL;
		cr_expect_eq(place_count(&place, cases[i], &message), 2, "%s: %s",
			cases[i], message ? message : "");
		free(message);
	}
	char *message = NULL;
	cr_expect_eq(place_count(&place, "hash(1, 2) = 1", &message), -1);
	cr_expect(message && strstr(message, "wrong number of arguments"), "%s", message);
	free(message);
	place_end(&place);
}
