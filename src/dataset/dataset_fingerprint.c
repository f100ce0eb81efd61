// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "base/log.h"
#include "dataset/dataset_map.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Hashes. State directories recognise samples by them, and users divide datasets by them. They must
 * never change: otherwise no sample would be recognised, and folds would change.
 */

__extension__ typedef unsigned __int128 uint128;

/* Mixes a word into a hash as wyhash does (Wang Yi, public domain): combines both halves of a
 * product, because each bit of it depends on many bits of the factors. */
static uint64_t fold(uint64_t hash, uint64_t word)
{
	uint128 product = (uint128)(hash ^ UINT64_C(0xa0761d6478bd642f)) *
			  (word ^ UINT64_C(0xe7037ed1a0b428db));
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Returns splitmix64's finalizer of z. Different numbers have different results. */
static uint64_t scatter(uint64_t z)
{
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Mixes a text into a hash, eight bytes at a time. The last word is padded with zeros. */
static uint64_t fold_text(uint64_t hash, const char *text, size_t length)
{
	uint64_t word;
	for (; length >= sizeof(word); length -= sizeof(word), text += sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		hash = fold(hash, le64toh(word));
	}
	word = 0;
	memcpy(&word, text, length);
	return fold(hash, le64toh(word));
}

uint64_t text_hash(const char *text, size_t length)
{
	return scatter(fold_text(length, text, length));
}

uint32_t sample_identity(const char *path, uint64_t bytes, int64_t mtime_ns)
{
	size_t length = strlen(path);
	uint64_t hash = fold_text(length, path, length);
	hash = scatter(hash ^ scatter(bytes));
	return (uint32_t)(scatter(hash ^ scatter((uint64_t)mtime_ns)) >> 32);
}

uint64_t sample_scatter(sample_id id, uint32_t identity)
{
	return scatter((uint64_t)id << 32 | identity);
}

uint32_t part_identity(uint32_t identity, const struct source_part *part)
{
	uint64_t hash = scatter(identity ^ scatter(part->container_bytes));
	hash = scatter(hash ^ scatter(part->offset));
	return (uint32_t)(scatter(hash ^ scatter(part->stored_bytes)) >> 32);
}

#define LANES 4

/* Computes several lanes, which the processor can execute in parallel. */
uint64_t content_sum(const void *bytes, size_t n)
{
	uint64_t lanes[LANES] = {1, 2, 3, 4}, words[LANES], sum = n;
	const char *at = bytes;
	for (; n >= sizeof(words); n -= sizeof(words), at += sizeof(words)) {
		memcpy(words, at, sizeof(words));
		for (int i = 0; i < LANES; i++)
			lanes[i] = fold(lanes[i], le64toh(words[i]));
	}
	for (int i = 0; i < LANES; i++)
		sum = fold(sum, lanes[i]);
	return scatter(fold_text(sum, at, n));
}

#define AT_ONCE 256

static bool knows_sum(const struct dataset *dataset, const roaring_bitmap_t *selection)
{
	return dataset->map && dataset->map->head->version != MAP_WITHOUT_SHAPES &&
	       roaring_bitmap_equals(selection, dataset->present);
}

/* Adds up independent numbers, which the processor can compute in parallel. */
uint64_t dataset_fingerprint(
	const struct dataset *dataset, const roaring_bitmap_t *selection)
{
	roaring_uint32_iterator_t iterator;
	uint32_t ids[AT_ONCE], n;
	uint64_t sum = 0;
	sample_id own;
	if (knows_sum(dataset, selection))
		return scatter(dataset->map->head->identities + dataset->n_samples);
	roaring_init_iterator(selection, &iterator);
	while ((n = roaring_read_uint32_iterator(&iterator, ids, AT_ONCE)) > 0) {
		ensure(ids[n - 1] < dataset->n_ids); /* ids ascend */
		for (uint32_t i = 0; i < n; i++) {
			const struct dataset *of = dataset_of(dataset, ids[i], &own);
			sum += sample_scatter(ids[i],
				(uint32_t)map_value(of->map, MAP_IDENTITIES, own));
		}
	}
	return scatter(sum + roaring_bitmap_get_cardinality(selection));
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
		uint64_t hash = fold_text(id, path, strlen(path));
		sum += scatter(fold(hash, dataset_file_bytes(dataset, id)));
	}
	return scatter(sum) >> 32 << 32 | dataset_fingerprint(dataset, selection) >> 32;
}

/* Returns the sum of the map's head. The head contains the sums of all sections, and the identity
 * of the SQLite file. */
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
		hash = fold_text(hash, dataset->classes[i], strlen(dataset->classes[i]));
	roaring_init_iterator(selection, &iterator);
	while ((n = roaring_read_uint32_iterator(&iterator, ids, AT_ONCE)) > 0)
		for (uint32_t i = 0; i < n; i++)
			hash = fold(hash, dataset_label(dataset, ids[i]));
	return scatter(hash);
}

/* --- equal on every machine ---------------------------------------------------------- */

struct by_path {
	const char *path;
	sample_id id;
};

static int compare_paths(const void *a, const void *b)
{
	return strcmp(
		((const struct by_path *)a)->path, ((const struct by_path *)b)->path);
}

static int list_paths(const struct dataset *dataset, const roaring_bitmap_t *selection,
	struct arena *texts, struct by_path *ret)
{
	roaring_uint32_iterator_t iterator;
	struct path_text text = {0};
	roaring_init_iterator(selection, &iterator);
	for (; iterator.has_value; roaring_advance_uint32_iterator(&iterator), ret++) {
		ret->id = iterator.current_value;
		const char *path = map_path(dataset->map, ret->id, &text);
		ret->path = path ? arena_text(texts, path) : NULL;
		if (path && !ret->path)
			return -ENOMEM;
		if (!path) {
			log_error("catalogue %s: the path of sample %u is damaged",
				dataset->file, ret->id);
			return -EIO;
		}
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
	qsort(paths, n, sizeof(*paths), compare_paths);
	for (uint64_t i = 0; i < n; i++) {
		hash = fold_text(hash, paths[i].path, strlen(paths[i].path));
		hash = fold(hash, dataset_file_bytes(dataset, paths[i].id));
		ret[i] = paths[i].id;
	}
	arena_free(&texts);
	*ret_fingerprint = scatter(hash);
	return err;
}
