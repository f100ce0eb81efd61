// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/dataset_map.h"
#include "base/aprintf.h"
#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define SECTION_BYTES(name, bytes, kind) bytes,
#define SECTION_KIND(name, bytes, kind) kind,
static const size_t element_bytes[] = {MAP_SECTIONS(SECTION_BYTES)};
static const enum map_kind kinds[] = {MAP_SECTIONS(SECTION_KIND)};

enum map_kind map_kind(enum map_section section)
{
	return kinds[section];
}

char *catalogue_map_file(const char *file)
{
	return aprintf("%s.map", file);
}

int map_pair_of(const char *file, struct map_pair *ret)
{
	struct stat status;
	if (stat(file, &status) < 0)
		return -errno;
	*ret = (struct map_pair){.inode = status.st_ino,
		.bytes = (uint64_t)status.st_size,
		.mtime_ns = timespec_ns(status.st_mtim)};
	return 0;
}

void map_close(struct catalogue_map **map)
{
	struct catalogue_map *old = *map;
	*map = NULL;
	if (!old)
		return;
	munmap(old->bytes, old->size);
	free(old);
}

void *map_section(const struct catalogue_map *map, enum map_section section)
{
	return map->bytes + map->head->sections[section].offset;
}

static uint64_t section_bytes(const struct catalogue_map *map, enum map_section section)
{
	return map->head->sections[section].bytes;
}

uint64_t map_head_sum(const struct map_head *head)
{
	struct map_head copy = {0};
	memcpy(&copy, head, head->head_bytes);
	copy.sum = 0;
	return content_sum(&copy, head->head_bytes);
}

int map_sections(const struct map_head *head)
{
	return head->version == MAP_WITHOUT_SHAPES ? MAP_SHAPES : MAP_N_SECTIONS;
}

static bool is_of_version(const struct map_head *head)
{
	return (head->version == MAP_VERSION && head->head_bytes == sizeof(*head)) ||
	       (head->version == MAP_WITHOUT_SHAPES &&
		       head->head_bytes == MAP_HEAD_WITHOUT_SHAPES);
}

static const char *head_problem(const struct catalogue_map *map)
{
	const struct map_head *head = map->head;
	if (map->size < MAP_HEAD_WITHOUT_SHAPES || head->magic != MAP_MAGIC)
		return "is not a mapped catalogue";
	if (!is_of_version(head))
		return "is of another version";
	if (map->size < head->head_bytes)
		return "is truncated";
	if (head->sum != map_head_sum(head))
		return "has a damaged head";
	return head->file_bytes == map->size ? NULL : "is truncated";
}

static bool is_placed(const struct catalogue_map *map, enum map_section section)
{
	const struct map_place *place = &map->head->sections[section];
	size_t n = map->head->n_ids;
	if (place->offset % MAP_ALIGNMENT != 0 || place->offset > map->size ||
		place->bytes > map->size - place->offset ||
		place->bytes % element_bytes[section] != 0)
		return false;
	switch (kinds[section]) {
	case MAP_COLUMN:
		return place->bytes >= pack_least_bytes(n);
	case MAP_COLUMN_OR_NONE:
		return place->bytes == 0 || place->bytes >= pack_least_bytes(n);
	case MAP_GROUPS:
		return place->bytes >= pack_least_bytes(map_path_groups(n));
	default:
		return true;
	}
}

static bool has_texts(const struct catalogue_map *map, enum map_section section, size_t n)
{
	const char *text = map_section(map, section);
	size_t bytes = section_bytes(map, section), ends = 0;
	for (size_t i = 0; i < bytes; i++)
		ends += text[i] == '\0';
	return ends == n && (bytes == 0 || text[bytes - 1] == '\0');
}

static bool runs_fit(const struct catalogue_map *map)
{
	const struct map_run *runs = map_section(map, MAP_PRESENT);
	size_t n = section_bytes(map, MAP_PRESENT) / sizeof(*runs);
	uint64_t next = 0, ids = 0;
	for (size_t i = 0; i < n; i++) {
		if (runs[i].first < next || runs[i].last < runs[i].first ||
			runs[i].last >= map->head->n_ids)
			return false;
		next = (uint64_t)runs[i].last + 1;
		ids += next - runs[i].first;
	}
	return ids == map->head->n_samples;
}

static bool containers_fit(const struct catalogue_map *map)
{
	const struct map_container *containers = map_section(map, MAP_CONTAINERS);
	uint64_t names = section_bytes(map, MAP_CONTAINER_NAMES);
	for (uint32_t i = 0; i < map->head->n_containers; i++)
		if (containers[i].name >= names)
			return false;
	return true;
}

static bool shapes_fit(const struct catalogue_map *map)
{
	return map->head->version == MAP_WITHOUT_SHAPES ||
	       map_shapes_fit(map_section(map, MAP_SHAPES),
		       section_bytes(map, MAP_SHAPES) / sizeof(struct dataset_shape),
		       map->head->n_ids);
}

static bool names_fit(const struct catalogue_map *map)
{
	const struct map_head *head = map->head;
	return has_texts(map, MAP_ABOUT, 2) &&
	       has_texts(map, MAP_CLASSES, head->n_classes) &&
	       has_texts(map, MAP_CONTAINER_NAMES, head->n_containers) &&
	       section_bytes(map, MAP_CONTAINERS) ==
		       head->n_containers * sizeof(struct map_container) &&
	       containers_fit(map);
}

/* Returns a text about damage that could lead to reads outside the map; NULL: there is none. Paths,
 * labels and modes are not checked here, but when they are read. */
static const char *content_problem(const struct catalogue_map *map)
{
	const struct map_head *head = map->head;
	for (int i = 0; i < map_sections(head); i++)
		if (!is_placed(map, (enum map_section)i))
			return "has a section at an impossible place";
	if (head->n_ids >= SAMPLE_NONE || head->n_samples > head->n_ids)
		return "has too many samples";
	if (!names_fit(map))
		return "has damaged names";
	return runs_fit(map) && shapes_fit(map) ? NULL : "has damaged ids";
}

static const char *sum_problem(const struct catalogue_map *map, bool all)
{
	for (int i = 0; i < map_sections(map->head); i++) {
		const struct map_place *place = &map->head->sections[i];
		if ((all || i < MAP_LABELS || i == MAP_SHAPES) &&
			content_sum(map->bytes + place->offset, place->bytes) !=
				place->sum)
			return "has a wrong checksum";
	}
	return NULL;
}

const char *map_problem(const struct catalogue_map *map, bool all)
{
	const char *problem = head_problem(map);
	if (!problem)
		problem = content_problem(map);
	return problem ? problem : sum_problem(map, all);
}

static int map_fd(int fd, struct catalogue_map *ret)
{
	struct stat status;
	if (fstat(fd, &status) < 0)
		return -errno;
	if (status.st_size < (off_t)MAP_HEAD_WITHOUT_SHAPES)
		return -EILSEQ;
	ret->size = (size_t)status.st_size;
	void *bytes = mmap(NULL, ret->size, PROT_READ, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED)
		return -errno;
	ret->bytes = bytes;
	ret->head = bytes;
	return 0;
}

int map_open_fd(int fd, const char *name, bool check, struct catalogue_map **ret)
{
	struct catalogue_map *map = calloc(1, sizeof(*map));
	*ret = NULL;
	if (!map)
		return -ENOMEM;
	int err = map_fd(fd, map);
	const char *problem = err == -EILSEQ ? "is truncated"
			      : err	     ? strerror(-err)
					     : map_problem(map, check);
	if (!problem) {
		*ret = map;
		return 0;
	}
	log_warn("catalogue %s: %s; it is rebuilt", name, problem);
	if (err)
		free(map);
	else
		map_close(&map);
	return err ? err : -EILSEQ;
}

static bool is_of(const struct catalogue_map *map, const char *file, const char *root)
{
	struct map_pair pair;
	return map_pair_of(file, &pair) == 0 &&
	       memcmp(&pair, &map->head->of, sizeof(pair)) == 0 &&
	       strcmp(map_section(map, MAP_ABOUT), root) == 0;
}

int catalogue_map_open(
	const char *file, const char *root, bool check, struct catalogue_map **ret)
{
	auto_free char *name = catalogue_map_file(file);
	*ret = NULL;
	if (!name)
		return -ENOMEM;
	auto_close int fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? -ENOENT : -errno;
	int err = map_open_fd(fd, name, check, ret);
	if (err || is_of(*ret, file, root))
		return err;
	log_info("catalogue %s: belongs to another scan than %s; it is rebuilt", name,
		file);
	map_close(ret);
	return -ENOENT;
}

const char *map_rule(const struct catalogue_map *map)
{
	const char *root = map_section(map, MAP_ABOUT);
	return root + strlen(root) + 1;
}

uint64_t map_number(const struct catalogue_map *map, enum map_section column, size_t i)
{
	return pack_get(map_section(map, column), section_bytes(map, column), i);
}

uint64_t map_value(const struct catalogue_map *map, enum map_section column, size_t i)
{
	uint64_t value = map_number(map, column, i);
	return column == MAP_LABELS && value >= map->head->n_classes ? LABEL_NONE : value;
}

bool map_part(const struct catalogue_map *map, sample_id id, struct part *ret)
{
	for (int i = MAP_PART_CONTAINERS; i <= MAP_PART_METHODS; i++)
		if (section_bytes(map, (enum map_section)i) == 0)
			return false;
	*ret = (struct part){
		.container = (uint32_t)map_value(map, MAP_PART_CONTAINERS, id),
		.at = {.offset = map_value(map, MAP_PART_OFFSETS, id),
			.stored_bytes = map_unzigzag(map_value(map, MAP_PART_BYTES, id)) +
					map_value(map, MAP_FILE_BYTES, id),
			.checksum = (uint32_t)map_value(map, MAP_PART_CHECKSUMS, id),
			.method = (enum source_method)map_value(
				map, MAP_PART_METHODS, id)}};
	return ret->container != UINT32_MAX;
}

void classes_check(struct dataset *dataset)
{
	char *const *name = dataset->classes;
	uint32_t i = 1;
	while (i < dataset->n_classes && strcmp(name[i - 1], name[i]) < 0)
		i++;
	dataset->sorts_classes = i >= dataset->n_classes;
}

static int attach_classes(struct dataset *dataset, const struct catalogue_map *map)
{
	const char *name = map_section(map, MAP_CLASSES);
	uint32_t n = map->head->n_classes;
	dataset->classes = calloc((size_t)n + 1, sizeof(*dataset->classes));
	if (!dataset->classes)
		return -ENOMEM;
	for (; dataset->n_classes < n; name += strlen(name) + 1) {
		char *copy = strdup(name);
		if (!copy)
			return -ENOMEM;
		dataset->classes[dataset->n_classes++] = copy;
	}
	classes_check(dataset);
	return 0;
}

static int attach_present(struct dataset *dataset, const struct catalogue_map *map)
{
	const struct map_run *runs = map_section(map, MAP_PRESENT);
	size_t n = section_bytes(map, MAP_PRESENT) / sizeof(*runs);
	dataset->present = roaring_bitmap_create();
	if (!dataset->present)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		roaring_bitmap_add_range_closed(
			dataset->present, runs[i].first, runs[i].last);
	return 0;
}

int map_attach(struct dataset *dataset, struct catalogue_map *map)
{
	const struct map_head *head = map->head;
	dataset->map = map;
	dataset->edition = head->edition;
	dataset->n_ids = head->n_ids;
	dataset->n_samples = head->n_samples;
	dataset->total_bytes = head->total_bytes;
	dataset->pixels = head->pixels;
	int err = attach_classes(dataset, map);
	return err ? err : attach_present(dataset, map);
}
