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
 *         leaves that to control_look_for_changes (dataset_is_unseen).
 *         Then sched selects ids by a predicate and asks for paths, files for labels and
 *         classes.
 *   Owns: the SQLite file, while it is open. The ImageFolder tree is only read.
 *   Threads: any, after dataset_open. Connections come from a small pool, and no lock is
 *         held while SQLite works.
 *   Errors: 0 or -errno, with the detail logged. A file without a readable header is
 *         counted and logged; it stays in the catalogue (width = height = 0) and fails
 *         when it is read.
 *           A scan that can't see where the catalogue knows samples (a directory that
 *           can't be read, or is empty as one whose mount is missing) changes nothing:
 *           the catalogue of the scan before is used, which was logged.
 *   Life: ids are dense from 0 and always mean the same file. A file that is gone keeps
 *         its id (`gone`), a new one gets the next id. The first scan sorts by class,
 *         then directory, then name, each in byte order (as torchvision's ImageFolder).
 *
 * What the path of a dataset leads to is a source (source.h): a directory, or containers.
 * Their samples have paths as if they lay in a directory.
 *
 * An ImageFolder tree is <class>/<anything>/<file>. The classes are the directories under
 * the root that have samples, in byte order; a label is the index of its class (torchvision's rule). A
 * metadata.csv or metadata.jsonl in any directory, with a column file_name (a path relative
 * to that directory), adds its other columns to the rows; what it may have is limited, so
 * that it takes little memory however large it is.
 */

struct dataset;

struct dataset_sample {
	char *path;	 /* absolute, owned by the caller: dataset_sample_free */
	char *relative;	 /* the part of path behind the root, or behind the container */
	char *container; /* the file that has it, owned likewise; NULL: path is a file */
	struct source_part part; /* of the container */
	size_t plain; /* of a URL: what follows is a name, as far_object has it */
	uint32_t label;
	uint64_t bytes;
	int64_t mtime_ns;	   /* of the file, or of the container */
	struct tensor_shape image; /* from the header; 0x0: not readable */
	uint8_t orientation;	   /* EXIF's, 1 to 8; 1: upright */
};

/* Scans and opens. When *stop (may be NULL) becomes true, the scan ends with -EINTR.
 * Progress goes to standard error when that is a terminal. */
must_check int dataset_open(const struct dataset_config *config, const char *state_dir,
	const atomic_bool *stop, struct dataset **ret);

/*
 * Those of the configuration, and those that joaderctl has added, which the configuration has
 * afterwards, too: (*ret)[i] is config->datasets[i]. Of the added ones those that can't be
 * opened are left out, which is logged. *ret is the caller's, also upon failure. stay: names
 * between ends of lines, those of datasets whose changes have to be known before jobs begin.
 */
must_check int datasets_open(
	struct daemon_config *config, const char *stay, struct dataset ***ret);
/* The same, also where an engine takes over from another one, whose samples it does not look
 * at. What the scan can't see is an error: nothing is changed, and the log says why. */
must_check int dataset_scan_anew(const struct dataset_config *config,
	const char *state_dir, const atomic_bool *stop, struct dataset **ret);
/*
 * A dataset that is in use is scanned again:
 *
 *     dataset_scan_next -> two editions beside each other, of which `next` is in no state
 *     directory's catalogue yet -> dataset_install, or dataset_discard of next, or
 *     dataset_close by its only holder
 *
 * As dataset_scan_anew. *ret: NULL if nothing has changed.
 */
must_check int dataset_scan_next(const struct dataset_config *config,
	const char *state_dir, const atomic_bool *stop, struct dataset **ret);
/* From now on `next` is what dataset_open finds; the catalogue of `now` is kept under another
 * name, and both go on. -errno, logged: all is as it was. */
must_check int dataset_install(
	const char *state_dir, struct dataset *now, struct dataset *next);

/* Says whether the dataset was opened without a look for changes. */
bool dataset_is_unseen(const struct dataset *dataset);
/* The next start looks for changes before it serves. */
void dataset_look_before(const char *state_dir, const char *name);

/* Editions that dataset_install has kept, by ascending numbers; the caller frees *ret. */
must_check int dataset_kept(
	const char *state_dir, const char *name, uint32_t **ret, size_t *ret_n);
/* One of them, as it was: no file is looked at. */
must_check int dataset_open_kept(const struct dataset_config *config,
	const char *state_dir, uint32_t number, struct dataset **ret);
/* Its catalogue is removed now, whoever still holds it, if it is a kept one or was not
 * installed; the dataset can't be read any more. */
void dataset_discard(struct dataset *dataset);
/* The kept ones that are none of n datasets are removed. */
void dataset_prune(const char *state_dir, const char *name,
	struct dataset *const *datasets, size_t n);
/* Ids mean the same files in all editions, but what else is known of them may differ. 0 until
 * there is a second edition. */
uint32_t dataset_edition(const struct dataset *dataset);

/* One more reference, which dataset_close gives back, too. */
struct dataset *dataset_hold(struct dataset *dataset);
void dataset_close(struct dataset **dataset);
/* Removes the catalogue: for a dataset that is not open any more, or soon. */
void dataset_forget(const char *state_dir, const char *name);

/* Images with pixels that channels = rgb and gray make other ones of. */
struct dataset_pixels {
	uint32_t of_16_bits, of_float32, with_palette, with_alpha;
};
struct dataset_pixels dataset_pixels(const struct dataset *dataset);
/* Counts the images in the catalogue of the last scan; the dataset need not be open. */
must_check int dataset_pixels_known(const struct dataset_config *config,
	const char *state_dir, struct dataset_pixels *ret);

/* false: an older version has scanned it, and all images count as RGB. */
bool dataset_knows_pixels(const struct dataset *dataset);

#define DATASET_PIXELS_TEXT 320
/* Says how many images there are of each kind, and how they are prepared. false: there are
 * none. */
bool dataset_pixels_print(
	const struct dataset_pixels *pixels, char ret[static DATASET_PIXELS_TEXT]);

const char *dataset_name(const struct dataset *dataset);
const char *dataset_source(const struct dataset *dataset); /* as configured, absolute */
const char *dataset_kind(const struct dataset *dataset);   /* directory, tar, ... */
/* The directory that files of the dataset have to lie in, whatever links lead to them; NULL:
 * they may lie anywhere. */
const char *dataset_boundary(const struct dataset *dataset);
/* Tells the boundary of one sample's dataset, also in a mixture. */
const char *dataset_boundary_of(const struct dataset *dataset, sample_id id);
/* A directory or a file on the device that the samples are read from. */
const char *dataset_location(const struct dataset *dataset);
uint32_t dataset_ids(const struct dataset *dataset);	 /* ids are below this */
uint32_t dataset_samples(const struct dataset *dataset); /* that are not gone */
uint64_t dataset_bytes(const struct dataset *dataset);	 /* of the source files */
uint32_t dataset_classes(const struct dataset *dataset);
const char *dataset_class_name(const struct dataset *dataset, uint32_t label);

/* These seven read memory only. */
uint32_t dataset_label(const struct dataset *dataset, sample_id id);
struct tensor_shape dataset_image_shape(const struct dataset *dataset, sample_id id);
uint8_t dataset_orientation(const struct dataset *dataset, sample_id id);
uint64_t dataset_file_bytes(const struct dataset *dataset, sample_id id);
/* How the sample is prepared: by the section whose glob its path matches, or as preparation says. */
const struct preparation *dataset_preparation(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id);
/* A path as it is read; it is {0} at first. */
struct path_text {
	uint64_t at; /* where the next one begins in the catalogue */
	size_t length;
	sample_id next; /* the one behind it */
	char text[PATH_MAX];
};

/* The path relative to the root, in `path`, "" if the catalogue is damaged; not of a mixture.
 * With the same `path` for one id after the other it takes the least time. */
const char *dataset_relative(
	const struct dataset *dataset, sample_id id, struct path_text *path);
/* The length of the path relative to the root, as escape_print writes it. */
uint32_t dataset_path_length(const struct dataset *dataset, sample_id id);

/*
 * Tells selections apart by the samples in them, which is what an order of them depends
 * on: id, path (relative to the root), bytes and mtime of each. The same after a restart,
 * and on every machine; another one when a catalogue that was made anew gives the ids to
 * other files, or when a file has changed.
 */
uint64_t dataset_fingerprint(
	const struct dataset *dataset, const roaring_bitmap_t *selection);

/* Another number when a sample of the catalogue has changed or is new, and when what `where`
 * looks at has; 0: a mixture, which has no catalogue. */
uint64_t dataset_content(const struct dataset *dataset);

/*
 * For a group of daemons: the upper half is of ids, paths and bytes, the lower half of the
 * mtimes, too; so a copy of the files with other times is known as such. Reads the paths.
 */
uint64_t dataset_group_fingerprint(
	struct dataset *dataset, const roaring_bitmap_t *selection);

/*
 * The same on other machines, whatever ids and mtimes the files have there: the selected
 * samples in the byte order of their paths (relative to the root), and a fingerprint of
 * path and bytes of each. Reads the whole catalogue. ret: room for all of them.
 */
must_check int dataset_by_path(struct dataset *dataset, const roaring_bitmap_t *selection,
	sample_id *ret, uint64_t *ret_fingerprint);

/* -ENOENT for an unknown id. */
must_check int dataset_get(
	struct dataset *dataset, sample_id id, struct dataset_sample *ret);
void dataset_sample_free(struct dataset_sample *sample);

/*
 * The row of a sample as a JSON object: label, class, path (relative to the root) and the
 * columns of metadata.csv. The caller frees it. Bytes of a path that are not UTF-8 appear
 * as Python's surrogateescape writes them.
 */
must_check int dataset_json(struct dataset *dataset, sample_id id, char **ret);

/* The length of the longest such object. The first call reads the whole catalogue. */
must_check int dataset_json_longest(struct dataset *dataset, uint32_t *ret);

/*
 * What lies beside a sample in its source: a file of its name but for the ending, which is in
 * small letters here. *ret tells where it is, as it tells this of a sample. -ENOENT: none.
 */
must_check int dataset_beside(struct dataset *dataset, sample_id id, const char *ending,
	struct dataset_sample *ret);

/* Whether all rows have such a column, which may be asked for below. */
bool dataset_column(struct dataset *dataset, const char *column);
/* Their names, with commas between; the caller frees it. */
must_check int dataset_columns(struct dataset *dataset, char **ret);
/* The column's text of the sample, as metadata has it; the caller frees it. -ENOENT: none. */
must_check int dataset_text(
	struct dataset *dataset, sample_id id, const char *column, char **ret);

struct dataset_besides {
	uint32_t n;	     /* of the selected samples have it */
	sample_id missing;   /* the first that has not; SAMPLE_NONE: all have */
	sample_id most;	     /* the one with most bytes; SAMPLE_NONE: none has it */
	uint64_t most_bytes; /* of this one */
};
/* Describes the files with an ending, or the texts of a column. Reads the whole catalogue. */
must_check int dataset_besides(struct dataset *dataset, const roaring_bitmap_t *selection,
	const char *ending, struct dataset_besides *ret);
must_check int dataset_texts(struct dataset *dataset, const roaring_bitmap_t *selection,
	const char *column, struct dataset_besides *ret);

struct dataset_odd_number {
	sample_id sample;
	char found[60]; /* "": nothing */
};
/* Puts the numbers of a column at ret[id * each]. -EDOM: *ret_odd has none. */
must_check int dataset_numbers(struct dataset *dataset, const roaring_bitmap_t *selection,
	const char *column, size_t each, float *ret, struct dataset_odd_number *ret_odd);

/*
 * Several datasets as one, which has no catalogue of its own: the ids of the i-th one begin at
 * dataset_first, paths begin with its name. Classes of one name are one class, and labels the
 * places of their names in byte order; where all classes are numbers from 0 on they stay. Or
 * labels are those of a file, label_table (label_table.h); NULL: none.
 *
 * None of the functions that read whole catalogues is for it, but dataset_json_longest.
 * -EINVAL: the table is wrong, or lacks a class of a selected sample: *ret_message, which the
 * caller frees; -EOVERFLOW: there are too many samples.
 */
struct dataset_mixed {
	struct dataset *dataset;
	const roaring_bitmap_t *selection; /* those that need labels */
};
must_check int dataset_mix(const char *name, const struct dataset_mixed *from, size_t n,
	const char *label_table, struct dataset **ret, char **ret_message);
sample_id dataset_first(const struct dataset *dataset, size_t i);
/* Of the names and labels of its classes: another one when they are others. */
uint64_t dataset_labels_fingerprint(
	const struct dataset *dataset, const roaring_bitmap_t *selection);

/* Gives the value of hash(path) in a predicate. */
uint64_t dataset_hash(const char *text);

/*
 * The ids that the predicate selects; where = NULL: all that are not gone. The predicate
 * is an SQL expression over the columns of a row: id, path (relative to the root), class,
 * label, bytes, mtime (seconds), width, height, channels, bits (of a channel), palette (1: has
 * one), and those of metadata.csv. hash(X) is a
 * number from the text of X, the same everywhere. It can do nothing else: it is read-only,
 * without subqueries and functions with side effects, and its steps are limited. -EINVAL: *ret_message (the caller frees it) says what is wrong
 * and lists the columns.
 */
must_check int dataset_select(struct dataset *dataset, const char *where,
	roaring_bitmap_t **ret, char **ret_message);
