// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/layout_batch.h"
#include "files/layout_tar.h"

#include <criterion/criterion.h>

static const struct tensor_shape shape = {.height = 7, .width = 5};
static const struct pixel_type bytes_hwc;

static bool equal(const struct segment *a, const struct segment *b)
{
	return a->kind == b->kind && a->begin == b->begin && a->bytes == b->bytes &&
	       a->index == b->index && a->constant == b->constant;
}

/* Walks through the file; every byte in between has to be in the same segment. */
static unsigned walk(const struct composite *composite)
{
	unsigned samples = 0;
	struct segment segment, inside;
	for (uint64_t at = 0; at < composite->bytes; at += segment.bytes) {
		composite_segment(composite, at, &segment);
		cr_assert_eq(segment.begin, at);
		cr_assert_leq(segment.begin + segment.bytes, composite->bytes);
		for (uint64_t i = at; i < at + segment.bytes; i++) {
			composite_segment(composite, i, &inside);
			cr_assert(equal(&inside, &segment), "byte %lu", (unsigned long)i);
		}
		if (segment.kind != SEGMENT_SAMPLE)
			continue;
		cr_assert_eq(segment.index, samples++);
		cr_assert_eq(segment.bytes, composite->sample_bytes);
		cr_assert_eq(segment.begin, composite->head +
						    segment.index * composite->stride +
						    composite->sample_at);
	}
	return samples;
}

Test(composite, the_segments_of_a_tar_lie_side_by_side)
{
	static const uint64_t sizes[] = {1, 511, 512, 513, 1024, 1300};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (uint64_t json = 0; json <= 600; json += 300) {
			struct tar_sizes tar_sizes = {
				.label = 2, .json = json, .sample = sizes[i]};
			struct composite tar = tar_composite(10, 3, tar_sizes, "ppm");
			cr_assert_eq(walk(&tar), 3);
		}
}

Test(composite, the_segments_of_a_batch_and_its_labels_lie_side_by_side)
{
	struct composite batch = batch_composite(10, 4, bytes_hwc, shape);
	cr_assert_eq(walk(&batch), 4);
	struct composite labels = batch_labels_composite(10, 4, 0);
	cr_assert_eq(walk(&labels), 0);
}

Test(composite, files_hold_all_samples_or_only_whole_files)
{
	cr_assert_eq(composite_files(0, 10, false), 0);
	cr_assert_eq(composite_files(9, 10, false), 1);
	cr_assert_eq(composite_files(10, 10, false), 1);
	cr_assert_eq(composite_files(11, 10, false), 2);
	cr_assert_eq(composite_files(9, 10, true), 0);
	cr_assert_eq(composite_files(11, 10, true), 1);
	cr_assert_eq(composite_files(UINT32_MAX, 1, false), UINT32_MAX);
}
