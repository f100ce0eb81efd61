// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "base/compare.h"
#include "base/ensure.h"
#include "base/log.h"
#include "dataset/dataset_map.h"
#include "dataset/source_far.h"
#include "image/sections.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_IDLE 8

const char *dataset_name(const struct dataset *dataset)
{
	return dataset->name;
}

const char *dataset_source(const struct dataset *dataset)
{
	return dataset->source;
}

const char *dataset_boundary(const struct dataset *dataset)
{
	return dataset->follow_outside ? NULL : dataset->source;
}

const char *dataset_boundary_of(const struct dataset *dataset, sample_id id)
{
	return dataset_boundary(
		dataset->n_mixed > 0 ? mixed_of(dataset, id, &id) : dataset);
}

const char *dataset_kind(const struct dataset *dataset)
{
	return dataset->kind;
}

struct dataset *dataset_hold(struct dataset *dataset)
{
	atomic_fetch_add(&dataset->references, 1);
	return dataset;
}

const char *dataset_location(const struct dataset *dataset)
{
	return dataset->beside;
}

uint32_t dataset_ids(const struct dataset *dataset)
{
	return dataset->n_ids;
}

uint32_t dataset_samples(const struct dataset *dataset)
{
	return dataset->n_samples;
}

uint64_t dataset_bytes(const struct dataset *dataset)
{
	return dataset->total_bytes;
}

uint32_t dataset_classes(const struct dataset *dataset)
{
	return dataset->n_classes;
}

/* Returns the name of the class with this label. Returns "" for LABEL_NONE, the label of samples
 * whose class no longer exists. */
const char *dataset_class_name(const struct dataset *dataset, uint32_t label)
{
	return label < dataset->n_classes ? dataset->classes[label] : "";
}

uint32_t dataset_find_class(const struct dataset *dataset, const char *name)
{
	uint32_t n = dataset->n_classes, label = 0;
	if (dataset->sorts_classes) {
		char **found = bsearch(&name, dataset->classes, n,
			sizeof(*dataset->classes), compare_texts);
		return found ? (uint32_t)(found - dataset->classes) : n;
	}
	while (label < n && strcmp(dataset->classes[label], name) != 0)
		label++;
	return label;
}

uint32_t dataset_label(const struct dataset *dataset, sample_id id)
{
	ensure(id < dataset->n_ids);
	return dataset->n_mixed > 0 ? dataset->labels[id]
				    : (uint32_t)map_value(dataset->map, MAP_LABELS, id);
}

uint32_t dataset_path_length(const struct dataset *dataset, sample_id id)
{
	ensure(id < dataset->n_ids);
	const struct dataset *of = dataset_of(dataset, id, &id);
	size_t name = of == dataset ? 0 : strlen(of->name) + 1;
	return (uint32_t)(map_value(of->map, MAP_PATH_LENGTHS, id) + name);
}

struct tensor_shape dataset_image_shape(const struct dataset *dataset, sample_id id)
{
	ensure(id < dataset->n_ids);
	const struct catalogue_map *map = dataset_of(dataset, id, &id)->map;
	uint64_t mode = map_value(map, MAP_MODES, id);
	/* If the mode is impossible, the map is damaged, so the size is unknown, too. */
	if (mode >= N_PIXEL_MODES)
		return (struct tensor_shape){0};
	return (struct tensor_shape){.height = (uint32_t)map_value(map, MAP_HEIGHTS, id),
		.width = (uint32_t)map_value(map, MAP_WIDTHS, id),
		.mode = (enum pixel_mode)mode};
}

uint8_t dataset_orientation(const struct dataset *dataset, sample_id id)
{
	ensure(id < dataset->n_ids);
	const struct catalogue_map *map = dataset_of(dataset, id, &id)->map;
	return (uint8_t)map_value(map, MAP_ORIENTATIONS, id);
}

struct tensor_shape dataset_turned_shape(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id)
{
	return preparation_image(preparation, dataset_image_shape(dataset, id),
		dataset_orientation(dataset, id));
}

const struct preparation *dataset_preparation(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id)
{
	ensure(id < dataset->n_ids);
	if (!preparation->sections || !dataset->map)
		return preparation;
	struct path_text text = {0};
	const char *path = map_path(dataset->map, id, &text);
	return path ? preparation_at(preparation, path) : preparation;
}

const char *dataset_relative(
	const struct dataset *dataset, sample_id id, struct path_text *text)
{
	ensure(id < dataset->n_ids && dataset->map);
	const char *path = map_path(dataset->map, id, text);
	return path ? path : "";
}

uint64_t dataset_file_bytes(const struct dataset *dataset, sample_id id)
{
	ensure(id < dataset->n_ids);
	return map_value(dataset_of(dataset, id, &id)->map, MAP_FILE_BYTES, id);
}

static void connection_free(struct connection *connection)
{
	sqlite3_finalize(connection->row);
	sqlite3_close(connection->db);
	free(connection);
}

static int connection_new(const struct dataset *dataset, struct connection **ret)
{
	struct connection *connection = calloc(1, sizeof(*connection));
	if (!connection)
		return -ENOMEM;
	const char *file;
	int err;
	/* Opens the catalogue again if dataset_install has renamed the catalogue while it was being
	 * opened. */
	do {
		if (connection->db)
			sqlite3_close(connection->db);
		file = dataset->file;
		err = catalogue_open_read(file, &connection->db);
	} while (file != dataset->file);
	if (!err && (err = samples_attach(connection->db, dataset, NULL)))
		log_error("catalogue %s: can't be read: %s", file, strerror(-err));
	if (err) {
		connection_free(connection);
		return err;
	}
	*ret = connection;
	return 0;
}

static struct connection *pop_idle(struct dataset *dataset)
{
	LOCK_SCOPE(&dataset->lock);
	struct connection *connection = dataset->idle;
	if (connection) {
		dataset->idle = connection->next;
		dataset->n_idle--;
	}
	return connection;
}

static bool push_idle(struct dataset *dataset, struct connection *connection)
{
	LOCK_SCOPE(&dataset->lock);
	if (dataset->n_idle == MAX_IDLE)
		return false;
	connection->next = dataset->idle;
	dataset->idle = connection;
	dataset->n_idle++;
	return true;
}

int connection_take(struct dataset *dataset, struct connection **ret)
{
	*ret = pop_idle(dataset);
	return *ret ? 0 : connection_new(dataset, ret);
}

void connection_give(struct dataset *dataset, struct connection *connection)
{
	if (!push_idle(dataset, connection))
		connection_free(connection);
}

void connections_close(struct dataset *dataset)
{
	struct connection *connection;
	while ((connection = pop_idle(dataset)))
		connection_free(connection);
}

static int read_part(
	const struct dataset *dataset, sample_id id, struct dataset_sample *ret)
{
	const struct catalogue_map *map = dataset->map;
	struct part part;
	const struct map_container *containers = map_section(map, MAP_CONTAINERS);
	const char *names = map_section(map, MAP_CONTAINER_NAMES);
	if (!map_part(map, id, &part))
		return 0;
	if (part.container >= map->head->n_containers || part.at.method > PART_DEFLATED)
		return -EIO;
	const struct map_container *container = &containers[part.container];
	char path[PATH_MAX];
	int err =
		scan_beside(dataset->beside, names + container->name, path, sizeof(path));
	ret->container = err ? NULL : strdup(path);
	if (!ret->container)
		return err ? err : -ENOMEM;
	ret->part = part.at;
	ret->part.container_bytes = container->bytes;
	return 0;
}

/* Makes ret->path, the object's URL, and ret->relative, a copy of `relative`. Both texts lie in the
 * memory of ret->path. */
static int make_far_path(
	const struct dataset *dataset, const char *relative, struct dataset_sample *ret)
{
	char url[PATH_MAX];
	int err = far_file_url(dataset->beside, dataset->map->head->labelled, relative,
		url, sizeof(url), &ret->plain);
	ret->path = err ? NULL : aprintf("%s%c%s", url, '\0', relative);
	if (!ret->path)
		return err ? err : -ENOMEM;
	ret->relative = ret->path + strlen(url) + 1;
	return 0;
}

static int make_path(
	const struct dataset *dataset, const char *relative, struct dataset_sample *ret)
{
	const char *root = ret->container ? ret->container : dataset->root;
	if (!ret->container && far_is(root))
		return make_far_path(dataset, relative, ret);
	ret->path = aprintf("%s/%s", root, relative);
	if (!ret->path)
		return -ENOMEM;
	ret->relative = ret->path + strlen(root) + 1;
	return 0;
}

static int read_sample(
	const struct dataset *dataset, sample_id id, struct dataset_sample *ret)
{
	struct path_text text = {0};
	const char *relative = map_path(dataset->map, id, &text);
	int err = relative ? read_part(dataset, id, ret) : -EIO;
	if (!err)
		err = make_path(dataset, relative, ret);
	if (err)
		return err;
	ret->label = dataset_label(dataset, id);
	ret->bytes = dataset_file_bytes(dataset, id);
	ret->mtime_ns = (int64_t)map_value(dataset->map, MAP_MTIMES, id);
	ret->image = dataset_image_shape(dataset, id);
	ret->orientation = dataset_orientation(dataset, id);
	return 0;
}

struct dataset *mixed_of(const struct dataset *dataset, sample_id id, sample_id *ret_id)
{
	size_t i = dataset->n_mixed - 1;
	while (i > 0 && id < dataset->firsts[i])
		i--;
	*ret_id = id - dataset->firsts[i];
	return dataset->mixed[i];
}

const struct dataset *dataset_of(
	const struct dataset *dataset, sample_id id, sample_id *ret_id)
{
	*ret_id = id;
	return dataset->n_mixed > 0 ? mixed_of(dataset, id, ret_id) : dataset;
}

/* Prepends the dataset's name and a slash to ret->relative. Makes a new block of memory that has
 * ret->path and ret->relative. */
static int add_name(const struct dataset *dataset, struct dataset_sample *ret)
{
	char *path = aprintf("%s%c%s/%s", ret->path, '\0', dataset->name, ret->relative);
	if (!path)
		return -ENOMEM;
	ret->relative = path + strlen(path) + 1;
	free(ret->path);
	ret->path = path;
	return 0;
}

static int mixed_get(
	const struct dataset *dataset, sample_id id, struct dataset_sample *ret)
{
	sample_id own;
	struct dataset *of = mixed_of(dataset, id, &own);
	int err = dataset_get(of, own, ret);
	if (err)
		return err;
	ret->label = dataset->labels[id];
	err = add_name(of, ret);
	if (err)
		dataset_sample_free(ret);
	return err;
}

int dataset_get(struct dataset *dataset, sample_id id, struct dataset_sample *ret)
{
	*ret = (struct dataset_sample){0};
	if (id >= dataset->n_ids)
		return -ENOENT;
	if (dataset->n_mixed > 0)
		return mixed_get(dataset, id, ret);
	int err = read_sample(dataset, id, ret);
	if (!err)
		return 0;
	dataset_sample_free(ret);
	if (err != -ENOMEM)
		log_error("catalogue %s: sample %u can't be read: %s", dataset->file, id,
			strerror(-err));
	return err;
}

void dataset_sample_free(struct dataset_sample *sample)
{
	free(sample->path);
	free(sample->container);
	*sample = (struct dataset_sample){0};
}
