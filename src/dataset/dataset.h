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
 *   Flow: dataset_open scans the tree. If there is a catalogue already, the scan only looks for
 *         changes; with scan = background, dataset_open leaves this scan to
 *         control_look_for_changes, and dataset_is_unseen returns true. Then src/sched selects ids
 *         by a predicate and asks for paths; src/files asks for labels and classes.
 *   Owns: the SQLite file, while it is open. The dataset's files are only read.
 *   Threads: any, after dataset_open. Connections come from a small pool, and no lock is held while
 *         SQLite works.
 *   Errors: 0 or -errno, with the detail logged. A file without a readable header is counted and
 *         logged; it stays in the catalogue (width = height = 0) and fails when it is read.
 *           A scan may be unable to see a directory in which the catalogue has samples: it can't be
 *           read, or it is empty because its mount is missing. The scan then changes nothing: it
 *           logs the directory, and the previous catalogue is used.
 *   Life: ids are dense from 0 and always mean the same file. If the file no longer exists, its id
 *         remains, marked as gone; a new file gets the next id. The first scan sorts by class, then
 *         directory, then name, each in byte order (as torchvision's ImageFolder).
 *
 * The path of a dataset leads to a source (source.h): a directory, or containers. Samples in
 * containers have paths as if they lay in a directory.
 *
 * An ImageFolder tree is <class>/<anything>/<file>. The classes are the directories under the root
 * that have samples, in byte order; a label is the index of its class (torchvision's rule). A
 * metadata.csv or metadata.jsonl in any directory, with a column file_name (a path relative to that
 * directory), adds its other columns to the rows. The number of its columns and the lengths of its
 * fields and lines are limited, so that a file of any size is read with little memory.
 */

struct dataset;

struct dataset_sample {
	char *path; /* absolute, or a URL; freed by dataset_sample_free */
	/* path relative to the root or to the container; shares the memory of `path` */
	char *relative;
	/* Path of the container that has the sample; dataset_sample_free frees it. NULL: the sample
	 * is a file. */
	char *container;
	struct source_part part; /* the sample's place in the container */
	/* If `path` is a URL: offset from which on its characters are not %-escaped yet; otherwise
	 * 0. */
	size_t plain;
	uint32_t label;
	uint64_t bytes;
	int64_t mtime_ns;	   /* mtime of the file or of the container */
	struct tensor_shape image; /* from the header; 0x0: the header can't be read */
	uint8_t orientation;	   /* EXIF orientation, 1 to 8; 1: upright */
};

/* Scans the dataset and opens it. The scan ends with -EINTR if *stop becomes true; `stop` may be
 * NULL. If standard error is a terminal, progress is shown there. */
must_check int dataset_open(const struct dataset_config *config, const char *state_dir,
	const atomic_bool *stop, struct dataset **ret);

/*
 * Opens the datasets of the configuration, and then those that joaderctl has added. The added ones
 * are appended to the configuration, so that (*ret)[i] is config->datasets[i]. An added dataset
 * that can't be opened is logged and left out. The caller owns *ret, also after a failure. `stay`
 * lists the datasets that must be scanned before jobs begin, as with scan = before: "\nA\nB\n".
 */
must_check int datasets_open(
	struct daemon_config *config, const char *stay, struct dataset ***ret);
/* Scans a dataset and opens it. dataset_open does not scan in an engine that replaces an engine
 * that has died; this function always scans. It fails if the scan can't see all places where the
 * catalogue has samples: nothing is changed, and the reason is logged. */
must_check int dataset_scan_anew(const struct dataset_config *config,
	const char *state_dir, const atomic_bool *stop, struct dataset **ret);
/*
 * Scans a dataset again while it is in use. *ret is a new edition of the dataset; NULL: nothing has
 * changed. The edition in use is not touched. The catalogue of *ret is <name>.sqlite.next. The
 * caller either calls dataset_install, which renames this catalogue, or dataset_discard, which
 * removes it. dataset_close removes it, too, with the last reference. It fails as
 * dataset_scan_anew does.
 */
must_check int dataset_scan_next(const struct dataset_config *config,
	const char *state_dir, const atomic_bool *stop, struct dataset **ret);
/* Puts the new edition `next` in the place of `now`: dataset_open will find `next`, and the
 * catalogue of `now` becomes <name>.sqlite.<number>. Both editions remain usable. After an error
 * (-errno, logged) dataset_open still finds `now`; its catalogue may then already have the name
 * with the number as a second name. */
must_check int dataset_install(
	const char *state_dir, struct dataset *now, struct dataset *next);

/* Tells whether the dataset was opened without a scan, so that it must be scanned later. */
bool dataset_is_unseen(const struct dataset *dataset);
/* Makes the next start of the daemon scan the dataset before jobs begin. */
void dataset_look_before(const char *state_dir, const char *name);

/* Sets *ret to the numbers of the kept editions, ascending. These are the editions that were
 * replaced and whose catalogues still exist. The caller frees *ret. */
must_check int dataset_kept(
	const char *state_dir, const char *name, uint32_t **ret, size_t *ret_n);
/* Opens a kept edition (see dataset_kept). Accesses no file of the dataset. */
must_check int dataset_open_kept(const struct dataset_config *config,
	const char *state_dir, uint32_t number, struct dataset **ret);
/* Removes the catalogue of a kept edition, or of an edition that was not installed. Other holders
 * of a reference can still use what is in memory, but what they read from the catalogue may
 * fail. */
void dataset_discard(struct dataset *dataset);
/* Removes the catalogues of all kept editions that are not among the n datasets. */
void dataset_prune(const char *state_dir, const char *name,
	struct dataset *const *datasets, size_t n);
/* Returns the number of this edition. Each edition that dataset_scan_next makes has the next
 * number. An id means the same file in all editions, but the file's size, mtime and label may
 * differ. */
uint32_t dataset_edition(const struct dataset *dataset);

/* Adds a reference, which dataset_close drops. Returns `dataset`. */
struct dataset *dataset_hold(struct dataset *dataset);
void dataset_close(struct dataset **dataset);
/* Removes the catalogue and all editions of a dataset that is closed, or will be closed soon. */
void dataset_forget(const char *state_dir, const char *name);

/* Numbers of images whose pixels change when they are converted to RGB or gray with 8 bits. */
struct dataset_pixels {
	uint32_t of_16_bits, of_float32, with_palette, with_alpha;
};
struct dataset_pixels dataset_pixels(const struct dataset *dataset);
/* Counts the images of each kind (struct dataset_pixels) in the catalogue of the last scan. The
 * dataset need not be open. */
must_check int dataset_pixels_known(const struct dataset_config *config,
	const char *state_dir, struct dataset_pixels *ret);

/* Tells whether the catalogue has the mode of each image's pixels: RGB, gray, 16 bits and so on. A
 * catalogue of an older version lacks the modes; all its images then count as RGB. */
bool dataset_knows_pixels(const struct dataset *dataset);

#define DATASET_PIXELS_TEXT 320
/* Prints the number of images of each kind, and how they are prepared. Returns false if all numbers
 * are 0. */
bool dataset_pixels_print(
	const struct dataset_pixels *pixels, char ret[static DATASET_PIXELS_TEXT]);

const char *dataset_name(const struct dataset *dataset);
/* path from the configuration, absolute */
const char *dataset_source(const struct dataset *dataset);
/* name of the source: directory, tar, ... */
const char *dataset_kind(const struct dataset *dataset);
/* Returns the directory in which the dataset's files must lie after links are resolved; NULL: they
 * may lie anywhere. */
const char *dataset_boundary(const struct dataset *dataset);
/* Returns the directory in which the sample's file must lie. In a mixture this is the boundary of
 * the dataset from which the sample comes. */
const char *dataset_boundary_of(const struct dataset *dataset, sample_id id);
/* Returns the path (or URL) of the storage from which samples are read. */
const char *dataset_location(const struct dataset *dataset);
uint32_t dataset_ids(const struct dataset *dataset); /* 1 + the largest id */
/* number of samples whose files exist */
uint32_t dataset_samples(const struct dataset *dataset);
/* bytes of all samples whose files exist */
uint64_t dataset_bytes(const struct dataset *dataset);
uint32_t dataset_classes(const struct dataset *dataset);
const char *dataset_class_name(const struct dataset *dataset, uint32_t label);
/* Returns the label of the class with this name, or dataset_classes(dataset) if there is none. */
uint32_t dataset_find_class(const struct dataset *dataset, const char *name);

/* The functions from here to dataset_relative only read memory. */
uint32_t dataset_label(const struct dataset *dataset, sample_id id);
struct tensor_shape dataset_image_shape(const struct dataset *dataset, sample_id id);
uint8_t dataset_orientation(const struct dataset *dataset, sample_id id);
/* Returns the size of the image, turned by its EXIF orientation if the preparation says so. 0x0:
 * the header can't be read. */
struct tensor_shape dataset_turned_shape(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id);
uint64_t dataset_file_bytes(const struct dataset *dataset, sample_id id);
/* Returns the preparation of a sample. If the job has a section [tensor GLOB] whose GLOB matches
 * the sample's path, this is the section's preparation; otherwise it is `preparation`. */
const struct preparation *dataset_preparation(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id);
/* A set of samples whose images have the same shape and orientation. */
struct dataset_shape {
	uint32_t samples;
	sample_id largest; /* the sample with the largest file */
	/* Smallest and largest id in the set. Other samples may have ids between them. */
	sample_id first, last;
};
/* Returns the sets into which the samples are divided by shape; *ret_n: number of sets. NULL: the
 * selection lacks samples of the dataset, or there are too many shapes. */
const struct dataset_shape *dataset_shapes(
	const struct dataset *dataset, const roaring_bitmap_t *selection, size_t *ret_n);

/* The last path that dataset_relative has returned, and its place in the catalogue. The caller sets
 * all members to 0 before the first call. */
struct path_text {
	uint64_t at; /* offset of the next path in the catalogue */
	size_t length;
	sample_id next; /* sample of the next path */
	char text[PATH_MAX];
};

/* Returns a sample's path relative to the root, which is stored in `path`; "": the catalogue is
 * damaged. `dataset` must not be a mixture. Reading ids in ascending order with one `path` is
 * fastest. */
const char *dataset_relative(
	const struct dataset *dataset, sample_id id, struct path_text *path);
/* Returns the length of the path (relative to the root) as escape_print prints it. */
uint32_t dataset_path_length(const struct dataset *dataset, sample_id id);

/*
 * Returns a fingerprint of the selected samples. It covers all that a saved order depends on: each
 * sample's id, path (relative to the root), bytes and mtime. It is the same after a restart and on
 * every machine. It changes when a file changes, or when a new catalogue numbers the files
 * differently.
 */
uint64_t dataset_fingerprint(
	const struct dataset *dataset, const roaring_bitmap_t *selection);

/* Returns a number that changes when a sample of the catalogue changes or is added, or when a
 * column that predicates can read changes. 0: a mixture, which has no catalogue. */
uint64_t dataset_content(const struct dataset *dataset);

/*
 * Returns a fingerprint of the selected samples, by which the daemons of a group compare their
 * datasets. Its upper half depends on ids, paths and bytes. Its lower half also depends on mtimes:
 * if only this half differs, the datasets are copies of the same files with different mtimes. Reads
 * all paths of the selection.
 */
uint64_t dataset_group_fingerprint(
	struct dataset *dataset, const roaring_bitmap_t *selection);

/*
 * Stores the selected ids in `ret`, which has room for all of them, sorted by the bytes of their
 * paths (relative to the root). Computes a fingerprint of the paths and bytes. On all machines with
 * the same files the order and the fingerprint are the same, even if ids and mtimes differ. Reads
 * all paths of the selection.
 */
must_check int dataset_by_path(struct dataset *dataset, const roaring_bitmap_t *selection,
	sample_id *ret, uint64_t *ret_fingerprint);

/* Fills in *ret, which dataset_sample_free frees. -ENOENT: unknown id. */
must_check int dataset_get(
	struct dataset *dataset, sample_id id, struct dataset_sample *ret);
void dataset_sample_free(struct dataset_sample *sample);

/*
 * Prints the row of a sample as a JSON object: label, class, path (relative to the root) and the
 * columns of metadata. The caller frees *ret. Bytes of a path that are not UTF-8 appear as Python's
 * surrogateescape writes them.
 */
must_check int dataset_json(struct dataset *dataset, sample_id id, char **ret);

/* Finds the length of the longest object that dataset_json prints. The first call reads the whole
 * catalogue. */
must_check int dataset_json_longest(struct dataset *dataset, uint32_t *ret);

/*
 * Finds the file that lies beside a sample and has the sample's name with the ending `ending`,
 * which is in lower case. *ret describes the file like a sample; dataset_sample_free frees it.
 * -ENOENT: there is no such file.
 */
must_check int dataset_beside(struct dataset *dataset, sample_id id, const char *ending,
	struct dataset_sample *ret);

/* Tells whether the dataset has this column, and programs may read it by dataset_text,
 * dataset_texts and dataset_numbers. */
bool dataset_column(struct dataset *dataset, const char *column);
/* Sets *ret to the names of the columns for which dataset_column is true, separated by commas. The
 * caller frees *ret. */
must_check int dataset_columns(struct dataset *dataset, char **ret);
/* Sets *ret to the sample's value in the column, as a text, which the caller frees. -ENOENT: the
 * sample has no value. */
must_check int dataset_text(
	struct dataset *dataset, sample_id id, const char *column, char **ret);

struct dataset_besides {
	uint32_t n; /* number of selected samples that have the file or text */
	/* first sample that lacks the file or text; SAMPLE_NONE: all have it */
	sample_id missing;
	/* sample with the largest file or text; SAMPLE_NONE: none has one */
	sample_id most;
	uint64_t most_bytes; /* size of the largest file or text */
};
/* Finds which selected samples have a file with this ending beside them. Reads the whole
 * catalogue. */
must_check int dataset_besides(struct dataset *dataset, const roaring_bitmap_t *selection,
	const char *ending, struct dataset_besides *ret);
/* Finds which selected samples have a text in the column. Reads the whole catalogue. */
must_check int dataset_texts(struct dataset *dataset, const roaring_bitmap_t *selection,
	const char *column, struct dataset_besides *ret);

struct dataset_odd_number {
	sample_id sample;
	char found[60]; /* text of the sample in the column; "": the sample has none */
};
/* Stores the number that each selected sample has in the column. The number of id i is stored at
 * ret[i * each]. -EDOM: a sample has no finite number; *ret_odd describes this sample. */
must_check int dataset_numbers(struct dataset *dataset, const roaring_bitmap_t *selection,
	const char *column, size_t each, float *ret, struct dataset_odd_number *ret_odd);

/*
 * Makes a mixture: one dataset from several. A mixture has no catalogue. The ids of the i-th
 * dataset begin at dataset_first(i), and the paths of its samples begin with its name. Classes with
 * equal names are one class. A label is the index of the class in byte order. If the classes of
 * each dataset are named 0, 1, 2 and so on, a label is the number that names the class.
 * label_table: the path of a file that gives the labels instead (label_table.h), or NULL.
 *
 * The following functions must not be called for a mixture: dataset_relative, dataset_by_path,
 * dataset_group_fingerprint, dataset_select, and all functions of dataset_paths.h. -EINVAL: the
 * table is wrong, or lacks the class of a selected sample; *ret_message is the reason, and the
 * caller frees it. -EOVERFLOW: there are too many samples.
 */
struct dataset_mixed {
	struct dataset *dataset;
	/* The samples that jobs use. If there is a label table, it must have the classes of these
	 * samples. */
	const roaring_bitmap_t *selection;
};
must_check int dataset_mix(const char *name, const struct dataset_mixed *from, size_t n,
	const char *label_table, struct dataset **ret, char **ret_message);
sample_id dataset_first(const struct dataset *dataset, size_t i);
/* Returns a fingerprint of the class names, and of the labels of the selected samples. */
uint64_t dataset_labels_fingerprint(
	const struct dataset *dataset, const roaring_bitmap_t *selection);

/* Sorts the selected ids by label, and ids with the same label by id. The caller frees *ret.
 * -ENOMEM */
must_check int dataset_sort_by_label(const struct dataset *dataset,
	const roaring_bitmap_t *selection, sample_id **ret);
/* Sets *ret to the ids of all samples whose files exist, sorted as by dataset_sort_by_label. The
 * first call sorts them, and the dataset keeps the result. `dataset` must not be a mixture.
 * -ENOMEM */
must_check int dataset_by_label(struct dataset *dataset, const sample_id **ret);

/* Returns the value of hash(text) in a predicate. */
uint64_t dataset_hash(const char *text);

/*
 * Selects the ids for which the predicate `where` holds. where NULL: all samples whose files exist.
 * The predicate is an SQL expression over the columns of a row: id, path (relative to the root),
 * class, label, bytes, mtime (seconds), width, height, channels, bits (per channel), palette (1 if
 * the image has a palette, otherwise 0), and the columns of metadata. hash(X) is a hash of the text
 * of X, equal on every machine. The predicate can only read. It has no subqueries and no functions
 * with side effects, and its running time is limited. -EINVAL: the predicate is refused;
 * *ret_message is the reason, with a list of the columns, and the caller frees it.
 */
must_check int dataset_select(struct dataset *dataset, const char *where,
	roaring_bitmap_t **ret, char **ret_message);
