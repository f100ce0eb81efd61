// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset_internal.h"
#include "dataset/far_window.h"

/*
 * The source of a dataset's samples, which the dataset's path decides.
 *
 *   Flow: source_of -> find -> list -> examine, in each scan.
 *   Owns: nothing. All results are in the tree.
 *   Threads: a scan starts several threads; the result does not depend on their timing.
 *   Errors: 0 or -errno. The log names the container, and the offset of the mistake. If one part
 *           violates the format, the whole container is refused.
 */

struct container_scan;

struct source {
	const char *name;
	const char *expected; /* for messages: the files that this source expects */
	/* Finds the containers. The source of directories finds none; it sets scan->real. -EINVAL
	 * with scan->missing: this path is not a regular file. -EINVAL without scan->missing:
	 * another mistake, which is already logged. All other errors are not logged yet. */
	int (*find)(struct scan *scan);
	/* Lists the samples; for samples in containers also finds their facts. */
	int (*list)(
		struct scan *scan, const struct catalogue *catalogue, struct tree *ret);
	/* Finds the facts of a sample that has its own file. old: the sample's row in the
	 * catalogue, or NULL. Returns false if the file is not regular, no longer exists, or can't
	 * be examined. NULL: `list` finds the facts of all samples. */
	bool (*examine)(struct scan *scan, struct found *found, const struct row *old,
		struct issues *issues);
	/* Lists a container by calls of container_member and listing_add_class, and
	 * at the end container_end. NULL: the source has no containers. */
	int (*index)(struct container_scan *container);
	bool any_name; /* samples may have any ending, or none */
};

extern const struct source source_directory;
extern const struct source source_tar;
extern const struct source source_zip;
extern const struct source source_lmdb;
extern const struct source source_far_tar, source_manifest, source_bucket;

const struct source *source_of(const char *path);
/* Returns NULL if no source reads such a URL. */
const struct source *source_of_url(const char *url);
/* Tells whether the path has this ending. Ignores case, and slashes at the end. */
bool source_name_ends(const char *path, const char *ending);
/* Tells whether the name ends as a tar's. Accepts compressed tars, which are refused later. */
bool source_is_tar_name(const char *name);

/* --- containers: source_container.c ---------------------------------------------------- */

/* Lists a tar; the `index` of all sources that have tars. */
must_check int tar_index(struct container_scan *container);

/* A container that a thread is listing. */
struct container_scan {
	struct scan *scan;
	const struct container *file;
	const char *path; /* absolute path, or URL */
	uint32_t number;
	int fd;
	/* reads a remote object; NULL: the container is the open file `fd` */
	struct far_window *window;
	uint8_t *buffer;      /* bytes read in advance; NULL: reads are not buffered */
	uint64_t buffered_at; /* offset of the buffer in the file */
	size_t buffered;
	struct listing *listing; /* list that gets the samples that the thread finds */
	struct label_group *group;
	size_t first; /* index in listing->samples of the container's first sample */
	struct group_label *labels;
	size_t n_labels, labels_capacity;
	struct arena label_names; /* paths of members that contain labels */
	struct beside_files beside;
};

must_check int containers_add(
	struct scan *scan, const char *name, uint64_t bytes, int64_t mtime_ns);
/* Adds the file `name` of the directory scan->beside to the containers. If the file can't be read,
 * stores its path in scan->missing. */
int containers_add_file(struct scan *scan, const char *name);
/* Adds the shards of a name with a range, such as shard-{000000..000146}.tar. */
int containers_add_range(struct scan *scan, const char *name);
int containers_find_file(struct scan *scan);
void containers_sort(struct scan *scan);
int containers_find_directory(struct scan *scan, bool (*wanted)(const char *name));
int containers_find_pattern(struct scan *scan);
int containers_list(
	struct scan *scan, const struct catalogue *catalogue, struct tree *ret);

/* Reads `bytes` bytes. -EINVAL, logged: they can't be read, or the container is too short. */
must_check int container_read(
	struct container_scan *container, uint64_t offset, void *ret, size_t bytes);
/* Logs why the container is refused, and the offset. Returns -EINVAL. */
must_check int container_refuse(struct container_scan *container, uint64_t offset,
	const char *format, ...) printf_like(3, 4);
/* Tells whether the container has at least `bytes` bytes from the offset on. */
bool container_has(
	const struct container_scan *container, uint64_t offset, uint64_t bytes);

/* Makes a path from a member's name, without "." and empty components. Returns 1 if the path is
 * empty, hidden, or too long for a sample. -EINVAL, logged: the path leads out of the container. */
must_check int container_clean_name(struct container_scan *container, uint64_t offset,
	const char *name, char ret[PATH_MAX]);

/* Adds a member. Members must come in the container's order. path: from container_clean_name.
 * bytes: size before compression. */
must_check int container_member(struct container_scan *container, const char *path,
	const struct source_part *part, uint64_t bytes);
/* Ends the listing of the container. Must be called after the last member. */
must_check int container_end(struct container_scan *container);
void container_issue(
	struct container_scan *container, enum issue_kind kind, const char *name);

/* Reads a member, and appends a NUL. The caller frees *ret. -EIO: the member is damaged. */
must_check int container_load(struct container_scan *container,
	const struct source_part *part, uint64_t bytes, char **ret);

/* --- files beside samples: source_beside.c --------------------------------------------- */

/* Tells whether a file with this path, which is not a sample, may lie beside a sample. */
bool beside_wanted(const char *path);
/* Adds a file that may lie beside samples. facts: size, mtime and place. -ENOMEM */
must_check int beside_add(struct beside_files *files, struct arena *arena,
	const char *path, const struct beside *facts);
/* Must be called after the last beside_add and before beside_find. */
void beside_sort(struct beside_files *files);
must_check int beside_find(const struct beside_files *files, struct arena *arena,
	const char *path, const struct beside **ret);

/* --- samples that threads have listed: source_label.c ---------------------------------- */

/* A sample of a container or list of files. listings_join makes its path. */
struct listed {
	const char *member; /* path in the container */
	const char *label;  /* label that the container or manifest gives; NULL: none */
	const struct part *part;
	const struct beside *beside;
	struct facts facts;
	/* The member becomes no sample, because it is not the image of its group (struct
	 * label_group). The image is the first member with one of scan->extensions after the first
	 * dot of its name: 7.jpg, but not 7.seg.jpg. Two cases in which no member is aside: an LMDB
	 * file unless label = none; a group without an image if label = none. The field has no
	 * effect if directories are classes. */
	bool aside;
};

struct listing {
	struct listed *samples;
	size_t n, capacity;
	struct arena members;	      /* paths of samples in containers */
	struct name_list directories; /* classes, if directories are classes */
	struct issues issues;
	struct arena names;
	void *json; /* sqlite3_stmt that reads a field of JSON; NULL until used */
};

struct listed *listing_add(struct listing *listing); /* NULL: no memory */
/* Adds the path's first directory to the classes, listing->directories. */
must_check int listing_add_class(struct listing *listing, const char *path);

/* Sorts `files`. Finds the files beside each sample of the listing, from sample `first` on.
 * -ENOMEM */
must_check int listing_find_beside(
	struct listing *listing, size_t first, struct beside_files *files);

/* Makes a tree from n listings, one per thread: gives samples paths and classes. */
must_check int listings_join(
	struct scan *scan, struct listing *listings, size_t n, struct tree *ret);
void listing_free(struct listing *listing);
/* Copies a label, without spaces around it. NULL: a class can't have this name. */
const char *listing_label(struct listing *listing, const char *text);

/* A label in a container, and the samples that have this label. */
struct group_label {
	const char *member; /* path of the member that contains the label */
	const char *label;  /* NULL: the member has no valid label */
	size_t first, end;  /* samples first to end - 1 of the listing */
};

/* A group: consecutive members of a container, such as an image and its label. Their
 * paths are equal up to the first dot of the file name. This part is the group's key. */
struct label_group {
	char key[PATH_MAX];
	const char *member; /* path of the member with the label; NULL: none yet */
	size_t first;	    /* index of the group's first sample in the listing */
	const char *label;  /* label of the group; NULL: none yet */
};
/* Adds a member to the group with the member's key. If this is not the current group, ends the
 * current group and begins another. *ret_sample: whether the member is a sample. */
must_check int group_add(struct container_scan *container, const char *path,
	const struct source_part *part, uint64_t bytes, bool *ret_sample);
/* Ends the current group: gives its samples their label. */
must_check int group_end(struct container_scan *container);
/* Removes duplicates: if several members have the same path, one sample remains. It has the data of
 * the last member, as after unpacking, and stands at the place of the first member. */
must_check int container_replace(struct container_scan *container);
