// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/compare.h"
#include "base/ensure.h"
#include "dataset/dataset_hash.h"
#include "dataset/dataset_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE 256

static bool knows_sum(const struct dataset *dataset, const roaring_bitmap_t *selection)
{
	return dataset->map && dataset->map->head->version != MAP_WITHOUT_SHAPES &&
	       roaring_bitmap_equals(selection, dataset->present);
}

/* Adds up a number for each sample, from sample_scatter. The numbers do not depend on each other,
 * so the processor computes several at a time. */
uint64_t dataset_fingerprint(
	const struct dataset *dataset, const roaring_bitmap_t *selection)
{
	roaring_uint32_iterator_t iterator;
	uint32_t ids[AT_ONCE], n;
	uint64_t sum = 0;
	sample_id own;
	if (knows_sum(dataset, selection))
		return hash_scatter(dataset->map->head->identities + dataset->n_samples);
	roaring_init_iterator(selection, &iterator);
	while ((n = roaring_read_uint32_iterator(&iterator, ids, AT_ONCE)) > 0) {
		/* The ids ascend, so the last one is the largest. */
		ensure(ids[n - 1] < dataset->n_ids);
		for (uint32_t i = 0; i < n; i++) {
			const struct dataset *of = dataset_of(dataset, ids[i], &own);
			sum += sample_scatter(ids[i],
				(uint32_t)map_value(of->map, MAP_IDENTITIES, own));
		}
	}
	return hash_scatter(sum + roaring_bitmap_get_cardinality(selection));
}

uint64_t dataset_group_fingerprint(
	struct dataset *dataset, const roaring_bitmap_t *selection)
{
	roaring_uint32_iterator_t iterator;
	uint64_t sum = roaring_bitmap_get_cardinality(selection);
	struct path_text text = {0};
	roaring_init_iterator(selection, &iterator);
	for (; iterator.has_value; roaring_advance_uint32_iterator(&iterator)) {
		sample_id id = iterator.current_value;
		const char *path = dataset_relative(dataset, id, &text);
		uint64_t hash = hash_fold_text(id, path, strlen(path));
		sum += hash_scatter(hash_fold(hash, dataset_file_bytes(dataset, id)));
	}
	return hash_scatter(sum) >> 32 << 32 |
	       dataset_fingerprint(dataset, selection) >> 32;
}

/* Returns the checksum of the map's head. This checksum changes with the catalogue, because it
 * covers the checksums of all sections, and the struct map_pair, which identifies the SQLite
 * file. */
uint64_t dataset_content(const struct dataset *dataset)
{
	return dataset->map ? dataset->map->head->sum : 0;
}

uint64_t dataset_labels_fingerprint(
	const struct dataset *dataset, const roaring_bitmap_t *selection)
{
	roaring_uint32_iterator_t iterator;
	uint32_t ids[AT_ONCE], n;
	uint64_t hash = dataset->n_classes;
	for (uint32_t i = 0; i < dataset->n_classes; i++)
		hash = hash_fold_text(
			hash, dataset->classes[i], strlen(dataset->classes[i]));
	roaring_init_iterator(selection, &iterator);
	while ((n = roaring_read_uint32_iterator(&iterator, ids, AT_ONCE)) > 0)
		for (uint32_t i = 0; i < n; i++)
			hash = hash_fold(hash, dataset_label(dataset, ids[i]));
	return hash_scatter(hash);
}

struct by_path {
	const char *path;
	sample_id id;
};

static int list_paths(const struct dataset *dataset, const roaring_bitmap_t *selection,
	struct arena *texts, struct by_path *ret)
{
	roaring_uint32_iterator_t iterator;
	struct path_text text = {0};
	roaring_init_iterator(selection, &iterator);
	for (; iterator.has_value; roaring_advance_uint32_iterator(&iterator), ret++) {
		ret->id = iterator.current_value;
		int err = dataset_read_path(dataset, ret->id, &text);
		if (err)
			return err;
		ret->path = arena_text(texts, text.text);
		if (!ret->path)
			return -ENOMEM;
	}
	return 0;
}

int dataset_by_path(struct dataset *dataset, const roaring_bitmap_t *selection,
	sample_id *ret, uint64_t *ret_fingerprint)
{
	uint64_t n = roaring_bitmap_get_cardinality(selection), hash = n;
	auto_free struct by_path *paths = calloc(n + 1, sizeof(*paths));
	struct arena texts = {0};
	int err = paths ? list_paths(dataset, selection, &texts, paths) : -ENOMEM;
	if (err)
		n = 0;
	qsort(paths, n, sizeof(*paths), compare_texts);
	for (uint64_t i = 0; i < n; i++) {
		hash = hash_fold_text(hash, paths[i].path, strlen(paths[i].path));
		hash = hash_fold(hash, dataset_file_bytes(dataset, paths[i].id));
		ret[i] = paths[i].id;
	}
	arena_free(&texts);
	*ret_fingerprint = hash_scatter(hash);
	return err;
}
