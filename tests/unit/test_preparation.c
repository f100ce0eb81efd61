// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/preparation.h"
#include "image/sections.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

static void expect_shape(struct tensor_shape shape, uint32_t width, uint32_t height)
{
	cr_assert_eq(shape.width, width, "width %" PRIu32, shape.width);
	cr_assert_eq(shape.height, height, "height %" PRIu32, shape.height);
}

/* Sizes as torchvision.transforms.Resize(256) gives them. */
Test(preparation, resize_of_the_shorter_side_truncates_the_other_one)
{
	static const uint32_t sizes[][4] = {{500, 375, 341, 256}, {375, 500, 256, 341},
		{640, 427, 383, 256}, {427, 640, 256, 383}, {300, 300, 256, 256},
		{3, 2, 384, 256}, {1, 1000, 256, 256000}, {1023, 767, 341, 256}};
	struct preparation p = {.resize_short = 256};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct tensor_shape image = {.width = sizes[i][0], .height = sizes[i][1]};
		expect_shape(preparation_output(&p, image), sizes[i][2], sizes[i][3]);
	}
	expect_shape(preparation_output(&p, (struct tensor_shape){0}), 256, 0);
	cr_assert_not(preparation_fixed_size(&p));
}

/* Sizes as LetterBox(640) of ultralytics gives them. */
Test(preparation, resize_of_the_longer_side_rounds_the_other_one)
{
	static const uint32_t sizes[][4] = {{500, 375, 640, 480}, {427, 640, 427, 640},
		{1023, 767, 640, 480}, {3, 2, 640, 427}, {1, 10000, 1, 640},
		{1280, 1, 640, 1}, {1280, 5, 640, 2}, {1280, 7, 640, 4}};
	struct preparation p = {.resize_long = 640};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct tensor_shape image = {.width = sizes[i][0], .height = sizes[i][1]};
		expect_shape(preparation_output(&p, image), sizes[i][2], sizes[i][3]);
	}
	cr_assert_not(preparation_fixed_size(&p));
	p.pad_square = true;
	expect_shape(
		preparation_output(&p, (struct tensor_shape){.height = 3, .width = 4}),
		640, 640);
	cr_assert(preparation_fixed_size(&p));
}

Test(preparation, crop_and_both_sides_make_every_image_equal)
{
	struct tensor_shape image = {.width = 500, .height = 375};
	struct preparation p = {
		.resize_short = 256, .crop_width = 224, .crop_height = 192};
	expect_shape(preparation_resized(&p, image), 341, 256);
	expect_shape(preparation_output(&p, image), 224, 192);
	cr_assert_eq(preparation_bytes(&p, image, 77), 224 * 192 * 3);
	cr_assert(preparation_fixed_size(&p));
	p = (struct preparation){.resize_width = 64, .resize_height = 32};
	expect_shape(preparation_output(&p, image), 64, 32);
	cr_assert(preparation_fixed_size(&p));
	p = (struct preparation){0};
	expect_shape(preparation_output(&p, image), 500, 375);
	cr_assert_not(preparation_fixed_size(&p));
}

Test(preparation, encoded_is_as_large_as_the_file)
{
	struct tensor_shape image = {.width = 500, .height = 375};
	struct preparation p = {.encoded = true};
	expect_shape(preparation_output(&p, image), 0, 0);
	cr_assert_eq(preparation_bytes(&p, image, 77), 77);
	cr_assert_not(preparation_fixed_size(&p));
}

Test(preparation, the_largest_image_does_not_overflow)
{
	struct tensor_shape image = {.width = 65500, .height = 65500};
	struct preparation p = {0};
	cr_assert_eq(preparation_bytes(&p, image, 0), UINT64_C(12870750000));
}

/* Sizes beyond 32 bits become the largest possible size, and not a small one. */
Test(preparation, a_narrow_image_does_not_become_a_small_one)
{
	struct tensor_shape image = {.width = 1, .height = 178000000};
	struct preparation p = {.resize_short = 256};
	cr_assert_gt(preparation_most_pixels(&p, image), UINT64_C(1) << 39);
	cr_assert_gt(preparation_bytes(&p, image, 0), UINT64_C(3) << 39);
	image.height = 65500;
	cr_assert_eq(preparation_most_pixels(&p, image), UINT64_C(256) * 16768000);
	p = (struct preparation){.resize_short = 16};
	image = (struct tensor_shape){.width = 640, .height = 480};
	cr_assert_eq(preparation_most_pixels(&p, image), 640 * 480);
}

Test(preparation, preparations_are_equal_when_every_part_is)
{
	struct preparation a = {.resize_short = 256, .crop_width = 8, .crop_height = 9};
	uint32_t *const parts[] = {&a.resize_short, &a.resize_width, &a.resize_height,
		&a.crop_width, &a.crop_height, &a.resize_long, &a.pad_width,
		&a.pad_height};
	struct preparation b = a;
	cr_assert(preparation_equal(&a, &b));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		++*parts[i];
		cr_assert_not(preparation_equal(&a, &b));
		--*parts[i];
	}
	a.channels = CHANNELS_GRAY;
	cr_assert_not(preparation_equal(&a, &b));
	a.channels = CHANNELS_RGB;
	a.fill[1] = 1;
	cr_assert_not(preparation_equal(&a, &b));
	a.fill[1] = 0;
	a.pad_square = true;
	cr_assert_not(preparation_equal(&a, &b));
	a.pad_square = false;
	a.filter = FILTER_NEAREST;
	cr_assert_not(preparation_equal(&a, &b));
	a.filter = FILTER_BILINEAR;
	a.approximate = true;
	cr_assert_not(preparation_equal(&a, &b));
	/* nothing is resized, so accuracy has no effect */
	a.resize_short = b.resize_short = 0;
	a.filter = FILTER_BOX; /* nor has the filter */
	cr_assert(preparation_equal(&a, &b));
	a.exif = true;
	cr_assert_not(preparation_equal(&a, &b));
	a.encoded = b.encoded = true; /* the unchanged file */
	cr_assert(preparation_equal(&a, &b));
	a.fills_truncated = true;
	cr_assert(preparation_equal(&a, &b));
	a.encoded = b.encoded = false;
	cr_assert_not(preparation_equal(&a, &b));
	a.encoded = true;
	a.fills_truncated = b.exif = false;
	cr_assert_not(preparation_equal(&a, &b));
}

/* Arrays are equal if their identities are, are as large as their type says, and are images only
 * with the shape and type of RGB images. */
Test(preparation, arrays_of_programs_are_no_images)
{
	struct prepared_array one = {.name = "a", .identity = "1"}, same = one;
	struct prepared_array other = {.name = "a", .identity = "2"};
	struct preparation a = {.array = &one}, b = {.array = &same}, none = {0};
	struct preparation c = {.array = &other};
	struct tensor_shape image = {.width = 640, .height = 480}, output;
	char text[PREPARATION_TEXT];
	same.name = "b";
	cr_assert(preparation_equal(&a, &b));
	cr_assert_not(preparation_equal(&a, &c));
	cr_assert_not(preparation_equal(&a, &none));
	cr_assert_not(preparation_equal(&none, &a));
	preparation_print(&a, text);
	cr_assert_str_eq(text, "program=1");
	cr_assert(preparation_fixed_size(&a));

	static const char *const shapes[] = {"5 7 1", "5 7 3", "1 5 7", "5 7"};
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		cr_assert(array_parse_shape(&one.type, shapes[i]));
		array_set_dtype(&one.type, 0);
		one.pixels = array_pixels(&one.type);
		output = preparation_output(&a, image);
		expect_shape(output, i == 1 ? 7 : 0, i == 1 ? 5 : 0);
		cr_assert_eq(output.mode, PIXELS_RGB);
		cr_assert_eq(preparation_bytes(&a, image, 9), i == 1 ? 105 : 35);
	}
}

Test(preparation, an_orientation_of_5_and_more_exchanges_the_sides)
{
	struct tensor_shape image = {.height = 3, .width = 4};
	struct preparation ignoring = {0}, turning = {.exif = true};
	for (unsigned orientation = 1; orientation <= 8; orientation++) {
		bool turned = orientation >= 5;
		expect_shape(preparation_image(&ignoring, image, orientation), 4, 3);
		expect_shape(preparation_image(&turning, image, orientation),
			turned ? 3 : 4, turned ? 4 : 3);
	}
}

Test(preparation, equal_preparations_have_the_same_text_and_others_another_one)
{
	const struct preparation all[] = {{0}, {.encoded = true}, {.resize_short = 64},
		{.resize_width = 64, .resize_height = 64},
		{.resize_width = 64, .resize_height = 65},
		{.crop_width = 64, .crop_height = 64},
		{.crop_width = 64, .crop_height = 32}, {.exif = true},
		{.fills_truncated = true}, {.approximate = true},
		{.resize_short = 64, .approximate = true}, {.channels = CHANNELS_GRAY},
		{.channels = CHANNELS_GRAY, .encoded = true}, {.fill = {1, 2, 3}},
		{.pad_square = true}, {.pad_square = true, .fill = {1, 2, 3}},
		{.resize_long = 64}, {.pad_width = 64, .pad_height = 64},
		{.pad_width = 64, .pad_height = 65}, {.filter = FILTER_BOX},
		{.resize_short = 64, .filter = FILTER_BOX},
		{.resize_short = 64, .filter = FILTER_BICUBIC},
		{.resize_short = 64, .crop_width = 64, .crop_height = 64, .exif = true},
		{.encoded = true, .exif = true}};
	const size_t n = sizeof(all) / sizeof(all[0]);
	char a[PREPARATION_TEXT], b[PREPARATION_TEXT];
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++) {
			preparation_print(&all[i], a);
			preparation_print(&all[k], b);
			cr_expect_eq(preparation_equal(&all[i], &all[k]),
				strcmp(a, b) == 0, "%s, %s", a, b);
		}
	const struct preparation longest = {.resize_width = UINT32_MAX,
		.resize_height = UINT32_MAX,
		.crop_width = UINT32_MAX,
		.crop_height = UINT32_MAX,
		.pad_width = UINT32_MAX,
		.pad_height = UINT32_MAX,
		.pad_square = true,
		.fill = {255, 255, 255},
		.filter = FILTER_HAMMING,
		.approximate = true,
		.exif = true};
	preparation_print(&longest, a);
	cr_expect_lt(strlen(a), PREPARATION_TEXT - 1);
}

/* Sections are stored once, distinguish preparations, and fit into the text, however long they
 * are. */
Test(preparation, sections_by_path)
{
	struct tensor_sections sections = {.n = 2,
		.section = {
			{.name = "masks/*", .preparation = {.channels = CHANNELS_KEEP}},
			{.name = "*.tif", .preparation = {.resize_short = 7}}}};
	struct tensor_sections other;
	struct preparation a = {.resize_short = 9}, b = a, c = a;
	char text[PREPARATION_TEXT], other_text[PREPARATION_TEXT];
	a.sections = sections_keep(&sections);
	other = sections;
	b.sections = sections_keep(&other);
	snprintf(other.section[1].name, SECTION_NAME, "*.tiff");
	c.sections = sections_keep(&other);
	cr_assert_not_null(a.sections);
	cr_assert_eq(a.sections, b.sections);
	cr_assert(preparation_equal(&a, &b));
	cr_assert_not(preparation_equal(&a, &c));
	cr_assert_not(preparation_equal(&a, &(struct preparation){.resize_short = 9}));
	preparation_print(&a, text);
	preparation_print(&c, other_text);
	cr_assert_str_neq(text, other_text);

	cr_assert_eq(preparation_at(&a, "masks/x/1.png")->channels, CHANNELS_KEEP);
	cr_assert_eq(preparation_at(&a, "images/1.tif")->resize_short, 7);
	cr_assert_eq(preparation_at(&a, "images/1.jpg"), &a);
	cr_assert_eq(preparation_at(&a, "xmasks/1.png"), &a);

	other.n = SECTIONS_MOST;
	for (size_t i = 0; i < other.n; i++) {
		memset(other.section[i].name, 'x', SECTION_NAME - 1);
		other.section[i].preparation =
			(struct preparation){.resize_width = UINT32_MAX,
				.resize_height = UINT32_MAX,
				.crop_width = UINT32_MAX,
				.crop_height = UINT32_MAX,
				.pad_square = true,
				.fill = {255, 255, 255},
				.approximate = true,
				.exif = true};
	}
	c = other.section[0].preparation;
	c.sections = sections_keep(&other);
	preparation_print(&c, text);
	cr_expect_lt(strlen(text), PREPARATION_TEXT - 1);
	cr_expect_str_eq(
		text + strlen(text) - strlen("filter=bilinear"), "filter=bilinear");
}
