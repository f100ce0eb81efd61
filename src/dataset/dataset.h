// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/types.h"
#include "config/config.h"
#include "dataset/source_part.h"
#include "image/tensor.h"

#include <limits.h>
#include <roaring/roaring.h>
#include <stdatomic.h>

/*
 * The catalogue of a dataset: a row for each sample, in <state>/datasets/<name>.sqlite.
 *
 *   Flow: dataset_open scans the tree; from the second time on it only looks for changes, or
 *         leaves this to control_look_for_changes (dataset_is_unseen).
 *         Then sched selects ids by a predicate and asks for paths; src/files asks for labels
 *         and classes.
 *   Owns: the SQLite file, while it is open. The ImageFolder tree is only read.
 *   Threads: any, after dataset_open. Connections come from a small pool, and no lock is
 *         held while SQLite works.
 *   Errors: 0 or -errno, with the detail logged. A file without a readable header is
 *         counted and logged; it stays in the catalogue (width = height = 0) and fails
 *         when it is read.
 *           When a scan can't see a place where the catalogue has samples (a directory
 *           can't be read, or is empty because its mount is missing), it changes nothing:
 *           it logs this and uses the catalogue of the scan before.
 *   Life: ids are dense from 0 and always mean the same file. A file that is gone keeps
 *         its id (`gone`), a new one gets the next id. The first scan sorts by class,
 *         then directory, then name, each in byte order (as torchvision's ImageFolder).
 *
 * The path of a dataset leads to a source (source.h): a directory, or containers. Samples in
 * containers have paths as if they lay in a directory.
 *
 * An ImageFolder tree is <class>/<anything>/<file>. The classes are the directories under
 * the root that have samples, in byte order; a label is the index of its class (torchvision's
 * rule). A metadata.csv or metadata.jsonl in any directory, with a column file_name (a path
 * relative to that directory), adds its other columns to the rows. Its columns, fields and lines
 * are limited, so that it takes little memory however large it is.
 */

struct dataset;

struct dataset_sample {
	char *path;	/* absolute, owned by the caller: dataset_sample_free */
	char *relative; /* the part of path behind the root, or behind the container */
	char *container; /* file that has the sample, owned by the caller; NULL: path is a file */
	struct source_part part; /* place of the sample in the container */
	size_t plain; /* offset in a URL: a name follows that is not encoded (far_object) */
	uint32_t label;
	uint64_t bytes;
	int64_t mtime_ns;	   /* mtime of the file or of the container */
	struct tensor_shape image; /* from the header; 0x0: not readable */
	uint8_t orientation;	   /* EXIF's, 1 to 8; 1: upright */
};

/* Scans and opens. When *stop (may be NULL) becomes true, the scan ends with -EINTR.
 * Progress goes to standard error when that is a terminal. */
must_check int dataset_open(const struct dataset_config *config, const char *state_dir,
	const atomic_bool *stop, struct dataset **ret);

/*
 * Opens the datasets of the configuration, and those that joaderctl has added, which it appends
 * to the configuration: (*ret)[i] is config->datasets[i]. An added dataset that can't be opened
 * is left out, which is logged. *ret is the caller's, also upon failure. stay: names of datasets
 * whose changes have to be known before jobs begin, each between two \n.
 */
must_check int datasets_open(
	struct daemon_config *config, const char *stay, struct dataset ***ret);
/* Scans and opens a dataset, even in an engine that took over from another one, in which
 * dataset_open does not scan. If the scan can't see all places where the catalogue has samples,
 * this is an error: nothing is changed, and the log says why. */
must_check int dataset_scan_anew(const struct dataset_config *config,
	const char *state_dir, const atomic_bool *stop, struct dataset **ret);
/*
 * Scans a dataset again while it is in use, with the errors of dataset_scan_anew. *ret is a
 * second edition beside the one in use; NULL: nothing has changed. The state directory has it
 * only as <name>.sqlite.next until the caller ends with one of
 *
 *     dataset_install; dataset_discard of *ret; dataset_close of *ret by its only holder
 */
must_check int dataset_scan_next(const struct dataset_config *config,
	const char *state_dir, const atomic_bool *stop, struct dataset **ret);
/* Makes `next` the edition that dataset_open finds, and keeps the catalogue of `now` under
 * another name. Both stay usable. -errno, logged: dataset_open still finds `now`, which may
 * already be kept under another name, too. */
must_check int dataset_install(
	const char *state_dir, struct dataset *now, struct dataset *next);

/* Tells whether the dataset was opened without a look for changes. */
bool dataset_is_unseen(const struct dataset *dataset);
/* Makes the next start look for changes before it serves. */
void dataset_look_before(const char *state_dir, const char *name);

/* Lists the editions that dataset_install has kept, in ascending order; the caller frees *ret. */
must_check int dataset_kept(
	const char *state_dir, const char *name, uint32_t **ret, size_t *ret_n);
/* Opens a kept edition as it was, and looks at no file of the dataset. */
must_check int dataset_open_kept(const struct dataset_config *config,
	const char *state_dir, uint32_t number, struct dataset **ret);
/* Removes the catalogue of an edition that is kept or was not installed, even while others hold
 * the dataset, which can't be read any more. */
void dataset_discard(struct dataset *dataset);
/* Removes the kept editions that are none of the n datasets. */
void dataset_prune(const char *state_dir, const char *name,
	struct dataset *const *datasets, size_t n);
/* Returns the edition's number, 0 until there is a second edition. An id means the same file in
 * all editions; all other facts of the file may differ. */
uint32_t dataset_edition(const struct dataset *dataset);

/* Adds a reference, which dataset_close gives back. */
struct dataset *dataset_hold(struct dataset *dataset);
void dataset_close(struct dataset **dataset);
/* Removes the catalogue and all editions of a dataset that is closed, or soon will be. */
void dataset_forget(const char *state_dir, const char *name);

/* Counts of images whose pixels channels = rgb and gray convert. */
struct dataset_pixels {
	uint32_t of_16_bits, of_float32, with_palette, with_alpha;
};
struct dataset_pixels dataset_pixels(const struct dataset *dataset);
/* Counts the images in the catalogue of the last scan; the dataset need not be open. */
must_check int dataset_pixels_known(const struct dataset_config *config,
	const char *state_dir, struct dataset_pixels *ret);

/* Returns false when an older version has scanned the dataset: all images count as RGB then. */
bool dataset_knows_pixels(const struct dataset *dataset);

#define DATASET_PIXELS_TEXT 320
/* Prints how many images there are of each kind, and how they are prepared. Returns false when
 * there are none. */
bool dataset_pixels_print(
	const struct dataset_pixels *pixels, char ret[static DATASET_PIXELS_TEXT]);

const char *dataset_name(const struct dataset *dataset);
const char *dataset_source(const struct dataset *dataset); /* as configured, absolute */
const char *dataset_kind(const struct dataset *dataset);   /* directory, tar, ... */
/* Returns the directory that files of the dataset have to lie in, whatever links lead to them;
 * NULL: they may lie anywhere. */
const char *dataset_boundary(const struct dataset *dataset);
/* Returns the boundary of the sample's dataset, also in a mixture. */
const char *dataset_boundary_of(const struct dataset *dataset, sample_id id);
/* Returns a directory or a file on the device that the samples are read from, or a URL. */
const char *dataset_location(const struct dataset *dataset);
uint32_t dataset_ids(const struct dataset *dataset);	 /* ids are below this */
uint32_t dataset_samples(const struct dataset *dataset); /* samples that are not gone */
uint64_t dataset_bytes(const struct dataset *dataset);	 /* bytes of all source files */
uint32_t dataset_classes(const struct dataset *dataset);
const char *dataset_class_name(const struct dataset *dataset, uint32_t label);

/* The next seven functions read memory only. */
uint32_t dataset_label(const struct dataset *dataset, sample_id id);
struct tensor_shape dataset_image_shape(const struct dataset *dataset, sample_id id);
uint8_t dataset_orientation(const struct dataset *dataset, sample_id id);
uint64_t dataset_file_bytes(const struct dataset *dataset, sample_id id);
/* Returns the preparation of the section whose glob matches the sample's path, or `preparation`. */
const struct preparation *dataset_preparation(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id);
/* Samples whose images have one shape and orientation. */
struct dataset_shape {
	uint32_t samples;
	sample_id largest; /* sample whose file has the most bytes */
	sample_id first,
		last; /* all of them lie here, and samples of other shapes, too */
};
/* Lists the shapes of the selected samples, without looking at each of them. NULL: they are not
 * known, since not all samples are selected, or there are too many shapes. */
const struct dataset_shape *dataset_shapes(
	const struct dataset *dataset, const roaring_bitmap_t *selection, size_t *ret_n);

/* A reader of paths; {0} at first. */
struct path_text {
	uint64_t at; /* offset of the next path in the catalogue */
	size_t length;
	sample_id next; /* sample of the next path */
	char text[PATH_MAX];
};

/* Returns the path relative to the root, in `path`; "" if the catalogue is damaged. The dataset
 * is no mixture. Reading ids in ascending order with one `path` is fastest. */
const char *dataset_relative(
	const struct dataset *dataset, sample_id id, struct path_text *path);
/* Returns the length of the path relative to the root, as escape_print writes it. */
uint32_t dataset_path_length(const struct dataset *dataset, sample_id id);

/*
 * Returns a number of the selected samples, on which an order of them depends: id, path
 * (relative to the root), bytes and mtime of each. It is equal after a restart and on every
 * machine; it changes when a new catalogue gives the ids to other files, or when a file changes.
 */
uint64_t dataset_fingerprint(
	const struct dataset *dataset, const roaring_bitmap_t *selection);

/* Returns a number that changes when a sample of the catalogue changes or is added, or when a
 * column changes that predicates read; 0: a mixture, which has no catalogue. */
uint64_t dataset_content(const struct dataset *dataset);

/*
 * Returns a fingerprint for a group of daemons: the upper half of ids, paths and bytes, the
 * lower half of mtimes, too, so that a copy of the files with other times is recognized. Reads
 * all paths of the selection.
 */
uint64_t dataset_group_fingerprint(
	struct dataset *dataset, const roaring_bitmap_t *selection);

/*
 * Lists the selected samples in the byte order of their paths (relative to the root), and makes
 * a fingerprint of path and bytes of each. Both are equal on all machines, whatever ids and
 * mtimes the files have there. Reads all paths of the selection. ret: room for all of them.
 */
must_check int dataset_by_path(struct dataset *dataset, const roaring_bitmap_t *selection,
	sample_id *ret, uint64_t *ret_fingerprint);

/* Fills *ret, which dataset_sample_free frees. -ENOENT: unknown id. */
must_check int dataset_get(
	struct dataset *dataset, sample_id id, struct dataset_sample *ret);
void dataset_sample_free(struct dataset_sample *sample);

/*
 * Prints the row of a sample as a JSON object: label, class, path (relative to the root) and
 * the columns of metadata. The caller frees it. Bytes of a path that are not UTF-8 appear
 * as Python's surrogateescape writes them.
 */
must_check int dataset_json(struct dataset *dataset, sample_id id, char **ret);

/* Finds the length of the longest such object. The first call reads the whole catalogue. */
must_check int dataset_json_longest(struct dataset *dataset, uint32_t *ret);

/*
 * Finds the file beside a sample in its source that has the sample's name with another ending,
 * given in small letters. *ret has its place, as for a sample. -ENOENT: none.
 */
must_check int dataset_beside(struct dataset *dataset, sample_id id, const char *ending,
	struct dataset_sample *ret);

/* Tells whether all rows have the column, so that the functions below may be asked for it. */
bool dataset_column(struct dataset *dataset, const char *column);
/* Lists the names of such columns, with commas between; the caller frees *ret. */
must_check int dataset_columns(struct dataset *dataset, char **ret);
/* Finds the sample's text in the column, as metadata has it; the caller frees it. -ENOENT: none. */
must_check int dataset_text(
	struct dataset *dataset, sample_id id, const char *column, char **ret);

struct dataset_besides {
	uint32_t n;	     /* selected samples that have it */
	sample_id missing;   /* first sample that lacks it; SAMPLE_NONE: all have it */
	sample_id most;	     /* sample with the largest one; SAMPLE_NONE: none has it */
	uint64_t most_bytes; /* bytes of the largest one */
};
/* Counts the files with an ending beside the selected samples. Reads the whole catalogue. */
must_check int dataset_besides(struct dataset *dataset, const roaring_bitmap_t *selection,
	const char *ending, struct dataset_besides *ret);
/* Counts the texts of a column of the selected samples. Reads the whole catalogue. */
must_check int dataset_texts(struct dataset *dataset, const roaring_bitmap_t *selection,
	const char *column, struct dataset_besides *ret);

struct dataset_odd_number {
	sample_id sample;
	char found[60]; /* text of the column; "": none */
};
/* Puts the numbers of a column at ret[id * each]. -EDOM: *ret_odd is a sample without a number. */
must_check int dataset_numbers(struct dataset *dataset, const roaring_bitmap_t *selection,
	const char *column, size_t each, float *ret, struct dataset_odd_number *ret_odd);

/*
 * Makes one dataset of several, without a catalogue of its own. Ids of the i-th dataset begin
 * at dataset_first, and its paths begin with its name. Classes of one name are one class; a
 * label is the index of the class in byte order, or the class itself where all classes are
 * numbers from 0 on. label_table: a file that has the labels (label_table.h), or NULL.
 *
 * A mixture can't be selected from, nor listed by path (dataset_relative, dataset_by_path,
 * dataset_group_fingerprint, dataset_select, dataset_paths.h).
 * -EINVAL: the table is wrong, or lacks the class of a selected sample; the caller frees
 * *ret_message, which says why. -EOVERFLOW: there are too many samples.
 */
struct dataset_mixed {
	struct dataset *dataset;
	const roaring_bitmap_t *selection; /* samples that need labels */
};
must_check int dataset_mix(const char *name, const struct dataset_mixed *from, size_t n,
	const char *label_table, struct dataset **ret, char **ret_message);
sample_id dataset_first(const struct dataset *dataset, size_t i);
/* Returns a fingerprint of the class names and of the selected samples' labels. */
uint64_t dataset_labels_fingerprint(
	const struct dataset *dataset, const roaring_bitmap_t *selection);

/* Returns the value of hash(text) in a predicate. */
uint64_t dataset_hash(const char *text);

/*
 * Selects the ids for which the predicate holds; where = NULL: all that are not gone. The
 * predicate is an SQL expression over the columns of a row: id, path (relative to the root),
 * class, label, bytes, mtime (seconds), width, height, channels, bits (of a channel), palette
 * (1: has one), and the columns of metadata. hash(X) is a number from the text of X, equal on
 * every machine. The predicate is read-only, without subqueries and functions with side effects,
 * and its steps are limited. -EINVAL: *ret_message (the caller frees it) says what is wrong and
 * lists the columns.
 */
must_check int dataset_select(struct dataset *dataset, const char *where,
	roaring_bitmap_t **ret, char **ret_message);
