// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "base/log.h"
#include "dataset/source_far.h"

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

/* The class of a file that is gone may be gone too, and then it has no name. */
const char *dataset_class_name(const struct dataset *dataset, uint32_t label)
{
	return label < dataset->n_classes ? dataset->classes[label] : "";
}

uint32_t dataset_label(const struct dataset *dataset, sample_id id)
{
	ensure(id < dataset->n_ids);
	return dataset->labels[id];
}

uint32_t dataset_path_length(const struct dataset *dataset, sample_id id)
{
	ensure(id < dataset->n_ids);
	return dataset->path_lengths[id];
}

struct tensor_shape dataset_image_shape(const struct dataset *dataset, sample_id id)
{
	ensure(id < dataset->n_ids);
	return dataset->images[id];
}

uint8_t dataset_orientation(const struct dataset *dataset, sample_id id)
{
	ensure(id < dataset->n_ids);
	return dataset->orientations[id];
}

uint64_t dataset_file_bytes(const struct dataset *dataset, sample_id id)
{
	ensure(id < dataset->n_ids);
	return dataset->file_bytes[id];
}

static void connection_free(struct connection *connection)
{
	sqlite3_finalize(connection->get);
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
	do { /* its name may change just now */
		if (connection->db)
			sqlite3_close(connection->db);
		file = dataset->file;
		err = catalogue_open_read(file, &connection->db);
	} while (file != dataset->file);
	if (!err && sqlite3_prepare_v2(connection->db,
			    "SELECT path, bytes, mtime_ns, width, height,"
			    " exif_orientation, part_container, part_offset, part_bytes,"
			    " part_checksum, part_method FROM samples WHERE id = ?",
			    -1, &connection->get, NULL) != SQLITE_OK) {
		err = catalogue_errno(connection->db);
		log_error("catalogue %s: can't be read: %s", dataset->file,
			sqlite3_errmsg(connection->db));
	}
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

static int read_part(const struct dataset *dataset, struct connection *connection,
	struct dataset_sample *ret)
{
	sqlite3_stmt *get = connection->get;
	sqlite3_int64 number = sqlite3_column_int64(get, 6);
	if (sqlite3_column_type(get, 6) == SQLITE_NULL)
		return 0;
	if (number < 0 || number >= dataset->n_containers)
		return -EIO;
	char path[PATH_MAX];
	int err = scan_beside(
		dataset->beside, dataset->containers[number], path, sizeof(path));
	ret->container = err ? NULL : strdup(path);
	if (!ret->container)
		return err ? err : -ENOMEM;
	ret->part =
		(struct source_part){.container_bytes = dataset->container_bytes[number],
			.offset = (uint64_t)sqlite3_column_int64(get, 7),
			.stored_bytes = (uint64_t)sqlite3_column_int64(get, 8),
			.checksum = (uint32_t)sqlite3_column_int64(get, 9),
			.method = (enum source_method)sqlite3_column_int(get, 10)};
	return 0;
}

/* The path of a file far away is a URL, and the relative one follows it. */
static int make_far_path(
	const struct dataset *dataset, const char *relative, struct dataset_sample *ret)
{
	char url[PATH_MAX];
	int err = far_file_url(dataset->beside, dataset->labelled, relative, url,
		sizeof(url), &ret->plain);
	size_t n = err ? 0 : strlen(url) + 1, bytes = strlen(relative) + 1;
	if (err || !(ret->path = malloc(n + bytes)))
		return err ? err : -ENOMEM;
	memcpy(ret->path, url, n);
	ret->relative = memcpy(ret->path + n, relative, bytes);
	return 0;
}

static int make_path(
	const struct dataset *dataset, const char *relative, struct dataset_sample *ret)
{
	const char *root = ret->container ? ret->container : dataset->root;
	if (!ret->container && far_is(root))
		return make_far_path(dataset, relative, ret);
	if (asprintf(&ret->path, "%s/%s", root, relative) < 0) {
		ret->path = NULL;
		return -ENOMEM;
	}
	ret->relative = ret->path + strlen(root) + 1;
	return 0;
}

static int read_sample(const struct dataset *dataset, struct connection *connection,
	sample_id id, struct dataset_sample *ret)
{
	const char *relative = (const char *)sqlite3_column_text(connection->get, 0);
	int err = read_part(dataset, connection, ret);
	if (err)
		return err;
	err = relative ? make_path(dataset, relative, ret) : -ENOMEM;
	if (err)
		return err;
	ret->bytes = (uint64_t)sqlite3_column_int64(connection->get, 1);
	ret->mtime_ns = sqlite3_column_int64(connection->get, 2);
	ret->image.width = (uint32_t)sqlite3_column_int64(connection->get, 3);
	ret->image.height = (uint32_t)sqlite3_column_int64(connection->get, 4);
	ret->image.mode = dataset->images[id].mode;
	ret->orientation = (uint8_t)sqlite3_column_int(connection->get, 5);
	return 0;
}

int dataset_get(struct dataset *dataset, sample_id id, struct dataset_sample *ret)
{
	struct connection *connection;
	*ret = (struct dataset_sample){0};
	if (id >= dataset->n_ids)
		return -ENOENT;
	if (dataset->n_mixed > 0)
		return mixed_get(dataset, id, ret);
	int err = connection_take(dataset, &connection);
	if (err)
		return err;
	ret->label = dataset->labels[id];
	sqlite3_bind_int64(connection->get, 1, id);
	if (sqlite3_step(connection->get) == SQLITE_ROW) {
		err = read_sample(dataset, connection, id, ret);
		if (err)
			dataset_sample_free(ret);
	} else {
		err = -EIO;
		log_error("catalogue %s: sample %u can't be read: %s", dataset->file, id,
			sqlite3_errmsg(connection->db));
	}
	sqlite3_reset(connection->get);
	connection_give(dataset, connection);
	return err;
}

void dataset_sample_free(struct dataset_sample *sample)
{
	free(sample->path);
	free(sample->container);
	*sample = (struct dataset_sample){0};
}
