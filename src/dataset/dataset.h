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
 *   Flow: dataset_open scans the dataset's files. If a catalogue exists, the scan only looks for
 *         changes. With scan = background, control_look_for_changes scans later, and until then
 *         dataset_is_unseen is true.
 *   Owns: the SQLite file, while the dataset is open. The dataset's files are only read.
 *   Threads: any, after dataset_open. No lock is held while SQLite works.
 *   Errors: 0 or -errno, logged. A file without a readable header is counted and logged; it stays
 *           in the catalogue (width = height = 0) and fails when it is read. If a directory with
 *           samples can't be read, or is empty because its mount is missing, the scan logs this and
 *           changes nothing.
 *   Life: ids are dense from 0 and always mean the same file. The id of a removed file is marked as
 *         gone; a new file gets the next id. The first scan sorts by class, then directory, then
 *         name, each in byte order (as torchvision's ImageFolder).
 *
 * The path of a dataset leads to a source (source.h): a directory, or containers (tar, zip or LMDB
 * files). Samples in containers have paths as if they lay in a directory:
 * <class>/<anything>/<file>. The classes are the directories under the root that have samples, in
 * byte order; a label is the index of its class (torchvision's rule). A metadata.csv or
 * metadata.jsonl in any directory, with a column file_name (relative to that directory), adds its
 * other columns to the rows.
 */

struct dataset;

struct dataset_sample {
	char *path;	 /* absolute, or a URL */
	char *relative;	 /* relative to the root or container; in the memory of `path` */
	char *container; /* path of the container; NULL: the sample is a file */
	struct source_part part;
	/* offset in `path`: the URL's characters from here on are not %-escaped yet; 0: the sample
	 * has no URL of its own */
	size_t plain;
	uint32_t label;
	uint64_t bytes;
	int64_t mtime_ns;	   /* mtime of the file or of the container */
	struct tensor_shape image; /* size in the header; 0x0: the header is unreadable */
	uint8_t orientation;	   /* EXIF orientation, 1 to 8; 1: upright */
};

/* Scans the dataset and opens it. With scan = background or never, or in a process that
 * replaces a crashed one, opens it as the last scan found it. Shows the progress on a
 * terminal. -EINTR: *stop became true; `stop` may be NULL. */
must_check int dataset_open(const struct dataset_config *config, const char *state_dir,
	const atomic_bool *stop, struct dataset **ret);

/* Opens the configured datasets, then the datasets that joaderctl has added. Appends the added
 * datasets to the configuration, so that (*ret)[i] belongs to config->datasets[i]. Logs and leaves
 * out an added dataset that can't be opened. The caller owns *ret, even after a failure. stay:
 * names of datasets that are scanned before jobs begin, even with scan = background. Each name
 * stands between newlines: "\nA\nB\n". */
must_check int datasets_open(
	struct daemon_config *config, const char *stay, struct dataset ***ret);
/* Works like dataset_open, but always scans. Fails, and changes nothing, if the scan can't see a
 * path at which the catalogue has samples. */
must_check int dataset_scan_anew(const struct dataset_config *config,
	const char *state_dir, const atomic_bool *stop, struct dataset **ret);
/* Scans the dataset. If the scan finds changes, makes *ret, a new edition, whose catalogue is
 * <name>.sqlite.next; otherwise *ret is NULL. The edition in use stays as it is. dataset_install
 * renames the new catalogue. If the new edition is not installed, dataset_discard or the last
 * dataset_close removes its catalogue. Fails as dataset_scan_anew does. */
must_check int dataset_scan_next(const struct dataset_config *config,
	const char *state_dir, const atomic_bool *stop, struct dataset **ret);
/* Replaces the edition `now` by `next`: dataset_open will find `next`, and the catalogue of `now`
 * becomes <name>.sqlite.<number>. Both editions remain usable. After an error (logged) dataset_open
 * still finds `now`, whose catalogue may then have two names: <name>.sqlite and
 * <name>.sqlite.<number>. */
must_check int dataset_install(
	const char *state_dir, struct dataset *now, struct dataset *next);

/* Tells whether the dataset was opened without a scan because of scan = background or never: files
 * may have changed. Returns false for a kept edition (dataset_kept), and in a process that replaces
 * a crashed one. */
bool dataset_is_unseen(const struct dataset *dataset);
/* Makes the next start of the daemon scan the dataset before jobs begin. */
void dataset_look_before(const char *state_dir, const char *name);

/* Lists the numbers of the kept editions in ascending order. A kept edition was replaced, but still
 * has a catalogue <name>.sqlite.<number>. This number is larger than the edition's own number
 * (dataset_edition) if another file already had the name. The caller frees *ret. */
must_check int dataset_kept(
	const char *state_dir, const char *name, uint32_t **ret, size_t *ret_n);
must_check int dataset_open_kept(const struct dataset_config *config,
	const char *state_dir, uint32_t number, struct dataset **ret);
/* Removes the catalogue of a kept edition, or of an edition that was not installed. The
 * edition remains usable in memory, but reads of its catalogue may fail. */
void dataset_discard(struct dataset *dataset);
/* Removes the catalogues of all kept editions that are not among the n datasets. */
void dataset_prune(const char *state_dir, const char *name,
	struct dataset *const *datasets, size_t n);
/* Returns the edition's number: 0 at first. dataset_scan_next gives a new edition the number after
 * that of the edition in use. An id means the same file in all editions, but the file's size, mtime
 * and label may differ. */
uint32_t dataset_edition(const struct dataset *dataset);

/* Adds a reference, which dataset_close drops. Returns `dataset`. */
struct dataset *dataset_hold(struct dataset *dataset);
void dataset_close(struct dataset **dataset);
/* Removes the catalogue and all editions of a dataset that is closed, or will soon be closed. */
void dataset_forget(const char *state_dir, const char *name);

/* Counts of images whose pixels change in the conversion to 8-bit RGB or gray. */
struct dataset_pixels {
	uint32_t of_16_bits, of_float32, with_palette, with_alpha;
};
struct dataset_pixels dataset_pixels(const struct dataset *dataset);
/* Counts the images of each kind of pixels in the catalogue, without opening the dataset. */
must_check int dataset_pixels_known(const struct dataset_config *config,
	const char *state_dir, struct dataset_pixels *ret);

/* Tells whether the catalogue has the kind of pixels of each image. An old catalogue lacks these
 * kinds, and all images count as RGB. */
bool dataset_knows_pixels(const struct dataset *dataset);

#define DATASET_PIXELS_TEXT 320
/* Prints each count that is not 0, and how a conversion changes these pixels. Returns false if all
 * counts are 0. */
bool dataset_pixels_print(
	const struct dataset_pixels *pixels, char ret[static DATASET_PIXELS_TEXT]);

const char *dataset_name(const struct dataset *dataset);
const char *dataset_source(const struct dataset *dataset); /* absolute path, or URL */
const char *dataset_kind(const struct dataset *dataset);   /* directory, tar, ... */
/* Returns the directory in which files must lie after links are resolved; NULL: anywhere. */
const char *dataset_boundary(const struct dataset *dataset);
/* Returns the boundary of the sample's own dataset, also for a mixture. */
const char *dataset_boundary_of(const struct dataset *dataset, sample_id id);
/* Returns the directory or URL that contains the samples, or the containers of samples. */
const char *dataset_location(const struct dataset *dataset);
uint32_t dataset_ids(const struct dataset *dataset);	 /* 1 + the largest id */
uint32_t dataset_samples(const struct dataset *dataset); /* samples whose files exist */
/* bytes of all samples whose files exist */
uint64_t dataset_bytes(const struct dataset *dataset);
uint32_t dataset_classes(const struct dataset *dataset);
const char *dataset_class_name(const struct dataset *dataset, uint32_t label);
/* Returns the label of the class with this name. If there is no such class, returns
 * dataset_classes(dataset). */
uint32_t dataset_find_class(const struct dataset *dataset, const char *name);

/* The functions from here to dataset_relative only read memory, without SQLite. */
uint32_t dataset_label(const struct dataset *dataset, sample_id id);
struct tensor_shape dataset_image_shape(const struct dataset *dataset, sample_id id);
uint8_t dataset_orientation(const struct dataset *dataset, sample_id id);
/* Returns the image's size as the preparation sees the image: turned by the EXIF orientation, if
 * the preparation turns images. 0x0: the header is unreadable. */
struct tensor_shape dataset_turned_shape(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id);
uint64_t dataset_file_bytes(const struct dataset *dataset, sample_id id);
/* Returns the preparation of the sample: the preparation of a section [tensor GLOB] if GLOB matches
 * the sample's path, otherwise `preparation`. Returns `preparation` if the dataset is a mixture. */
const struct preparation *dataset_preparation(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id);
/* Images of one shape and orientation in a selection of samples. */
struct dataset_shape {
	uint32_t samples;
	sample_id largest; /* the sample with the largest file */
	/* smallest and largest id; ids between them may have other shapes */
	sample_id first, last;
};
/* Returns an array of *ret_n elements, which the dataset owns: one for each shape and orientation
 * of the samples whose files exist. Returns NULL if the selection lacks some of these samples, if
 * the dataset is a mixture, or if the map has no shapes: the dataset has too many shapes, or the
 * map's version is old. */
const struct dataset_shape *dataset_shapes(
	const struct dataset *dataset, const roaring_bitmap_t *selection, size_t *ret_n);

/* The last path that dataset_relative returned, and the place of the next path. The caller sets all
 * fields to 0 before the first call. */
struct path_text {
	uint64_t at; /* offset of the next path in the catalogue */
	size_t length;
	sample_id next; /* sample of the next path */
	char text[PATH_MAX];
};

/* Returns the sample's path relative to the root. The text lies in path->text. "": the catalogue is
 * damaged. Must not be called for a mixture. Calls with ascending ids and the same `path` are
 * fastest. */
const char *dataset_relative(
	const struct dataset *dataset, sample_id id, struct path_text *path);
/* Returns the length in bytes of the path (relative to the root) as escape_print prints it. */
uint32_t dataset_path_length(const struct dataset *dataset, sample_id id);

/* Returns a fingerprint of all that a saved order depends on: ids, paths (relative to
 * the root), bytes, mtimes. It is equal after a restart and on every machine. */
uint64_t dataset_fingerprint(
	const struct dataset *dataset, const roaring_bitmap_t *selection);

/* Returns a number that changes with the catalogue; 0: a mixture, which has none. */
uint64_t dataset_content(const struct dataset *dataset);

/* Returns a fingerprint with which machines compare their datasets. The upper half depends on ids,
 * paths and bytes, the lower half also on mtimes. Reads all selected paths. */
uint64_t dataset_group_fingerprint(
	struct dataset *dataset, const roaring_bitmap_t *selection);

/* Sorts the selected ids by the bytes of their paths (relative to the root) into `ret`, which has
 * room for all. The order depends only on the paths. *ret_fingerprint depends only on the paths and
 * the sizes of the files. Both are equal on machines with the same files. */
must_check int dataset_by_path(struct dataset *dataset, const roaring_bitmap_t *selection,
	sample_id *ret, uint64_t *ret_fingerprint);

/* Fills in *ret, which dataset_sample_free frees. -ENOENT: unknown id. */
must_check int dataset_get(
	struct dataset *dataset, sample_id id, struct dataset_sample *ret);
void dataset_sample_free(struct dataset_sample *sample);

/* Prints a sample's row as JSON: label, class, path (relative to the root), metadata.
 * The caller frees *ret. Invalid UTF-8 appears as with Python's surrogateescape. */
must_check int dataset_json(struct dataset *dataset, sample_id id, char **ret);

/* Finds the size in bytes of the longest text that dataset_json makes for a sample whose file
 * exists; for a mixture, an upper bound of this size. The first call reads the whole catalogue. */
must_check int dataset_json_longest(struct dataset *dataset, uint32_t *ret);

/* Fills in *ret for the file with this ending (in lower case) beside a sample, such as 7.txt beside
 * 7.jpg. dataset_sample_free frees *ret. -ENOENT: there is no such file. */
must_check int dataset_beside(struct dataset *dataset, sample_id id, const char *ending,
	struct dataset_sample *ret);

/* Tells whether the column is class, path, or a column of metadata. Only such a column may be
 * passed to dataset_text, dataset_texts and dataset_numbers. */
bool dataset_column(struct dataset *dataset, const char *column);
/* Lists the columns that dataset_column allows, separated by commas; for a mixture, those of its
 * first dataset. The caller frees *ret. */
must_check int dataset_columns(struct dataset *dataset, char **ret);
/* Reads a sample's text in the column; the caller frees *ret. -ENOENT: there is none. */
must_check int dataset_text(
	struct dataset *dataset, sample_id id, const char *column, char **ret);

/* Result of dataset_besides for the files with one ending, or of dataset_texts for the texts in one
 * column. */
struct dataset_besides {
	uint32_t n;	     /* selected samples that have the file or text */
	sample_id missing;   /* first sample without file or text, or SAMPLE_NONE */
	sample_id most;	     /* sample with the largest file or text, or SAMPLE_NONE */
	uint64_t most_bytes; /* size of this file or text */
};
/* Counts the selected samples that have a file with this ending beside them. Reads the whole
 * catalogue. */
must_check int dataset_besides(struct dataset *dataset, const roaring_bitmap_t *selection,
	const char *ending, struct dataset_besides *ret);
/* Counts selected samples with a text in the column. Reads the whole catalogue. */
must_check int dataset_texts(struct dataset *dataset, const roaring_bitmap_t *selection,
	const char *column, struct dataset_besides *ret);

struct dataset_odd_number {
	sample_id sample;
	char found[60]; /* text of the sample in the column; "": the sample has none */
};
/* Stores at ret[id * each] the number that the selected sample `id` has in the column. -EDOM: a
 * sample has no finite number; *ret_odd describes this sample. */
must_check int dataset_numbers(struct dataset *dataset, const roaring_bitmap_t *selection,
	const char *column, size_t each, float *ret, struct dataset_odd_number *ret_odd);

/*
 * Makes a mixture: one dataset from several, without a catalogue. The ids of the i-th dataset begin
 * at dataset_first(i), and the paths of its samples begin with its name. Classes with equal names
 * are one class, and a label is the index of its class in byte order. If the classes of each
 * dataset are named 0, 1, 2 and so on, the label of a class is its name, as a number. label_table:
 * path of a file that decides the labels (label_table.h); NULL: the class names decide them.
 *
 * These functions must not be called for a mixture: dataset_relative, dataset_by_label,
 * dataset_by_path, dataset_group_fingerprint, dataset_select, and those of dataset_paths.h.
 * -EINVAL: the label table is wrong, or lacks a selected sample's class; the caller frees
 * *ret_message. -EOVERFLOW: there are too many samples.
 */
struct dataset_mixed {
	struct dataset *dataset;
	/* samples that jobs use; a label table must have the classes of these samples */
	const roaring_bitmap_t *selection;
};
must_check int dataset_mix(const char *name, const struct dataset_mixed *from, size_t n,
	const char *label_table, struct dataset **ret, char **ret_message);
sample_id dataset_first(const struct dataset *dataset, size_t i);
/* Returns a fingerprint of the class names, and of the labels of the selected samples. */
uint64_t dataset_labels_fingerprint(
	const struct dataset *dataset, const roaring_bitmap_t *selection);

/* Sorts the selected ids by label, then by id. The caller frees *ret. -ENOMEM */
must_check int dataset_sort_by_label(const struct dataset *dataset,
	const roaring_bitmap_t *selection, sample_id **ret);
/* Works like dataset_sort_by_label for all samples whose files exist, but only the first call
 * sorts, and *ret belongs to the dataset. Not for a mixture. */
must_check int dataset_by_label(struct dataset *dataset, const sample_id **ret);

/* Returns the value of hash(text) in a predicate. */
uint64_t dataset_hash(const char *text);

/*
 * Selects the ids for which `where` holds; NULL: all samples whose files exist. A predicate is an
 * SQL expression over id, path (relative to the root), class, label, bytes, mtime (seconds), width,
 * height, channels, bits (per channel), palette (0 or 1) and the columns of metadata. hash(X)
 * hashes the text of X, equally on every machine. SQLite's virtual machine makes at most 100,000
 * steps, and 1,000 more for each id. -EINVAL: the predicate has a mistake or a subquery, calls a
 * function that is not listed in dataset_select.c, or takes more steps; *ret_message, which the
 * caller frees, has the reason and a list of the columns.
 */
must_check int dataset_select(struct dataset *dataset, const char *where,
	roaring_bitmap_t **ret, char **ret_message);
