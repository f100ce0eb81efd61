// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/dataset_map.h"

#include <errno.h>
#include <stdlib.h>

/* Makes the section SHAPES. A dataset usually has far fewer shapes than samples. */

struct shapes {
	struct dataset_shape *of;
	size_t n, capacity;
	uint32_t *slots; /* hash table: 0 (free), or 1 + an index in `of` */
	size_t n_slots;	 /* power of two, at least 2 * n */
};

static bool is_alike(const struct facts *a, const struct facts *b)
{
	return a->image.height == b->image.height && a->image.width == b->image.width &&
	       a->image.mode == b->image.mode && a->orientation == b->orientation;
}

static size_t slot_of(const struct facts *facts, size_t n_slots)
{
	uint64_t key = (uint64_t)facts->image.height << 32 | facts->image.width;
	key ^= (uint64_t)facts->image.mode << 24 ^ (uint64_t)facts->orientation << 56;
	return (key * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (n_slots - 1);
}

static size_t find_slot(const struct shapes *shapes, const struct catalogue *catalogue,
	const struct facts *facts)
{
	size_t slot = slot_of(facts, shapes->n_slots);
	while (shapes->slots[slot]) {
		sample_id known = shapes->of[shapes->slots[slot] - 1].largest;
		if (is_alike(facts, &catalogue->rows[known].facts))
			break;
		slot = (slot + 1) & (shapes->n_slots - 1);
	}
	return slot;
}

static int grow(struct shapes *shapes, const struct catalogue *catalogue)
{
	if (shapes->n * 2 < shapes->n_slots)
		return 0;
	size_t n_slots = shapes->n_slots ? shapes->n_slots * 4 : 1024;
	uint32_t *slots = calloc(n_slots, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(shapes->slots);
	shapes->slots = slots;
	shapes->n_slots = n_slots;
	for (size_t i = 0; i < shapes->n; i++)
		slots[find_slot(shapes, catalogue,
			&catalogue->rows[shapes->of[i].largest].facts)] = (uint32_t)i + 1;
	return 0;
}

static int add_shape(struct shapes *shapes, size_t slot, sample_id id)
{
	if (!array_make_room(shapes->of, shapes->n, &shapes->capacity))
		return -ENOMEM;
	shapes->of[shapes->n++] = (struct dataset_shape){
		.samples = 1, .largest = id, .first = id, .last = id};
	shapes->slots[slot] = (uint32_t)shapes->n;
	return 0;
}

static int add_sample(
	struct shapes *shapes, const struct catalogue *catalogue, sample_id id)
{
	const struct row *row = &catalogue->rows[id];
	int err = grow(shapes, catalogue);
	if (err)
		return err;
	size_t slot = find_slot(shapes, catalogue, &row->facts);
	if (!shapes->slots[slot])
		return add_shape(shapes, slot, id);
	struct dataset_shape *shape = &shapes->of[shapes->slots[slot] - 1];
	shape->samples++;
	shape->last = id;
	if (row->facts.bytes > catalogue->rows[shape->largest].facts.bytes)
		shape->largest = id;
	return 0;
}

int map_shapes_make(const struct catalogue *catalogue, struct map_bytes *ret)
{
	struct shapes shapes = {0};
	int err = 0;
	for (size_t id = 0; !err && id < catalogue->n_rows && shapes.n <= MAP_MOST_SHAPES;
		id++)
		if (!catalogue->rows[id].gone)
			err = add_sample(&shapes, catalogue, (sample_id)id);
	free(shapes.slots);
	size_t n = shapes.n > MAP_MOST_SHAPES ? 0 : shapes.n;
	*ret = (struct map_bytes){(uint8_t *)shapes.of, n * sizeof(*shapes.of)};
	return err;
}

bool map_shapes_fit(const struct dataset_shape *shapes, size_t n, uint32_t n_ids)
{
	bool fit = n <= MAP_MOST_SHAPES;
	for (size_t i = 0; fit && i < n; i++)
		fit = shapes[i].largest < n_ids && shapes[i].last < n_ids &&
		      shapes[i].first <= shapes[i].last;
	return fit;
}

const struct dataset_shape *dataset_shapes(
	const struct dataset *dataset, const roaring_bitmap_t *selection, size_t *ret_n)
{
	const struct catalogue_map *map = dataset->map;
	if (!map || map->head->version == MAP_WITHOUT_SHAPES ||
		!roaring_bitmap_equals(selection, dataset->present))
		return NULL;
	*ret_n = map->head->sections[MAP_SHAPES].bytes / sizeof(struct dataset_shape);
	return *ret_n ? map_section(map, MAP_SHAPES) : NULL;
}
