// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/compare.h"
#include "edition/edition_internal.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

/* Measures the tensors of an edition's samples. The shape of a sample is the size, mode and
 * orientation of its image. If all samples of a dataset are selected, one sample of each shape is
 * enough, so that the time does not grow with the number of samples. typical_bytes is a quantile,
 * because a few huge images change the mean, but hardly how many samples fit into the cache. */

/* --- by samples --------------------------------------------------------------------------- */

#define MOST_MEASURED 4096
#define SHAPES 1024

/* A sample that was measured. file_bytes: size of the image's file. bytes: size of the tensor. */
struct measured {
	struct tensor_shape image;
	uint8_t orientation;
	uint64_t file_bytes, bytes;
};

struct measuring {
	struct edition *edition;
	struct measured shapes[SHAPES];
	uint32_t seen, step;
	uint32_t n;
	uint64_t bytes[MOST_MEASURED]; /* tensor bytes of every step-th sample */
};

/* Returns the bytes of the sample's tensor; 0: the sample is refused. Remembers this number for
 * the sample's shape, because a dataset has far fewer shapes than images. If the number is not
 * 0, a later sample of this shape gets it without being measured, provided that its file is not
 * larger: then its preparation needs no more memory, so it is not refused either. */
static uint64_t bytes_of(struct measuring *measuring, uint32_t id)
{
	const struct edition *edition = measuring->edition;
	const struct dataset *dataset = edition->is.dataset;
	const struct preparation *preparation = &edition->job->config.preparation;
	struct measured now = {.image = dataset_image_shape(dataset, id),
		.orientation = dataset_orientation(dataset, id),
		.file_bytes = dataset_file_bytes(dataset, id)};
	struct measured *known =
		&measuring->shapes[(now.image.height * 61 + now.image.width) % SHAPES];
	bool alike =
		!preparation->encoded && !preparation->array && !preparation->sections;
	if (alike && known->bytes > 0 && known->file_bytes >= now.file_bytes &&
		known->image.height == now.image.height &&
		known->image.width == now.image.width &&
		known->image.mode == now.image.mode &&
		known->orientation == now.orientation)
		return known->bytes;
	now.bytes = memory_tensor_bytes(edition->job->supply, dataset, preparation, id);
	*known = now;
	return now.bytes;
}

static void measure_one(struct measuring *measuring, sample_id id)
{
	struct edition *edition = measuring->edition;
	uint64_t bytes = bytes_of(measuring, id);
	edition->all_bytes += bytes;
	part_of(edition, id)->all_bytes += bytes;
	if (bytes > edition->largest_bytes)
		edition->largest_bytes = bytes;
	if (bytes == 0)
		roaring_bitmap_remove(edition->readable, id);
	if (measuring->seen++ % measuring->step == 0)
		measuring->bytes[measuring->n++] = bytes;
}

static int measure_each(struct edition *edition)
{
	auto_free struct measuring *measuring = calloc(1, sizeof(*measuring));
	if (!measuring)
		return -ENOMEM;
	uint64_t n = roaring_bitmap_get_cardinality(edition->selection);
	sample_id id;
	measuring->edition = edition;
	measuring->step = (uint32_t)((n + MOST_MEASURED - 1) / MOST_MEASURED);
	BITMAP_FOREACH (id, edition->selection)
		measure_one(measuring, id);
	qsort(measuring->bytes, measuring->n, sizeof(measuring->bytes[0]), compare_u64);
	edition->typical_bytes = measuring->bytes[measuring->n * 3 / 4];
	return 0;
}

/* --- by shapes ---------------------------------------------------------------------------- */

#define MOST_REFUSED 8

/* Samples whose tensors have the same size. */
struct equal {
	uint64_t bytes; /* bytes of each tensor; the first member, for compare_u64 */
	uint64_t samples;
};

struct by_shape {
	struct edition *edition;
	struct equal *equal;
	size_t n;
};

static void add_equal(struct by_shape *by, uint64_t bytes, uint64_t samples)
{
	struct edition *edition = by->edition;
	if (samples == 0)
		return;
	by->equal[by->n++] = (struct equal){bytes, samples};
	edition->all_bytes += bytes * samples;
	if (bytes > edition->largest_bytes)
		edition->largest_bytes = bytes;
}

static bool has_shape_of(const struct dataset *dataset, sample_id a, sample_id b)
{
	struct tensor_shape x = dataset_image_shape(dataset, a);
	struct tensor_shape y = dataset_image_shape(dataset, b);
	return x.height == y.height && x.width == y.width && x.mode == y.mode &&
	       dataset_orientation(dataset, a) == dataset_orientation(dataset, b);
}

/* Measures each sample of a shape whose largest file is refused: smaller files may be accepted. */
static void measure_refused(struct by_shape *by, const struct dataset_shape *shape)
{
	struct edition *edition = by->edition;
	const struct dataset *dataset = edition->is.dataset;
	uint64_t bytes = 0, refused = 0;
	roaring_uint32_iterator_t next;
	roaring_init_iterator(edition->selection, &next);
	roaring_move_uint32_iterator_equalorlarger(&next, shape->first);
	for (; next.has_value && next.current_value <= shape->last;
		roaring_advance_uint32_iterator(&next)) {
		sample_id id = next.current_value;
		if (!has_shape_of(dataset, id, shape->largest))
			continue;
		uint64_t found = memory_tensor_bytes(edition->job->supply, dataset,
			&edition->job->config.preparation, id);
		if (found == 0)
			roaring_bitmap_remove(edition->readable, id);
		refused += found == 0;
		bytes = found ? found : bytes;
	}
	add_equal(by, bytes, shape->samples - refused);
	add_equal(by, 0, refused);
}

static uint64_t typical_of(struct by_shape *by, uint64_t samples)
{
	uint64_t before = 0;
	size_t i = 0;
	_Static_assert(offsetof(struct equal, bytes) == 0, "compare_u64 reads it");
	qsort(by->equal, by->n, sizeof(*by->equal), compare_u64);
	while (i + 1 < by->n && (before += by->equal[i].samples) <= samples / 4 * 3)
		i++;
	return by->equal[i].bytes;
}

/* Sets typical_bytes for encoded tensors, which are as large as their files: from the sizes of
 * at most MOST_MEASURED files. */
static int typical_file(struct edition *edition)
{
	uint32_t positions = edition->set.positions, n = 0, id;
	uint32_t step = (positions + MOST_MEASURED - 1) / MOST_MEASURED;
	auto_free uint64_t *bytes = calloc(MOST_MEASURED, sizeof(*bytes));
	if (!bytes)
		return -ENOMEM;
	for (uint32_t i = 0; i < positions; i += step)
		if (roaring_bitmap_select(edition->selection, i, &id))
			bytes[n++] = dataset_file_bytes(edition->is.dataset, id);
	qsort(bytes, n, sizeof(*bytes), compare_u64);
	edition->typical_bytes = bytes[n * 3 / 4];
	return 0;
}

/* Measures encoded tensors, which are as large as their files. -EAGAIN: the largest file of a shape
 * is refused, or has no image header, so each sample has to be measured. */
static int measure_encoded(
	struct edition *edition, const struct dataset_shape *shapes, size_t n)
{
	const struct dataset *dataset = edition->is.dataset;
	for (size_t i = 0; i < n; i++) {
		uint64_t bytes = memory_tensor_bytes(edition->job->supply, dataset,
			&edition->job->config.preparation, shapes[i].largest);
		if (bytes == 0 ||
			dataset_image_shape(dataset, shapes[i].largest).width == 0)
			return -EAGAIN;
		if (bytes > edition->largest_bytes)
			edition->largest_bytes = bytes;
	}
	edition->all_bytes = dataset_bytes(dataset);
	return typical_file(edition);
}

/* Measures one sample of each shape. -EAGAIN: each sample has to be measured. */
static int measure_decoded(
	struct edition *edition, const struct dataset_shape *shapes, size_t n)
{
	const struct preparation *preparation = &edition->job->config.preparation;
	size_t refused = 0;
	auto_free uint64_t *bytes = calloc(n + 1, sizeof(*bytes));
	auto_free struct equal *equal = calloc(2 * n + 1, sizeof(*equal));
	if (!bytes || !equal)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		bytes[i] = memory_tensor_bytes(edition->job->supply, edition->is.dataset,
			preparation, shapes[i].largest);
		refused += bytes[i] == 0;
	}
	if (refused > MOST_REFUSED)
		return -EAGAIN;
	struct by_shape by = {.edition = edition, .equal = equal};
	for (size_t i = 0; i < n; i++)
		if (bytes[i])
			add_equal(&by, bytes[i], shapes[i].samples);
		else
			measure_refused(&by, &shapes[i]);
	edition->typical_bytes = typical_of(&by, edition->set.positions);
	return 0;
}

/* Measures the tensors by the shapes of the samples. -EAGAIN: each sample has to be measured. */
static int measure_shapes(struct edition *edition)
{
	const struct preparation *preparation = &edition->job->config.preparation;
	size_t n = 0;
	const struct dataset_shape *shapes =
		dataset_shapes(edition->is.dataset, edition->selection, &n);
	if (!shapes || preparation->sections || preparation->frames)
		return -EAGAIN;
	int err = (preparation->encoded ? measure_encoded : measure_decoded)(
		edition, shapes, n);
	part_of(edition, shapes[0].first)->all_bytes = edition->all_bytes;
	return err;
}

int edition_measure(struct edition *edition)
{
	edition->readable = roaring_bitmap_copy(edition->selection);
	if (!edition->readable)
		return -ENOMEM;
	int err = measure_shapes(edition);
	if (err == -EAGAIN)
		err = measure_each(edition);
	edition->sample_bytes =
		edition->all_bytes / roaring_bitmap_get_cardinality(edition->selection);
	return err;
}
