// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "dataset/dataset_scan.h"

#include <criterion/criterion.h>
#include <string.h>

#define FILES 20000
#define CLASSES 3000

static struct found files[FILES];
static struct part parts[FILES];
static char paths[FILES][64];
static bool met[FILES];

/* Makes files of many classes. Every eighth file has the path of the previous one. */
static void make(void)
{
	for (uint32_t i = 0; i < FILES; i++) {
		uint64_t number = rng_mix(1, i - i % 8 / 7);
		snprintf(paths[i], sizeof(paths[i]), "c%d/d-%d/%d.jpg",
			(int)(number % CLASSES), (int)(number / CLASSES % 3),
			(int)(number >> 40));
		parts[i] = (struct part){.container = 1 + i % 3, .at.offset = i};
		files[i] = (struct found){.path = paths[i], .id = i, .part = &parts[i]};
	}
	memset(met, 0, sizeof(met));
}

static void shuffle(void)
{
	for (uint32_t i = 0; i < FILES; i++) {
		uint32_t k = (uint32_t)(rng_mix(2, i) % (i + 1));
		struct found moved = files[i];
		files[i] = files[k];
		files[k] = moved;
	}
}

static void expect_sorted(void)
{
	for (size_t i = 0; i < FILES; i++) {
		const struct found *found = &files[i];
		cr_assert_eq(found->path, paths[found->id]);
		cr_assert_eq(found->part, &parts[found->id]);
		cr_assert(!met[found->id]);
		met[found->id] = true;
		if (i == 0)
			continue;
		int order = path_compare(found[-1].path, found->path);
		cr_assert_leq(order, 0, "%s, %s", found[-1].path, found->path);
		cr_assert(order < 0 || found[-1].part->container < found->part->container,
			"%s", found->path);
	}
}

Test(dataset_sort, files_are_sorted_by_class_directory_and_name)
{
	make();
	shuffle();
	files_sort(files, FILES, 3);
	expect_sorted();
	memset(met, 0, sizeof(met));
	files_sort(files, FILES, 1); /* the files are already in order */
	expect_sorted();
}

Test(dataset_sort, some_files_are_in_no_directory)
{
	make();
	for (size_t i = 0; i < FILES; i += 16)
		*strchr(paths[i], '/') = *strrchr(paths[i], '/') = '-';
	shuffle();
	files_sort(files, FILES, 2);
	expect_sorted();
}
