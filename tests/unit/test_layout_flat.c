// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset_place.h"
#include "view/layout_flat.h"

#include <criterion/criterion.h>
#include <string.h>

Test(layout_flat, every_printed_name_is_parsed_back)
{
	static const uint32_t positions[] = {
		0, 1, 9, 12345678, 99999999, 100000000, 1073741823};
	for (size_t i = 0; i < sizeof(positions) / sizeof(positions[0]); i++)
		for (int label = 0; label < 2; label++) {
			char name[FLAT_NAME];
			struct flat_name parsed;
			struct flat_name flat = {
				.label = label, .position = positions[i]};
			flat_print(flat, "ppm", name);
			cr_assert(flat_parse(name, "ppm", 1u << 30, &parsed), "%s", name);
			cr_assert_eq(parsed.label, flat.label);
			cr_assert_eq(parsed.position, flat.position);
		}
}

Test(layout_flat, names_sort_like_positions)
{
	char a[FLAT_NAME], b[FLAT_NAME];
	flat_print((struct flat_name){.position = 9}, "jpg", a);
	flat_print((struct flat_name){.position = 10}, "jpg", b);
	cr_assert_str_eq(a, "00000009.jpg");
	cr_assert_lt(strcmp(a, b), 0);
}

Test(layout_flat, any_other_spelling_is_no_name)
{
	static const char *const names[] = {"", ".", "..", "0000000.ppm", "000000000.ppm",
		"0000001.ppm", "00000001", "00000001.", "00000001.pp", "00000001.ppmx",
		"00000001.PPM", " 0000001.ppm", "+0000001.ppm", "0x000001.ppm",
		"00000001ppm", "00000001.cls.ppm", "00000005.ppm", "99999999999.ppm",
		"4294967297.ppm", "18446744073709551617.ppm", "012345678.ppm"};
	struct flat_name parsed;
	cr_assert(flat_parse("00000004.ppm", "ppm", 5, &parsed));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		cr_assert_not(flat_parse(names[i], "ppm", 5, &parsed), "%s", names[i]);
}

Test(layout_flat, label_files_are_of_one_size_and_parse_as_numbers)
{
	static const uint32_t n_classes[] = {0, 1, 2, 10, 11, 100, 101, 1000, 4294967295};
	static const uint32_t bytes[] = {2, 2, 2, 2, 3, 3, 4, 4, 11};
	for (size_t i = 0; i < sizeof(n_classes) / sizeof(n_classes[0]); i++) {
		cr_assert_eq(flat_label_bytes(n_classes[i]), bytes[i]);
		uint32_t last = n_classes[i] ? n_classes[i] - 1 : 0;
		char text[FLAT_LABEL + 1] = "", *end;
		flat_label(last, bytes[i], text);
		cr_assert_eq(strtoul(text, &end, 10), last);
		cr_assert_str_eq(end, "\n");
	}
	char text[FLAT_LABEL + 1] = "";
	flat_label(7, flat_label_bytes(1000), text);
	cr_assert_str_eq(text, "7\n\n\n");
}

Test(layout_flat, a_crop_makes_the_size_known_without_any_image)
{
	struct job_config config = {.format = FORMAT_RAW,
		.preparation = {.resize_short = 256, .crop_width = 4, .crop_height = 5}};
	uint64_t bytes;
	cr_assert(flat_file_bytes_fixed(&config, &bytes));
	cr_assert_eq(bytes, 4 * 5 * 3);
	config.preparation = (struct preparation){.resize_short = 256};
	cr_assert_not(flat_file_bytes_fixed(&config, &bytes));
	config.augment.random_crop = (struct tensor_shape){2, 3};
	config.pixels.dtype = DTYPE_FLOAT16;
	cr_assert(flat_file_bytes_fixed(&config, &bytes));
	cr_assert_eq(bytes, 2 * 3 * 3 * 2);
}

/* As BMP the narrow one is longer, though it has fewer pixels: rows are padded. */
Test(layout_flat, the_padded_size_is_that_of_the_longest_selected_file)
{
	static struct place place;
	struct job_config config = {.format = FORMAT_BMP};
	place_begin(&place);
	write_jpeg(place_path(&place, "a/narrow.jpg"), 1, 400);
	write_jpeg(place_path(&place, "a/square.jpg"), 20, 21);
	write_jpeg(place_path(&place, "b/not-selected.jpg"), 50, 50);
	cr_assert_eq(place_open(&place), 0);
	roaring_bitmap_t *selection = roaring_bitmap_create();
	roaring_bitmap_add(selection, place_id(&place, "a/square.jpg"));
	cr_assert_eq(flat_file_bytes_largest(&config, place.dataset, selection),
		54 + 20 * 3 * 21);
	roaring_bitmap_add(selection, place_id(&place, "a/narrow.jpg"));
	cr_assert_eq(
		flat_file_bytes_largest(&config, place.dataset, selection), 54 + 4 * 400);
	roaring_bitmap_free(selection);
	place_end(&place);
}
