// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset_scan.h"
#include "dataset/number_text.h"

#include <sqlite3.h>

/*
 * A catalogue in memory, and its SQLite file. A file is never changed in place: a scan that
 * found changes writes a whole new file and renames it over the old one. A killed scan or a
 * full disk therefore leaves the old catalogue as it was.
 *
 *   Flow: catalogue_load -> catalogue_update -> catalogue_write -> catalogue_free.
 *   Threads: the caller's.   Errors: -errno, logged.
 */

/* SQLite's header of a catalogue has these two numbers; the version goes up when the tables
 * change. */
#define CATALOGUE_APPLICATION 0x4a4f4144 /* "JOAD" */
#define CATALOGUE_VERSION 5
/* The last version that had a table `samples`, with a row for each sample. */
#define CATALOGUE_WITH_TABLE 4
/* The last version that had no channels, bits and palette. */
#define CATALOGUE_WITHOUT_CHANNELS 3
/* The last version that had no containers. */
#define CATALOGUE_WITHOUT_CONTAINERS 2
/* The version that had no exif_orientation either. */
#define CATALOGUE_WITHOUT_ORIENTATION 1

struct row {
	const char *path; /* relative to the root */
	struct facts facts;
	const struct part *part;     /* NULL: the sample is a file of its own, or gone */
	const struct beside *beside; /* the tree's, once the catalogue is updated */
	uint32_t label;		     /* LABEL_NONE: its class is gone */
	bool gone;
};

#define LABEL_NONE UINT32_MAX

struct catalogue {
	struct row *rows; /* the index is the id */
	size_t n_rows;
	size_t rows_capacity;
	const char **classes;
	size_t n_classes;
	size_t classes_capacity;
	struct container *containers; /* sorted by name */
	size_t n_containers, containers_capacity;
	const char *settings;  /* settings of the scan; "" for files */
	bool labelled;	       /* scan->labelled */
	char stamp[64];	       /* metadata_stamp; "" without metadata */
	bool unusable;	       /* the file is no catalogue, or damaged */
	bool outdated;	       /* its version lacks facts that samples need */
	bool without_channels; /* its version has no channels: all images count as RGB */
	bool other_readers;    /* the build that wrote it could read other formats */
	bool with_table; /* its version has a table `samples`, which takes more disk */
	uint32_t edition;
	struct arena names;
};

/* Adds an image to the counts. */
void pixels_count(struct dataset_pixels *pixels, struct tensor_shape image);

/* Reads the catalogue. When there is no usable one, *ret is empty; the reason is logged. */
must_check int catalogue_load(
	const char *file, const char *source, struct catalogue *ret);
/* Does as catalogue_load, without rows and files beside them. */
must_check int catalogue_load_about(
	const char *file, const char *source, struct catalogue *ret);
void catalogue_free(struct catalogue *catalogue);

/* Tells whether the catalogue has the containers and the settings that the scan has found. */
bool containers_equal(const struct scan *scan, const struct catalogue *catalogue);
/*
 * Tells whether the catalogue `file` has all that a scan of its containers would find: they, the
 * settings and the metadata are unchanged. Looks at no sample's path, so that it takes little time
 * and memory. rule: scan_rule.
 */
bool catalogue_is_current(const struct scan *scan, const char *rule, const char *file);

/* Brings the catalogue up to date with the examined tree, whose names it takes. Sets *ret_changed
 * if it changes. A first scan leaves no files in the tree, unless it is described. */
must_check int catalogue_update(const struct scan *scan, struct catalogue *catalogue,
	struct tree *tree, bool *ret_changed);

struct metadata;

/* Writes the catalogue's file. tree: the files that metadata may name, with their ids. Fault:
 * dataset.write. */
must_check int catalogue_write(const char *file, const struct scan *scan,
	const struct catalogue *catalogue, struct metadata *metadata,
	const struct tree *tree);

/* Returns SQLite's last error as -errno. */
int catalogue_errno(sqlite3 *db);
/* Returns SQLite's last error of a read as -errno; -EILSEQ: the file is damaged. */
int catalogue_read_errno(sqlite3 *db);
must_check int catalogue_open_read(const char *file, sqlite3 **ret);

/* Tells whether predicates can't see the column of the table. */
bool catalogue_hidden_column(const char *name);
/* Tells whether a column of metadata can't have this name. */
bool catalogue_reserved_column(const char *name);

enum column_type { COLUMN_INTEGER, COLUMN_REAL, COLUMN_TEXT };

struct column {
	char *name;
	size_t field;  /* index in a record of its file */
	size_t number; /* index among the columns of all files */
	enum column_type type;
	struct number_style style;
	bool seen; /* some record has a value */
};

/* Finds the files of metadata (metadata.csv, metadata.jsonl) in the directory of the dataset and
 * in the tree (may be NULL), and makes their stamp. *ret: NULL if there is none. */
must_check int metadata_open(
	const struct scan *scan, const struct tree *tree, struct metadata **ret);
void metadata_close(struct metadata **metadata);
/* Returns a text that changes when the number of files, a name, a size or an mtime changes. */
const char *metadata_stamp(const struct metadata *metadata);

/* Finds the columns and their types. A mistake in a file is logged, and its column is left out,
 * or all columns of the file. */
must_check int metadata_read_columns(struct metadata *metadata);
const struct column *metadata_columns(const struct metadata *metadata, size_t *ret_n);

/* Tells whether some file has the column that scan->label_field names. */
bool metadata_has_label(const struct metadata *metadata);

/* A line of a file of metadata. */
struct metadata_line {
	size_t file; /* number of the file, from 0 */
	const char
		*file_name; /* relative to the root; "" if it is too long for a sample */
	const char *const *values; /* value of each column; NULL: none */
	const bool *has;	   /* true for each column that the file has */
	bool labelled;		   /* the file has the column of labels */
	const char *label;	   /* NULL: none */
};

/* Calls row for each line, file by file: a file nearer to its samples comes later. Stops at the
 * first error that row returns. */
typedef int metadata_row(void *context, const struct metadata_line *line);
must_check int metadata_rows(struct metadata *metadata, metadata_row *row, void *context);
