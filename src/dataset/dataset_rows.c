// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/fault.h"
#include "dataset/dataset_map.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#define ROWS_TOGETHER 16384
#define MOST_BYTES (1 << 28) /* a larger map of ROWS_TOGETHER rows counts as damaged */

static int insert(
	sqlite3 *db, sqlite3_stmt *statement, size_t first, const struct map_bytes *map)
{
	uLongf n = compressBound(map->n);
	auto_free uint8_t *deflated = malloc(n);
	if (!deflated)
		return -ENOMEM;
	if (compress2(deflated, &n, map->at, map->n, Z_DEFAULT_COMPRESSION) != Z_OK)
		return -ENOMEM;
	sqlite3_bind_int64(statement, 1, (sqlite3_int64)first);
	sqlite3_bind_int64(statement, 2, (sqlite3_int64)map->n);
	sqlite3_bind_blob64(statement, 3, deflated, n, SQLITE_STATIC);
	int err = sqlite3_step(statement) == SQLITE_DONE ? 0 : catalogue_errno(db);
	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	return err;
}

static int write_some(sqlite3 *db, sqlite3_stmt *statement,
	const struct catalogue *catalogue, size_t first)
{
	size_t left = catalogue->n_rows - first;
	const struct catalogue some = {.rows = catalogue->rows + first,
		.n_rows = left < ROWS_TOGETHER ? left : ROWS_TOGETHER};
	struct map_bytes map;
	int err = 0;
	for (size_t i = 0; !err && i < some.n_rows; i++)
		err = fault_hit("dataset.write");
	if (!err)
		err = map_rows_make(&some, catalogue->n_containers > 0, &map);
	if (err)
		return err;
	err = insert(db, statement, first, &map);
	free(map.at);
	return err;
}

int rows_write(sqlite3 *db, const struct scan *scan, const struct catalogue *catalogue)
{
	auto_statement sqlite3_stmt *statement = NULL;
	int err = 0;
	if (sqlite3_exec(db,
		    "CREATE TABLE rows (first INTEGER PRIMARY KEY,"
		    " bytes INTEGER NOT NULL, content BLOB NOT NULL)",
		    NULL, NULL, NULL) != SQLITE_OK ||
		sqlite3_prepare_v2(db, "INSERT INTO rows VALUES (?, ?, ?)", -1,
			&statement, NULL) != SQLITE_OK)
		err = catalogue_errno(db);
	for (size_t id = 0; !err && id < catalogue->n_rows; id += ROWS_TOGETHER) {
		err = write_some(db, statement, catalogue, id);
		if (!err && scan_stopped(scan))
			err = -EINTR;
	}
	return err;
}

static int read_part(struct catalogue *catalogue, const struct catalogue_map *map,
	sample_id id, struct row *row)
{
	struct part part;
	if (!map_part(map, id, &part))
		return 0;
	if (part.container >= catalogue->n_containers || part.at.method > PART_DEFLATED)
		return -EILSEQ;
	part.at.container_bytes = catalogue->containers[part.container].bytes;
	struct part *copy = arena_alloc(&catalogue->names, sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	*copy = part;
	row->part = copy;
	return 0;
}

static int read_row(struct catalogue *catalogue, const struct catalogue_map *map,
	sample_id id, struct path_text *text)
{
	if (!array_make_room(
		    catalogue->rows, catalogue->n_rows, &catalogue->rows_capacity))
		return -ENOMEM;
	const char *path = map_path(map, id, text);
	uint64_t mode = map_value(map, MAP_MODES, id);
	uint64_t states = map_value(map, MAP_STATES, id);
	struct row row = {.label = (uint32_t)map_number(map, MAP_LABELS, id),
		.gone = states & ROW_GONE,
		.facts = {.bytes = map_value(map, MAP_FILE_BYTES, id),
			.mtime_ns = (int64_t)map_value(map, MAP_MTIMES, id),
			.image = {.height = (uint32_t)map_value(map, MAP_HEIGHTS, id),
				.width = (uint32_t)map_value(map, MAP_WIDTHS, id),
				.mode = (enum pixel_mode)mode},
			.orientation = (uint8_t)map_value(map, MAP_ORIENTATIONS, id),
			.probed = states & ROW_PROBED}};
	if (!path || mode >= N_PIXEL_MODES || catalogue->n_rows == SAMPLE_NONE ||
		(row.label != LABEL_NONE && row.label >= catalogue->n_classes))
		return -EILSEQ;
	int err = read_part(catalogue, map, id, &row);
	row.path = err ? NULL : arena_text(&catalogue->names, path);
	if (!row.path)
		return err ? err : -ENOMEM;
	catalogue->rows[catalogue->n_rows++] = row;
	return 0;
}

static int read_map(struct catalogue *catalogue, uint8_t *bytes, size_t n)
{
	const struct catalogue_map map = {
		.head = (const void *)bytes, .bytes = bytes, .size = n};
	struct path_text text = {0};
	int err = map_problem(&map, true) ? -EILSEQ : 0;
	for (sample_id id = 0; !err && id < map.head->n_ids; id++)
		err = read_row(catalogue, &map, id, &text);
	return err;
}

static int read_some(void *context, sqlite3_stmt *statement)
{
	struct catalogue *catalogue = context;
	sqlite3_int64 bytes = sqlite3_column_int64(statement, 1);
	if (sqlite3_column_int64(statement, 0) != (sqlite3_int64)catalogue->n_rows ||
		bytes < (sqlite3_int64)sizeof(struct map_head) || bytes > MOST_BYTES)
		return -EILSEQ;
	uLongf n = (uLongf)bytes;
	auto_free uint8_t *map = malloc(n);
	const void *deflated = sqlite3_column_blob(statement, 2);
	if (!map)
		return -ENOMEM;
	int code = deflated ? uncompress(map, &n, deflated,
				      (uLong)sqlite3_column_bytes(statement, 2))
			    : Z_DATA_ERROR;
	if (code == Z_MEM_ERROR)
		return -ENOMEM;
	return code == Z_OK ? read_map(catalogue, map, n) : -EILSEQ;
}

int rows_read(sqlite3 *db, struct catalogue *catalogue)
{
	return catalogue_each(db, "SELECT first, bytes, content FROM rows ORDER BY first",
		read_some, catalogue);
}
