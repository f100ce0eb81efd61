// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/open_files.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

/* Open files are found by their inode. */

#define N_INODES 12000
#define OPENS 3 /* opens of each inode */

static struct open_file opened[N_INODES][OPENS];

static uint64_t number_of(uint32_t i)
{
	return UINT64_C(0x9e3779b97f4a7c15) * (i + 1);
}

static struct open_file *named(uint32_t i, unsigned k)
{
	opened[i][k].number = number_of(i);
	opened[i][k].handle = OPENS * i + k + 1;
	return &opened[i][k];
}

static unsigned found(const struct open_files *files, uint32_t i)
{
	unsigned n = 0;
	for (const struct open_file *file = open_files_of(files, number_of(i)); file;
		file = LIST_NEXT(file, link)) {
		cr_assert(file >= opened[i] && file < opened[i] + OPENS);
		n++;
	}
	return n;
}

Test(open_files, a_look_visits_only_files_of_its_inode)
{
	struct open_files files = {0};
	for (unsigned k = 0; k < OPENS; k++)
		for (uint32_t i = 0; i < N_INODES; i++)
			cr_assert(zero(int, open_files_add(&files, named(i, k))));
	for (uint32_t i = 0; i < N_INODES; i++)
		cr_assert(eq(u32, found(&files, i), OPENS));
	cr_assert(open_files_of(&files, 1) == NULL);
	for (unsigned k = 0; k < OPENS; k++)
		for (uint32_t i = 0; i < N_INODES; i++) {
			open_files_remove(&files, &opened[i][(k + i) % OPENS]);
			cr_assert(eq(u32, found(&files, i), OPENS - 1 - k));
		}
	cr_assert(open_files_any(&files) == NULL);
}

Test(open_files, any_finds_all_while_they_are_removed)
{
	struct open_files files = {0};
	struct open_file *file;
	unsigned n = 0;
	for (uint32_t i = 0; i < 100; i++)
		for (unsigned k = 0; k < OPENS; k++)
			cr_assert(zero(int, open_files_add(&files, named(i, k))));
	while ((file = open_files_any(&files))) {
		open_files_remove(&files, file);
		n++;
	}
	cr_assert(eq(u32, n, 100 * OPENS));
}
