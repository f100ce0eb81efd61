// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/dataset_map.h"

#include <string.h>

/* Tells from the map whether a catalogue is up to date, without access to samples. */

/* Tells whether all headers could be read. Otherwise a scan must try again. */
static bool all_probed(const struct catalogue_map *map)
{
	const uint8_t *states = map_section(map, MAP_STATES);
	for (size_t id = 0; id < map->head->n_ids; id += pack_equal(states, id))
		if (!(map_value(map, MAP_STATES, id) & (ROW_PROBED | ROW_GONE)))
			return false;
	return true;
}

static bool has_metadata_of(const struct scan *scan, const struct catalogue *catalogue)
{
	struct metadata *metadata;
	if (metadata_open(scan, NULL, &metadata) != 0)
		return false;
	bool same = strcmp(metadata_stamp(metadata), catalogue->stamp) == 0;
	metadata_close(&metadata);
	return same;
}

static bool has_map_of(const struct scan *scan, const char *rule, const char *file)
{
	struct catalogue_map *map;
	if (catalogue_map_open(file, scan->root, false, &map) != 0)
		return false;
	bool same = strcmp(map_rule(map), rule) == 0 && all_probed(map);
	map_close(&map);
	return same;
}

bool catalogue_is_current(const struct scan *scan, const char *rule, const char *file)
{
	struct catalogue catalogue;
	if (scan->n_containers == 0 ||
		catalogue_load(file, scan->root, false, &catalogue) != 0)
		return false;
	bool current = !catalogue.outdated && !catalogue.without_channels &&
		       !catalogue.with_table && !catalogue.other_readers &&
		       catalogue.n_containers > 0 && containers_equal(scan, &catalogue) &&
		       has_metadata_of(scan, &catalogue) && has_map_of(scan, rule, file);
	catalogue_free(&catalogue);
	return current;
}
