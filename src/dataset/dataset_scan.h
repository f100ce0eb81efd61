// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/own_mounts.h"
#include "dataset/dataset.h"
#include "dataset/dataset_hash.h"
#include "dataset/dataset_tools.h"

#include <stdio.h>

/*
 * The tree of a scan: the samples and classes that it finds, before they are written to a
 * catalogue.
 *
 *   list the names -> scan_match gives ids from the old catalogue -> examine the files and headers
 *                  -> catalogue_update makes the new rows -> catalogue_write, if something changed
 *
 *   Owns: the names in the tree.   Threads: one thread per tree, except while it is examined.
 *   Errors: -errno, logged; a problem of a single file is an issue (issue_add).
 */

/* Facts about a file, from stat and from its header. */
struct facts {
	uint64_t bytes;
	int64_t mtime_ns;
	struct tensor_shape image;
	uint8_t orientation; /* EXIF orientation, 1 to 8 */
	/* false: the header could not be read, for lack of permission or after an I/O error */
	bool probed;
};

/* A file that contains samples. */
struct container {
	const char *name; /* relative to scan->beside */
	uint64_t bytes;
	int64_t mtime_ns;
};

struct part {
	uint32_t container; /* index in `containers` of the scan or the catalogue */
	struct source_part at;
};

/* A file beside a sample, such as 7.txt beside 7.jpg: its name is the sample's name with another
 * ending. */
struct beside {
	const struct beside *next; /* next file beside the same sample */
	const char *ending;	   /* in lower case */
	const char *name;	   /* last component of the path, as in the file system */
	uint64_t bytes;
	int64_t mtime_ns;
	/* place in the container, if the sample is in a container */
	struct source_part at;
};

/* Inserts `beside` into a list that is sorted by endings. Returns false if the list already has a
 * file with this ending; the list is then unchanged. */
bool beside_insert(const struct beside **list, struct beside *beside);
/* Tells whether both lists have the same files, with the same sizes and mtimes. */
bool beside_equal(const struct beside *a, const struct beside *b);

struct found {
	const char *path; /* relative to the root */
	sample_id id;	  /* SAMPLE_NONE: the sample has no id yet */
	bool present;	  /* the file exists, and was examined */
	/* The file could not be examined, for instance because of an I/O error. It may still exist,
	 * so it does not count as removed. */
	bool unseen;
	struct facts facts;
	const struct part *part; /* NULL: the sample has its own file */
	const struct beside *beside;
};

/* A file that may lie beside a sample. Its stem (source_beside.c) is its path without the
 * ending. */
struct beside_file {
	const char *path;
	size_t stem, order;
	struct beside is;
};

struct beside_files {
	struct beside_file *of;
	size_t n, capacity;
};

/* A list of texts. The list does not own the texts. */
struct name_list {
	const char **name;
	size_t n;
	size_t capacity;
};

/* Sorts the list in byte order. */
void name_list_sort(struct name_list *names);
/* Returns the text of a sorted list that equals `name`, or NULL. */
const char *name_list_find(const struct name_list *names, const char *name);

struct tree {
	struct found *files; /* sorted by class, then directory, then name */
	size_t n_files;
	size_t files_capacity;
	/* files that may lie beside samples, and are not assigned to samples yet */
	struct beside_files beside;
	struct found *others; /* files that are not samples, if the dataset shows them */
	size_t n_others;
	size_t others_capacity;
	/* Names of the classes, in byte order. Until tree_find_classes is called, the list also has
	 * directories without samples, and is not sorted. */
	struct name_list classes;
	/* Paths at which the scan could not see whether there are samples: directories that could
	 * not be listed; empty directories, since a mount may be missing; links and other entries
	 * that could not be followed. Samples of the catalogue below such a path may still
	 * exist. */
	struct name_list unseen;
	struct name_list metadata; /* files of metadata below the root */
	/* number of files directly in the root; such files have no class */
	uint64_t root_files;
	struct issues issues;
	/* Memory of all names in the tree. catalogue_update passes this memory to the catalogue. */
	struct arena names;
	/* There are metadata, which are matched to `files` after catalogue_update. So
	 * catalogue_update must not free `files`. */
	bool described;
};

enum label_kind {
	LABEL_AUTO,
	LABEL_DIRECTORY,
	LABEL_CLS,
	LABEL_JSON,
	LABEL_CSV,
	/* all samples have one class, and paths do not begin with a class */
	LABEL_WITHOUT
};

/* Name of the only class, for LABEL_WITHOUT. */
#define ONLY_CLASS "all"

/* Numeric labels must be smaller. */
#define MOST_NUMBERED_CLASSES 1000000

struct source;
struct listing;

struct scan {
	const char *name;
	const struct source *source;
	char *root; /* from the configuration, without slashes at the end; "" for "/" */
	/* if the root is a directory, its real path, without slashes at the end */
	char *real;
	char *beside; /* directory or URL to which names of containers are relative */
	bool far;     /* the root is a URL */
	struct container *containers; /* sorted by name */
	size_t n_containers, containers_capacity;
	const char *missing; /* path or URL that can't be read, for the error message */
	/* reason why `missing` can't be read; NULL: the error number tells the reason */
	const char *reason;
	/* text of the first answer in which the server refused the credentials, or NULL */
	_Atomic(char *) denied;
	enum label_kind label;
	/* name of the JSON field, or of the column of metadata, that has the label */
	const char *label_field;
	/* text of all settings that decide which samples a container has */
	char *settings;
	bool sharded; /* the dataset may have several containers */
	/* Set when the samples are listed. true: the first component of a sample's path is its
	 * label; false: it is a directory. */
	bool labelled;
	/* list of remote files that source->find has already made; NULL: none */
	struct listing *listed;
	struct arena names;
	const char *extensions;
	bool follow_outside;
	bool shows_others;
	/* if the catalogue of the last scan has the same settings (scan_rule), use it without a
	 * scan */
	bool trusting;
	/* mounts of joaderfs, which the scan does not enter */
	struct own_mounts own_mounts;
	/* Number of threads that scan. With one thread, a scan does its work in the same order each
	 * time. */
	unsigned threads;
	bool anew; /* the caller is dataset_scan_anew */
	bool next; /* the caller is dataset_scan_next */
	/* path of a kept catalogue, for dataset_open_kept; otherwise NULL */
	const char *kept;
	const atomic_bool *stop; /* true: the scan must stop; may be NULL */
	struct progress progress;
};

/* Number of threads that scan if the storage answers slowly, but can answer many requests at a
 * time, as a server does. */
#define SCAN_FAR_THREADS 32

/* Prints the path or URL of a container or remote file, which is `beside`, a slash and `name`. If
 * `name` is a URL, prints only `name`. 0 or -ENAMETOOLONG. */
must_check int scan_beside(const char *beside, const char *name, char *ret, size_t size);
/* Prints the absolute path of a file in the tree. 0 or -ENAMETOOLONG. */
must_check int scan_path(
	const struct scan *scan, const char *relative, char *ret, size_t size);
bool scan_stopped(const struct scan *scan);
/* Tells whether the file may be used: its real path is in the tree, or the dataset allows links
 * that leave the tree. */
bool scan_inside(const struct scan *scan, const char *relative);

/* Compares two paths in the order of ImageFolder: first by class, then by directory, then by file
 * name. Each is compared in byte order. */
int path_compare(const char *a, const char *b);
/* Sorts the files by path_compare, and files with equal paths by their places in containers. */
void files_sort(struct found *files, size_t n, unsigned threads);

/* Tells whether a path with this component is ignored: the component begins with a dot, or is a
 * name that systems and programs create beside users' files (Thumbs.db, __MACOSX). */
bool hidden_name(const char *name, size_t n);

/* Tells whether this is the name of a file of metadata. */
bool metadata_name(const char *name);

/* Tells whether a file with this name is a sample: its ending, after the last dot, is one of
 * `extensions`. */
bool wanted_name(const char *extensions, const char *name);
bool wanted_ending(const char *extensions, const char *ending);

void tree_free(struct tree *tree);
/* Finds the classes of the samples. Warns of directories without samples, which do not become
 * classes. */
must_check int tree_find_classes(const struct scan *scan, struct tree *tree);
/* Warns if the root is probably not the intended directory, or if images lie beside the classes. */
void tree_warn(const struct scan *scan, const struct tree *tree);

struct catalogue;

/*
 * Looks for a path that the scan could not see, although the catalogue has a sample at this path or
 * below it. Returns the path, and sets *ret_sample to the sample's path. NULL: there is no such
 * path. Sorts tree->unseen.
 */
const char *scan_unseen(
	struct tree *tree, const struct catalogue *catalogue, const char **ret_sample);

/* Gives each file of the tree that has a row in the catalogue the id of this row. */
must_check int scan_match(const struct catalogue *catalogue, struct tree *tree);
/* Finds the facts of each file. Reads only the headers of new and changed files. */
must_check int scan_examine(
	struct scan *scan, struct tree *tree, const struct catalogue *catalogue);

/* Reads the header of a file. *ret is {0, 0} if the file is not an image. -errno: the file can't be
 * read. */
must_check int probe_header(
	const char *path, struct tensor_shape *ret, uint8_t *ret_orientation);
/* Reads like pread, at most `bytes` bytes. -1: an error. */
typedef ssize_t read_at(void *context, void *ret, size_t bytes, uint64_t offset);
/* Reads the header of a sample in a container, by calling `read`. bytes: the sample's size. *ret
 * and errors: as in probe_header. */
must_check int probe_part(read_at *read, void *context, const struct source_part *part,
	uint64_t bytes, struct tensor_shape *ret, uint8_t *ret_orientation);

/* Returns the orientation in EXIF data, 1 to 8; 1 if it is missing or invalid. The data begin like
 * a TIFF file. */
uint8_t exif_orientation(const uint8_t *data, size_t size);
/* Works like exif_orientation, but returns 0 if the data have no orientation. */
uint32_t exif_find_orientation(const uint8_t *data, size_t size);
/* Returns the orientation of a PNG file, 1 to 8. The position in `file` must be the end of the
 * first chunk. */
uint8_t png_orientation(FILE *file);
