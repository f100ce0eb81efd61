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
 *   Flow: dataset_open scans the tree. If there is a catalogue, it only looks for changes, or
 *         leaves this to control_look_for_changes (dataset_is_unseen). Then sched selects ids by a
 *         predicate and asks for paths; src/files asks for labels and classes.
 *   Owns: the SQLite file, while it is open. The dataset's files are only read.
 *   Threads: any, after dataset_open. Connections come from a small pool, and no lock is held while
 *         SQLite works.
 *   Errors: 0 or -errno, with the detail logged. A file without a readable header is counted and
 *         logged; it stays in the catalogue (width = height = 0) and fails when it is read.
 *           If a scan can't see a place where the catalogue has samples (a directory can't be read,
 *           or is empty because its mount is missing), the scan changes nothing: it logs this, and
 *           the previous catalogue is used.
 *   Life: ids are dense from 0 and always mean the same file. A file that is gone keeps its id
 *         (`gone`); a new file gets the next id. The first scan sorts by class, then directory,
 *         then name, each in byte order (as torchvision's ImageFolder).
 *
 * The path of a dataset leads to a source (source.h): a directory, or containers. Samples in
 * containers have paths as if they lay in a directory.
 *
 * An ImageFolder tree is <class>/<anything>/<file>. The classes are the directories under the root
 * that have samples, in byte order; a label is the index of its class (torchvision's rule). A
 * metadata.csv or metadata.jsonl in any directory, with a column file_name (a path relative to that
 * directory), adds its other columns to the rows. Its columns, fields and lines are limited, so
 * that even a large file takes little memory.
 */

struct dataset;

struct dataset_sample {
	char *path;	/* absolute; dataset_sample_free frees it */
	char *relative; /* the end of `path`, after the root or after the container */
	/* file that contains the sample; freed with the sample; NULL: path is the sample's file */
	char *container;
	struct source_part part; /* place of the sample in the container */
	size_t plain; /* offset in a URL where the unescaped name begins (far_object) */
	uint32_t label;
	uint64_t bytes;
	int64_t mtime_ns;	   /* mtime of the file or of the container */
	struct tensor_shape image; /* from the header; 0x0: the header can't be read */
	uint8_t orientation;	   /* EXIF orientation, 1 to 8; 1: upright */
};

/* Scans the dataset and opens it. If *stop becomes true, the scan ends with -EINTR; stop may be
 * NULL. If standard error is a terminal, progress is shown there. */
must_check int dataset_open(const struct dataset_config *config, const char *state_dir,
	const atomic_bool *stop, struct dataset **ret);

/*
 * Opens the datasets of the configuration and those that joaderctl has added; the latter are
 * appended to the configuration, so that (*ret)[i] is config->datasets[i]. An added dataset that
 * can't be opened is logged and left out. The caller owns *ret, also after a failure. stay: names
 * of datasets that must be scanned before jobs begin, each between two \n.
 */
must_check int datasets_open(
	struct daemon_config *config, const char *stay, struct dataset ***ret);
/* Scans a dataset and opens it. Unlike dataset_open, it scans even in an engine that took over from
 * another one. If the scan can't see all places where the catalogue has samples, this is an error:
 * nothing is changed, and the reason is logged. */
must_check int dataset_scan_anew(const struct dataset_config *config,
	const char *state_dir, const atomic_bool *stop, struct dataset **ret);
/*
 * Scans a dataset again while it is in use. Errors are those of dataset_scan_anew. *ret is a second
 * edition beside the one in use; NULL: nothing has changed. Its catalogue is <name>.sqlite.next
 * until the caller calls one of
 *
 *     dataset_install; dataset_discard of *ret; dataset_close of *ret by its only holder
 */
must_check int dataset_scan_next(const struct dataset_config *config,
	const char *state_dir, const atomic_bool *stop, struct dataset **ret);
/* Makes `next` the edition that dataset_open finds, and keeps the catalogue of `now` under another
 * name. Both remain usable. -errno, logged: dataset_open still finds `now`, though it may also have
 * its other name already. */
must_check int dataset_install(
	const char *state_dir, struct dataset *now, struct dataset *next);

/* Tells whether the dataset was opened without a search for changes. */
bool dataset_is_unseen(const struct dataset *dataset);
/* Makes the next start look for changes before it serves. */
void dataset_look_before(const char *state_dir, const char *name);

/* Lists the numbers of the kept editions, ascending. The caller frees *ret. */
must_check int dataset_kept(
	const char *state_dir, const char *name, uint32_t **ret, size_t *ret_n);
/* Opens a kept edition. Accesses no file of the dataset. */
must_check int dataset_open_kept(const struct dataset_config *config,
	const char *state_dir, uint32_t number, struct dataset **ret);
/* Removes the catalogue of an edition that is kept or was not installed. This is allowed while
 * others hold the dataset, but they can't read it any more. */
void dataset_discard(struct dataset *dataset);
/* Removes the kept editions that are not among the n datasets. */
void dataset_prune(const char *state_dir, const char *name,
	struct dataset *const *datasets, size_t n);
/* Returns the edition's number; it is 0 until there is a second edition. An id means the same file
 * in all editions, but other facts of the file may differ. */
uint32_t dataset_edition(const struct dataset *dataset);

/* Adds a reference. dataset_close drops it. */
struct dataset *dataset_hold(struct dataset *dataset);
void dataset_close(struct dataset **dataset);
/* Removes the catalogue and all editions of a dataset that is closed, or will be closed soon. */
void dataset_forget(const char *state_dir, const char *name);

/* Counts of the images whose pixels are changed by channels = rgb, and by channels = gray. */
struct dataset_pixels {
	uint32_t of_16_bits, of_float32, with_palette, with_alpha;
};
struct dataset_pixels dataset_pixels(const struct dataset *dataset);
/* Counts the images in the catalogue of the last scan. The dataset need not be open. */
must_check int dataset_pixels_known(const struct dataset_config *config,
	const char *state_dir, struct dataset_pixels *ret);

/* Tells whether the catalogue has pixel modes. If not, because an older version has scanned the
 * dataset, all images count as RGB. */
bool dataset_knows_pixels(const struct dataset *dataset);

#define DATASET_PIXELS_TEXT 320
/* Prints the number of images of each kind, and how they are prepared. Returns false if there are
 * no such images. */
bool dataset_pixels_print(
	const struct dataset_pixels *pixels, char ret[static DATASET_PIXELS_TEXT]);

const char *dataset_name(const struct dataset *dataset);
const char *dataset_source(const struct dataset *dataset); /* as configured, absolute */
const char *dataset_kind(const struct dataset *dataset);   /* directory, tar, ... */
/* Returns the directory that must contain the dataset's files after links are resolved; NULL: there
 * is no limit. */
const char *dataset_boundary(const struct dataset *dataset);
/* Returns the boundary for a sample. In a mixture it is that of the sample's dataset. */
const char *dataset_boundary_of(const struct dataset *dataset, sample_id id);
/* Returns a URL, or a directory or file on the device from which samples are read. */
const char *dataset_location(const struct dataset *dataset);
uint32_t dataset_ids(const struct dataset *dataset);	 /* all ids are below this */
uint32_t dataset_samples(const struct dataset *dataset); /* samples that are not gone */
uint64_t dataset_bytes(const struct dataset *dataset);	 /* bytes of all source files */
uint32_t dataset_classes(const struct dataset *dataset);
const char *dataset_class_name(const struct dataset *dataset, uint32_t label);
/* Returns the label of the class with this name; dataset_classes: there is none. */
uint32_t dataset_find_class(const struct dataset *dataset, const char *name);

/* The next seven functions only read memory. */
uint32_t dataset_label(const struct dataset *dataset, sample_id id);
struct tensor_shape dataset_image_shape(const struct dataset *dataset, sample_id id);
uint8_t dataset_orientation(const struct dataset *dataset, sample_id id);
uint64_t dataset_file_bytes(const struct dataset *dataset, sample_id id);
/* Returns the preparation of the section whose glob matches the sample's path; without a match,
 * returns `preparation`. */
const struct preparation *dataset_preparation(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id);
/* Samples whose images have the same shape and orientation. */
struct dataset_shape {
	uint32_t samples;
	sample_id largest; /* the sample with the largest file */
	sample_id first,
		/* The samples are in this range of ids; samples of other shapes may be there,
		 * too. */
		last;
};
/* Lists the shapes of the selected samples, without examining each sample. NULL: they are not
 * known, because not all samples are selected, or there are too many shapes. */
const struct dataset_shape *dataset_shapes(
	const struct dataset *dataset, const roaring_bitmap_t *selection, size_t *ret_n);

/* Reads paths one after another. {0} at first. */
struct path_text {
	uint64_t at; /* offset of the next path in the catalogue */
	size_t length;
	sample_id next; /* sample of the next path */
	char text[PATH_MAX];
};

/* Returns a sample's path relative to the root, stored in `path`; "": the catalogue is damaged. Not
 * for mixtures. It is fastest to read ids in ascending order with one `path`. */
const char *dataset_relative(
	const struct dataset *dataset, sample_id id, struct path_text *path);
/* Returns the length of the path relative to the root, after escape_print. */
uint32_t dataset_path_length(const struct dataset *dataset, sample_id id);

/*
 * Returns a fingerprint of the selected samples, for everything that an order of them depends on:
 * id, path (relative to the root), bytes and mtime of each. It is the same after a restart and on
 * every machine. It changes when a new catalogue gives the ids to other files, or when a file
 * changes.
 */
uint64_t dataset_fingerprint(
	const struct dataset *dataset, const roaring_bitmap_t *selection);

/* Returns a number that changes when a sample of the catalogue changes or is added, or when a
 * column that predicates can read changes. 0: a mixture, which has no catalogue. */
uint64_t dataset_content(const struct dataset *dataset);

/*
 * Returns a fingerprint for a group of daemons. The upper half depends on ids, paths and bytes, the
 * lower half also on mtimes, so that a copy of the files with other times is recognised. Reads all
 * paths of the selection.
 */
uint64_t dataset_group_fingerprint(
	struct dataset *dataset, const roaring_bitmap_t *selection);

/*
 * Lists the selected samples sorted by the bytes of their paths (relative to the root), and
 * computes a fingerprint of path and bytes of each. Both are equal on all machines, even if ids and
 * mtimes differ. Reads all paths of the selection. ret: room for all of them.
 */
must_check int dataset_by_path(struct dataset *dataset, const roaring_bitmap_t *selection,
	sample_id *ret, uint64_t *ret_fingerprint);

/* Fills in *ret, which dataset_sample_free frees. -ENOENT: unknown id. */
must_check int dataset_get(
	struct dataset *dataset, sample_id id, struct dataset_sample *ret);
void dataset_sample_free(struct dataset_sample *sample);

/*
 * Prints the row of a sample as a JSON object: label, class, path (relative to the root) and
 * the columns of metadata. The caller frees it. Bytes of a path that are not UTF-8 appear
 * as Python's surrogateescape writes them.
 */
must_check int dataset_json(struct dataset *dataset, sample_id id, char **ret);

/* Finds the length of the longest of these objects. The first call reads the whole catalogue. */
must_check int dataset_json_longest(struct dataset *dataset, uint32_t *ret);

/*
 * Finds the file beside a sample that has the sample's name with another ending, given in lower
 * case. *ret has its place, as for a sample. -ENOENT: none.
 */
must_check int dataset_beside(struct dataset *dataset, sample_id id, const char *ending,
	struct dataset_sample *ret);

/* Tells whether the column exists, so that the functions below may be called for it. */
bool dataset_column(struct dataset *dataset, const char *column);
/* Lists the names of these columns, separated by commas. The caller frees *ret. */
must_check int dataset_columns(struct dataset *dataset, char **ret);
/* Finds the sample's text in the column, as in the metadata. The caller frees it. -ENOENT: none. */
must_check int dataset_text(
	struct dataset *dataset, sample_id id, const char *column, char **ret);

struct dataset_besides {
	uint32_t n;	     /* number of selected samples that have it */
	sample_id missing;   /* first sample that lacks it; SAMPLE_NONE: all have it */
	sample_id most;	     /* sample with the largest one; SAMPLE_NONE: none has it */
	uint64_t most_bytes; /* bytes of the largest one */
};
/* Counts the selected samples that have a file with this ending beside them. Reads the whole
 * catalogue. */
must_check int dataset_besides(struct dataset *dataset, const roaring_bitmap_t *selection,
	const char *ending, struct dataset_besides *ret);
/* Counts the selected samples that have a text in the column. Reads the whole catalogue. */
must_check int dataset_texts(struct dataset *dataset, const roaring_bitmap_t *selection,
	const char *column, struct dataset_besides *ret);

struct dataset_odd_number {
	sample_id sample;
	char found[60]; /* text of the column; "": none */
};
/* Stores the numbers of a column at ret[id * each]. -EDOM: *ret_odd is a sample without a
 * number. */
must_check int dataset_numbers(struct dataset *dataset, const roaring_bitmap_t *selection,
	const char *column, size_t each, float *ret, struct dataset_odd_number *ret_odd);

/*
 * Makes one dataset from several; it has no catalogue of its own. Ids of the i-th dataset begin at
 * dataset_first, and its paths begin with its name. Classes with equal names are one class. A label
 * is the index of the class in byte order; if all classes are numbers from 0 on, the label is the
 * number. label_table: a file that gives the labels (label_table.h), or NULL.
 *
 * These do not work for a mixture: dataset_relative, dataset_by_path, dataset_group_fingerprint,
 * dataset_select, dataset_paths.h. -EINVAL: the table is wrong, or lacks the class of a selected
 * sample; *ret_message is the reason, and the caller frees it. -EOVERFLOW: there are too many
 * samples.
 */
struct dataset_mixed {
	struct dataset *dataset;
	const roaring_bitmap_t *selection; /* samples that need labels */
};
must_check int dataset_mix(const char *name, const struct dataset_mixed *from, size_t n,
	const char *label_table, struct dataset **ret, char **ret_message);
sample_id dataset_first(const struct dataset *dataset, size_t i);
/* Returns a fingerprint of the class names, and of the labels of the selected samples. */
uint64_t dataset_labels_fingerprint(
	const struct dataset *dataset, const roaring_bitmap_t *selection);

/* Sorts the selected ids by label, and those of a label by id. The caller frees *ret. -ENOMEM */
must_check int dataset_sort_by_label(const struct dataset *dataset,
	const roaring_bitmap_t *selection, sample_id **ret);
/* Sorts all samples that are not gone in this way, at the first call. The dataset, which is no
 * mixture, keeps the result. -ENOMEM */
must_check int dataset_by_label(struct dataset *dataset, const sample_id **ret);

/* Returns the value of hash(text) in a predicate. */
uint64_t dataset_hash(const char *text);

/*
 * Selects the ids for which the predicate holds. where NULL: all that are not gone. The predicate
 * is an SQL expression over the columns of a row: id, path (relative to the root), class, label,
 * bytes, mtime (seconds), width, height, channels, bits (per channel), palette (1: has one), and
 * the columns of metadata. hash(X) is a number that depends on the text of X, equal on every
 * machine. The predicate can only read. It has no subqueries and no functions with side effects,
 * and its number of steps is limited. -EINVAL: *ret_message is the reason, with a list of the
 * columns; the caller frees it.
 */
must_check int dataset_select(struct dataset *dataset, const char *where,
	roaring_bitmap_t **ret, char **ret_message);
