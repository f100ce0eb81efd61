// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset_scan.h"
#include "dataset/number_text.h"

#include <sqlite3.h>

/*
 * A catalogue in memory, and its SQLite file. A scan that finds changes writes a new file, and
 * renames the complete new file over the old file. So the old file survives if the scan is killed,
 * or if the disk is full.
 *
 *   Flow: catalogue_load -> catalogue_update -> catalogue_write -> catalogue_free.
 *   Threads: the caller's. Errors: -errno, logged.
 */

/* SQLite's application_id and user_version. The version must change with the tables. */
#define CATALOGUE_APPLICATION 0x4a4f4144 /* "JOAD" */
#define CATALOGUE_VERSION 5
#define CATALOGUE_WITH_TABLE 4	     /* last version with a row per sample in `samples` */
#define CATALOGUE_WITHOUT_CHANNELS 3 /* last version without channels, bits, palette */
#define CATALOGUE_WITHOUT_CONTAINERS 2	/* last version without containers */
#define CATALOGUE_WITHOUT_ORIENTATION 1 /* last version without exif_orientation */

struct row {
	const char *path; /* relative to the root */
	struct facts facts;
	const struct part *part;     /* NULL: the sample has its own file, or is gone */
	const struct beside *beside; /* first file beside the sample; NULL: none */
	uint32_t label;		     /* LABEL_NONE: all samples of the class are gone */
	bool gone;
};

#define LABEL_NONE UINT32_MAX

/* Tells whether the row's facts hold for a file with this size and mtime. row NULL: false. */
bool row_is_current(const struct row *row, const struct facts *facts);

struct catalogue {
	struct row *rows; /* indexed by id */
	size_t n_rows;
	size_t rows_capacity;
	const char **classes;
	size_t n_classes;
	size_t classes_capacity;
	struct container *containers; /* sorted by name */
	size_t n_containers, containers_capacity;
	const char *settings;  /* scan->settings of the last scan */
	bool labelled;	       /* paths of samples begin with a label, not a directory */
	char stamp[64];	       /* metadata_stamp of the last scan; "": no metadata */
	bool unusable;	       /* the file is not a catalogue, or is damaged */
	bool outdated;	       /* old version without containers: must be written anew */
	bool without_channels; /* old version: all images count as RGB */
	bool other_readers;    /* made by a joaderfs that reads other image formats */
	bool with_table;       /* has the old, large table `samples` */
	uint32_t edition;
	struct arena names;
};

void pixels_count(struct dataset_pixels *pixels, struct tensor_shape image);

/* Loads the catalogue. *ret becomes empty if the file does not exist, is not usable (which is
 * logged), or belongs to another root than `source`. Reads samples and files beside samples only if
 * `samples` is true. */
must_check int catalogue_load(
	const char *file, const char *source, bool samples, struct catalogue *ret);
void catalogue_free(struct catalogue *catalogue);

/* Tells whether the containers have the same name, size and mtime. */
bool container_equal(const struct container *a, const struct container *b);
/* Tells whether the catalogue `file` is up to date: `scan` has the same containers (by name, size
 * and mtime), settings and metadata. Reads no paths of samples, to save time and memory. Returns
 * false if the scan has no containers. */
bool catalogue_is_current(const struct scan *scan, const char *file);

/* Updates the rows, classes and containers of the catalogue from the tree. *ret_changed: whether
 * the catalogue has changed. The catalogue takes over the memory of the tree's names. If the
 * catalogue was empty, frees tree->files to save memory, unless tree->described is set. */
must_check int catalogue_update(const struct scan *scan, struct catalogue *catalogue,
	struct tree *tree, bool *ret_changed);

struct metadata;

/* Writes the catalogue to `file`. tree->files gives the ids of the files that metadata describe.
 * Fault injection: dataset.write. */
must_check int catalogue_write(const char *file, const struct scan *scan,
	const struct catalogue *catalogue, struct metadata *metadata,
	const struct tree *tree);

/* Writes all rows to the catalogue's SQLite file, and checks whether the scan was stopped: -EINTR.
 * Every ROWS_TOGETHER rows are stored as one deflated map (dataset_map.h), since only scans read
 * rows, and a scan reads all. Fault injection: dataset.write. */
must_check int rows_write(
	sqlite3 *db, const struct scan *scan, const struct catalogue *catalogue);
/* Reads all rows. The catalogue must already have its classes and containers. -EILSEQ: damaged. */
must_check int rows_read(sqlite3 *db, struct catalogue *catalogue);

/* Returns SQLite's last error as -errno. */
int catalogue_errno(sqlite3 *db);
/* Logs that the catalogue can't be read, and returns SQLite's last error as -errno. */
int catalogue_unreadable(const char *file, sqlite3 *db);
must_check int catalogue_open_read(const char *file, sqlite3 **ret);

/* Scope cleanup, as in base/cleanup.h: the statement is finalized when its scope ends. */
#define auto_statement __attribute__((cleanup(statement_end)))
static inline void statement_end(sqlite3_stmt **statement)
{
	sqlite3_finalize(*statement);
}

typedef int catalogue_row(void *context, sqlite3_stmt *row);
/* Runs a query, and calls `row` for each of its rows, until a call fails. Returns the error of the
 * call; -EILSEQ: the file is damaged; -errno. */
must_check int catalogue_each(
	sqlite3 *db, const char *sql, catalogue_row *row, void *context);
/* A catalogue_row. Sets the bool at `context` to true, because the query has a row. */
int catalogue_note_row(void *context, sqlite3_stmt *row);
/* Finds out whether the catalogue has the table. Older versions lack some tables. */
must_check int catalogue_has_table(sqlite3 *db, const char *name, bool *ret);

/* Tells whether predicates must not use this column of the table `samples`. */
bool catalogue_hidden_column(const char *name);
/* Tells whether a column of metadata must not have this name. */
bool catalogue_reserved_column(const char *name);

enum column_type { COLUMN_INTEGER, COLUMN_REAL, COLUMN_TEXT };

struct column {
	char *name;
	/* index of the column's field in a record of its metadata file */
	size_t field;
	size_t number; /* index among the columns of all files */
	enum column_type type;
	struct number_style style;
	bool seen; /* a record has a value in this column */
};

/* Finds metadata.csv and metadata.jsonl in scan->beside, and the files of tree->metadata. tree: may
 * be NULL. *ret = NULL: there are none, or the root is a URL. */
must_check int metadata_open(
	const struct scan *scan, const struct tree *tree, struct metadata **ret);
void metadata_close(struct metadata **metadata);
/* Returns a text that changes with the number, names, sizes or mtimes of the files. */
const char *metadata_stamp(const struct metadata *metadata);

/* Finds the columns and their types. Logs and leaves out columns or files with mistakes. */
must_check int metadata_read_columns(struct metadata *metadata);
const struct column *metadata_columns(const struct metadata *metadata, size_t *ret_n);

/* Tells whether some file has the column scan->label_field. */
bool metadata_has_label(const struct metadata *metadata);

struct metadata_line {
	size_t file;		   /* number of the file, from 0 */
	const char *file_name;	   /* relative to the root; "": none, or too long */
	const char *const *values; /* value of each column; NULL: none */
	const bool *has;	   /* whether the file has each column */
	bool labelled;		   /* the file has the column scan->label_field */
	const char *label;	   /* the record's label; NULL: none */
};

/* metadata_rows calls `row` for each record, until a call fails. Several files may describe a
 * sample: the file in the nearest directory above the sample comes last, so that its values can
 * replace those of the other files. */
typedef int metadata_row(void *context, const struct metadata_line *line);
must_check int metadata_rows(struct metadata *metadata, metadata_row *row, void *context);
