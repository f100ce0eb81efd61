// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/own_mounts.h"
#include "dataset/dataset.h"
#include "dataset/dataset_tools.h"

#include <stdio.h>

/*
 * What a scan finds, before it is a catalogue.
 *
 *   list (names) -> match with the old catalogue (ids) -> examine (stat, headers)
 *                -> apply (new rows) -> catalogue_write, only if something changed
 *
 *   Owns: a tree has its names.   Threads: a tree is one thread's but while it is examined.
 *   Errors: -errno, logged; problems of single files are issues.
 */

/* The facts of a file, from its stat and its header. */
struct facts {
	uint64_t bytes;
	int64_t mtime_ns;
	struct tensor_shape image;
	uint8_t orientation; /* EXIF's, 1 to 8 */
	bool probed; /* false: the header could not be read now (permission, I/O error) */
};

/* A file that has samples in it. */
struct container {
	const char *name; /* relative to scan->beside */
	uint64_t bytes;
	int64_t mtime_ns;
};

struct part {
	uint32_t container; /* its number */
	struct source_part at;
};

/* A file beside a sample, which has its name but for the ending. */
struct beside {
	const struct beside *next; /* of the same sample */
	const char *ending;	   /* in small letters */
	const char *name;	   /* as it is: a file's lies in the sample's directory */
	uint64_t bytes;
	int64_t mtime_ns;
	struct source_part at; /* of the sample's container */
};

/* Inserts it into a list in the order of endings. false: the list has this ending. */
bool beside_insert(const struct beside **list, struct beside *beside);
/* Whether they are of the same files, which have not changed. */
bool beside_equal(const struct beside *a, const struct beside *b);

struct found {
	const char *path; /* relative to the root */
	sample_id id;	  /* SAMPLE_NONE until it has one */
	bool present;	  /* the file was examined */
	bool unseen;	  /* it could not be: it may be there */
	struct facts facts;
	const struct part *part; /* NULL: a file of its own */
	const struct beside *beside;
};

/* Files that may be beside samples, as they are found: source_beside.c. */
struct beside_file {
	const char *path;
	size_t stem, order;
	struct beside is;
};

struct beside_files {
	struct beside_file *of;
	size_t n, capacity;
};

/* The texts are another's. */
struct name_list {
	const char **name;
	size_t n;
	size_t capacity;
};

/* In byte order. */
void name_list_sort(struct name_list *names);
/* The text of a sorted list that is equal, or NULL. */
const char *name_list_find(const struct name_list *names, const char *name);

struct tree {
	struct found *files; /* by class, then directory, then name */
	size_t n_files;
	size_t files_capacity;
	struct beside_files beside; /* until it is joined with the files */
	struct found *others;	    /* that are no samples, if they are shown */
	size_t n_others;
	size_t others_capacity;
	/* Byte order; directories until tree_find_classes. */
	struct name_list classes;
	/* Directories that could not be listed, or were empty as one is that waits for its
	 * mount, and links and entries that could not be followed. */
	struct name_list unseen;
	struct name_list metadata; /* files of it, below the root */
	uint64_t root_files;	   /* files directly in the root, which have no class */
	struct issues issues;
	struct arena names;
};

enum label_kind {
	LABEL_AUTO,
	LABEL_DIRECTORY,
	LABEL_CLS,
	LABEL_JSON,
	LABEL_CSV,
	LABEL_WITHOUT /* all samples are of one class, and paths do not begin with it */
};

/* The class of all samples, where there is no other. */
#define ONLY_CLASS "all"

/* Labels that are numbers are below this. */
#define MOST_NUMBERED_CLASSES 1000000

struct source;
struct listing;

struct scan {
	const char *name;
	const struct source *source;
	char *root;   /* as configured, without slashes at the end: "" for "/" */
	char *real;   /* its real path, likewise; of a directory */
	char *beside; /* the directory that metadata may lie in, or a URL */
	bool far;     /* it is a URL */
	struct container *containers; /* by name */
	size_t n_containers, containers_capacity;
	const char *missing;	/* what of them can't be read */
	const char *reason;	/* why; NULL: as the error number says */
	_Atomic(char *) denied; /* why the source refuses its credentials, or NULL */
	enum label_kind label;
	const char *label_field; /* of JSON, or the column */
	char *settings;		 /* on which depends what is found in a container */
	bool sharded;		 /* there may be several containers */
	bool labelled;		 /* set by listing: classes are labels, not directories */
	struct listing *listed;	 /* of files far away, by find; NULL: none */
	struct arena names;
	const char *extensions;
	bool follow_outside;
	bool shows_others;
	bool trusting; /* what the last scan by the same rule has found is served */
	struct own_mounts own_mounts; /* directories that are not entered */
	unsigned threads;
	bool anew;		 /* dataset_scan_anew */
	bool next;		 /* dataset_scan_next */
	const char *kept;	 /* dataset_open_kept: the file */
	const atomic_bool *stop; /* may be NULL */
	struct progress progress;
};

/* The place of a file far away, or of a container: a name may be a URL itself. The same
 * errors. */
must_check int scan_beside(const char *beside, const char *name, char *ret, size_t size);
/* The absolute path of a file in the tree. 0 or -ENAMETOOLONG. */
must_check int scan_path(
	const struct scan *scan, const char *relative, char *ret, size_t size);
bool scan_stopped(const struct scan *scan);
/* Whether the file that the path leads to may be used: it lies in the tree, or may lie
 * outside. */
bool scan_inside(const struct scan *scan, const char *relative);

/* ImageFolder's order: class, then directory, then name, each in byte order. */
int path_compare(const char *a, const char *b);
int found_compare(const void *a, const void *b);

/* Whether a part of a path hides what is there: it begins with a point, or is what systems and
 * programs put beside people's files. */
bool hidden_name(const char *name, size_t n);

/* Whether people expect columns in a file of this name. */
bool metadata_name(const char *name);

/* Whether a file of this name is a sample, by the last part of it. */
bool wanted_name(const char *extensions, const char *name);
bool wanted_ending(const char *extensions, const char *ending);

void tree_free(struct tree *tree);
/* The classes are those of the samples, whatever directories there are, which are warned of. */
must_check int tree_find_classes(const struct scan *scan, struct tree *tree);
/* About a tree that is hardly meant as it is. */
void tree_warn(const struct scan *scan, const struct tree *tree);

struct catalogue;

/*
 * A path of the tree that could not be seen and that the catalogue has samples at or below
 * of, one of which becomes *ret_sample; NULL: the scan has seen whatever the catalogue
 * knows. Sorts tree->unseen.
 */
const char *scan_unseen(
	struct tree *tree, const struct catalogue *catalogue, const char **ret_sample);

/* Gives their ids to the files that the old catalogue knows. */
must_check int scan_match(const struct catalogue *catalogue, struct tree *tree);
/* Looks at each file, and reads the headers of new and changed ones. */
must_check int scan_examine(
	struct scan *scan, struct tree *tree, const struct catalogue *catalogue);

/* 0: the file could be read; *ret is {0, 0} if it has no header of an image. -errno. */
must_check int probe_header(
	const char *path, struct tensor_shape *ret, uint8_t *ret_orientation);
/* Reads as pread does, up to so many bytes; -1: it can't. */
typedef ssize_t read_at(void *context, void *ret, size_t bytes, uint64_t offset);
/* The same for a part of what is read so; bytes: of the sample. */
must_check int probe_part(read_at *read, void *context, const struct source_part *part,
	uint64_t bytes, struct tensor_shape *ret, uint8_t *ret_orientation);

/* The orientation in EXIF data, which begin with the head of a TIFF file: 1 to 8; 1 also
 * for nonsense. */
uint8_t exif_orientation(const uint8_t *data, size_t size);
/* 0: there is none; 1 for nonsense. */
uint32_t exif_find_orientation(const uint8_t *data, size_t size);
/* Reads on behind the first chunk. */
uint8_t png_orientation(FILE *file);

/* The same for the same file with the same content, as far as a stat shows it. path:
 * relative to the root. */
uint32_t sample_identity(const char *path, uint64_t bytes, int64_t mtime_ns);
/* Of a part of a container, from what sample_identity says of it. */
uint32_t part_identity(uint32_t identity, const struct source_part *part);
