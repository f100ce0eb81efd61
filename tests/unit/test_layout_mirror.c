// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/layout_mirror.h"
#include "dataset_place.h"

#include <criterion/criterion.h>
#include <string.h>

static struct place place;

/* The names of the files of class a, in their order, each found again by its name. */
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

/* With "jpg", 1.png and 1.png.jpg would both be 1.png.jpg, and so on. */
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
