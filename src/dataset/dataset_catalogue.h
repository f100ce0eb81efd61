// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset_scan.h"
#include "dataset/number_text.h"

#include <sqlite3.h>

/*
 * A catalogue in memory, and its SQLite file. A scan that finds changes writes a new
 * file and then renames it over the old one. So the old file survives a killed scan or a
 * full disk.
 *
 *   Flow: catalogue_load -> catalogue_update -> catalogue_write -> catalogue_free.
 *   Threads: the caller's.   Errors: -errno, logged.
 */

/* SQLite's application_id and user_version of the file. If the tables change, the
 * version must change. */
#define CATALOGUE_APPLICATION 0x4a4f4144 /* "JOAD" */
#define CATALOGUE_VERSION 5
/* The last version with a row for each sample in the table `samples`. */
#define CATALOGUE_WITH_TABLE 4
/* The last version without the columns channels, bits and palette. */
#define CATALOGUE_WITHOUT_CHANNELS 3
/* The last version that knows no containers. */
#define CATALOGUE_WITHOUT_CONTAINERS 2
/* The only version without the column exif_orientation. It knows no containers,
 * either. */
#define CATALOGUE_WITHOUT_ORIENTATION 1

struct row {
	const char *path; /* relative to the root */
	struct facts facts;
	/* NULL: the sample has its own file, or its file no longer exists */
	const struct part *part;
	/* files beside the sample, in the memory of catalogue->names */
	const struct beside *beside;
	/* LABEL_NONE: the class no longer exists, because all its samples are gone */
	uint32_t label;
	bool gone;
};

#define LABEL_NONE UINT32_MAX

/* Tells whether the row's facts are true of a file with this size and mtime. row: may be
 * NULL. */
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
	/* scan->settings of the last scan */
	const char *settings;
	/* paths of samples begin with a label instead of a directory */
	bool labelled;
	/* metadata_stamp of the last scan; "": no files of metadata */
	char stamp[64];
	bool unusable; /* the file is not a catalogue, or is damaged */
	bool outdated; /* its version lacks facts about samples that are needed now */
	/* the version does not store channels, so all images count as RGB */
	bool without_channels;
	/* the catalogue is of a joaderfs that reads other image formats */
	bool other_readers;
	/* has the old table `samples`, which is larger than deflated rows */
	bool with_table;
	uint32_t edition;
	struct arena names;
};

/* Adds 1 to each count that applies to the image. */
void pixels_count(struct dataset_pixels *pixels, struct tensor_shape image);

/* Reads the catalogue. *ret is empty if the file does not exist, or if it is not
 * usable, which is logged. */
must_check int catalogue_load(
	const char *file, const char *source, struct catalogue *ret);
/* Works like catalogue_load, but reads neither samples nor files beside samples. */
must_check int catalogue_load_about(
	const char *file, const char *source, struct catalogue *ret);
void catalogue_free(struct catalogue *catalogue);

/* Tells whether the containers have the same name, size and mtime. */
bool container_equal(const struct container *a, const struct container *b);
/* Tells whether the scan has the same containers and settings as the catalogue. */
bool containers_equal(const struct scan *scan, const struct catalogue *catalogue);
/* Tells whether a scan would find the same containers (by size and mtime), settings and
 * metadata as the catalogue `file` has. Saves time and memory by not reading the paths
 * of samples. rule: text of the settings that decide which samples a scan finds. Returns
 * false if the scan has no containers. */
bool catalogue_is_current(const struct scan *scan, const char *rule, const char *file);

/* Updates the catalogue, which takes over the memory of the tree's names. To save
 * memory, frees tree->files if the catalogue was empty, unless metadata describe these
 * files (tree->described). *ret_changed: whether the catalogue has changed. */
must_check int catalogue_update(const struct scan *scan, struct catalogue *catalogue,
	struct tree *tree, bool *ret_changed);

struct metadata;

/* Writes the catalogue. tree->files gives the ids of files that metadata describe. Fault
 * injection: dataset.write. */
must_check int catalogue_write(const char *file, const struct scan *scan,
	const struct catalogue *catalogue, struct metadata *metadata,
	const struct tree *tree);

/* Returns SQLite's last error as -errno. */
int catalogue_errno(sqlite3 *db);
/* Logs that the catalogue can't be read, and returns SQLite's last error as -errno. */
int catalogue_unreadable(const char *file, sqlite3 *db);
/* Returns SQLite's last read error as -errno; -EILSEQ: the file is damaged. */
int catalogue_read_errno(sqlite3 *db);
must_check int catalogue_open_read(const char *file, sqlite3 **ret);

/* Tells whether predicates must not use this column of the table `samples`. */
bool catalogue_hidden_column(const char *name);
/* Tells whether a column of metadata must not have this name. */
bool catalogue_reserved_column(const char *name);

enum column_type { COLUMN_INTEGER, COLUMN_REAL, COLUMN_TEXT };

struct column {
	char *name;
	size_t field;  /* index of its field in a record of the file */
	size_t number; /* index among the columns of all files */
	enum column_type type;
	struct number_style style;
	bool seen; /* a record has a value in this column */
};

/* Finds metadata.csv and metadata.jsonl in the dataset's directory and in `tree`, which
 * may be NULL, and makes the stamp (metadata_stamp). *ret is NULL if no such files
 * exist. */
must_check int metadata_open(
	const struct scan *scan, const struct tree *tree, struct metadata **ret);
void metadata_close(struct metadata **metadata);
/* Returns a text that changes with the number, names, sizes or mtimes of the files. */
const char *metadata_stamp(const struct metadata *metadata);

/* Finds the columns and their types. Columns or files with mistakes are logged, and
 * left out. */
must_check int metadata_read_columns(struct metadata *metadata);
const struct column *metadata_columns(const struct metadata *metadata, size_t *ret_n);

/* Tells whether some file has the column scan->label_field. */
bool metadata_has_label(const struct metadata *metadata);

/* A record of a file of metadata. */
struct metadata_line {
	size_t file; /* number of the file, from 0 */
	/* relative to the root; "": the path is too long for a sample */
	const char *file_name;
	const char *const *values; /* value of each column; NULL: none */
	const bool *has;	   /* whether the file has each column */
	bool labelled;		   /* the file has the column scan->label_field */
	const char *label;	   /* the record's label; NULL: none */
};

/* metadata_rows calls `row` for each record, until a call fails. If several files
 * describe a sample, the file in the nearest directory above the sample comes last. */
typedef int metadata_row(void *context, const struct metadata_line *line);
must_check int metadata_rows(struct metadata *metadata, metadata_row *row, void *context);
