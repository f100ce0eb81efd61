// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset_place.h"

#include <time.h>

/* Scans, and returns the fingerprint of the samples that the predicate selects. */
static uint64_t fingerprint(struct place *place, const char *where)
{
	roaring_bitmap_t *ids;
	char *message;
	cr_assert_eq(place_open(place), 0);
	cr_assert_eq(dataset_select(place->dataset, where, &ids, &message), 0);
	uint64_t found = dataset_fingerprint(place->dataset, ids);
	roaring_bitmap_free(ids);
	return found;
}

static void set_mtime(const struct place *place, const char *relative, time_t seconds)
{
	struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
	cr_assert_eq(utimensat(AT_FDCWD, place_path(place, relative), times, 0), 0);
}

static void image(struct place *place, const char *relative)
{
	place_jpeg(place, relative);
	set_mtime(place, relative, 1000000000);
}

static void four_files(struct place *place)
{
	place_begin(place);
	image(place, "a/1.jpg");
	image(place, "a/2.jpg");
	image(place, "b/1.jpg");
	image(place, "b/2.jpg");
}

Test(dataset_fingerprint, is_the_same_after_a_restart)
{
	struct place place;
	four_files(&place);
	uint64_t first = fingerprint(&place, NULL);
	cr_assert_eq(fingerprint(&place, NULL), first);
	cr_assert_eq(unlink(place.catalogue), 0);
	cr_assert_eq(fingerprint(&place, NULL), first, "of a catalogue made anew");
	place_end(&place);
}

/* State directories hold these values, so they must never change. */
Test(dataset_fingerprint, is_the_same_on_every_machine)
{
	struct place place;
	place_begin(&place);
	place_text(&place, "flowers/a long name.jpg", "not an image");
	set_mtime(&place, "flowers/a long name.jpg", 1234567890);
	cr_assert_eq(fingerprint(&place, NULL), UINT64_C(0x940aa0c9900ef006));
	place_end(&place);
}

Test(dataset_fingerprint, depends_on_which_samples_are_selected)
{
	struct place place;
	four_files(&place);
	const char *const where[] = {NULL, "id < 3", "id > 0", "id = 0", "id = 1"};
	uint64_t found[5];
	for (size_t i = 0; i < 5; i++) {
		found[i] = fingerprint(&place, where[i]);
		for (size_t k = 0; k < i; k++)
			cr_assert_neq(found[i], found[k]);
	}
	cr_assert_eq(fingerprint(&place, "label = 0 and path like '%1.jpg'"), found[3]);
	place_end(&place);
}

Test(dataset_fingerprint, changes_with_a_files_mtime)
{
	struct place place;
	four_files(&place);
	uint64_t first = fingerprint(&place, NULL);
	set_mtime(&place, "a/2.jpg", 1000000001);
	cr_assert_neq(fingerprint(&place, NULL), first);
	set_mtime(&place, "a/2.jpg", 1000000000);
	cr_assert_eq(fingerprint(&place, NULL), first);
	place_end(&place);
}

Test(dataset_fingerprint, changes_with_a_files_size)
{
	struct place place;
	four_files(&place);
	uint64_t first = fingerprint(&place, NULL);
	FILE *file = fopen(place_path(&place, "a/2.jpg"), "a");
	cr_assert_not_null(file);
	fputs("more", file);
	fclose(file);
	set_mtime(&place, "a/2.jpg", 1000000000);
	cr_assert_neq(fingerprint(&place, NULL), first);
	place_end(&place);
}

/* A renamed file has a new id, but in a catalogue that is made anew it has the old file's id. */
Test(dataset_fingerprint, changes_with_a_files_path)
{
	struct place place;
	four_files(&place);
	uint64_t first = fingerprint(&place, NULL);
	char old[4096];
	strcpy(old, place_path(&place, "a/2.jpg"));
	cr_assert_eq(rename(old, place_path(&place, "a/3.jpg")), 0);
	cr_assert_neq(fingerprint(&place, NULL), first);
	cr_assert_eq(unlink(place.catalogue), 0);
	cr_assert_neq(fingerprint(&place, NULL), first);
	place_end(&place);
}

/* A file gets its id when it appears. In another order of appearance files have other ids. */
Test(dataset_fingerprint, changes_when_ids_are_given_to_other_files)
{
	struct place place;
	place_begin(&place);
	image(&place, "a/2.jpg");
	cr_assert_eq(place_open(&place), 0);
	image(&place, "a/1.jpg");
	uint64_t grown = fingerprint(&place, NULL);
	cr_assert_eq(place_id(&place, "a/1.jpg"), 1);
	cr_assert_eq(unlink(place.catalogue), 0);
	uint64_t anew = fingerprint(&place, NULL);
	cr_assert_eq(place_id(&place, "a/1.jpg"), 0);
	cr_assert_neq(grown, anew);
	place_end(&place);
}

Test(dataset_fingerprint, does_not_depend_on_files_that_are_not_selected)
{
	struct place place;
	four_files(&place);
	uint64_t first = fingerprint(&place, "label = 0");
	set_mtime(&place, "b/1.jpg", 1000000001);
	image(&place, "b/3.jpg");
	cr_assert_eq(unlink(place_path(&place, "b/2.jpg")), 0);
	cr_assert_eq(fingerprint(&place, "label = 0"), first);
	place_end(&place);
}
