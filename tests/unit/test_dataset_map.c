// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/fault.h"
#include "base/rng.h"
#include "dataset/dataset_map.h"
#include "dataset_place.h"
#include "effort.h"

/* The mapped file beside a catalogue. Whatever happens to this file, the dataset has all that the
 * scan has found. */

#define FILES 40

struct known {
	char *paths[FILES];
	uint32_t labels[FILES];
	int64_t mtimes[FILES];
	uint64_t fingerprint;
};

static void make_tree(struct place *place)
{
	char path[64];
	place_begin(place);
	for (int i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "class%d/%d.jpg", i % 5, i);
		place_jpeg(place, path);
	}
}

static const char *map_of(const struct place *place)
{
	static char path[160];
	snprintf(path, sizeof(path), "%s.map", place->catalogue);
	return path;
}

static uint64_t fingerprint(struct dataset *dataset)
{
	roaring_bitmap_t *all;
	char *message;
	cr_assert_eq(dataset_select(dataset, NULL, &all, &message), 0);
	uint64_t found = dataset_fingerprint(dataset, all);
	roaring_bitmap_free(all);
	return found;
}

static void note(struct place *place, struct known *known)
{
	for (sample_id id = 0; id < FILES; id++) {
		struct dataset_sample sample;
		cr_assert_eq(dataset_get(place->dataset, id, &sample), 0);
		known->paths[id] = strdup(sample.relative);
		known->labels[id] = sample.label;
		known->mtimes[id] = sample.mtime_ns;
		dataset_sample_free(&sample);
	}
	known->fingerprint = fingerprint(place->dataset);
}

static void expect(struct place *place, const struct known *known, const char *what)
{
	cr_assert_eq(dataset_samples(place->dataset), FILES, "%s", what);
	for (sample_id id = 0; id < FILES; id++) {
		struct dataset_sample sample;
		cr_assert_eq(dataset_get(place->dataset, id, &sample), 0, "%s", what);
		cr_assert_str_eq(sample.relative, known->paths[id], "%s", what);
		cr_assert_eq(sample.label, known->labels[id], "%s", what);
		cr_assert_eq(sample.mtime_ns, known->mtimes[id], "%s", what);
		cr_assert_eq(sample.image.width, 4, "%s", what);
		cr_assert_eq(sample.image.height, 3, "%s", what);
		cr_assert_eq(sample.orientation, 1, "%s", what);
		dataset_sample_free(&sample);
	}
	cr_assert_eq(fingerprint(place->dataset), known->fingerprint, "%s", what);
}

static void forget(struct known *known)
{
	for (int i = 0; i < FILES; i++)
		free(known->paths[i]);
}

static void flip(const char *file, off_t at)
{
	uint8_t byte;
	int fd = open(file, O_RDWR);
	cr_assert(fd >= 0 && pread(fd, &byte, 1, at) == 1);
	byte ^= 0x10;
	cr_assert_eq(pwrite(fd, &byte, 1, at), 1);
	close(fd);
}

static off_t size_of(const char *file)
{
	struct stat status;
	cr_assert_eq(stat(file, &status), 0);
	return status.st_size;
}

/* The file is right again, and the next start has no message about it. */
static void expect_made_again(
	struct place *place, const struct known *known, const char *what)
{
	cr_assert_eq(place_open(place), 0, "%s", what);
	cr_assert(place_logged(place, "it is rebuilt"), "%s", what);
	expect(place, known, what);
	cr_assert_eq(place_open(place), 0, "%s", what);
	cr_assert_not(place_logged(place, "it is rebuilt"), "%s", what);
	expect(place, known, what);
}

/* Tells whether the byte belongs to no section, because it aligns them. */
static bool is_gap(const char *file, off_t at)
{
	struct map_head head;
	int fd = open(file, O_RDONLY);
	cr_assert_eq(pread(fd, &head, sizeof(head), 0), sizeof(head));
	close(fd);
	if (at < (off_t)sizeof(head))
		return false;
	for (int i = 0; i < MAP_N_SECTIONS; i++)
		if ((uint64_t)at >= head.sections[i].offset &&
			(uint64_t)at < head.sections[i].offset + head.sections[i].bytes)
			return false;
	return true;
}

Test(dataset_map, a_damaged_byte_anywhere_is_noticed)
{
	struct place place;
	struct known known;
	struct rng rng;
	rng_seed(&rng, 35);
	make_tree(&place);
	cr_assert_eq(place_open(&place), 0);
	note(&place, &known);
	off_t size = size_of(map_of(&place));
	for (unsigned i = 0; i < effort(60, 2000); i++) {
		char what[32];
		off_t at = (off_t)rng_below(&rng, (uint64_t)size);
		if (is_gap(map_of(&place), at))
			continue;
		snprintf(what, sizeof(what), "byte %jd", (intmax_t)at);
		dataset_close(&place.dataset);
		flip(map_of(&place), at);
		expect_made_again(&place, &known, what);
	}
	forget(&known);
	place_end(&place);
}

Test(dataset_map, a_truncated_one_is_made_again)
{
	struct place place;
	struct known known;
	make_tree(&place);
	cr_assert_eq(place_open(&place), 0);
	note(&place, &known);
	off_t size = size_of(map_of(&place));
	const off_t sizes[] = {0, 8, MAP_HEAD_WITHOUT_SHAPES, sizeof(struct map_head),
		size / 2, size - 1, size + 1};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		dataset_close(&place.dataset);
		cr_assert_eq(truncate(map_of(&place), sizes[i]), 0);
		expect_made_again(&place, &known, "truncated");
	}
	forget(&known);
	place_end(&place);
}

/* An older joaderfs leaves no file, and a newer one may leave another version. */
Test(dataset_map, without_one_or_with_one_of_another_version_the_catalogue_is_read)
{
	struct place place;
	struct known known;
	make_tree(&place);
	cr_assert_eq(place_open(&place), 0);
	note(&place, &known);
	cr_assert_eq(unlink(map_of(&place)), 0);
	cr_assert_eq(place_open(&place), 0);
	expect(&place, &known, "none");
	cr_assert_eq(access(map_of(&place), F_OK), 0);
	flip(map_of(&place), offsetof(struct map_head, version));
	cr_assert_eq(place_open(&place), 0);
	cr_assert(place_logged(&place, "is of another version; it is rebuilt"));
	expect(&place, &known, "of another version");
	forget(&known);
	place_end(&place);
}

/* The daemon died between two renames. */
Test(dataset_map, one_of_another_scan_is_not_used)
{
	struct place place;
	char old[192];
	make_tree(&place);
	place_jpeg(&place, "class0/more.jpg");
	cr_assert_eq(place_open(&place), 0);
	snprintf(old, sizeof(old), "%s.old", map_of(&place));
	cr_assert_eq(link(map_of(&place), old), 0);
	cr_assert_eq(unlink(place_path(&place, "class0/more.jpg")), 0);
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(dataset_samples(place.dataset), FILES);
	cr_assert_eq(rename(old, map_of(&place)), 0);
	cr_assert_eq(place_open(&place), 0);
	cr_assert(place_logged(&place, "belongs to another scan than"));
	cr_assert_eq(dataset_samples(place.dataset), FILES);
	place_end(&place);
}

Test(dataset_map, a_full_disk_keeps_nobody_from_reading)
{
	struct place place;
	struct known known;
	make_tree(&place);
	cr_assert_eq(place_open(&place), 0);
	note(&place, &known);
	for (int after = 0; after < MAP_N_SECTIONS; after++) {
		char fault[64], left[192];
		cr_assert_eq(unlink(map_of(&place)), 0);
		snprintf(fault, sizeof(fault), "dataset.map:ENOSPC:after=%d:times=1",
			after);
		cr_assert_eq(fault_add(fault), 0);
		cr_assert_eq(place_open(&place), 0);
		if (access(map_of(&place), F_OK) == 0)
			break; /* the catalogue makes fewer writes */
		cr_assert(place_logged(&place, "No space left on device"));
		expect(&place, &known, fault);
		snprintf(left, sizeof(left), "%s.new", map_of(&place));
		cr_assert_neq(access(left, F_OK), 0);
		fault_clear();
		cr_assert_eq(place_open(&place), 0);
		cr_assert_not(place_logged(&place, "No space"));
		cr_assert_eq(access(map_of(&place), F_OK), 0);
	}
	forget(&known);
	place_end(&place);
}

/* An engine that takes over a mount maps the file of the previous engine. */
Test(dataset_map, goes_with_its_catalogue)
{
	struct place place;
	struct dataset *next, *kept;
	char file[192];
	make_tree(&place);
	cr_assert_eq(place_open(&place), 0);
	place_jpeg(&place, "class0/more.jpg");
	cr_assert_eq(dataset_scan_next(&place.config, place.state, NULL, &next), 0);
	cr_assert_eq(dataset_samples(next), FILES + 1);
	cr_assert_eq(dataset_install(place.state, place.dataset, next), 0);
	snprintf(file, sizeof(file), "%s.0.map", place.catalogue);
	cr_assert_eq(access(file, F_OK), 0);
	cr_assert_eq(dataset_open_kept(&place.config, place.state, 0, &kept), 0);
	cr_assert_eq(dataset_samples(kept), FILES);
	cr_assert_not(place_logged(&place, "it is rebuilt"));
	cr_assert_eq(place_id(&place, "class0/more.jpg"), SAMPLE_NONE);
	dataset_discard(kept);
	cr_assert_neq(access(file, F_OK), 0);
	dataset_close(&kept);
	dataset_close(&next);
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(dataset_samples(place.dataset), FILES + 1);
	cr_assert_not(place_logged(&place, "it is rebuilt"));
	dataset_forget(place.state, "flowers");
	cr_assert_neq(access(map_of(&place), F_OK), 0);
	place_end(&place);
}
