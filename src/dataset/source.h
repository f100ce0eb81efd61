// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset_internal.h"
#include "dataset/far_window.h"

/*
 * The source of a dataset's samples. The path of a dataset decides which source it has.
 *
 *   Flow: source_of -> find -> list -> examine, in each scan. Samples are read later, by src/load:
 *         a file by its path, or a part of a container (source_part.h).
 *   Owns: nothing. All results are in the tree.
 *   Threads: a scan starts several threads; the result does not depend on their timing.
 *   Errors: 0 or -errno, logged, naming the container and the place in it. A container that
 *         contradicts itself or its format is refused as a whole.
 */

struct container_scan;

struct source {
	const char *name;
	const char *expected; /* for messages: the files that this source expects */
	/* Fills in scan->containers; for a directory, scan->real. -EINVAL: the mistake is logged,
	 * or scan->missing is not a file. Another -errno, not logged: the path or a container can't
	 * be read. */
	int (*find)(struct scan *scan);
	/* Finds the samples; for samples in containers also their facts. */
	int (*list)(
		struct scan *scan, const struct catalogue *catalogue, struct tree *ret);
	/* Finds the facts of samples that have their own files. NULL: `list` finds them. */
	int (*examine)(
		struct scan *scan, struct tree *tree, const struct catalogue *catalogue);
	/* Lists a container, by calling container_member, container_directory and container_end.
	 * NULL: the source has no containers. */
	int (*index)(struct container_scan *container);
	bool any_name; /* samples may have any ending */
};

extern const struct source source_directory;
extern const struct source source_tar;
extern const struct source source_zip;
extern const struct source source_lmdb;
extern const struct source source_far_tar, source_manifest, source_bucket;

const struct source *source_of(const char *path);
/* NULL: no source reads such a URL */
const struct source *source_of_url(const char *url);
/* Tells whether the path has this ending, in upper or lower case. The path must not end with a
 * slash. */
bool source_name_ends(const char *path, const char *ending);
/* Tells whether the name is that of a tar, or of a compressed tar, which is refused later. */
bool source_is_tar_name(const char *name);

/* --- containers: source_container.c ---------------------------------------------------- */

/* A range {FIRST..LAST} in the name of a file. */
struct name_range {
	const char *begin, *end; /* the text of the range in the name */
	uint64_t first, last;
	int digits; /* numbers have at least this many digits, with leading zeros */
};
/* Finds the range in a name. Returns false if there is none, or more than one. */
bool name_range_read(const char *name, struct name_range *ret);
/* Prints the name with the number i in place of the range. -ENAMETOOLONG */
must_check int name_range_print(const char *name, const struct name_range *range,
	uint64_t i, char *ret, size_t size);
/* Lists a tar, for all sources that have tars. */
must_check int tar_index(struct container_scan *container);

/* A container that a thread is listing, and the state of the listing. */
struct container_scan {
	struct scan *scan;
	const struct container *file;
	const char *path; /* absolute */
	uint32_t number;
	int fd;
	struct far_window
		*window; /* reads a remote object; NULL: the container is a file, `fd` */
	/* bytes of the file that were read; NULL: reads are not buffered */
	uint8_t *buffer;
	uint64_t buffered_at;	 /* offset of the buffer in the file */
	size_t buffered;	 /* bytes in the buffer */
	struct listing *listing; /* the listing of this thread */
	struct label_group *group;
	size_t first; /* index of the container's first sample in the listing */
	struct group_label *labels;
	size_t n_labels, labels_capacity;
	struct arena label_names; /* paths of members that contain labels */
	struct beside_files beside;
};

int containers_find_file(struct scan *scan);
void containers_sort(struct scan *scan); /* by their names */
int containers_find_beside(struct scan *scan, const char *name);
int containers_find_directory(struct scan *scan, bool (*wanted)(const char *name));
bool containers_is_pattern(const struct scan *scan);
int containers_find_pattern(struct scan *scan);
int containers_list(
	struct scan *scan, const struct catalogue *catalogue, struct tree *ret);

/* Reads `bytes` bytes. -EINVAL, logged: they can't be read, or the container is too short. */
must_check int container_read(
	struct container_scan *container, uint64_t offset, void *ret, size_t bytes);
/* Logs the reason why the container is refused, and the offset of the mistake. Returns -EINVAL. */
must_check int container_refuse(struct container_scan *container, uint64_t offset,
	const char *format, ...) printf_like(3, 4);
/* Tells whether the container has at least `bytes` bytes from the offset on. */
bool container_has(
	const struct container_scan *container, uint64_t offset, uint64_t bytes);

/* Makes a path from the name of a member: removes "." and empty components. 1: no sample can have
 * this path (hidden, too long). -EINVAL, logged: the name leads out of the container. */
must_check int container_clean_name(struct container_scan *container, uint64_t offset,
	const char *name, char ret[PATH_MAX]);

/* Adds a member of the container. Has to be called in the order of the members. path: from
 * container_clean_name. bytes: the member's size before compression. */
must_check int container_member(struct container_scan *container, const char *path,
	const struct source_part *part, uint64_t bytes);
/* Adds the class of a directory in the container, for datasets whose classes are directories. */
must_check int container_directory(struct container_scan *container, const char *path);
/* Ends the listing of the container. */
must_check int container_end(struct container_scan *container);
void container_issue(
	struct container_scan *container, enum issue_kind kind, const char *name);

/* Reads the bytes of a member. *ret, which the caller frees, has a NUL after them. -EIO:
 * damaged. */
must_check int container_load(struct container_scan *container,
	const struct source_part *part, uint64_t bytes, char **ret);

/* --- files beside samples: source_beside.c --------------------------------------------- */

/* Tells whether a file that is not a sample may lie beside a sample, judging by its path. */
bool beside_wanted(const char *path);
/* Adds a file that may lie beside samples. facts: its size, mtime and place. -ENOMEM */
must_check int beside_add(struct beside_files *files, struct arena *arena,
	const char *path, const struct beside *facts);
/* Sorts the files. Must be called after the last beside_add and before beside_find. */
void beside_sort(struct beside_files *files);
/* Finds the files beside a sample. -ENOMEM */
must_check int beside_find(const struct beside_files *files, struct arena *arena,
	const char *path, const struct beside **ret);

/* --- samples that threads have listed: source_label.c ---------------------------------- */

/* A sample that has been listed, but has no path in the dataset yet. */
struct listed {
	const char *member; /* path in the container */
	const char *label;  /* label that the container or manifest gives; NULL: none */
	const struct part *part;
	const struct beside *beside;
	struct facts facts;
	bool aside; /* not the first image among the members with its key */
};

struct listing {
	struct listed *samples;
	size_t n, capacity;
	struct arena members;	      /* paths of samples in containers */
	struct name_list directories; /* classes, if directories are classes */
	struct issues issues;
	struct arena names;
	void *json; /* SQLite connection that parses JSON; NULL until it is used */
};

struct listed *listing_add(struct listing *listing); /* NULL: no memory */
/* Adds the first directory of the path to listing->directories, for sources whose directories are
 * classes. */
must_check int listing_add_class(struct listing *listing, const char *path);

/* Makes a tree from n listings: assigns paths and classes to the listed samples. */
must_check int listings_join(
	struct scan *scan, struct listing *listings, size_t n, struct tree *ret);
void listing_free(struct listing *listing);
/* Copies a label into the listing, without surrounding spaces. NULL: a class can't have this
 * name. */
const char *listing_label(struct listing *listing, const char *text);

/* A label in a container, and the range of samples with this label. */
struct group_label {
	const char *member; /* path of the member that contains the label */
	const char *label;  /* NULL: the member has no valid label */
	/* indexes of the label's samples in the listing, without `end` */
	size_t first, end;
};

/* Consecutive members of a container with the same key, such as an image and its label. */
struct label_group {
	char key[PATH_MAX];
	/* path of the member that contains the label; NULL: none yet */
	const char *member;
	size_t first;	   /* index of the group's first sample in the listing */
	const char *label; /* label of the group; NULL: none yet */
};
/* Adds a member to the group of its key. If this is a new key, ends the previous group first.
 * *ret_sample: whether the member is a sample. */
must_check int group_add(struct container_scan *container, const char *path,
	const struct source_part *part, uint64_t bytes, bool *ret_sample);
/* Ends the group: its samples get their label. */
must_check int group_end(struct container_scan *container);
/* If a member occurs several times in a container, the last one takes the place of the first, as
 * when the container is unpacked. */
must_check int container_replace(struct container_scan *container);
