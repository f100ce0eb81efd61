// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/dataset_catalogue.h"
#include "base/log.h"
#include "image/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int take_number(void *ret, sqlite3_stmt *row)
{
	*(sqlite3_int64 *)ret = sqlite3_column_int64(row, 0);
	return 0;
}

static int check_version(sqlite3 *db, sqlite3_int64 *ret_version)
{
	sqlite3_int64 application = 0, version = 0;
	int err = catalogue_each(db, "PRAGMA application_id", take_number, &application);
	if (!err)
		err = catalogue_each(db, "PRAGMA user_version", take_number, &version);
	if (!err && (application != CATALOGUE_APPLICATION || version < 1 ||
			    version > CATALOGUE_VERSION))
		err = -EILSEQ;
	*ret_version = version;
	return err;
}

static char *column_text(struct catalogue *catalogue, sqlite3_stmt *statement, int column)
{
	const char *text = (const char *)sqlite3_column_text(statement, column);
	return arena_text(&catalogue->names, text ? text : "");
}

struct about {
	struct catalogue *catalogue;
	const char *source; /* path to which the catalogue must belong */
	bool ours;
};

/* Reads the path to which the catalogue belongs, and the settings of the last scan. other_readers:
 * the build that wrote the catalogue reads other image formats than this build. */
static int load_about(void *context, sqlite3_stmt *row)
{
	struct about *about = context;
	struct catalogue *catalogue = about->catalogue;
	const char *source = (const char *)sqlite3_column_text(row, 0);
	const char *stamp = (const char *)sqlite3_column_text(row, 1);
	const char *readers = (const char *)sqlite3_column_text(row, 4);
	about->ours = source && strcmp(source, about->source) == 0;
	snprintf(catalogue->stamp, sizeof(catalogue->stamp), "%s", stamp ? stamp : "");
	catalogue->settings = column_text(catalogue, row, 2);
	catalogue->labelled = sqlite3_column_int(row, 3);
	catalogue->other_readers = !readers || strcmp(readers, image_readers()) != 0;
	return catalogue->settings ? 0 : -ENOMEM;
}

/* Reads the edition's number. The number is 0, and not stored, until dataset_scan_next finds
 * changes. */
static int load_edition(sqlite3 *db, struct catalogue *catalogue)
{
	sqlite3_int64 number = 0;
	bool tables;
	int err = catalogue_has_table(db, "edition", &tables);
	if (!err && tables)
		err = catalogue_each(
			db, "SELECT number FROM edition", take_number, &number);
	catalogue->edition = (uint32_t)number;
	return err;
}

static int load_class(void *context, sqlite3_stmt *statement)
{
	struct catalogue *catalogue = context;
	if (!array_make_room(catalogue->classes, catalogue->n_classes,
		    &catalogue->classes_capacity))
		return -ENOMEM;
	const char *name = column_text(catalogue, statement, 1);
	if (!name)
		return -ENOMEM;
	if (sqlite3_column_int64(statement, 0) != (sqlite3_int64)catalogue->n_classes)
		return -EILSEQ;
	catalogue->classes[catalogue->n_classes++] = name;
	return 0;
}

static int load_container(void *context, sqlite3_stmt *statement)
{
	struct catalogue *catalogue = context;
	if (!array_make_room(catalogue->containers, catalogue->n_containers,
		    &catalogue->containers_capacity))
		return -ENOMEM;
	const char *name = column_text(catalogue, statement, 1);
	if (!name)
		return -ENOMEM;
	if (sqlite3_column_int64(statement, 0) != (sqlite3_int64)catalogue->n_containers)
		return -EILSEQ;
	catalogue->containers[catalogue->n_containers++] =
		(struct container){.name = name,
			.bytes = (uint64_t)sqlite3_column_int64(statement, 2),
			.mtime_ns = sqlite3_column_int64(statement, 3)};
	return 0;
}

static int load_part(
	sqlite3_stmt *statement, struct catalogue *catalogue, const struct part **ret)
{
	*ret = NULL;
	if (sqlite3_column_type(statement, 10) == SQLITE_NULL)
		return 0;
	sqlite3_int64 container = sqlite3_column_int64(statement, 10);
	int method = sqlite3_column_int(statement, 14);
	if (container < 0 || container >= (sqlite3_int64)catalogue->n_containers ||
		method < PART_PLAIN || method > PART_DEFLATED)
		return -EILSEQ;
	struct part *part = arena_alloc(&catalogue->names, sizeof(*part));
	if (!part)
		return -ENOMEM;
	*part = (struct part){.container = (uint32_t)container,
		.at = {.container_bytes = catalogue->containers[container].bytes,
			.offset = (uint64_t)sqlite3_column_int64(statement, 11),
			.stored_bytes = (uint64_t)sqlite3_column_int64(statement, 12),
			.checksum = (uint32_t)sqlite3_column_int64(statement, 13),
			.method = (enum source_method)method}};
	*ret = part;
	return 0;
}

static int load_row(void *context, sqlite3_stmt *statement)
{
	struct catalogue *catalogue = context;
	if (!array_make_room(
		    catalogue->rows, catalogue->n_rows, &catalogue->rows_capacity))
		return -ENOMEM;
	struct row row = {
		.path = column_text(catalogue, statement, 1),
		.label = sqlite3_column_type(statement, 2) == SQLITE_NULL
				 ? LABEL_NONE
				 : (uint32_t)sqlite3_column_int64(statement, 2),
		.facts.bytes = (uint64_t)sqlite3_column_int64(statement, 3),
		.facts.mtime_ns = sqlite3_column_int64(statement, 4),
		.facts.image.width = (uint32_t)sqlite3_column_int64(statement, 5),
		.facts.image.height = (uint32_t)sqlite3_column_int64(statement, 6),
		.facts.image.mode =
			pixel_mode_of((unsigned)sqlite3_column_int(statement, 15),
				(unsigned)sqlite3_column_int(statement, 16),
				sqlite3_column_int(statement, 17)),
		.facts.probed = sqlite3_column_int(statement, 7),
		.gone = sqlite3_column_int(statement, 8),
		.facts.orientation = (uint8_t)sqlite3_column_int(statement, 9),
	};
	if (!row.path)
		return -ENOMEM;
	int err = load_part(statement, catalogue, &row.part);
	if (err)
		return err;
	if (sqlite3_column_int64(statement, 0) != (sqlite3_int64)catalogue->n_rows ||
		row.path[0] == '\0' ||
		(row.label != LABEL_NONE && row.label >= catalogue->n_classes) ||
		catalogue->n_rows == SAMPLE_NONE)
		return -EILSEQ;
	catalogue->rows[catalogue->n_rows++] = row;
	return 0;
}

static int load_beside_row(void *context, sqlite3_stmt *statement)
{
	struct catalogue *catalogue = context;
	sqlite3_int64 id = sqlite3_column_int64(statement, 0);
	int method = sqlite3_column_int(statement, 8);
	if (id < 0 || id >= (sqlite3_int64)catalogue->n_rows || method < PART_PLAIN ||
		method > PART_DEFLATED)
		return -EILSEQ;
	struct beside *beside = arena_alloc(&catalogue->names, sizeof(*beside));
	if (!beside)
		return -ENOMEM;
	*beside = (struct beside){.ending = column_text(catalogue, statement, 1),
		.name = column_text(catalogue, statement, 2),
		.bytes = (uint64_t)sqlite3_column_int64(statement, 3),
		.mtime_ns = sqlite3_column_int64(statement, 4),
		.at = {.offset = (uint64_t)sqlite3_column_int64(statement, 5),
			.stored_bytes = (uint64_t)sqlite3_column_int64(statement, 6),
			.checksum = (uint32_t)sqlite3_column_int64(statement, 7),
			.method = (enum source_method)method}};
	if (!beside->ending || !beside->name)
		return -ENOMEM;
	beside_insert(&catalogue->rows[id].beside, beside);
	return 0;
}

/* Catalogues of older versions lack the table `beside`. */
static int load_beside(sqlite3 *db, struct catalogue *catalogue)
{
	bool is_there;
	int err = catalogue_has_table(db, "beside", &is_there);
	if (err || !is_there)
		return err;
	return catalogue_each(db,
		"SELECT id, ending, name, bytes, mtime_ns, part_offset, part_bytes,"
		" part_checksum, part_method FROM beside ORDER BY id, ending DESC",
		load_beside_row, catalogue);
}

#define SELECT_ROWS(orientation, probed, part, mode)                                     \
	"SELECT id, path, label, bytes, mtime_ns, width, height, " probed                \
	", gone, " orientation ", " part ", " mode " FROM samples ORDER BY id"
#define PART "part_container, part_offset, part_bytes, part_checksum, part_method"
#define NO_PART "NULL, 0, 0, 0, 0"
#define MODE "channels, bits, palette"
#define NO_MODE "3, 8, 0"
/* SQL that replaces the column `probed` if a build with other image formats wrote the catalogue.
 * Its value is 0 if the scan must read the header again: the header was unreadable, or the file is
 * a PNG, whose orientation the other build may have missed. */
#define PROBED_AGAIN "probed AND width > 0 AND path NOT LIKE '%.png'"

static void probe_again(struct catalogue *catalogue)
{
	for (size_t id = 0; id < catalogue->n_rows; id++) {
		struct row *row = &catalogue->rows[id];
		const char *dot = strrchr(row->path, '.');
		if (row->facts.image.width == 0 || (dot && strcasecmp(dot, ".png") == 0))
			row->facts.probed = false;
	}
}

static const char *rows_query(sqlite3_int64 version, bool other_readers)
{
	if (version == CATALOGUE_WITHOUT_ORIENTATION)
		return SELECT_ROWS("1", "0", NO_PART, NO_MODE);
	if (version == CATALOGUE_WITHOUT_CONTAINERS)
		return SELECT_ROWS("exif_orientation", "0", NO_PART, NO_MODE);
	if (version == CATALOGUE_WITHOUT_CHANNELS)
		return SELECT_ROWS("exif_orientation", "0", PART, NO_MODE);
	return other_readers ? SELECT_ROWS("exif_orientation", PROBED_AGAIN, PART, MODE)
			     : SELECT_ROWS("exif_orientation", "probed", PART, MODE);
}

static int load_samples(sqlite3 *db, sqlite3_int64 version, struct catalogue *catalogue)
{
	int err = catalogue->with_table
			  ? catalogue_each(db,
				    rows_query(version, catalogue->other_readers),
				    load_row, catalogue)
			  : rows_read(db, catalogue);
	if (!err && !catalogue->with_table && catalogue->other_readers)
		probe_again(catalogue);
	return err ? err : load_beside(db, catalogue);
}

/* Reads the catalogue, and its samples if `samples` is true. about->ours: whether the catalogue
 * belongs to the path about->source; if not, only the table `about` is read. */
static int load_content(sqlite3 *db, bool samples, struct about *about)
{
	struct catalogue *catalogue = about->catalogue;
	sqlite3_int64 version;
	int err = check_version(db, &version);
	bool contains = version > CATALOGUE_WITHOUT_CONTAINERS;
	if (!err)
		err = catalogue_each(db,
			contains ? "SELECT source, metadata, settings, labelled, readers "
				   "FROM about"
				 : "SELECT source, metadata, '', 0, NULL FROM about",
			load_about, about);
	if (!err && !catalogue->settings)
		err = -EILSEQ;
	if (err || !about->ours)
		return err;
	catalogue->outdated = version < CATALOGUE_WITHOUT_CHANNELS;
	catalogue->without_channels = version <= CATALOGUE_WITHOUT_CHANNELS;
	catalogue->with_table = version <= CATALOGUE_WITH_TABLE;
	if (catalogue->without_channels)
		catalogue->settings = ""; /* makes the scan list all containers again */
	err = load_edition(db, catalogue);
	if (!err)
		err = catalogue_each(db, "SELECT label, name FROM classes ORDER BY label",
			load_class, catalogue);
	if (!err && contains)
		err = catalogue_each(db,
			"SELECT number, name, bytes, mtime_ns FROM containers ORDER BY "
			"number",
			load_container, catalogue);
	return err || !samples ? err : load_samples(db, version, catalogue);
}

int catalogue_load(
	const char *file, const char *source, bool samples, struct catalogue *ret)
{
	sqlite3 *db;
	struct about about = {.catalogue = ret, .source = source};
	*ret = (struct catalogue){0};
	if (access(file, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	int err = catalogue_open_read(file, &db);
	if (err)
		return err;
	err = load_content(db, samples, &about);
	if (err && err != -EILSEQ)
		log_error("catalogue %s: can't be read: %s", file, strerror(-err));
	sqlite3_close(db);
	if (!err && about.ours)
		return 0;
	catalogue_free(ret);
	if (err == -EILSEQ) {
		log_warn("catalogue %s: damaged, or not a catalogue of this version; it "
			 "is rebuilt (the old file is kept as %s.unusable)",
			file, file);
		ret->unusable = true;
	} else if (!err) {
		log_info("catalogue %s: it belonged to another path, and is rebuilt",
			file);
	}
	return err == -EILSEQ ? 0 : err;
}

void catalogue_free(struct catalogue *catalogue)
{
	free(catalogue->rows);
	free(catalogue->classes);
	free(catalogue->containers);
	arena_free(&catalogue->names);
	*catalogue = (struct catalogue){0};
}
