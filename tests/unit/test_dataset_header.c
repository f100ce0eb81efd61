// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/dataset_internal.h"
#include "dataset_place.h"

static void expect_shape(
	const struct place *place, const char *relative, uint32_t width, uint32_t height)
{
	struct tensor_shape shape;
	uint8_t orientation;
	cr_assert_eq(probe_header(place_path(place, relative), &shape, &orientation), 0);
	cr_assert_eq(shape.width, width, "%s: %u", relative, shape.width);
	cr_assert_eq(shape.height, height, "%s: %u", relative, shape.height);
}

Test(dataset_header, is_told_by_content_not_by_name)
{
	struct place place;
	place_begin(&place);
	write_jpeg(place_path(&place, "a/1.png"), 17, 5);
	write_png(place_path(&place, "a/2.jpg"), 6, 300);
	expect_shape(&place, "a/1.png", 17, 5);
	expect_shape(&place, "a/2.jpg", 6, 300);
	place_end(&place);
}

/* Writes width and height into the header of a PNG, and the checksum that fits. */
static void forge_png(const char *path, uint32_t width, uint32_t height)
{
	unsigned char header[4 + 13 + 4];
	FILE *file = fopen(path, "r+");
	cr_assert_not_null(file);
	fseek(file, 12, SEEK_SET);
	cr_assert_eq(fread(header, sizeof(header), 1, file), 1);
	png_save_uint_32(header + 4, width);
	png_save_uint_32(header + 8, height);
	uint32_t crc = UINT32_MAX;
	for (int i = 0; i < 17; i++) {
		crc ^= header[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	png_save_uint_32(header + 17, ~crc);
	fseek(file, 12, SEEK_SET);
	cr_assert_eq(fwrite(header, sizeof(header), 1, file), 1);
	fclose(file);
}

Test(dataset_header, absurd_sizes_are_kept_as_they_are)
{
	struct place place;
	place_begin(&place);
	write_png(place_path(&place, "a/1.png"), 2, 2);
	forge_png(place_path(&place, "a/1.png"), 2147483647, 2000000000);
	expect_shape(&place, "a/1.png", 2147483647, 2000000000);
	place_end(&place);
}

Test(dataset_header, what_is_no_image_has_no_size)
{
	struct place place;
	place_begin(&place);
	place_text(&place, "a/empty", "");
	place_text(&place, "a/text", "not an image at all");
	place_text(&place, "a/jpeg", "\xff\xd8");
	place_text(&place, "a/jpeg-end", "\xff\xd8\xff\xd9");
	place_text(
		&place, "a/jpeg-noise", "\xff\xd8\xff\xc0\xff\xff\x08zzzzzzzzzzzzzzzz");
	place_text(&place, "a/png", "\x89PNG\r\n\x1a\n");
	place_text(&place, "a/png-noise", "\x89PNG\r\n\x1a\nzzzzzzzzzzzzzzzzzzzzzz");
	write_png(place_path(&place, "a/png-zero"), 2, 2);
	forge_png(place_path(&place, "a/png-zero"), 0, 2);
	static const char *const names[] = {"a/empty", "a/text", "a/jpeg", "a/jpeg-end",
		"a/jpeg-noise", "a/png", "a/png-noise", "a/png-zero"};
	for (int i = 0; i < 8; i++)
		expect_shape(&place, names[i], 0, 0);
	struct tensor_shape shape;
	uint8_t orientation;
	cr_assert_eq(probe_header(place_path(&place, "a/none"), &shape, &orientation),
		-ENOENT);
	cr_assert_eq(probe_header(place.root, &shape, &orientation), -EIO, "a directory");
	place_end(&place);
}

Test(dataset_header, unreadable_ones_are_counted_and_stay_samples)
{
	struct place place;
	place_begin(&place);
	place_jpeg(&place, "a/1.jpg");
	place_text(&place, "a/3.jpg", "nothing");
	place_text(&place, "a/2.jpg", "nothing\n");
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(dataset_samples(place.dataset), 3);
	cr_assert_eq(dataset_image_shape(place.dataset, 0).width, 4);
	cr_assert_eq(dataset_image_shape(place.dataset, 0).height, 3);
	cr_assert_eq(dataset_image_shape(place.dataset, 1).width, 0);
	cr_assert_eq(dataset_file_bytes(place.dataset, 1), 8);
	cr_assert(place_logged(&place, "2 files have no readable image header"));
	cr_assert(place_logged(&place, "the first: a/2.jpg\n"));
	place_end(&place);
}
