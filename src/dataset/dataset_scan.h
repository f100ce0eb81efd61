// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/own_mounts.h"
#include "dataset/dataset.h"
#include "dataset/dataset_hash.h"
#include "dataset/dataset_tools.h"

#include <stdio.h>

/*
 * The tree of a scan: its samples and classes, before they are written to a catalogue.
 *
 *   list the names -> scan_match gives ids from the old catalogue -> examine files and
 *            headers -> catalogue_update makes the rows -> catalogue_write, if changed
 *
 *   Owns: the names in the tree.
 *   Threads: one per tree; several while its files are examined.
 *   Errors: -errno, logged; a problem of a single file is an issue (issue_add).
 */

/* Facts about a file, from stat and from its header. */
struct facts {
	uint64_t bytes;
	int64_t mtime_ns;
	struct tensor_shape image;
	uint8_t orientation; /* EXIF orientation, 1 to 8 */
	bool probed;	     /* false: could not be read; the next scan tries again */
};

struct container {
	const char *name; /* relative to scan->beside, or a URL */
	uint64_t bytes;
	int64_t mtime_ns;
};

struct part {
	uint32_t container; /* index in `containers` of the scan or the catalogue */
	struct source_part at;
};

/* A file beside a sample, such as 7.txt beside 7.jpg. */
struct beside {
	const struct beside *next; /* next file beside the same sample */
	const char *ending;	   /* lower case */
	const char *name;	   /* last component of the path, as in the file system */
	uint64_t bytes;
	int64_t mtime_ns;
	struct source_part at; /* place in the container, if the sample is in one */
};

/* Inserts in the order of endings. Returns false if the list already has this ending. */
bool beside_insert(const struct beside **list, struct beside *beside);
/* Tells whether both lists have the same files: names, sizes, mtimes and places. */
bool beside_equal(const struct beside *a, const struct beside *b);

struct found {
	const char *path; /* relative to the root */
	sample_id id;	  /* SAMPLE_NONE: the sample has no id yet */
	bool present;	  /* the file exists, and was examined */
	bool unseen;	  /* could not be examined, so does not count as removed */
	struct facts facts;
	const struct part *part; /* NULL: the sample has its own file */
	const struct beside *beside;
};

/* A file that may lie beside a sample. */
struct beside_file {
	const char *path;
	/* stem: length of the path without its ending. order: number of files that were found
	 * before this one. */
	size_t stem, order;
	struct beside is;
};

struct beside_files {
	struct beside_file *of;
	size_t n, capacity;
};

/* A list of texts. It does not own the texts. */
struct name_list {
	const char **name;
	size_t n;
	size_t capacity;
};

must_check int name_list_add(struct name_list *names, const char *name);
/* Adds the path's first directory, unless the last name of the list is the same. */
must_check int name_list_add_class(
	struct name_list *names, struct arena *arena, const char *path);
/* Sorts the list in byte order, and removes duplicates. */
void name_list_sort(struct name_list *names);
/* Returns the text of a sorted list that equals `name`, or NULL. */
const char *name_list_find(const struct name_list *names, const char *name);

struct tree {
	struct found *files; /* sorted by class, then directory, then name */
	size_t n_files;
	size_t files_capacity;
	struct beside_files beside; /* files that are not assigned to samples yet */
	struct found *others; /* files that are not samples, if the dataset shows them */
	size_t n_others;
	size_t others_capacity;
	/* names of the classes, in byte order; tree_find_classes removes directories without
	 * samples */
	struct name_list classes;
	/* paths at which there may be unseen samples: directories that are unreadable, or empty (a
	 * mount may be missing); links that can't be followed */
	struct name_list unseen;
	struct name_list metadata; /* files of metadata below the root */
	uint64_t root_files;	   /* files directly in the root, which have no class */
	struct issues issues;
	struct arena names; /* memory of all names; catalogue_update takes it over */
	bool described; /* metadata still need `files`: catalogue_update must not free them */
};

enum label_kind {
	LABEL_AUTO,
	LABEL_DIRECTORY,
	LABEL_CLS,
	LABEL_JSON,
	LABEL_CSV,
	LABEL_WITHOUT /* one class for all samples; paths do not begin with the class */
};

#define ONLY_CLASS "all" /* the class of LABEL_WITHOUT */

#define MOST_NUMBERED_CLASSES 1000000 /* numeric labels must be smaller */

struct source;
struct listing;

struct scan {
	const char *name;
	const struct source *source;
	char *root; /* configured path, without slashes at the end; "" for "/" */
	char *real; /* root's real path; NULL: the source is not `directory` */
	/* directory or URL to which names of containers, remote files and files of metadata are
	 * relative: the root, or the root without its last component */
	char *beside;
	bool far;		      /* the root is a URL */
	struct container *containers; /* sorted by name */
	size_t n_containers, containers_capacity;
	const char *missing; /* path or URL that can't be read, for the error message */
	const char *reason;  /* why `missing` can't be read; NULL: see the errno */
	_Atomic(char *) denied; /* first answer that refused the credentials, or NULL */
	enum label_kind label;
	const char *label_field; /* JSON field or column of metadata with the label */
	/* text of all settings that decide which samples a container has; for a
	 * directory: "", or a hash of the shown files that are not samples */
	char *settings;
	bool sharded;  /* the dataset may have several containers */
	bool labelled; /* set by the listing: paths begin with a label, not a directory */
	struct listing *listed; /* remote files that source->find lists; NULL: none */
	struct arena names;
	const char *extensions;
	bool follow_outside;
	bool shows_others;
	char *rule; /* text of the settings that decide which samples a scan finds */
	/* true: a map that was made with the same `rule` replaces the scan, even if files may have
	 * changed */
	bool trusting;
	struct own_mounts own_mounts; /* mounts of joaderfs, which a scan skips */
	unsigned threads; /* number of threads; 1: the order of work is always the same */
	bool anew;	  /* the caller is dataset_scan_anew or dataset_scan_next */
	bool next;	  /* the caller is dataset_scan_next */
	const char *kept; /* catalogue that dataset_open_kept opens, or NULL */
	const atomic_bool *stop; /* becomes true when the scan must stop; may be NULL */
	struct progress progress;
};

#define SCAN_FAR_THREADS 32 /* for slow storage that answers many requests at a time */

/* Prints <beside>/<name>, or `name` alone if it is a URL. 0 or -ENAMETOOLONG. */
must_check int scan_beside(const char *beside, const char *name, char *ret, size_t size);
/* Prints the absolute path of a file in the tree. 0 or -ENAMETOOLONG. */
must_check int scan_path(
	const struct scan *scan, const char *relative, char *ret, size_t size);
bool scan_stopped(const struct scan *scan);
/* Tells whether the file's real path lies below the root's real path. If links may leave the root,
 * returns true for all files. */
bool scan_inside(const struct scan *scan, const char *relative);

/* Compares paths in the order of ImageFolder: class, directory, file name, each by bytes. */
int path_compare(const char *a, const char *b);
/* Sorts by path_compare; equal paths are sorted by their places in containers. */
void files_sort(struct found *files, size_t n, unsigned threads);

/* Tells whether paths with this component are ignored: .NAME, Thumbs.db, __MACOSX and so on. */
bool hidden_name(const char *name, size_t n);

bool metadata_name(const char *name);

/* Tells whether the name's ending, after the last dot, is in `extensions`. "*" allows all names. */
bool wanted_name(const char *extensions, const char *name);
bool wanted_ending(const char *extensions, const char *ending);

void tree_free(struct tree *tree);
/* Finds the classes. Warns of directories without samples, which do not become classes. */
must_check int tree_find_classes(const struct scan *scan, struct tree *tree);
/* Warns if the root seems to be wrong, or if images lie directly in the root, where they have no
 * class. */
void tree_warn(const struct scan *scan, const struct tree *tree);

struct catalogue;

/* Returns a path that the scan could not see, and at or below which the catalogue has samples;
 * NULL: there is no such path. *ret_sample: path of one of these samples. Sorts tree->unseen. */
const char *scan_unseen(
	struct tree *tree, const struct catalogue *catalogue, const char **ret_sample);

/* Gives each file of the tree the id of the catalogue's row with the same path, if there is one. */
must_check int scan_match(const struct catalogue *catalogue, struct tree *tree);
/* Finds the facts of all files, with scan->source->examine. Reads only new and changed headers. */
must_check int scan_examine(
	struct scan *scan, struct tree *tree, const struct catalogue *catalogue);

/* Reads a file's header. *ret = {0, 0}: the file is not an image. -errno: it can't be read. */
must_check int probe_header(
	const char *path, struct tensor_shape *ret, uint8_t *ret_orientation);
/* Reads like pread, at most `bytes` bytes. -1: an error. */
typedef ssize_t read_at(void *context, void *ret, size_t bytes, uint64_t offset);
/* Works like probe_header for a sample in a container. bytes: the sample's size. */
must_check int probe_part(read_at *read, void *context, const struct source_part *part,
	uint64_t bytes, struct tensor_shape *ret, uint8_t *ret_orientation);

/* Returns the EXIF orientation, 1 to 8; 1: there is none, or it is invalid. data: EXIF data, from
 * its TIFF header on. */
uint8_t exif_orientation(const uint8_t *data, size_t size);
/* Works like exif_orientation, but returns 0 if there is none. */
uint32_t exif_find_orientation(const uint8_t *data, size_t size);
/* Returns the orientation of a PNG, 1 to 8. The position in `file` must be the end of the PNG's
 * first chunk. */
uint8_t png_orientation(FILE *file);
