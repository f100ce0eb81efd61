// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset_internal.h"

/*
 * The file beside a catalogue that is mapped, not read: <catalogue>.map.
 *
 *     head | about | classes | containers | present | labels | sizes | ... | paths
 *
 * SQLite keeps the same rows for predicates and metadata. What a reader needs is here, as
 * arrays by id, so that an engine serves without reading it, and the next engine finds the
 * pages in memory.
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
 * MAP_SECTIONS, its value in fill_value (dataset_map_write.c), and another MAP_VERSION.
 */

#define MAP_MAGIC UINT64_C(0x70616d7265646f6a) /* "jodermap" */
#define MAP_VERSION 1
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

struct map_part {
	uint64_t offset;
	uint64_t stored_bytes;
	uint32_t checksum;
	uint32_t container; /* UINT32_MAX: a file of its own, or gone */
	uint32_t method;
	uint32_t unused;
};

/*
 * name, bytes of an element, how many elements: per
 *   MAP_PER_ID     of each id
 *   MAP_PER_BYTE   as many as it takes
 */
/* clang-format off */
#define MAP_SECTIONS(section)                                                            \
	section(ABOUT,           1,                            MAP_PER_BYTE)             \
	section(CLASSES,         1,                            MAP_PER_BYTE)             \
	section(CONTAINERS,      sizeof(struct map_container), MAP_PER_BYTE)             \
	section(CONTAINER_NAMES, 1,                            MAP_PER_BYTE)             \
	section(PRESENT,         sizeof(struct map_run),       MAP_PER_BYTE)             \
	section(LABELS,          sizeof(uint32_t),             MAP_PER_ID)               \
	section(SIZES,           sizeof(struct image_size),      MAP_PER_ID)               \
	section(ORIENTATIONS,    1,                            MAP_PER_ID)               \
	section(FILE_BYTES,      sizeof(uint64_t),             MAP_PER_ID)               \
	section(MTIMES,          sizeof(int64_t),              MAP_PER_ID)               \
	section(IDENTITIES,      sizeof(uint32_t),             MAP_PER_ID)               \
	section(PATH_LENGTHS,    sizeof(uint16_t),             MAP_PER_ID)               \
	section(PATH_OFFSETS,    sizeof(uint64_t),             MAP_PER_ID)               \
	section(PARTS,           sizeof(struct map_part),      MAP_PER_ID_OR_NONE)       \
	section(PATHS,           1,                            MAP_PER_BYTE)
/* clang-format on */

#define MAP_SECTION_NAME(name, bytes, per) MAP_##name,
enum map_section { MAP_SECTIONS(MAP_SECTION_NAME) MAP_N_SECTIONS };
enum map_per { MAP_PER_BYTE, MAP_PER_ID, MAP_PER_ID_OR_NONE };

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
/* true: the section has an element for each id. */
bool map_is_column(enum map_section section);
size_t map_element_bytes(enum map_section section);

void *map_section(const struct catalogue_map *map, enum map_section section);
/* The rule by which samples were found when the file was made: scan_rule. */
const char *map_rule(const struct catalogue_map *map);
/* NULL: damaged. */
const char *map_path(const struct catalogue_map *map, sample_id id);

/* NULL: no sample lies in a container. */
const struct map_part *map_part(const struct catalogue_map *map, sample_id id);

/* The dataset has what the map has, which it closes. */
must_check int map_attach(struct dataset *dataset, struct catalogue_map *map);

/*
 * Writes the file beside the catalogue `file`, and opens it; in memory alone, if the disk
 * won't have it, which is logged. Fault: dataset.map.
 */
must_check int catalogue_map_make(const char *file, const char *root, const char *rule,
	const struct catalogue *catalogue, struct catalogue_map **ret);

/* 64 bits of content: dataset_fingerprint.c. */
uint64_t content_sum(const void *bytes, size_t n);
