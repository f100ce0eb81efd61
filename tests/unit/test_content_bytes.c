// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/content_bytes.h"
#include "dataset_place.h"

#include <criterion/criterion.h>
#include <string.h>

Test(content_bytes, a_crop_makes_the_size_known_without_any_image)
{
	struct job_config config = {.format = FORMAT_RAW,
		.preparation = {.resize_short = 256, .crop_width = 4, .crop_height = 5}};
	uint64_t bytes;
	cr_assert(content_bytes_fixed(&config, &bytes));
	cr_assert_eq(bytes, 4 * 5 * 3);
	config.preparation = (struct preparation){.resize_short = 256};
	cr_assert_not(content_bytes_fixed(&config, &bytes));
	config.augment.random_crop = (struct tensor_shape){.height = 2, .width = 3};
	config.pixels.dtype = DTYPE_FLOAT16;
	cr_assert(content_bytes_fixed(&config, &bytes));
	cr_assert_eq(bytes, 2 * 3 * 3 * 2);
}

/* The narrow image has fewer pixels, but its BMP is longer, because its rows are padded. */
Test(content_bytes, the_padded_size_is_that_of_the_longest_selected_file)
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
	cr_assert_eq(content_bytes_largest(&config, place.dataset, selection),
		54 + 20 * 3 * 21);
	roaring_bitmap_add(selection, place_id(&place, "a/narrow.jpg"));
	cr_assert_eq(
		content_bytes_largest(&config, place.dataset, selection), 54 + 4 * 400);
	roaring_bitmap_free(selection);
	place_end(&place);
}

static uint64_t longest(
	const struct job_config *config, const struct dataset *dataset, sample_id first)
{
	uint64_t most = 0;
	for (sample_id id = first; id < dataset_ids(dataset); id++) {
		uint64_t bytes = content_bytes(config, dataset, id);
		most = bytes > most ? bytes : most;
	}
	return most;
}

/* The job examines one sample of each shape. The longest file need not be the largest image, nor
 * the last one. */
Test(content_bytes, the_padded_size_of_all_is_that_of_the_longest_file)
{
	static struct place place;
	static const enum sample_format formats[] = {
		FORMAT_BMP, FORMAT_NPY, FORMAT_RAW, FORMAT_SOURCE};
	place_begin(&place);
	for (int i = 0; i < 40; i++) {
		char name[32];
		snprintf(name, sizeof(name), "%c/%d.jpg", 'a' + i % 3, i);
		write_jpeg(place_path(&place, name), 1 + i / 10, i / 10 ? 20 : 90);
		FILE *file = fopen(place_path(&place, name), "a");
		for (int k = 0; k < i * 3 % 40; k++)
			fputs("behind the image", file);
		fclose(file);
	}
	cr_assert_eq(place_open(&place), 0);
	for (size_t i = 0; i < 2 * sizeof(formats) / sizeof(formats[0]); i++) {
		struct job_config config = {.format = formats[i / 2]};
		/* without the first sample the job examines each sample */
		sample_id first = i % 2;
		roaring_bitmap_t *selection = roaring_bitmap_from_range(first, 40, 1);
		size_t n;
		cr_assert_eq(!dataset_shapes(place.dataset, selection, &n), first > 0);
		cr_assert_eq(content_bytes_largest(&config, place.dataset, selection),
			longest(&config, place.dataset, first));
		roaring_bitmap_free(selection);
	}
	place_end(&place);
}
