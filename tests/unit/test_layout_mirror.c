// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "files/layout_mirror.h"
#include "dataset_place.h"

#include <criterion/criterion.h>
#include <string.h>

static struct place place;

/* Compares the names of the files of class a, and checks that each name leads to its file. */
static void expect_names(const char *extension, const char *expected)
{
	const struct dataset_paths *paths;
	char name[MIRROR_NAME], all[1024] = "";
	cr_assert_eq(dataset_paths(place.dataset, &paths), 0);
	const struct paths_directory *directory = paths_directory(
		paths, paths_find_child(paths, paths_directory(paths, 0), "a"));
	for (uint32_t i = 0; i < directory->n_files; i++) {
		uint32_t file = directory->first_file + i;
		mirror_print(paths, directory, file, extension, name);
		cr_assert_eq(
			mirror_find(paths, directory, extension, name), file, "%s", name);
		strcat(strcat(all, i ? " " : ""), name);
	}
	cr_assert_str_eq(all, expected);
}

static void expect_none(const char *extension, const char *name)
{
	const struct dataset_paths *paths;
	cr_assert_eq(dataset_paths(place.dataset, &paths), 0);
	const struct paths_directory *directory = paths_directory(
		paths, paths_find_child(paths, paths_directory(paths, 0), "a"));
	cr_assert_eq(
		mirror_find(paths, directory, extension, name), UINT32_MAX, "%s", name);
}

Test(layout_mirror, a_file_keeps_its_name_and_gets_an_ending)
{
	place_begin(&place);
	place_jpeg(&place, "a/1.jpg");
	place_jpeg(&place, "a/1.png");
	place_jpeg(&place, "a/2.JPG");
	cr_assert_eq(place_open(&place), 0);
	expect_names("ppm", "1.jpg.ppm 1.png.ppm 2.JPG.ppm");
	expect_names("jpg", "1.jpg 1.png.jpg 2.JPG.jpg");
	expect_names(NULL, "1.jpg 1.png 2.JPG");
	expect_none("ppm", "1.jpg");
	expect_none("ppm", "1.ppm");
	expect_none("jpg", "1.jpg.jpg");
	expect_none("jpg", "2.jpg");
	expect_none(NULL, "1.jpg.ppm");
	expect_none("ppm", ".ppm");
	place_end(&place);
}

/* Names of 250 to 255 bytes that differ only at their ends, some with characters of two bytes. */
Test(layout_mirror, no_name_is_longer_than_a_file_may_have)
{
	const struct dataset_paths *paths;
	char path[300], name[MIRROR_NAME], before[MIRROR_NAME] = "";
	place_begin(&place);
	for (int wide = 0; wide < 2; wide++)
		for (int n = 250; n <= 255; n++) {
			char *at = path + sprintf(path, "a/%d", wide);
			while (at < path + n - 10)
				at = stpcpy(at, wide ? "\xc3\xa9" : "x");
			snprintf(at, 20, "%0*d.jpg", (int)(path + 2 + n - 4 - at), n);
			place_jpeg(&place, path);
		}
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(dataset_paths(place.dataset, &paths), 0);
	const struct paths_directory *directory = paths_directory(paths, 1);
	cr_assert_eq(directory->n_files, 12);
	for (uint32_t i = 0; i < 12; i++) {
		uint32_t file = directory->first_file + i;
		mirror_print(paths, directory, file, "ppm", name);
		cr_assert_leq(strlen(name), 255, "%s", name);
		cr_assert_str_eq(name + strlen(name) - 4, ".ppm");
		cr_assert_str_neq(name, before);
		cr_assert_eq(
			mirror_find(paths, directory, "ppm", name), file, "%s", name);
		strcpy(before, name);
		snprintf(name, sizeof(name), "%s.ppm", paths_name(paths, file));
		if (strlen(name) > 255)
			expect_none("ppm", name);
	}
	place_end(&place);
}

/* With the extension jpg, 1.png and 1.png.jpg would both become 1.png.jpg, and so on. */
Test(layout_mirror, no_two_files_have_one_name)
{
	place_begin(&place);
	place_jpeg(&place, "a/1.png");
	place_jpeg(&place, "a/1.png.jpg");
	place_jpeg(&place, "a/1.png.jpg.jpg");
	place_jpeg(&place, "a/1.png.jpg.png");
	cr_assert_eq(place_open(&place), 0);
	expect_names(
		"jpg", "1.png.jpg 1.png.jpg.jpg 1.png.jpg.jpg.jpg 1.png.jpg.png.jpg");
	expect_none("jpg", "1.png.jpg.jpg.jpg.jpg");
	place_end(&place);
}

Test(layout_mirror, beside_other_files_an_ending_is_replaced)
{
	place_begin(&place);
	place.config.shows_others = true;
	place_jpeg(&place, "a/1.png");
	place_text(&place, "a/1.txt", "a box");
	place_jpeg(&place, "a/2.jpg");
	place_jpeg(&place, "a/2.png");
	cr_assert_eq(place_open(&place), 0);
	const struct dataset_paths *paths;
	char name[MIRROR_NAME];
	cr_assert_eq(dataset_paths(place.dataset, &paths), 0);
	const char *const expected[] = {"1.jpg", NULL, "2.jpg.jpg", "2.png.jpg"};
	for (uint32_t i = 0; i < 4; i++) {
		const struct paths_other *other = paths_other(paths, i);
		cr_assert_eq(other == NULL, expected[i] != NULL);
		if (other) {
			cr_assert_str_eq(other->path, "a/1.txt");
			cr_assert_eq(other->bytes, 5);
			continue;
		}
		mirror_print(paths, paths_directory(paths, 1), i, "jpg", name);
		cr_assert_str_eq(name, expected[i]);
	}
	expect_none("jpg", "1.png");
	expect_none("jpg", "1.txt");
	expect_none("jpg", "1.png.jpg");
	expect_none("jpg", "2.jpg");
	place_end(&place);
}

/* Adds a random file. Each such file may be the stem, the ending or the beginning of another. */
static void add_any_file(struct rng *rng)
{
	static const char *const parts[] = {"1", "png", "jpg", "txt"};
	char path[100] = "a/1";
	for (uint64_t n = 1 + rng_below(rng, 3); n > 0; n--)
		strcat(strcat(path, "."), parts[rng_below(rng, 4)]);
	place_jpeg(&place, path);
}

static void expect_different_names(const char *extension)
{
	const struct dataset_paths *paths;
	static char names[64][MIRROR_NAME];
	uint32_t n = 0;
	cr_assert_eq(dataset_paths(place.dataset, &paths), 0);
	const struct paths_directory *directory = paths_directory(paths, 1);
	cr_assert_leq(directory->n_files, 64);
	for (uint32_t i = 0; i < directory->n_files; i++) {
		uint32_t file = directory->first_file + i;
		if (paths_other(paths, file))
			continue;
		mirror_print(paths, directory, file, extension, names[n]);
		cr_assert_eq(mirror_find(paths, directory, extension, names[n]), file,
			"%s", names[n]);
		for (uint32_t k = 0; k < n; k++)
			cr_assert_str_neq(names[k], names[n]);
		n++;
	}
	cr_assert_gt(n, 0);
}

Test(layout_mirror, files_have_names_of_their_own_whatever_they_are_called)
{
	struct rng rng;
	rng_seed(&rng, 7);
	for (int round = 0; round < 20; round++) {
		place_begin(&place);
		place.config.shows_others = round % 4 != 0;
		place_jpeg(&place, "a/1.jpg");
		for (int i = 0; i < 30; i++)
			add_any_file(&rng);
		cr_assert_eq(place_open(&place), 0);
		expect_different_names("jpg");
		expect_different_names("ppm");
		place_end(&place);
	}
}
