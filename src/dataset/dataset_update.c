// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/log.h"
#include "dataset/dataset_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct changes {
	uint64_t added;
	uint64_t changed;
	uint64_t returned;
	uint64_t gone;
	bool classes;
	bool containers;
};

static struct row row_of(const struct found *found)
{
	return (struct row){.path = found->path,
		.facts = found->facts,
		.part = found->part,
		.beside = found->beside};
}

static int too_many(void)
{
	log_error("a dataset can't have more than %u files", SAMPLE_NONE);
	return -EOVERFLOW;
}

static int add_row(struct catalogue *catalogue, struct found *found)
{
	if (!array_make_room(
		    catalogue->rows, catalogue->n_rows, &catalogue->rows_capacity))
		return -ENOMEM;
	if (catalogue->n_rows == SAMPLE_NONE)
		return too_many();
	found->id = (sample_id)catalogue->n_rows;
	catalogue->rows[catalogue->n_rows++] = row_of(found);
	return 0;
}

/* Makes rows from the last file to the first, so that the array of files can shrink meanwhile. */
static int add_all(
	struct catalogue *catalogue, struct tree *tree, struct changes *changes)
{
	size_t n = 0;
	for (size_t i = 0; i < tree->n_files; i++)
		n += tree->files[i].present;
	if (n > SAMPLE_NONE)
		return too_many();
	struct row *rows = reallocarray(catalogue->rows, n + 1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	catalogue->rows = rows;
	catalogue->n_rows = changes->added = n;
	catalogue->rows_capacity = n + 1;
	for (size_t i = tree->n_files; i-- > 0;) {
		struct found *found = &tree->files[i];
		if (found->present) {
			found->id = (sample_id)--n;
			rows[n] = row_of(found);
		}
		if (!tree->described) {
			tree->n_files = i;
			tree->files = array_shrink(tree->files, i, sizeof(*tree->files));
		}
	}
	return 0;
}

/* Compares only size and mtime. The other facts come from the header, and an old catalogue without
 * channels lacks some of them. */
static bool same_file(const struct facts *a, const struct facts *b)
{
	return a->bytes == b->bytes && a->mtime_ns == b->mtime_ns;
}

static bool facts_equal(const struct facts *a, const struct facts *b)
{
	return same_file(a, b) && a->image.width == b->image.width &&
	       a->image.height == b->image.height && a->image.mode == b->image.mode &&
	       a->orientation == b->orientation && a->probed == b->probed;
}

/* Tells whether two parts are equal. Ignores the numbers of their containers: if a number has
 * changed, the list of containers has changed, too, and all rows are written. */
static bool parts_equal(const struct part *a, const struct part *b)
{
	if (!a || !b)
		return a == b;
	return a->at.offset == b->at.offset && a->at.stored_bytes == b->at.stored_bytes &&
	       a->at.container_bytes == b->at.container_bytes &&
	       a->at.checksum == b->at.checksum && a->at.method == b->at.method;
}

static void update_row(const struct catalogue *catalogue, struct row *row,
	const struct found *found, struct changes *changes)
{
	if (row->gone)
		changes->returned++;
	else if (!(catalogue->without_channels ? same_file : facts_equal)(
			 &row->facts, &found->facts) ||
		 !parts_equal(row->part, found->part) ||
		 !beside_equal(row->beside, found->beside))
		changes->changed++;
	row->facts = found->facts;
	row->part = found->part;
	row->beside = found->beside;
	row->gone = false;
}

static int update_rows(
	struct catalogue *catalogue, struct tree *tree, struct changes *changes)
{
	size_t n_old = catalogue->n_rows;
	auto_free bool *kept = calloc(n_old + 1, sizeof(*kept));
	int err = kept ? 0 : -ENOMEM;
	for (size_t i = 0; !err && i < tree->n_files; i++) {
		struct found *found = &tree->files[i];
		if (!found->present)
			continue;
		if (found->id == SAMPLE_NONE) {
			err = add_row(catalogue, found);
			changes->added++;
		} else {
			kept[found->id] = true;
			update_row(
				catalogue, &catalogue->rows[found->id], found, changes);
		}
	}
	for (size_t id = 0; !err && id < n_old; id++) {
		struct row *row = &catalogue->rows[id];
		if (kept[id])
			continue;
		changes->gone += !row->gone;
		row->gone = true;
		row->part = NULL;
		row->beside = NULL;
	}
	return err;
}

bool container_equal(const struct container *a, const struct container *b)
{
	return strcmp(a->name, b->name) == 0 && a->bytes == b->bytes &&
	       a->mtime_ns == b->mtime_ns;
}

/* Tells whether the scan has the same containers and settings as the catalogue. */
static bool containers_equal(const struct scan *scan, const struct catalogue *catalogue)
{
	if (scan->n_containers != catalogue->n_containers ||
		strcmp(catalogue->settings ? catalogue->settings : "", scan->settings) !=
			0)
		return false;
	for (size_t i = 0; i < scan->n_containers; i++)
		if (!container_equal(&scan->containers[i], &catalogue->containers[i]))
			return false;
	return true;
}

static int update_containers(
	const struct scan *scan, struct catalogue *catalogue, struct changes *changes)
{
	changes->containers = scan->labelled != catalogue->labelled ||
			      !containers_equal(scan, catalogue);
	size_t n = scan->n_containers;
	struct container *containers = calloc(n + 1, sizeof(*containers));
	if (!containers)
		return -ENOMEM;
	free(catalogue->containers);
	catalogue->containers = containers;
	catalogue->n_containers = 0;
	catalogue->settings = arena_text(&catalogue->names, scan->settings);
	catalogue->labelled = scan->labelled;
	for (size_t i = 0; i < n; i++) {
		containers[i] = scan->containers[i];
		containers[i].name =
			arena_text(&catalogue->names, scan->containers[i].name);
		if (!containers[i].name)
			return -ENOMEM;
		catalogue->n_containers++;
	}
	return catalogue->settings ? 0 : -ENOMEM;
}

/* Returns LABEL_NONE if the catalogue no longer has the class of the path. */
static uint32_t find_label(const struct catalogue *catalogue, const char *path)
{
	size_t length = strcspn(path, "/");
	size_t low = 0, high = catalogue->n_classes;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const char *name = catalogue->classes[middle];
		int order = strncmp(path, name, length);
		if (order == 0)
			order = name[length] ? -1 : 0;
		if (order == 0)
			return (uint32_t)middle;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return LABEL_NONE;
}

/* Warns if the label of a class has changed, because running jobs still use the old label. Names
 * only the first such class. */
static void report_labels(const struct scan *scan, const struct catalogue *catalogue,
	const char *const *old_classes, size_t n_old)
{
	for (size_t i = 0; i < n_old; i++) {
		uint32_t label = find_label(catalogue, old_classes[i]);
		struct quoted name;
		if (label == i || label == LABEL_NONE)
			continue;
		log_warn("dataset %s: its classes have changed, and with them labels: "
			 "the label of class %s was %zu and is %u now",
			scan->name, quote_name(&name, old_classes[i]), i, label);
		return;
	}
}

static bool classes_equal(const struct catalogue *catalogue, const struct tree *tree)
{
	if (catalogue->n_classes != tree->classes.n)
		return false;
	for (size_t i = 0; i < tree->classes.n; i++)
		if (strcmp(catalogue->classes[i], tree->classes.name[i]) != 0)
			return false;
	return true;
}

static int update_classes(const struct scan *scan, struct catalogue *catalogue,
	const struct tree *tree, struct changes *changes)
{
	if (classes_equal(catalogue, tree))
		return 0;
	auto_free const char **classes = calloc(tree->classes.n + 1, sizeof(*classes));
	if (!classes)
		return -ENOMEM;
	for (size_t i = 0; i < tree->classes.n; i++) {
		classes[i] = arena_text(&catalogue->names, tree->classes.name[i]);
		if (!classes[i])
			return -ENOMEM;
	}
	const char **old_classes = catalogue->classes;
	size_t n_old = catalogue->n_classes;
	catalogue->classes = classes;
	catalogue->n_classes = tree->classes.n;
	classes = old_classes;
	report_labels(scan, catalogue, old_classes, n_old);
	changes->classes = true;
	return 0;
}

static void assign_labels(const struct scan *scan, struct catalogue *catalogue)
{
	bool alike = scan->label == LABEL_WITHOUT;
	for (size_t id = 0; id < catalogue->n_rows; id++) {
		struct row *row = &catalogue->rows[id];
		row->label = find_label(catalogue, alike ? ONLY_CLASS : row->path);
	}
}

int catalogue_update(const struct scan *scan, struct catalogue *catalogue,
	struct tree *tree, bool *ret_changed)
{
	struct changes changes = {0};
	bool first = catalogue->n_rows == 0;
	arena_join(&catalogue->names, &tree->names);
	int err = (first ? add_all : update_rows)(catalogue, tree, &changes);
	if (!err)
		err = update_classes(scan, catalogue, tree, &changes);
	if (!err)
		err = update_containers(scan, catalogue, &changes);
	if (err)
		return err;
	assign_labels(scan, catalogue);
	*ret_changed = changes.added || changes.changed || changes.returned ||
		       changes.gone || changes.classes || changes.containers;
	struct grouped added, changed, returned, gone;
	if (*ret_changed && !first)
		log_info("dataset %s: %s files are new, %s changed, %s came back, %s are "
			 "gone",
			scan->name, group_digits(&added, changes.added),
			group_digits(&changed, changes.changed),
			group_digits(&returned, changes.returned),
			group_digits(&gone, changes.gone));
	return 0;
}

/* --- looking for changes without access to samples --- */

/* Tells whether all headers could be read. Otherwise a scan must try again. */
static bool all_probed(const struct catalogue_map *map)
{
	const uint8_t *states = map_section(map, MAP_STATES);
	for (size_t id = 0; id < map->head->n_ids; id += pack_equal(states, id))
		if (!(map_value(map, MAP_STATES, id) & (ROW_PROBED | ROW_GONE)))
			return false;
	return true;
}

static bool has_metadata_of(const struct scan *scan, const struct catalogue *catalogue)
{
	struct metadata *metadata;
	if (metadata_open(scan, NULL, &metadata) != 0)
		return false;
	bool same = strcmp(metadata_stamp(metadata), catalogue->stamp) == 0;
	metadata_close(&metadata);
	return same;
}

static bool has_map_of(const struct scan *scan, const char *file)
{
	struct catalogue_map *map;
	if (catalogue_map_open(file, scan->root, false, &map) != 0)
		return false;
	bool same = strcmp(map_rule(map), scan->rule) == 0 && all_probed(map);
	map_close(&map);
	return same;
}

bool catalogue_is_current(const struct scan *scan, const char *file)
{
	struct catalogue catalogue;
	if (scan->n_containers == 0 ||
		catalogue_load(file, scan->root, false, &catalogue) != 0)
		return false;
	bool current = !catalogue.outdated && !catalogue.without_channels &&
		       !catalogue.with_table && !catalogue.other_readers &&
		       catalogue.n_containers > 0 && containers_equal(scan, &catalogue) &&
		       has_metadata_of(scan, &catalogue) && has_map_of(scan, file);
	catalogue_free(&catalogue);
	return current;
}
