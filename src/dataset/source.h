// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset_internal.h"
#include "dataset/far_window.h"

/*
 * Where the samples of a dataset come from. The path of a dataset decides which source it
 * has.
 *
 *   Flow: source_of -> find -> list -> examine, once for each scan. Samples are read
 *         later, by src/load: a file by its path, or a part of a container (source_part.h).
 *   Owns: nothing. What is found belongs to the tree.
 *   Threads: a scan has several of its own; the tree that results does not depend on them.
 *   Errors: 0 or -errno, logged, naming the container and the place in it. A container that
 *         says what can't be true is refused as a whole.
 */

struct container_scan;

struct source {
	const char *name;
	const char *expected; /* what a path of this kind leads to */
	/* Fills scan->containers, or scan->real for a directory. -errno: what the path leads
	 * to can't be read, not logged; -EINVAL: logged. */
	int (*find)(struct scan *scan);
	/* Finds the samples; those of containers with their facts. */
	int (*list)(
		struct scan *scan, const struct catalogue *catalogue, struct tree *ret);
	/* Finds the facts of samples that are files; NULL: they were found by list. */
	int (*examine)(
		struct scan *scan, struct tree *tree, const struct catalogue *catalogue);
	/* Lists a container, by container_member and container_directory. NULL: a
	 * directory. */
	int (*index)(struct container_scan *container);
	bool any_name; /* a sample's name needs no ending that is among the extensions */
};

extern const struct source source_directory;
extern const struct source source_tar;
extern const struct source source_zip;
extern const struct source source_lmdb;
extern const struct source source_far_tar, source_manifest, source_bucket;

const struct source *source_of(const char *path);
const struct source *source_of_url(const char *url); /* NULL: none */
bool source_is_tar_name(const char *name);

/* --- containers: source_container.c ---------------------------------------------------- */

/* {FIRST..LAST} in the name of a file. false: none, or not one alone. */
struct name_range {
	const char *begin, *end; /* of the name */
	uint64_t first, last;
	int digits; /* as many at least */
};
bool name_range_read(const char *name, struct name_range *ret);
must_check int name_range_print(const char *name, const struct name_range *range,
	uint64_t i, char *ret, size_t size);
/* Lists a tar, for all sources that have some. */
must_check int tar_index(struct container_scan *container);

/* The container that a thread lists, and what it has found in it. */
struct container_scan {
	struct scan *scan;
	const struct container *file;
	const char *path; /* absolute */
	uint32_t number;
	int fd;
	struct far_window
		*window;	 /* instead, of an object far away; NULL: it is a file */
	uint8_t *buffer;	 /* of a file; NULL: each read is one of the file's */
	uint64_t buffered_at;	 /* place of its first byte in the file */
	size_t buffered;	 /* bytes in it */
	struct listing *listing; /* of the thread */
	struct label_group *group;
	size_t first; /* of its samples in the listing */
	struct group_label *labels;
	size_t n_labels, labels_capacity;
	struct beside_files beside;
};

int containers_find_file(struct scan *scan);
int containers_find_beside(struct scan *scan, const char *name);
int containers_find_directory(struct scan *scan, bool (*wanted)(const char *name));
bool containers_is_pattern(const struct scan *scan);
int containers_find_pattern(struct scan *scan);
int containers_list(
	struct scan *scan, const struct catalogue *catalogue, struct tree *ret);

/* Reads exactly so many bytes. -EINVAL, logged: it can not, or the container has less. */
must_check int container_read(
	struct container_scan *container, uint64_t offset, void *ret, size_t bytes);
/* Logs what the container says that can't be, and returns -EINVAL. */
must_check int container_refuse(struct container_scan *container, uint64_t offset,
	const char *format, ...) printf_like(3, 4);
/* Whether the container has so many bytes from there on. */
bool container_has(
	const struct container_scan *container, uint64_t offset, uint64_t bytes);

/* A name as the container has it becomes a path: no "." and no empty parts. -EINVAL: it
 * leads out of the container, which was logged; 1: it can't be a sample's (hidden, too
 * long). */
must_check int container_clean_name(struct container_scan *container, uint64_t offset,
	const char *name, char ret[PATH_MAX]);

/* What is in the container, in its order. path: of container_clean_name. bytes: of the
 * member itself, as it was before it was deflated. */
must_check int container_member(struct container_scan *container, const char *path,
	const struct source_part *part, uint64_t bytes);
must_check int container_directory(struct container_scan *container, const char *path);
/* No more follow. */
must_check int container_end(struct container_scan *container);
void container_issue(
	struct container_scan *container, enum issue_kind kind, const char *name);

/* The member's bytes, which the caller frees; a NUL follows them. -EIO: damaged. */
must_check int container_bytes(struct container_scan *container,
	const struct source_part *part, uint64_t bytes, char **ret);

/* --- what threads have listed: source_label.c ------------------------------------------ */

/* --- what lies beside samples: source_beside.c ----------------------------------------- */

/* Whether a file of this path, which is no sample, may be beside one. */
bool beside_wanted(const char *path);
/* facts: the size, the time and the place. -ENOMEM */
must_check int beside_add(struct beside_files *files, struct arena *arena,
	const char *path, const struct beside *facts);
/* When all are there. */
void beside_sort(struct beside_files *files);
/* Finds the files of a sample. -ENOMEM */
must_check int beside_find(const struct beside_files *files, struct arena *arena,
	const char *path, const struct beside **ret);

/* A sample that has no path yet. */
struct listed {
	const char *member; /* its path in the container */
	const char *label;  /* what the container says; NULL: nothing */
	const struct part *part;
	const struct beside *beside;
	struct facts facts;
	bool aside; /* not the first image of its key */
};

struct listing {
	struct listed *samples;
	size_t n, capacity;
	struct name_list directories; /* classes, if directories are */
	struct issues issues;
	struct arena names;
	void *json; /* SQLite's, which reads JSON; NULL until it is needed */
};

struct listed *listing_add(struct listing *listing); /* NULL: no memory */
/* The first directory of the path becomes a class, if directories are. */
must_check int listing_add_class(struct listing *listing, const char *path);

/* Gives paths and classes to what was found. */
must_check int listings_join(
	struct scan *scan, struct listing *listings, size_t n, struct tree *ret);
void listing_free(struct listing *listing);
/* Spaces around a label do not count. NULL: it can't be the name of a class. */
const char *listing_label(struct listing *listing, const char *text);

/* A label in a container, and the samples that it is for. */
struct group_label {
	const char *member; /* its path */
	const char *label;  /* NULL: it is none */
	size_t first, end;  /* of the listing's samples */
};

/* The labels of a container's members, of those with one key. */
struct label_group {
	char key[PATH_MAX];
	const char *member; /* the path of the label; NULL: none yet */
	size_t first;	    /* of the listing's samples */
	bool has_image;
	const char *label; /* NULL: none yet */
};
must_check int group_add(struct container_scan *container, const char *path,
	const struct source_part *part, uint64_t bytes, bool *ret_sample);
must_check int group_end(struct container_scan *container);
/* Members that come again later in a container: the last one counts, in the place of the first,
 * as where a container is unpacked. */
must_check int container_replace(struct container_scan *container);
