// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/dataset_scan.h"

#include <stdlib.h>
#include <string.h>

/* Sorts the files of a scan. First moves each file to the range of its class, and keeps the order
 * of files within each class. Then sorts the ranges in several threads. A class whose files are
 * already in order, as in shards with ordered members, is left as it is. */

struct class
{
	const char *name; /* first component of the paths */
	size_t length;
	size_t first, n; /* the class has n files, from files[first] on */
};

struct sorting {
	struct found *files;
	size_t n;
	struct class *classes;
	size_t n_classes, capacity;
	uint32_t *slots; /* hash table: 0 (free), or 1 + an index in `classes` */
	size_t n_slots;	 /* power of two */
	/* class of each file; move_files replaces it by the file's new index */
	uint32_t *of;
	atomic_size_t next;
};

static size_t first_part(const char *path)
{
	return (size_t)(strchrnul(path, '/') - path);
}

int path_compare(const char *a, const char *b)
{
	int order = compare_spans(a, first_part(a), b, first_part(b));
	if (order)
		return order;
	const char *a_slash = strrchr(a, '/'), *b_slash = strrchr(b, '/');
	if (!a_slash || !b_slash)
		return strcmp(a, b);
	order = compare_spans(a, (size_t)(a_slash - a), b, (size_t)(b_slash - b));
	return order ? order : strcmp(a_slash, b_slash);
}

/* Equal paths are compared by their places in containers. */
static int compare_found(const void *a, const void *b)
{
	const struct found *x = a, *y = b;
	int order = path_compare(x->path, y->path);
	if (order || !x->part || !y->part)
		return order;
	if (x->part->container != y->part->container)
		return x->part->container < y->part->container ? -1 : 1;
	return (x->part->at.offset > y->part->at.offset) -
	       (x->part->at.offset < y->part->at.offset);
}

static void sort_range(struct found *files, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (compare_found(&files[i - 1], &files[i]) > 0) {
			qsort(files, n, sizeof(*files), compare_found);
			return;
		}
}

static bool is_class(const struct class *class, const char *path, size_t length)
{
	return class->length == length && memcmp(class->name, path, length) == 0;
}

/* Returns the class's element of `slots`, or the free element where it belongs. */
static uint32_t *slot_of(const struct sorting *sorting, const char *path, size_t length)
{
	size_t mask = sorting->n_slots - 1, i = text_hash(path, length) & mask;
	while (sorting->slots[i] &&
		!is_class(&sorting->classes[sorting->slots[i] - 1], path, length))
		i = (i + 1) & mask;
	return &sorting->slots[i];
}

/* Doubles the table if it is half full. Returns false if there is no memory. */
static bool grow_table(struct sorting *sorting)
{
	size_t n = sorting->n_slots ? 2 * sorting->n_slots : 1024;
	if (2 * sorting->n_classes < sorting->n_slots)
		return true;
	free(sorting->slots);
	sorting->slots = calloc(n, sizeof(*sorting->slots));
	sorting->n_slots = n;
	for (size_t i = 0; sorting->slots && i < sorting->n_classes; i++) {
		const struct class *class = &sorting->classes[i];
		*slot_of(sorting, class->name, class->length) = (uint32_t)i + 1;
	}
	return sorting->slots;
}

/* Finds or adds the file's class. Returns false if the path has none, or if there is no memory. */
static bool find_class(struct sorting *sorting, const char *path, uint32_t *ret)
{
	size_t length = first_part(path);
	if (!path[length] ||
		!array_make_room(
			sorting->classes, sorting->n_classes, &sorting->capacity) ||
		!grow_table(sorting))
		return false;
	uint32_t *slot = slot_of(sorting, path, length);
	if (!*slot) {
		sorting->classes[sorting->n_classes++] =
			(struct class){.name = path, .length = length};
		*slot = (uint32_t)sorting->n_classes;
	}
	*ret = *slot - 1;
	return true;
}

static bool find_classes(struct sorting *sorting)
{
	uint32_t class = 0;
	for (size_t i = 0; i < sorting->n; i++) {
		const char *path = sorting->files[i].path;
		size_t length = first_part(path);
		if ((i == 0 || !is_class(&sorting->classes[class], path, length)) &&
			!find_class(sorting, path, &class))
			return false;
		sorting->of[i] = class;
		sorting->classes[class].n++;
	}
	return true;
}

static int compare_classes(const void *a, const void *b, void *context)
{
	const struct class *classes = context;
	const struct class *x = &classes[*(const uint32_t *)a];
	const struct class *y = &classes[*(const uint32_t *)b];
	return compare_spans(x->name, x->length, y->name, y->length);
}

/* Sets class->first so that the classes are in the byte order of their names. */
static bool place_classes(struct sorting *sorting)
{
	size_t n = sorting->n_classes, first = 0;
	auto_free uint32_t *order = calloc(n + 1, sizeof(*order));
	if (!order)
		return false;
	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, n, sizeof(*order), compare_classes, sorting->classes);
	for (size_t i = 0; i < n; i++) {
		sorting->classes[order[i]].first = first;
		first += sorting->classes[order[i]].n;
	}
	return true;
}

static void move_files(struct sorting *sorting)
{
	uint32_t *of = sorting->of;
	for (size_t i = 0; i < sorting->n; i++) {
		struct class *class = &sorting->classes[of[i]];
		of[i] = (uint32_t)(class->first++);
	}
	for (size_t i = 0; i < sorting->n_classes; i++)
		sorting->classes[i].first -= sorting->classes[i].n;
	for (size_t i = 0; i < sorting->n; i++)
		while (of[i] != i) {
			uint32_t place = of[i];
			struct found moved = sorting->files[place];
			sorting->files[place] = sorting->files[i];
			sorting->files[i] = moved;
			of[i] = of[place];
			of[place] = place;
		}
}

static void sort_some(void *context, unsigned worker)
{
	struct sorting *sorting = context;
	size_t i;
	(void)worker;
	while ((i = atomic_fetch_add(&sorting->next, 1)) < sorting->n_classes)
		sort_range(sorting->files + sorting->classes[i].first,
			sorting->classes[i].n);
}

void files_sort(struct found *files, size_t n, unsigned threads)
{
	struct sorting sorting = {.files = files, .n = n};
	sorting.of = n < UINT32_MAX ? calloc(n + 1, sizeof(*sorting.of)) : NULL;
	if (sorting.of && find_classes(&sorting) && place_classes(&sorting)) {
		move_files(&sorting);
		parallel_run(threads, sort_some, &sorting);
	} else {
		sort_range(files, n);
	}
	free(sorting.classes);
	free(sorting.slots);
	free(sorting.of);
}
