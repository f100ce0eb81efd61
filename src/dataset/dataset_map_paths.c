// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/dataset_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Paths are stored as differences, because a path often begins and ends with the same bytes as the
 * previous path. A stored path consists of
 *
 *   1 byte      length of the shared beginning
 *   1 byte      upper 4 bits: length of the shared end
 *               lower 4 bits: length of the middle, or MIDDLE_FOLLOWS
 *   2 bytes     length of the middle, only if the byte before has MIDDLE_FOLLOWS
 *   the middle
 *
 * The first of each PATHS_TOGETHER paths shares no bytes, so that reading can begin with it.
 */

#define MIDDLE_FOLLOWS 15
#define MOST_AT_END 15
#define MOST_AT_BEGINNING 255

size_t map_path_groups(size_t n_ids)
{
	return n_ids / PATHS_TOGETHER + (n_ids % PATHS_TOGETHER > 0);
}

static size_t put_difference(const char *before, const char *path, uint8_t *at)
{
	size_t n_before = strlen(before), n = strlen(path), begin = 0, end = 0;
	size_t least = n < n_before ? n : n_before, bytes = 2;
	while (begin < least && begin < MOST_AT_BEGINNING && before[begin] == path[begin])
		begin++;
	while (end < least - begin && end < MOST_AT_END &&
		before[n_before - 1 - end] == path[n - 1 - end])
		end++;
	size_t middle = n - begin - end;
	bool follows = middle >= MIDDLE_FOLLOWS;
	at[0] = (uint8_t)begin;
	at[1] = (uint8_t)(end << 4 | (follows ? MIDDLE_FOLLOWS : middle));
	if (follows) {
		at[bytes++] = (uint8_t)middle;
		at[bytes++] = (uint8_t)(middle >> 8);
	}
	memcpy(at + bytes, path + begin, middle);
	return bytes + middle;
}

static uint64_t group_offset(const void *context, size_t group)
{
	return ((const uint64_t *)context)[group];
}

int map_paths_make(const struct catalogue *catalogue, struct map_bytes *ret_groups,
	struct map_bytes *ret_paths)
{
	size_t n = catalogue->n_rows, most = 0, bytes = 0;
	for (size_t id = 0; id < n; id++)
		most += strlen(catalogue->rows[id].path) + 4;
	auto_free uint64_t *offsets = calloc(map_path_groups(n) + 1, sizeof(*offsets));
	uint8_t *paths = malloc(most + 1);
	for (size_t id = 0; offsets && paths && id < n; id++) {
		bool first = id % PATHS_TOGETHER == 0;
		if (first)
			offsets[id / PATHS_TOGETHER] = bytes;
		bytes += put_difference(first ? "" : catalogue->rows[id - 1].path,
			catalogue->rows[id].path, paths + bytes);
	}
	int err = offsets && paths ? pack_make(map_path_groups(n), group_offset, offsets,
					     &ret_groups->at, &ret_groups->n)
				   : -ENOMEM;
	*ret_paths = (struct map_bytes){paths, bytes};
	return err;
}

/* Makes the next path from the previous one. Returns false if the bytes are damaged. */
static bool read_difference(
	const uint8_t *paths, size_t n, uint64_t *at, struct path_text *path)
{
	if (*at > n || n - *at < 2)
		return false;
	size_t begin = paths[*at], end = paths[*at + 1] >> 4, middle;
	middle = paths[*at + 1] & MIDDLE_FOLLOWS;
	*at += 2;
	if (middle == MIDDLE_FOLLOWS) {
		if (n - *at < 2)
			return false;
		middle = paths[*at] | (size_t)paths[*at + 1] << 8;
		*at += 2;
	}
	if (middle > n - *at || begin + end > path->length ||
		begin + middle + end >= sizeof(path->text))
		return false;
	memmove(path->text + begin + middle, path->text + path->length - end, end);
	memcpy(path->text + begin, paths + *at, middle);
	*at += middle;
	path->length = begin + middle + end;
	path->text[path->length] = '\0';
	return true;
}

static const char *fail(struct path_text *path)
{
	path->next = 0;
	return NULL;
}

const char *map_path(
	const struct catalogue_map *map, sample_id id, struct path_text *path)
{
	const struct map_place *place = &map->head->sections[MAP_PATHS];
	const uint8_t *paths = map_section(map, MAP_PATHS);
	if (id < path->next || id % PATHS_TOGETHER == 0 ||
		id / PATHS_TOGETHER != path->next / PATHS_TOGETHER) {
		path->next = id - id % PATHS_TOGETHER;
		path->at = map_value(map, MAP_PATH_GROUPS, id / PATHS_TOGETHER);
		path->length = 0;
	}
	for (; path->next <= id; path->next++)
		if (!read_difference(paths, place->bytes, &path->at, path))
			return fail(path);
	/* a path that contains \0 is damaged, too */
	return path->length > 0 && strlen(path->text) == path->length ? path->text
								      : fail(path);
}
