// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset_internal.h"
#include "dataset/far_window.h"

/*
 * The source of a dataset's samples. The path of a dataset decides which source it has.
 *
 *   Flow: source_of -> find -> list -> examine, once for each scan. Samples are read later, by
 *         src/load: a file by its path, or a part of a container (source_part.h).
 *   Owns: nothing. All results are in the tree.
 *   Threads: a scan starts several threads; the result does not depend on their timing.
 *   Errors: 0 or -errno, logged, naming the container and the place in it. A container that
 *         contradicts itself or its format is refused as a whole.
 */

struct container_scan;

struct source {
	const char *name;
	const char *expected; /* for messages: what such a path should be */
	/* Fills in scan->containers; for a directory, scan->real. -errno, not logged: the path or a
	 * container can't be read. -EINVAL: logged, or scan->missing is not a file. */
	int (*find)(struct scan *scan);
	/* Finds the samples. For samples in containers it also finds the facts. */
	int (*list)(
		struct scan *scan, const struct catalogue *catalogue, struct tree *ret);
	/* Finds the facts of samples that are files. NULL: `list` has found them. */
	int (*examine)(
		struct scan *scan, struct tree *tree, const struct catalogue *catalogue);
	/* Lists a container, by calling container_member, container_directory and container_end.
	 * NULL: the source has no containers. */
	int (*index)(struct container_scan *container);
	bool any_name; /* names of samples may have any ending */
};

extern const struct source source_directory;
extern const struct source source_tar;
extern const struct source source_zip;
extern const struct source source_lmdb;
extern const struct source source_far_tar, source_manifest, source_bucket;

const struct source *source_of(const char *path);
const struct source *source_of_url(const char *url); /* NULL: none */
/* Tells whether the path, without slashes at its end, ends so, in whatever case. */
bool source_name_ends(const char *path, const char *ending);
/* Returns true for compressed tars, too, which are refused later. */
bool source_is_tar_name(const char *name);

/* --- containers: source_container.c ---------------------------------------------------- */

/* A range {FIRST..LAST} in the name of a file. */
struct name_range {
	const char *begin, *end; /* place of the range in the name */
	uint64_t first, last;
	int digits; /* least number of digits */
};
/* Finds the range in a name. Returns false if there is none, or more than one. */
bool name_range_read(const char *name, struct name_range *ret);
/* Prints the name with number i instead of the range. -ENAMETOOLONG */
must_check int name_range_print(const char *name, const struct name_range *range,
	uint64_t i, char *ret, size_t size);
/* Lists a tar. Used by all sources with tars. */
must_check int tar_index(struct container_scan *container);

/* A container that a thread is listing, and the state of the listing. */
struct container_scan {
	struct scan *scan;
	const struct container *file;
	const char *path; /* absolute */
	uint32_t number;
	int fd;
	struct far_window
		*window;      /* used instead of fd for a remote object; NULL: a file */
	uint8_t *buffer;      /* buffer for a file; NULL: unbuffered */
	uint64_t buffered_at; /* offset of the buffer in the file */
	size_t buffered;      /* bytes in the buffer */
	struct listing *listing; /* the listing of this thread */
	struct label_group *group;
	size_t first; /* index of the container's first sample in the listing */
	struct group_label *labels;
	size_t n_labels, labels_capacity;
	struct arena label_names; /* paths of members that have labels */
	struct beside_files beside;
};

int containers_find_file(struct scan *scan);
int containers_find_beside(struct scan *scan, const char *name);
int containers_find_directory(struct scan *scan, bool (*wanted)(const char *name));
bool containers_is_pattern(const struct scan *scan);
int containers_find_pattern(struct scan *scan);
int containers_list(
	struct scan *scan, const struct catalogue *catalogue, struct tree *ret);

/* Reads exactly this number of bytes. -EINVAL, logged: the read fails, or the container is
 * shorter. */
must_check int container_read(
	struct container_scan *container, uint64_t offset, void *ret, size_t bytes);
/* Logs the reason why the container is refused, and the offset. Returns -EINVAL. */
must_check int container_refuse(struct container_scan *container, uint64_t offset,
	const char *format, ...) printf_like(3, 4);
/* Tells whether the container has this number of bytes from the offset on. */
bool container_has(
	const struct container_scan *container, uint64_t offset, uint64_t bytes);

/* Makes a path from a name in the container; removes "." and empty components. -EINVAL, logged: the
 * name leads out of the container. 1: no sample can have this path (hidden, too long). */
must_check int container_clean_name(struct container_scan *container, uint64_t offset,
	const char *name, char ret[PATH_MAX]);

/* Adds a member of the container. Members are added in the order of the container. path: from
 * container_clean_name. bytes: the member's size before compression. */
must_check int container_member(struct container_scan *container, const char *path,
	const struct source_part *part, uint64_t bytes);
/* Adds the class of a directory in the container, if directories are classes. */
must_check int container_directory(struct container_scan *container, const char *path);
/* Ends the listing of the container. */
must_check int container_end(struct container_scan *container);
void container_issue(
	struct container_scan *container, enum issue_kind kind, const char *name);

/* Reads the bytes of a member, which the caller frees; a NUL follows them. -EIO: damaged. */
must_check int container_load(struct container_scan *container,
	const struct source_part *part, uint64_t bytes, char **ret);

/* --- files beside samples: source_beside.c --------------------------------------------- */

/* Tells whether a file that is not a sample may belong beside a sample, by its path. */
bool beside_wanted(const char *path);
/* Adds a file that may belong beside samples. facts: size, mtime and place. -ENOMEM */
must_check int beside_add(struct beside_files *files, struct arena *arena,
	const char *path, const struct beside *facts);
/* Sorts the files after all are added, for beside_find. */
void beside_sort(struct beside_files *files);
/* Finds the files beside a sample. -ENOMEM */
must_check int beside_find(const struct beside_files *files, struct arena *arena,
	const char *path, const struct beside **ret);

/* --- samples that threads have listed: source_label.c ---------------------------------- */

/* A sample without a path. */
struct listed {
	const char *member; /* path in the container */
	const char *label;  /* label in the container; NULL: none */
	const struct part *part;
	const struct beside *beside;
	struct facts facts;
	bool aside; /* not the first image of its key */
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
/* Makes a class from the first directory of the path, for sources whose directories are classes. */
must_check int listing_add_class(struct listing *listing, const char *path);

/* Makes a tree from n listings: assigns paths and classes to the listed samples. */
must_check int listings_join(
	struct scan *scan, struct listing *listings, size_t n, struct tree *ret);
void listing_free(struct listing *listing);
/* Copies a label without surrounding spaces. NULL: it is not valid as the name of a class. */
const char *listing_label(struct listing *listing, const char *text);

/* A label in a container, and the samples with this label. */
struct group_label {
	const char *member; /* path of the label's member */
	const char *label;  /* NULL: the member has no valid label */
	size_t first, end;  /* range of samples in the listing; `end` is not included */
};

/* Consecutive members of a container with the same key: an image and its label. */
struct label_group {
	char key[PATH_MAX];
	const char *member; /* path of the label's member; NULL: none yet */
	size_t first;	    /* index of the group's first sample in the listing */
	const char *label;  /* NULL: none yet */
};
/* Adds a member to the group of its key. If the key is new, ends the previous group. *ret_sample:
 * the member is a sample. */
must_check int group_add(struct container_scan *container, const char *path,
	const struct source_part *part, uint64_t bytes, bool *ret_sample);
/* Ends the group, and sets the label of its samples. */
must_check int group_end(struct container_scan *container);
/* If a member occurs several times in a container, keeps the last one in the place of the first, as
 * if the container was unpacked. */
must_check int container_replace(struct container_scan *container);
