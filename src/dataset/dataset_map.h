// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset_internal.h"
#include "dataset/dataset_pack.h"

/*
 * The file beside a catalogue that is mapped, not read: <catalogue>.map.
 *
 *     head | about | classes | containers | present | labels | heights | ... | paths
 *
 * SQLite keeps the same rows, in the order in which they are read as a whole. What a reader
 * needs is here, as packed columns by id (dataset_pack.h), so that an engine serves without
 * reading it, and the next engine finds the pages in memory.
 *
 *   Flow: catalogue_map_make, after a scan or of a catalogue that has no file; or
 *         catalogue_map_open -> map_attach -> map_close, with the dataset.
 *   Owns: the mapping. The file is never changed in place, so a mapping stays what it was.
 *   Threads: any; it is constant.
 *   Errors: -ENOENT: there is none, or it is not of this catalogue. -EILSEQ: it is damaged
 *         or of another version, and it is to be made again. -errno. Logged but -ENOENT.
 *
 * Numbers are little-endian: the magic number of a file from a machine of another order is
 * another one. Sections begin at multiples of MAP_ALIGNMENT. To add a column: a line in
 * MAP_SECTIONS, its value in value_of (dataset_map_write.c), and another MAP_VERSION.
 */

#define MAP_MAGIC UINT64_C(0x70616d7265646f6a) /* "jodermap" */
#define MAP_VERSION 2
#define MAP_ALIGNMENT 64

struct map_container {
	uint64_t bytes;
	int64_t mtime_ns;
	uint64_t name; /* offset in the section of their names */
};

/* Ids that are not gone, from the first one to the last one. */
struct map_run {
	uint32_t first;
	uint32_t last;
};

/*
 * name, bytes of an element, what lies in it:
 *   MAP_BYTES           elements, as many as it takes
 *   MAP_COLUMN          a packed number of each id
 *   MAP_COLUMN_OR_NONE  so, or nothing if no sample lies in a container
 *   MAP_GROUPS          a packed number of each PATHS_TOGETHER ids
 */
/* clang-format off */
#define MAP_SECTIONS(section)                                                            \
	section(ABOUT,           1,                            MAP_BYTES)                \
	section(CLASSES,         1,                            MAP_BYTES)                \
	section(CONTAINERS,      sizeof(struct map_container), MAP_BYTES)                \
	section(CONTAINER_NAMES, 1,                            MAP_BYTES)                \
	section(PRESENT,         sizeof(struct map_run),       MAP_BYTES)                \
	section(LABELS,          1,                            MAP_COLUMN)               \
	section(HEIGHTS,         1,                            MAP_COLUMN)               \
	section(WIDTHS,          1,                            MAP_COLUMN)               \
	section(MODES,           1,                            MAP_COLUMN)               \
	section(ORIENTATIONS,    1,                            MAP_COLUMN)               \
	section(STATES,          1,                            MAP_COLUMN)               \
	section(FILE_BYTES,      1,                            MAP_COLUMN)               \
	section(MTIMES,          1,                            MAP_COLUMN)               \
	section(IDENTITIES,      1,                            MAP_COLUMN)               \
	section(PATH_LENGTHS,    1,                            MAP_COLUMN)               \
	section(PART_CONTAINERS, 1,                            MAP_COLUMN_OR_NONE)       \
	section(PART_OFFSETS,    1,                            MAP_COLUMN_OR_NONE)       \
	section(PART_BYTES,      1,                            MAP_COLUMN_OR_NONE)       \
	section(PART_CHECKSUMS,  1,                            MAP_COLUMN_OR_NONE)       \
	section(PART_METHODS,    1,                            MAP_COLUMN_OR_NONE)       \
	section(PATH_GROUPS,     1,                            MAP_GROUPS)               \
	section(PATHS,           1,                            MAP_BYTES)
/* clang-format on */

#define MAP_SECTION_NAME(name, bytes, per) MAP_##name,
enum map_section { MAP_SECTIONS(MAP_SECTION_NAME) MAP_N_SECTIONS };
/* Bits of MAP_STATES. */
#define ROW_PROBED 1
#define ROW_GONE 2

enum map_kind { MAP_BYTES, MAP_COLUMN, MAP_COLUMN_OR_NONE, MAP_GROUPS };

#define PATHS_TOGETHER 16

struct map_place {
	uint64_t offset;
	uint64_t bytes;
	uint64_t sum;
};

/* The SQLite file that has the same rows. */
struct map_pair {
	uint64_t inode;
	uint64_t bytes;
	int64_t mtime_ns;
};

struct map_head {
	uint64_t magic;
	uint32_t version;
	uint32_t head_bytes;
	uint64_t sum; /* of the head, with 0 here */
	uint64_t file_bytes;
	struct map_pair of;
	uint64_t total_bytes;
	uint32_t n_ids;
	uint32_t n_samples;
	uint32_t n_classes;
	uint32_t n_containers;
	uint32_t edition;
	uint32_t labelled;
	uint32_t without_channels; /* the catalogue is of a version that had none */
	uint32_t unused;
	struct dataset_pixels pixels; /* of samples that are not gone */
	struct map_place sections[MAP_N_SECTIONS];
};

struct catalogue_map {
	const struct map_head *head;
	uint8_t *bytes; /* not to be written to */
	size_t size;
};

/* <file>.map; the caller frees it. NULL: no memory. */
char *catalogue_map_file(const char *file);
must_check int map_pair_of(const char *file, struct map_pair *ret);

/*
 * Opens the file beside the catalogue `file`, if it is of this catalogue, and of `root`.
 * check: the sums and values of all samples, too; without it only what could lead out of the
 * file, which takes no longer with more samples.
 */
must_check int catalogue_map_open(
	const char *file, const char *root, bool check, struct catalogue_map **ret);
/* Maps what `fd` has, and looks at it as catalogue_map_open does; name: for messages. */
must_check int map_open_fd(
	int fd, const char *name, bool check, struct catalogue_map **ret);
void map_close(struct catalogue_map **map);

/* The sum of a head, with 0 in its place. */
uint64_t map_head_sum(const struct map_head *head);
enum map_kind map_kind(enum map_section section);

void *map_section(const struct catalogue_map *map, enum map_section section);
/* The rule by which samples were found when the file was made: scan_rule. */
const char *map_rule(const struct catalogue_map *map);
/* NULL, or why the map can't be used. all: also by the sums of its columns. */
const char *map_problem(const struct catalogue_map *map, bool all);
/* A number as it stands there. */
uint64_t map_number(const struct catalogue_map *map, enum map_section column, size_t i);
/* The number of a sample; LABEL_NONE, as a label, for one that is no class. */
uint64_t map_value(const struct catalogue_map *map, enum map_section column, size_t i);
/* The path of a sample, in `path`, which is {0} at first, and is read on from the next time.
 * NULL: damaged. */
const char *map_path(
	const struct catalogue_map *map, sample_id id, struct path_text *path);

/* false: the sample is a file of its own, or gone. Its container may be none, if damaged. */
bool map_part(const struct catalogue_map *map, sample_id id, struct part *ret);

/* The dataset has what the map has, which it closes. */
must_check int map_attach(struct dataset *dataset, struct catalogue_map *map);

/*
 * Writes the file beside the catalogue `file`, and opens it; in memory alone, if the disk
 * won't have it, which is logged. Fault: dataset.map.
 */
must_check int catalogue_map_make(const char *file, const char *root, const char *rule,
	const struct catalogue *catalogue, struct catalogue_map **ret);

struct map_bytes {
	uint8_t *at;
	size_t n;
};

/* Makes a map of the rows alone in memory, for dataset_rows.c; parts: some may lie in containers.
 * The caller frees it. */
must_check int map_rows_make(
	const struct catalogue *rows, bool parts, struct map_bytes *ret);

/* Makes the sections of paths; the caller frees both. */
must_check int map_paths_make(const struct catalogue *catalogue,
	struct map_bytes *ret_groups, struct map_bytes *ret_paths);
size_t map_path_groups(size_t n_ids);

/* Small numbers of small differences, whichever is the larger one; and back. */
static inline uint64_t map_zigzag(uint64_t difference)
{
	return difference << 1 ^ (difference >> 63 ? UINT64_MAX : 0);
}

static inline uint64_t map_unzigzag(uint64_t number)
{
	return number >> 1 ^ (number & 1 ? UINT64_MAX : 0);
}

/* 64 bits of content: dataset_fingerprint.c. */
uint64_t content_sum(const void *bytes, size_t n);
