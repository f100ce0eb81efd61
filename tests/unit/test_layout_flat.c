// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/layout_flat.h"

#include <criterion/criterion.h>
#include <string.h>

static const enum inode_kind kinds[] = {
	INODE_SAMPLE, INODE_LABEL, INODE_JSON, INODE_BESIDE, INODE_BESIDE + 1};

static const struct job_config ppm = {.extension = (char[]){"ppm"},
	.beside = {.n = 1, .of = {"npz"}},
	.text = (char[]){"caption"}};

Test(layout_flat, every_printed_name_is_parsed_back)
{
	static const uint32_t positions[] = {
		0, 1, 9, 12345678, 99999999, 100000000, 1073741823};
	for (size_t i = 0; i < sizeof(positions) / sizeof(positions[0]); i++)
		for (int kind = 0; kind < 5; kind++) {
			char name[FLAT_NAME];
			struct flat_name parsed;
			struct flat_name flat = {
				.kind = kinds[kind], .position = positions[i]};
			flat_print(flat, &ppm, name);
			cr_assert(flat_parse(name, &ppm, 1u << 30, &parsed), "%s", name);
			cr_assert_eq(parsed.kind, flat.kind);
			cr_assert_eq(parsed.position, flat.position);
		}
}

Test(layout_flat, names_sort_like_positions)
{
	char a[FLAT_NAME], b[FLAT_NAME];
	flat_print((struct flat_name){INODE_SAMPLE, 9}, &ppm, a);
	flat_print((struct flat_name){INODE_SAMPLE, 10}, &ppm, b);
	cr_assert_str_eq(a, "00000009.ppm");
	cr_assert_lt(strcmp(a, b), 0);
}

Test(layout_flat, any_other_spelling_is_no_name)
{
	static const char *const names[] = {"", ".", "..", "0000000.ppm", "000000000.ppm",
		"0000001.ppm", "00000001", "00000001.", "00000001.pp", "00000001.ppmx",
		"00000001.PPM", " 0000001.ppm", "+0000001.ppm", "0x000001.ppm",
		"00000001ppm", "00000001.cls.ppm", "00000005.ppm", "99999999999.ppm",
		"4294967297.ppm", "18446744073709551617.ppm", "012345678.ppm",
		"00000001.npzx", "00000001.caption", "00000001.NPZ"};
	struct flat_name parsed;
	cr_assert(flat_parse("00000004.ppm", &ppm, 5, &parsed));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		cr_assert_not(flat_parse(names[i], &ppm, 5, &parsed), "%s", names[i]);
}
