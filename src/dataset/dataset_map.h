// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset_internal.h"
#include "dataset/dataset_pack.h"

/*
 * The file <catalogue>.map, which is mapped, not read.
 *
 *     head | about | classes | containers | present | labels | heights | ... | paths
 *
 * SQLite has the rows, too, for scans, which read all of them. The map has them for readers, as
 * packed columns by id (dataset_pack.h), so that an engine serves without reading all rows, and
 * the next engine finds the pages in memory.
 *
 *   Flow: catalogue_map_make, after a scan or for a catalogue that has no map; or
 *         catalogue_map_open -> map_attach -> map_close, with the dataset.
 *   Owns: the mapping. The file is never changed in place, so a mapping never changes.
 *   Threads: any; a map is constant.
 *   Errors: -ENOENT: there is no map, or it is another catalogue's. -EILSEQ: it is damaged
 *         or has another version, and has to be made again. -errno. All are logged, except
 *         that the file is missing or can't be opened.
 *
 * Numbers are little-endian; a machine of another byte order reads another magic number.
 * Sections begin at multiples of MAP_ALIGNMENT. A new column needs a line in MAP_SECTIONS, its
 * value in value_of (dataset_map_write.c), and another MAP_VERSION.
 */

#define MAP_MAGIC UINT64_C(0x70616d7265646f6a) /* "jodermap" */
#define MAP_VERSION 3
/* The version of maps that end before SHAPES: those of rows (dataset_rows.h), and older ones. */
#define MAP_WITHOUT_SHAPES 2
#define MAP_ALIGNMENT 64

struct map_container {
	uint64_t bytes;
	int64_t mtime_ns;
	uint64_t name; /* offset in CONTAINER_NAMES */
};

/* A run of ids that are not gone; `last` is in it. */
struct map_run {
	uint32_t first;
	uint32_t last;
};

/* More shapes are not listed: a job then looks at each sample. */
#define MAP_MOST_SHAPES (1 << 20)

/*
 * Each line has a name, the bytes of an element, and the kind of the section:
 *   MAP_BYTES           any number of elements
 *   MAP_COLUMN          a packed number for each id
 *   MAP_COLUMN_OR_NONE  a MAP_COLUMN, or nothing if no sample lies in a container
 *   MAP_GROUPS          a packed number for each PATHS_TOGETHER ids
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
	section(PATHS,           1,                            MAP_BYTES)                \
	section(SHAPES,          sizeof(struct dataset_shape), MAP_BYTES)
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

/* Identifies the SQLite file that has the rows of a map. */
struct map_pair {
	uint64_t inode;
	uint64_t bytes;
	int64_t mtime_ns;
};

struct map_head {
	uint64_t magic;
	uint32_t version;
	uint32_t head_bytes;
	uint64_t sum; /* sum of the head, with 0 in this place */
	uint64_t file_bytes;
	struct map_pair of;
	uint64_t total_bytes;
	uint32_t n_ids;
	uint32_t n_samples;
	uint32_t n_classes;
	uint32_t n_containers;
	uint32_t edition;
	uint32_t labelled;
	uint32_t without_channels; /* the catalogue's version has no channels */
	uint32_t unused;
	struct dataset_pixels pixels; /* counts of samples that are not gone */
	struct map_place sections[MAP_N_SECTIONS];
	/* A MAP_WITHOUT_SHAPES ends before its place. */
	uint64_t identities; /* sum of sample_scatter of all samples that are not gone */
};

#define MAP_HEAD_WITHOUT_SHAPES offsetof(struct map_head, sections[MAP_SHAPES])

struct catalogue_map {
	const struct map_head *head;
	uint8_t *bytes; /* read-only */
	size_t size;
};

/* Returns <file>.map. The caller frees it; NULL: no memory. */
char *catalogue_map_file(const char *file);
must_check int map_pair_of(const char *file, struct map_pair *ret);

/*
 * Opens the map of the catalogue `file`, if it was made for this catalogue and for `root`.
 * check: compares the sums of the samples' columns, too; without it the check finds what could
 * lead out of the file, and takes no longer with more samples.
 */
must_check int catalogue_map_open(
	const char *file, const char *root, bool check, struct catalogue_map **ret);
/* Maps the file `fd`, and checks it as catalogue_map_open does; name: for messages. */
must_check int map_open_fd(
	int fd, const char *name, bool check, struct catalogue_map **ret);
void map_close(struct catalogue_map **map);

/* Returns the sum of a head, with head->sum taken as 0. */
uint64_t map_head_sum(const struct map_head *head);
/* Returns how many sections the map has, from the first one on. */
int map_sections(const struct map_head *head);
enum map_kind map_kind(enum map_section section);

void *map_section(const struct catalogue_map *map, enum map_section section);
/* Returns the rule by which samples were found when the map was made: scan_rule. */
const char *map_rule(const struct catalogue_map *map);
/* Returns why the map can't be used, or NULL. all: compares the sums of all columns. */
const char *map_problem(const struct catalogue_map *map, bool all);
/* Returns number i of the column, unchanged. */
uint64_t map_number(const struct catalogue_map *map, enum map_section column, size_t i);
/* Returns number i of the column; LABEL_NONE for a label that no class has. */
uint64_t map_value(const struct catalogue_map *map, enum map_section column, size_t i);
/* Returns the path of a sample, in `path`, which is {0} at first; the next call reads on from
 * there. NULL: damaged. */
const char *map_path(
	const struct catalogue_map *map, sample_id id, struct path_text *path);

/* Finds the place of a sample in a container; a damaged map may name a container that does not
 * exist. Returns false for a sample that is a file of its own, or gone. */
bool map_part(const struct catalogue_map *map, sample_id id, struct part *ret);

/* Fills the dataset from the map, which dataset_close closes. */
must_check int map_attach(struct dataset *dataset, struct catalogue_map *map);

/*
 * Writes the map of the catalogue `file`, and opens it. If the disk fails, which is logged, it
 * makes the map in memory. Fault: dataset.map.
 */
must_check int catalogue_map_make(const char *file, const char *root, const char *rule,
	const struct catalogue *catalogue, struct catalogue_map **ret);

struct map_bytes {
	uint8_t *at;
	size_t n;
};

/* Makes a map in memory that has the rows alone, for dataset_rows.c. parts: samples may lie in
 * containers. The caller frees ret->at. */
must_check int map_rows_make(
	const struct catalogue *rows, bool parts, struct map_bytes *ret);

/* Makes the sections PATH_GROUPS and PATHS; the caller frees both. */
must_check int map_paths_make(const struct catalogue *catalogue,
	struct map_bytes *ret_groups, struct map_bytes *ret_paths);
size_t map_path_groups(size_t n_ids);

/* Makes the section SHAPES, which is empty if there are too many; the caller frees it. */
must_check int map_shapes_make(const struct catalogue *catalogue, struct map_bytes *ret);
/* Tells whether all ids of the shapes are below n_ids. */
bool map_shapes_fit(const struct dataset_shape *shapes, size_t n, uint32_t n_ids);

/* Makes a small number of a small difference, whatever its sign. */
static inline uint64_t map_zigzag(uint64_t difference)
{
	return difference << 1 ^ (difference >> 63 ? UINT64_MAX : 0);
}

/* Makes the difference again. */
static inline uint64_t map_unzigzag(uint64_t number)
{
	return number >> 1 ^ (number & 1 ? UINT64_MAX : 0);
}
