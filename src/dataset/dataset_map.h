// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset_internal.h"
#include "dataset/dataset_pack.h"

/*
 * The file <catalogue>.map, which is mapped into memory.
 *
 *     head | about | classes | containers | present | labels | heights | ... | paths
 *
 * The map has the rows of the SQLite file as packed columns, indexed by id (dataset_pack.h), so
 * that a start need not read all rows. `about` has the root, and the settings of the scan.
 *
 *   Flow: catalogue_map_make (after a scan, or if there is no map) or catalogue_map_open ->
 *         map_attach -> map_close.
 *   Owns: the mapping.
 *   Threads: any; the file is never changed in place.
 *   Errors: -ENOENT: there is no map, or it belongs to another catalogue. -EILSEQ: the map is
 *           damaged or has another version, and must be made again. -errno. All are logged, except
 *           for a file that is missing or can't be opened.
 *
 * Numbers are little-endian; a big-endian machine refuses the map, by its magic number. Sections
 * begin at multiples of MAP_ALIGNMENT. A new column needs a line in MAP_SECTIONS, a case in
 * value_of (dataset_map_write.c), and a new MAP_VERSION.
 */

#define MAP_MAGIC UINT64_C(0x70616d7265646f6a) /* "jodermap" */
#define MAP_VERSION 3
/* The last version without the section SHAPES. The maps in rows of SQLite (dataset_rows.c) still
 * have this version. */
#define MAP_WITHOUT_SHAPES 2
#define MAP_ALIGNMENT 64

struct map_container {
	uint64_t bytes;
	int64_t mtime_ns;
	uint64_t name; /* offset of the name in the section CONTAINER_NAMES */
};

/* Consecutive ids, `first` to `last` inclusive, of samples whose files exist. */
struct map_run {
	uint32_t first;
	uint32_t last;
};

/* The largest number of shapes in SHAPES. If a dataset has more shapes, SHAPES is empty, and a new
 * job examines each sample. */
#define MAP_MOST_SHAPES (1 << 20)

/*
 * Each line describes a section: its name, the bytes of one of its elements, its kind:
 *   MAP_BYTES           any number of elements
 *   MAP_COLUMN          a packed number for each id
 *   MAP_COLUMN_OR_NONE  like MAP_COLUMN, but empty if no sample lies in a container
 *   MAP_GROUPS          a packed number for each group of PATHS_TOGETHER consecutive ids
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
/* Bits of a number in MAP_STATES. */
#define ROW_PROBED 1
#define ROW_GONE 2

enum map_kind { MAP_BYTES, MAP_COLUMN, MAP_COLUMN_OR_NONE, MAP_GROUPS };

#define PATHS_TOGETHER 16

struct map_place {
	uint64_t offset;
	uint64_t bytes;
	uint64_t sum;
};

/* Facts that identify the SQLite file to which a map belongs. */
struct map_pair {
	uint64_t inode;
	uint64_t bytes;
	int64_t mtime_ns;
};

struct map_head {
	uint64_t magic;
	uint32_t version;
	uint32_t head_bytes;
	uint64_t sum; /* checksum of this head; for the computation `sum` counts as 0 */
	uint64_t file_bytes;
	struct map_pair of;
	uint64_t total_bytes;
	uint32_t n_ids;
	uint32_t n_samples;
	uint32_t n_classes;
	uint32_t n_containers;
	uint32_t edition;
	uint32_t labelled; /* paths of samples begin with a label, not a directory */
	uint32_t without_channels; /* old catalogue: all images count as RGB */
	uint32_t unused;
	struct dataset_pixels pixels; /* counts of samples whose files exist */
	struct map_place sections[MAP_N_SECTIONS];
	/* The sum of sample_scatter over all samples whose files exist. The field follows
	 * `sections`: the head of version MAP_WITHOUT_SHAPES ends before the element of SHAPES, and
	 * lacks this field. */
	uint64_t identities;
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

/* Opens the map of the catalogue `file`. `root` must be the root in the map. Finds all damage that
 * could lead to reads outside the map. check: also compares the checksums of columns, and so reads
 * the whole map. */
must_check int catalogue_map_open(
	const char *file, const char *root, bool check, struct catalogue_map **ret);
/* Maps `fd`, and checks it like catalogue_map_open. name: for messages. */
must_check int map_open_fd(
	int fd, const char *name, bool check, struct catalogue_map **ret);
void map_close(struct catalogue_map **map);

uint64_t map_head_sum(const struct map_head *head);
/* Returns how many sections the map has; an older version lacks the last ones. */
int map_sections(const struct map_head *head);
enum map_kind map_kind(enum map_section section);

void *map_section(const struct catalogue_map *map, enum map_section section);
/* Returns the text of the settings with which the map's samples were scanned. */
const char *map_rule(const struct catalogue_map *map);
/* Returns why the map is unusable, or NULL. all: compares the checksums of columns, too. */
const char *map_problem(const struct catalogue_map *map, bool all);
uint64_t map_number(const struct catalogue_map *map, enum map_section column, size_t i);
/* Works like map_number, but an impossible label becomes LABEL_NONE. */
uint64_t map_value(const struct catalogue_map *map, enum map_section column, size_t i);
/* Works like dataset_relative, but returns NULL if the map is damaged. */
const char *map_path(
	const struct catalogue_map *map, sample_id id, struct path_text *path);
/* Reads the path of a sample into text->text. -EIO, logged: the map is damaged. */
must_check int dataset_read_path(
	const struct dataset *dataset, sample_id id, struct path_text *text);

/* Fills in *ret: the sample's container, and the sample's place in the container. Returns false if
 * the sample is a file of its own, or gone. The caller must check that ret->container exists,
 * because the map may be damaged. */
bool map_part(const struct catalogue_map *map, sample_id id, struct part *ret);

/* Fills in the dataset from the map. dataset_close closes the map. */
must_check int map_attach(struct dataset *dataset, struct catalogue_map *map);

/* Writes the map of the catalogue `file` and opens it. If the map can't be written to
 * disk, logs this and makes the map in memory. Fault injection: dataset.map. */
must_check int catalogue_map_make(const char *file, const char *root, const char *rule,
	const struct catalogue *catalogue, struct catalogue_map **ret);

struct map_bytes {
	uint8_t *at;
	size_t n;
};

/* Makes a small map in memory for dataset_rows.c. The map lacks what can be computed again:
 * identities, lengths of paths, and shapes. parts: whether the map has the columns PART_... The
 * caller frees ret->at. */
must_check int map_rows_make(
	const struct catalogue *rows, bool parts, struct map_bytes *ret);

/* Makes the sections PATH_GROUPS and PATHS. The caller frees both. */
must_check int map_paths_make(const struct catalogue *catalogue,
	struct map_bytes *ret_groups, struct map_bytes *ret_paths);
size_t map_path_groups(size_t n_ids);

/* Makes the section SHAPES, empty if there are too many shapes. The caller frees it. */
must_check int map_shapes_make(const struct catalogue *catalogue, struct map_bytes *ret);
/* Tells whether the shapes are possible: at most MAP_MOST_SHAPES; the sample ids of each
 * (largest, first, last) are below n_ids, and first is not above last. */
bool map_shapes_fit(const struct dataset_shape *shapes, size_t n, uint32_t n_ids);

/* Turns a small difference, positive or negative, into a small unsigned number. */
static inline uint64_t map_zigzag(uint64_t difference)
{
	return difference << 1 ^ (difference >> 63 ? UINT64_MAX : 0);
}

static inline uint64_t map_unzigzag(uint64_t number)
{
	return number >> 1 ^ (number & 1 ? UINT64_MAX : 0);
}
