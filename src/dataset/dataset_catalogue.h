// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset_scan.h"
#include "dataset/number_text.h"

#include <sqlite3.h>

/*
 * A catalogue in memory, and its SQLite file. A file is never changed in place: a scan that finds
 * changes writes a complete new file and renames it over the old one. So the old catalogue survives
 * a killed scan or a full disk.
 *
 *   Flow: catalogue_load -> catalogue_update -> catalogue_write -> catalogue_free.
 *   Threads: the caller's.   Errors: -errno, logged.
 */

/* application_id and user_version in the SQLite header of a catalogue. The version must be
 * increased when the tables change. */
#define CATALOGUE_APPLICATION 0x4a4f4144 /* "JOAD" */
#define CATALOGUE_VERSION 5
/* The last version in which the table `samples` has a row for each sample. */
#define CATALOGUE_WITH_TABLE 4
/* The last version without the columns channels, bits and palette. */
#define CATALOGUE_WITHOUT_CHANNELS 3
/* The last version that knows no containers. */
#define CATALOGUE_WITHOUT_CONTAINERS 2
/* A version without containers and without the column exif_orientation. */
#define CATALOGUE_WITHOUT_ORIENTATION 1

struct row {
	const char *path; /* relative to the root */
	struct facts facts;
	/* NULL: the sample has its own file, or its file no longer exists */
	const struct part *part;
	/* files beside the sample, in the memory of catalogue->names */
	const struct beside *beside;
	/* LABEL_NONE: the sample's class no longer exists, because all its samples are gone */
	uint32_t label;
	bool gone;
};

#define LABEL_NONE UINT32_MAX

struct catalogue {
	struct row *rows; /* indexed by id */
	size_t n_rows;
	size_t rows_capacity;
	const char **classes;
	size_t n_classes;
	size_t classes_capacity;
	struct container *containers; /* sorted by name */
	size_t n_containers, containers_capacity;
	/* text of the settings with which containers were listed; "": samples are files */
	const char *settings;
	/* paths of samples begin with a label instead of a directory */
	bool labelled;
	/* text that metadata_stamp has returned: it changes when files of metadata change; "":
	 * none */
	char stamp[64];
	bool unusable; /* the file is not a catalogue, or is damaged */
	bool outdated; /* the catalogue's version lacks needed facts about samples */
	/* the catalogue's version has no channels, so all images count as RGB */
	bool without_channels;
	/* The build that wrote the catalogue supported other image formats than this build. */
	bool other_readers;
	/* The catalogue's version stores a table `samples`, which takes more disk space than the
	 * deflated rows of newer versions. */
	bool with_table;
	uint32_t edition;
	struct arena names;
};

/* Increases each count of `pixels` that applies to the image. */
void pixels_count(struct dataset_pixels *pixels, struct tensor_shape image);

/* Reads the catalogue. If there is no file, *ret is empty; if the file is not usable, also logs the
 * reason. */
must_check int catalogue_load(
	const char *file, const char *source, struct catalogue *ret);
/* Works like catalogue_load, but reads neither samples nor files beside samples. */
must_check int catalogue_load_about(
	const char *file, const char *source, struct catalogue *ret);
void catalogue_free(struct catalogue *catalogue);

/* Tells whether the scan has the same containers and settings as the catalogue. */
bool containers_equal(const struct scan *scan, const struct catalogue *catalogue);
/*
 * Tells whether the catalogue `file` is up to date: a scan would find the same containers (by size
 * and mtime), settings and metadata. Reads no paths of samples, so it takes little time and memory.
 * rule: text of the settings that decide which samples a scan finds. Always false for a dataset
 * without containers.
 */
bool catalogue_is_current(const struct scan *scan, const char *rule, const char *file);

/* Updates the catalogue from the tree that the scan has found and examined. The catalogue then owns
 * the tree's names. *ret_changed: whether the catalogue has changed. If the catalogue was empty,
 * tree->files is freed, except if metadata describe these files (tree->described). */
must_check int catalogue_update(const struct scan *scan, struct catalogue *catalogue,
	struct tree *tree, bool *ret_changed);

struct metadata;

/* Writes the catalogue to its file. tree->files gives the ids of the files that metadata describe.
 * Fault: dataset.write. */
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
/* Tells whether a column of metadata may not have this name. */
bool catalogue_reserved_column(const char *name);

enum column_type { COLUMN_INTEGER, COLUMN_REAL, COLUMN_TEXT };

struct column {
	char *name;
	size_t field;  /* index of its field in a record of the file of metadata */
	size_t number; /* index among the columns of all files of metadata */
	enum column_type type;
	struct number_style style;
	bool seen; /* at least one record has a value in this column */
};

/* Finds the files of metadata (metadata.csv, metadata.jsonl) in the dataset's directory and in the
 * tree, which may be NULL. Makes the stamp (metadata_stamp). *ret: NULL if there are none. */
must_check int metadata_open(
	const struct scan *scan, const struct tree *tree, struct metadata **ret);
void metadata_close(struct metadata **metadata);
/* Returns a text that changes when files of metadata are added or removed, or when the name, size
 * or mtime of one of them changes. */
const char *metadata_stamp(const struct metadata *metadata);

/* Finds the columns and their types. Logs mistakes in a file. A wrong column, or all columns of a
 * file that can't be read, are left out. */
must_check int metadata_read_columns(struct metadata *metadata);
const struct column *metadata_columns(const struct metadata *metadata, size_t *ret_n);

/* Tells whether some file has the column named by scan->label_field. */
bool metadata_has_label(const struct metadata *metadata);

/* One record of a file of metadata. */
struct metadata_line {
	size_t file;	       /* number of the file of metadata, from 0 */
	const char *file_name; /* relative to the root; "": too long for a sample */
	/* value of each column; NULL: the record has no value */
	const char *const *values;
	/* for each column: true if the file of metadata has the column */
	const bool *has;
	bool labelled;	   /* the file has the column with the labels */
	const char *label; /* NULL: the record has no label */
};

/* metadata_rows calls `row` for each record of all files, and stops at the first error of `row`. If
 * several files describe a sample, the file in the nearest directory above the sample comes
 * last. */
typedef int metadata_row(void *context, const struct metadata_line *line);
must_check int metadata_rows(struct metadata *metadata, metadata_row *row, void *context);
