// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/dataset_paths.h"
#include "dataset_place.h"

#include <criterion/criterion.h>
#include <string.h>

static struct place place;

static const struct dataset_paths *paths_of_place(void)
{
	const struct dataset_paths *paths;
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(dataset_paths(place.dataset, &paths), 0);
	return paths;
}

static void print_tree(
	FILE *out, const struct dataset_paths *paths, uint32_t number, int depth)
{
	const struct paths_directory *directory = paths_directory(paths, number);
	fprintf(out, "%*s%s/%u\n", depth, "", directory->name, directory->n_below);
	for (uint32_t i = 0; i < directory->n_files; i++)
		fprintf(out, "%*s%s\n", depth + 1, "",
			paths_name(paths, directory->first_file + i));
	for (uint32_t i = 0; i < directory->n_children; i++) {
		uint32_t child = paths_child(paths, directory->first_child + i);
		cr_assert_eq(paths_directory(paths, child)->parent, number);
		print_tree(out, paths, child, depth + 1);
	}
}

static void expect_tree(const struct dataset_paths *paths, const char *expected)
{
	auto_free char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	print_tree(out, paths, 0, 0);
	fclose(out);
	cr_assert_str_eq(text, expected);
}

/* "a-b" lies between "a" and "a/x" in byte order, but not in the tree. */
Test(dataset_paths, a_directory_lists_its_own_files_and_directories)
{
	place_begin(&place);
	place_jpeg(&place, "a/x/2.jpg");
	place_jpeg(&place, "a/x/y/3.jpg");
	place_jpeg(&place, "a/1.jpg");
	place_jpeg(&place, "a/z.jpg");
	place_jpeg(&place, "a-b/4.jpg");
	place_jpeg(&place, "a/w/5.jpg");
	place_jpeg(&place, "c/d/e/6.jpg");
	expect_tree(paths_of_place(), "/7\n"
				      " a/5\n"
				      "  1.jpg\n"
				      "  z.jpg\n"
				      "  w/1\n"
				      "   5.jpg\n"
				      "  x/2\n"
				      "   2.jpg\n"
				      "   y/1\n"
				      "    3.jpg\n"
				      " a-b/1\n"
				      "  4.jpg\n"
				      " c/1\n"
				      "  d/1\n"
				      "   e/1\n"
				      "    6.jpg\n");
	place_end(&place);
}

Test(dataset_paths, what_lies_below_a_directory_is_one_range)
{
	place_begin(&place);
	place_jpeg(&place, "a/1.jpg");
	place_jpeg(&place, "a/x/2.jpg");
	place_jpeg(&place, "b/3.jpg");
	const struct dataset_paths *paths = paths_of_place();
	uint32_t a = paths_find_child(paths, paths_directory(paths, 0), "a");
	const struct paths_directory *directory = paths_directory(paths, a);
	cr_assert_eq(directory->n_below, 2);
	cr_assert_str_eq(paths_name(paths, directory->first_file), "1.jpg");
	cr_assert_str_eq(paths_name(paths, directory->first_file + 1), "2.jpg");
	cr_assert_eq(paths_sample(paths, directory->first_file + 1),
		place_id(&place, "a/x/2.jpg"));
	place_end(&place);
}

Test(dataset_paths, names_are_found_and_only_they)
{
	place_begin(&place);
	place_jpeg(&place, "a/b.jpg");
	place_jpeg(&place, "a/b.jpg.jpg");
	place_jpeg(&place, "a/c/x.jpg");
	const struct dataset_paths *paths = paths_of_place();
	const struct paths_directory *root = paths_directory(paths, 0);
	uint32_t a = paths_find_child(paths, root, "a");
	const struct paths_directory *directory = paths_directory(paths, a);
	uint32_t found = paths_find_file(paths, directory, "b.jpg.jpg", 5);
	cr_assert_eq(paths_sample(paths, found), place_id(&place, "a/b.jpg"));
	found = paths_find_file(paths, directory, "b.jpg.jpg", 9);
	cr_assert_eq(paths_sample(paths, found), place_id(&place, "a/b.jpg.jpg"));
	cr_assert_eq(paths_find_file(paths, directory, "b.jpg.jpg", 8), UINT32_MAX);
	cr_assert_eq(paths_find_file(paths, directory, "", 0), UINT32_MAX);
	cr_assert_eq(paths_find_file(paths, directory, "x.jpg", 5), UINT32_MAX);
	cr_assert_eq(paths_find_child(paths, directory, "b.jpg"), UINT32_MAX);
	cr_assert_eq(paths_find_child(paths, root, "c"), UINT32_MAX);
	place_end(&place);
}

/* A file comes back, and another one is added: ids are no longer in the order of names. */
Test(dataset_paths, files_that_are_gone_are_left_out_and_new_ones_sorted_in)
{
	place_begin(&place);
	place_jpeg(&place, "a/2.jpg");
	place_jpeg(&place, "b/gone.jpg");
	paths_of_place();
	cr_assert_eq(remove(place_path(&place, "b/gone.jpg")), 0);
	cr_assert_eq(rmdir(place_path(&place, "b")), 0);
	place_jpeg(&place, "a/1.jpg");
	place_jpeg(&place, "a/3.jpg");
	expect_tree(paths_of_place(), "/3\n a/3\n  1.jpg\n  2.jpg\n  3.jpg\n");
	place_end(&place);
}
