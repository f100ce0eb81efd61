// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/source.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Finds the files beside samples. The stem of a path is the path without its last ending. A file
 * lies beside a sample if both have the same stem, as 7.txt and 7.jpg. By WebDataset's rule, a file
 * also lies beside a sample if the file's stem is the sample's path up to the first dot of its
 * name, as 7.txt and 7.seg.jpg. */

#define MOST_OF_STEM 16 /* largest number of files of one stem beside a sample */

static size_t name_at(const char *path)
{
	return (size_t)(base_name(path) - path);
}

static size_t stem_of(const char *path)
{
	const char *dot = strrchr(path + name_at(path), '.');
	return dot ? (size_t)(dot - path) : strlen(path);
}

static size_t key_of(const char *path)
{
	size_t name = name_at(path);
	return name + strcspn(path + name, ".");
}

bool beside_wanted(const char *path)
{
	size_t stem = stem_of(path);
	const char *name = path + name_at(path);
	const char *ending = path[stem] ? path + stem + 1 : "";
	size_t n = strlen(ending);
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)ending[i]))
			return false;
	return n > 0 && n <= CONFIG_LONGEST_ENDING && *name != '.' &&
	       !metadata_name(name) && strcasecmp(ending, "cls") != 0;
}

int beside_add(struct beside_files *files, struct arena *arena, const char *path,
	const struct beside *facts)
{
	if (!array_make_room(files->of, files->n, &files->capacity))
		return -ENOMEM;
	size_t stem = stem_of(path);
	char *copy = arena_text(arena, path);
	char *ending = copy ? arena_text(arena, copy + stem + 1) : NULL;
	if (!ending)
		return -ENOMEM;
	for (char *c = ending; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	struct beside_file *added = &files->of[files->n];
	*added = (struct beside_file){
		.path = copy, .stem = stem, .order = files->n++, .is = *facts};
	added->is.ending = ending;
	added->is.name = copy + name_at(copy);
	return 0;
}

/* Compares by stem, then by ending in lower case. If stems and endings are equal, the file whose
 * own ending is in lower case comes last. If the paths are equal, the file that was found last
 * comes last. */
static int compare_files(const void *a, const void *b)
{
	const struct beside_file *x = a, *y = b;
	int order = compare_spans(x->path, x->stem, y->path, y->stem);
	if (!order)
		order = strcmp(x->is.ending, y->is.ending);
	if (!order)
		order = strcmp(x->path, y->path);
	return order ? order : (x->order > y->order) - (x->order < y->order);
}

/* Returns the index of the first file whose stem equals the first `stem` bytes of `path`, or comes
 * after them in byte order. */
static size_t find_stem(const struct beside_files *files, const char *path, size_t stem)
{
	size_t low = 0, high = files->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct beside_file *file = &files->of[middle];
		if (compare_spans(file->path, file->stem, path, stem) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool beside_insert(const struct beside **list, struct beside *beside)
{
	const struct beside *at = *list;
	int order = at ? strcmp(at->ending, beside->ending) : 1;
	if (order < 0) {
		struct beside *next = (struct beside *)(uintptr_t)at;
		return beside_insert(&next->next, beside);
	}
	beside->next = at;
	if (order > 0)
		*list = beside;
	return order > 0;
}

/* Adds to the list the files whose stem is the first `stem` bytes of `path`. Leaves out endings
 * that the list already has. The last of several files with the same ending counts. */
static int add_stem(const struct beside_files *files, struct arena *arena,
	const char *path, size_t stem, const struct beside **list)
{
	unsigned kept = 0;
	for (size_t i = find_stem(files, path, stem); i < files->n; i++) {
		const struct beside_file *file = &files->of[i], *next = file + 1;
		if (compare_spans(file->path, file->stem, path, stem) != 0 ||
			kept == MOST_OF_STEM)
			break;
		bool last = i + 1 == files->n ||
			    compare_spans(next->path, next->stem, path, stem) != 0 ||
			    strcmp(next->is.ending, file->is.ending) != 0;
		if (!last)
			continue;
		struct beside *beside = arena_alloc(arena, sizeof(*beside));
		if (!beside)
			return -ENOMEM;
		*beside = file->is;
		kept += beside_insert(list, beside);
	}
	return 0;
}

void beside_sort(struct beside_files *files)
{
	if (files->n)
		qsort(files->of, files->n, sizeof(*files->of), compare_files);
}

int beside_find(const struct beside_files *files, struct arena *arena, const char *path,
	const struct beside **ret)
{
	size_t stem = stem_of(path), key = key_of(path);
	*ret = NULL;
	int err = add_stem(files, arena, path, stem, ret);
	if (!err && key != stem)
		err = add_stem(files, arena, path, key, ret);
	return err;
}

int listing_find_beside(struct listing *listing, size_t first, struct beside_files *files)
{
	int err = 0;
	beside_sort(files);
	for (size_t i = first; !err && i < listing->n; i++)
		err = beside_find(files, &listing->names, listing->samples[i].member,
			&listing->samples[i].beside);
	return err;
}

static bool same(const struct beside *a, const struct beside *b)
{
	return strcmp(a->ending, b->ending) == 0 && strcmp(a->name, b->name) == 0 &&
	       a->bytes == b->bytes && a->mtime_ns == b->mtime_ns &&
	       a->at.offset == b->at.offset && a->at.stored_bytes == b->at.stored_bytes &&
	       a->at.checksum == b->at.checksum && a->at.method == b->at.method;
}

bool beside_equal(const struct beside *a, const struct beside *b)
{
	for (; a && b; a = a->next, b = b->next)
		if (!same(a, b))
			return false;
	return !a && !b;
}
