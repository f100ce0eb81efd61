// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/log.h"
#include "dataset/dataset_map.h"
#include "effort.h"
#include "power_failure.h"

/*
 * The power fails at any moment while a mapped catalogue replaces another one. Its name must lead
 * to the old or to the new one, whole. A disk that loses synced data is noticed.
 */

#define ROWS 300
#define FAILURES 4 /* failures of power after each event */

static char live[] = "/dev/shm/power_map.XXXXXX";
static char after[] = "/dev/shm/power_map_after.XXXXXX";

static void make_places(void)
{
	cr_assert(mkdtemp(live) && mkdtemp(after));
	cr_assert_eq(log_to_file("/dev/null"), 0);
}

static void remove_places(void)
{
	disk_clear(live);
	disk_clear(after);
	(void)!__real_rmdir(live);
	(void)!__real_rmdir(after);
}

TestSuite(power_map, .init = make_places, .fini = remove_places, .timeout = 600);

static const char *beneath(const char *directory, const char *name)
{
	static char path[128];
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

/* Writes a map. All its rows follow from the edition. */
static void write_map(const char *catalogue_name, uint32_t edition)
{
	static struct row rows[ROWS];
	static char paths[ROWS][32];
	const char *classes[] = {"a"};
	struct catalogue catalogue = {.rows = rows,
		.n_rows = ROWS,
		.classes = classes,
		.n_classes = 1,
		.edition = edition};
	struct catalogue_map *map;
	for (uint32_t id = 0; id < ROWS; id++) {
		snprintf(paths[id], sizeof(paths[id]), "a/%u-%u", edition, id);
		rows[id] = (struct row){.path = paths[id], .facts.bytes = edition};
	}
	cr_assert_eq(catalogue_map_make(catalogue_name, "/x", "", &catalogue, &map), 0);
	map_close(&map);
}

/* Returns the edition; 0: the map is damaged, and this was noticed. */
static uint32_t read_map(void)
{
	struct catalogue_map *map;
	char path[32];
	int fd = __real_open(beneath(after, "c.map"), O_RDONLY);
	if (fd < 0)
		return 0;
	int err = map_open_fd(fd, "c.map", true, &map);
	close(fd);
	if (err)
		return 0;
	uint32_t edition = map->head->edition;
	struct path_text text = {0};
	cr_assert_eq(map->head->n_ids, ROWS);
	for (uint32_t id = 0; id < ROWS; id++) {
		snprintf(path, sizeof(path), "a/%u-%u", edition, id);
		cr_assert_str_eq(map_path(map, id, &text), path);
		cr_assert_eq(map_value(map, MAP_FILE_BYTES, id), edition);
	}
	map_close(&map);
	return edition;
}

static unsigned fail_anywhere(enum disk_lie lie)
{
	char catalogue[64];
	struct rng rng;
	unsigned damaged = 0;
	rng_seed(&rng, 35 + (uint64_t)lie);
	disk_clear(live);
	snprintf(catalogue, sizeof(catalogue), "%s/c", live);
	close(__real_open(catalogue, O_WRONLY | O_CREAT, 0644));
	write_map(catalogue, 1);
	disk_record(live, lie);
	write_map(catalogue, 2);
	disk_stop();
	for (size_t end = 0; end <= disk.n_events; end++)
		for (unsigned i = 0; i < effort(FAILURES, 50 * FAILURES); i++) {
			power_fails(end, i % DISK_ORDERS, &rng, after);
			uint32_t edition = read_map();
			damaged += edition == 0;
			cr_assert(edition <= 2);
			if (end == disk.n_events && lie == LIE_NONE)
				cr_assert_eq(edition, 2, "it was promised to last");
		}
	return damaged;
}

Test(power_map, has_the_old_one_or_the_new_one)
{
	cr_assert_eq(fail_anywhere(LIE_NONE), 0);
}

Test(power_map, what_was_not_synced_is_noticed)
{
	cr_assert_gt(fail_anywhere(LIE_RENAMED_UNSYNCED), 0);
}
