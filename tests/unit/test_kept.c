// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/kept.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

/* The data that outlive the engine, in a process without a supervisor. */

static struct kept_open open_of(uint64_t handle, uint32_t mount)
{
	return (struct kept_open){
		.handle = handle, .mount = mount, .inode = 7, .epoch = 3, .backing = 5};
}

Test(kept, open_files_are_found_by_their_mount_until_they_are_removed)
{
	struct kept_open one = open_of(1, 0), two = open_of(2, 1), three = open_of(3, 0);
	struct kept_open *first = kept_open_add(&one), *other = kept_open_add(&two);
	struct kept_open *last = kept_open_add(&three);
	cr_assert(kept_open_next(NULL, 0) == first);
	cr_assert(kept_open_next(first, 0) == last);
	cr_assert(kept_open_next(last, 0) == NULL);
	cr_assert(kept_open_next(NULL, 1) == other);
	cr_assert(eq(u32, last->epoch, 3));
	kept_open_remove(first);
	cr_assert(kept_open_next(NULL, 0) == last);
	kept_open_remove(last);
	cr_assert(kept_open_next(NULL, 0) == NULL);
}

Test(kept, no_more_open_files_than_there_is_room_for)
{
	struct kept_open *some = NULL;
	for (uint32_t i = 0; i < KEPT_OPENS; i++) {
		struct kept_open open = open_of(i + 1, 0);
		struct kept_open *added = kept_open_add(&open);
		cr_assert(added != NULL);
		if (i == KEPT_OPENS / 3)
			some = added;
	}
	struct kept_open another = open_of(KEPT_OPENS + 1, 0);
	cr_assert(kept_open_add(&another) == NULL);
	kept_open_remove(some);
	cr_assert(kept_open_add(&another) == some);
}

Test(kept, closes_that_no_engine_has_seen_are_told_once_for_each_mount)
{
	uint64_t inode, handle;
	kept_close_add(0, 7, 1);
	kept_close_add(1, 8, 2);
	kept_close_add(0, 9, 3);
	cr_assert(kept_close_take(1, &inode, &handle));
	cr_assert(eq(u64, inode, 8));
	cr_assert(eq(u64, handle, 2));
	cr_assert(not(kept_close_take(1, &inode, &handle)));
	cr_assert(kept_close_take(0, &inode, &handle));
	cr_assert(kept_close_take(0, &inode, &handle));
	cr_assert(eq(u64, inode, 9));
	cr_assert(not(kept_close_take(0, &inode, &handle)));
}

static unsigned count_files(void)
{
	unsigned n = 0;
	for (uint32_t i = 0; i < KEPT_FILES; i++)
		n += atomic_load(&kept()->files[i]) != 0;
	return n;
}

/* Also numbers that are equal modulo the size of the table. */
Test(kept, files_are_noted_until_they_are_removed)
{
	const int far = (int)KEPT_FILES;
	for (int i = 1; i <= 30; i++) {
		kept_file_add(i);
		kept_file_add(i + far);
	}
	cr_assert(eq(u32, count_files(), 60));
	cr_assert(eq(int, atomic_load(&kept()->last_backing), 30 + far));
	for (int i = 1; i <= 30; i++)
		kept_file_remove(i);
	cr_assert(eq(u32, count_files(), 30));
	for (int i = 1; i <= 30; i++)
		kept_file_remove(i + far);
	cr_assert(eq(u32, count_files(), 0));
}

Test(kept, places_for_descriptors_are_reserved_and_given_back)
{
	struct kept_descriptor *places[KEPT_DESCRIPTORS];
	for (uint32_t i = 0; i < KEPT_DESCRIPTORS; i++) {
		places[i] = kept_new();
		cr_assert(places[i] != NULL);
	}
	cr_assert(kept_new() == NULL);
	struct kept_descriptor *given_back = places[9];
	kept_drop(&places[9]);
	cr_assert(places[9] == NULL);
	cr_assert(kept_new() == given_back);
}
