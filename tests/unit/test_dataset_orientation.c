// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/dataset_internal.h"
#include "dataset_place.h"

/* A TIFF directory with the orientation 6 as its only entry. */
#define EXIF "II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0"
#define EXIF_BYTES sizeof(EXIF)
#define VALUE 18

/* Inserts the segment after the first two bytes of a JPEG. */
static void place_turned(struct place *place, const char *relative, uint8_t orientation)
{
	uint8_t jpeg[4096], segment[10 + EXIF_BYTES] = "\xff\xe1\0\0Exif\0";
	const char *path = place_path(place, relative);
	write_jpeg(path, 4, 3);
	FILE *file = fopen(path, "r+");
	size_t n = fread(jpeg, 1, sizeof(jpeg), file);
	segment[3] = sizeof(segment) - 2;
	memcpy(segment + 10, EXIF, EXIF_BYTES);
	segment[10 + VALUE] = orientation;
	fseek(file, 2, SEEK_SET);
	fwrite(segment, 1, sizeof(segment), file);
	fwrite(jpeg + 2, 1, n - 2, file);
	fclose(file);
}

static void expect_orientation(
	struct place *place, const char *relative, unsigned expected)
{
	struct dataset_sample sample;
	sample_id id = place_id(place, relative);
	cr_assert_eq(dataset_orientation(place->dataset, id), expected, "%s", relative);
	cr_assert_eq(dataset_get(place->dataset, id, &sample), 0);
	cr_assert_eq(sample.orientation, expected, "%s", relative);
	cr_assert_eq(sample.image.width, 4, "as in the file");
	dataset_sample_free(&sample);
}

static void three_orientations(struct place *place)
{
	place_begin(place);
	place_turned(place, "a/2.jpg", 6);
	place_turned(place, "a/3.jpg", 3);
	place_turned(place, "a/4.jpg", 9);
	place_jpeg(place, "b/5.jpg");
	cr_assert_eq(place_open(place), 0);
}

static void expect_three_orientations(struct place *place)
{
	expect_orientation(place, "a/2.jpg", 6);
	expect_orientation(place, "a/3.jpg", 3);
	expect_orientation(place, "a/4.jpg", 1);
	expect_orientation(place, "b/5.jpg", 1);
}

Test(dataset_orientation, is_kept_in_the_catalogue)
{
	struct place place;
	struct stat before, after;
	three_orientations(&place);
	expect_three_orientations(&place);
	cr_assert_eq(stat(place.catalogue, &before), 0);
	cr_assert_eq(place_open(&place), 0);
	expect_three_orientations(&place);
	cr_assert_eq(stat(place.catalogue, &after), 0);
	cr_assert_eq(before.st_ino, after.st_ino, "nothing changed");
	place_turned(&place, "a/2.jpg", 8);
	cr_assert_eq(place_open(&place), 0);
	expect_orientation(&place, "a/2.jpg", 8);
	place_end(&place);
}

Test(dataset_orientation, an_older_catalogue_keeps_its_ids)
{
	struct place place;
	three_orientations(&place);
	place_turned(&place, "a/1.jpg", 5);
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(place_id(&place, "a/1.jpg"), 4);
	place_make_older(&place, "ALTER TABLE samples DROP COLUMN exif_orientation;"
				 "PRAGMA user_version = 1");
	cr_assert_eq(place_open(&place), 0);
	cr_assert(place_logged(&place, "of an older version"));
	cr_assert_eq(place_id(&place, "a/1.jpg"), 4);
	expect_orientation(&place, "a/1.jpg", 5);
	expect_three_orientations(&place);
	cr_assert_eq(place_open(&place), 0);
	cr_assert_not(place_logged(&place, "of an older version"));
	expect_three_orientations(&place);
	place_end(&place);
}

/* A sample with a known header keeps it. A sample without one is examined again. */
Test(dataset_orientation, a_catalogue_without_containers_is_brought_up_to_date)
{
	struct place place;
	three_orientations(&place);
	place_text(&place, "a/9.png", "no image");
	cr_assert_eq(place_open(&place), 0);
	sample_id id = place_id(&place, "a/9.png");
	place_make_older(&place,
		"DROP TABLE containers; ALTER TABLE about DROP COLUMN settings;"
		"ALTER TABLE about DROP COLUMN labelled;"
		"ALTER TABLE about DROP COLUMN readers;"
		"ALTER TABLE samples DROP COLUMN part_container;"
		"ALTER TABLE samples DROP COLUMN part_offset;"
		"ALTER TABLE samples DROP COLUMN part_bytes;"
		"ALTER TABLE samples DROP COLUMN part_checksum;"
		"ALTER TABLE samples DROP COLUMN part_method;"
		"PRAGMA user_version = 2");
	cr_assert_eq(place_open(&place), 0);
	cr_assert(place_logged(&place, "of an older version"));
	cr_assert_eq(place_id(&place, "a/9.png"), id);
	expect_three_orientations(&place);
	cr_assert_eq(place_open(&place), 0);
	cr_assert_not(place_logged(&place, "of an older version"));
	place_end(&place);
}

/* Tests every beginning of the segment, and every changed byte. */
Test(dataset_orientation, damaged_exif_is_none)
{
	cr_assert_eq(exif_orientation((const uint8_t *)EXIF, EXIF_BYTES), 6);
	for (size_t n = 0; n < EXIF_BYTES; n++) {
		uint8_t *cut = malloc(n + 1);
		memcpy(cut, EXIF, n);
		cr_assert_eq(exif_orientation(cut, n), n < VALUE + 4 ? 1 : 6);
		free(cut);
	}
	for (size_t n = 0; n < EXIF_BYTES * 256; n++) {
		uint8_t *changed = malloc(EXIF_BYTES);
		memcpy(changed, EXIF, EXIF_BYTES);
		changed[n / 256] = (uint8_t)n;
		uint8_t orientation = exif_orientation(changed, EXIF_BYTES);
		cr_assert(orientation >= 1 && orientation <= 8);
		free(changed);
	}
}
