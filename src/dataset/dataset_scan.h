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
 *   list (names) -> match with the old catalogue (ids) -> examine (stat, headers)
 *                -> apply (new rows) -> catalogue_write, only if something changed
 *
 *   Owns: the names in the tree.   Threads: one thread per tree, except while it is examined.
 *   Errors: -errno, logged; problems of single files are issues.
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
	uint32_t container; /* number of the container */
	struct source_part at;
};

/* A file beside a sample: it has the sample's name with another ending. */
struct beside {
	const struct beside *next; /* next file beside this sample */
	const char *ending;	   /* in lower case */
	const char *name;	   /* last component of the path, unchanged */
	uint64_t bytes;
	int64_t mtime_ns;
	struct source_part at; /* place in the sample's container */
};

/* Inserts `beside` into a list that is sorted by endings. If the list has this ending already,
 * inserts nothing and returns false. */
bool beside_insert(const struct beside **list, struct beside *beside);
/* Tells whether both lists have the same files, and the files are unchanged. */
bool beside_equal(const struct beside *a, const struct beside *b);

struct found {
	const char *path; /* relative to the root */
	sample_id id;	  /* SAMPLE_NONE: it has none yet */
	bool present;	  /* the file was examined */
	bool unseen;	  /* the file could not be examined, so it may still exist */
	struct facts facts;
	const struct part *part; /* NULL: the sample has its own file */
	const struct beside *beside;
};

/* A file that may belong beside a sample; see source_beside.c. */
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
/* Returns the equal text of a sorted list, or NULL. */
const char *name_list_find(const struct name_list *names, const char *name);

struct tree {
	struct found *files; /* sorted by class, then directory, then name */
	size_t n_files;
	size_t files_capacity;
	struct beside_files beside; /* files that are not assigned to samples yet */
	struct found *others;	    /* files that are not samples, if they are shown */
	size_t n_others;
	size_t others_capacity;
	/* Classes in byte order. tree_find_classes removes directories without samples. */
	struct name_list classes;
	/* Directories that could not be listed, or are empty, possibly because their mount is
	 * missing; and links and entries that could not be followed. */
	struct name_list unseen;
	struct name_list metadata; /* files of metadata below the root */
	/* number of files directly in the root, which have no class */
	uint64_t root_files;
	struct issues issues;
	struct arena names; /* the catalogue owns them after an update */
	/* metadata describe files, so the files are kept after catalogue_update */
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

/* Labels that are numbers must be below this. */
#define MOST_NUMBERED_CLASSES 1000000

struct source;
struct listing;

struct scan {
	const char *name;
	const struct source *source;
	char *root; /* from the configuration, without slashes at the end; "" for "/" */
	/* real path of the root if it is a directory; also without slashes at the end */
	char *real;
	char *beside;		      /* directory of metadata, or a URL */
	bool far;		      /* the root is a URL */
	struct container *containers; /* sorted by name */
	size_t n_containers, containers_capacity;
	const char *missing; /* a path that can't be read, for messages */
	/* reason why it can't be read; NULL: the error number has it */
	const char *reason;
	_Atomic(char *) denied; /* message of the refusal of credentials, or NULL */
	enum label_kind label;
	const char *label_field; /* field of JSON, or column of metadata */
	char *settings; /* settings on which the samples found in a container depend */
	bool sharded;	/* there can be several containers */
	bool labelled;	/* set while listing: classes are labels, not directories */
	struct listing *listed; /* remote files, already listed by `find`; NULL: none */
	struct arena names;
	const char *extensions;
	bool follow_outside;
	bool shows_others;
	bool trusting; /* serves the catalogue of the last scan, if its rule was equal */
	struct own_mounts own_mounts; /* directories that are not entered */
	unsigned threads;	      /* 1: in the same order each time */
	bool anew;		      /* dataset_scan_anew */
	bool next;		      /* dataset_scan_next */
	const char *kept;	      /* dataset_open_kept: file of the catalogue */
	const atomic_bool *stop;      /* may be NULL */
	struct progress progress;
};

/* Threads for a storage that takes long to answer, but answers many requests at once. */
#define SCAN_FAR_THREADS 32

/* Makes the path or URL of a container or of a file far away. A name that is a URL itself stays.
 * 0 or -ENAMETOOLONG. */
must_check int scan_beside(const char *beside, const char *name, char *ret, size_t size);
/* Makes the absolute path of a file in the tree. 0 or -ENAMETOOLONG. */
must_check int scan_path(
	const struct scan *scan, const char *relative, char *ret, size_t size);
bool scan_stopped(const struct scan *scan);
/* Tells whether the file may be used: its real path is in the tree, or the dataset allows other
 * paths. */
bool scan_inside(const struct scan *scan, const char *relative);

/* Compares in ImageFolder's order: class, then directory, then name, each by bytes. */
int path_compare(const char *a, const char *b);
/* Sorts the files by path_compare, those of equal paths by their places in containers. */
void files_sort(struct found *files, size_t n, unsigned threads);

/* Tells whether this component hides a path and everything below it: it begins with a dot, or
 * systems and programs create it beside users' files (Thumbs.db, __MACOSX). */
bool hidden_name(const char *name, size_t n);

/* Tells whether this is the name of a file of metadata. */
bool metadata_name(const char *name);

/* Tells whether a file of this name is a sample, by the ending after the last dot. */
bool wanted_name(const char *extensions, const char *name);
bool wanted_ending(const char *extensions, const char *ending);

void tree_free(struct tree *tree);
/* Finds the classes of the samples. Warns of directories without samples, which are not classes. */
must_check int tree_find_classes(const struct scan *scan, struct tree *tree);
/* Warns if the root looks like a wrong directory, or contains images beside its classes. */
void tree_warn(const struct scan *scan, const struct tree *tree);

struct catalogue;

/*
 * Returns a path that the scan could not see, and that is or contains a sample of the catalogue
 * (*ret_sample). NULL: the scan has seen all places where the catalogue has samples. Sorts
 * tree->unseen.
 */
const char *scan_unseen(
	struct tree *tree, const struct catalogue *catalogue, const char **ret_sample);

/* Sets the ids of files that are in the old catalogue. */
must_check int scan_match(const struct catalogue *catalogue, struct tree *tree);
/* Examines each file, and reads the headers of new and changed files. */
must_check int scan_examine(
	struct scan *scan, struct tree *tree, const struct catalogue *catalogue);

/* Reads the header of a file. 0: the file could be read; *ret is {0, 0} if it is not an image.
 * -errno. */
must_check int probe_header(
	const char *path, struct tensor_shape *ret, uint8_t *ret_orientation);
/* Reads like pread, at most `bytes` bytes; -1: error. */
typedef ssize_t read_at(void *context, void *ret, size_t bytes, uint64_t offset);
/* Reads the header of a part through `read`, like probe_header. bytes: size of the sample. */
must_check int probe_part(read_at *read, void *context, const struct source_part *part,
	uint64_t bytes, struct tensor_shape *ret, uint8_t *ret_orientation);

/* Returns the orientation in EXIF data, which begin with the head of a TIFF file: 1 to 8. 1 if
 * there is none, or an invalid one. */
uint8_t exif_orientation(const uint8_t *data, size_t size);
/* Returns the orientation; 1: it is invalid; 0: there is none. */
uint32_t exif_find_orientation(const uint8_t *data, size_t size);
/* Returns the orientation of a PNG file. The file is positioned after its first chunk. */
uint8_t png_orientation(FILE *file);
