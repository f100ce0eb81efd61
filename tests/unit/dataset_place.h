// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/log.h"
#include "dataset/dataset.h"
#include "images.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sqlite3.h>
#include <sys/stat.h>

/*
 * A temporary directory with a tree of images, a state directory and the log, for the
 * tests of dataset. Paths given to place_* are relative to the tree.
 */

struct place {
	char directory[64];
	char root[80];
	char state[80];
	char log[80];
	char catalogue[128];
	struct dataset_config config;
	struct dataset *dataset;
};

static inline void place_begin(struct place *place)
{
	static char name[] = "flowers", extensions[] = "jpg png";
	*place = (struct place){.directory = "/tmp/test_dataset.XXXXXX"};
	cr_assert_not_null(mkdtemp(place->directory));
	cr_assert_eq(chmod(place->directory, 0777), 0);
	snprintf(place->root, sizeof(place->root), "%s/tree", place->directory);
	snprintf(place->state, sizeof(place->state), "%s/state", place->directory);
	snprintf(place->log, sizeof(place->log), "%s/log", place->directory);
	snprintf(place->catalogue, sizeof(place->catalogue), "%s/datasets/flowers.sqlite",
		place->state);
	cr_assert_eq(mkdir(place->root, 0755), 0);
	cr_assert_eq(log_to_file(place->log), 0);
	cr_assert_eq(chmod(place->log, 0666), 0);
	place->config = (struct dataset_config){
		.name = name, .path = place->root, .extensions = extensions};
}

static inline int place_remove_one(
	const char *path, const struct stat *status, int flag, struct FTW *ftw)
{
	(void)status, (void)flag, (void)ftw;
	return remove(path);
}

static inline void place_end(struct place *place)
{
	dataset_close(&place->dataset);
	nftw(place->directory, place_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Returns the absolute path, and makes its directories. Valid until the next call. */
static inline const char *place_path(const struct place *place, const char *relative)
{
	static char path[4096];
	int n = snprintf(path, sizeof(path), "%s/%s", place->root, relative);
	cr_assert_lt((size_t)n, sizeof(path));
	for (char *slash = path; (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		cr_assert(mkdir(path, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
	return path;
}

static inline void place_jpeg(struct place *place, const char *relative)
{
	write_jpeg(place_path(place, relative), 4, 3);
}

static inline void place_text(struct place *place, const char *relative, const char *text)
{
	FILE *file = fopen(place_path(place, relative), "w");
	cr_assert_not_null(file);
	fputs(text, file);
	fclose(file);
}

static inline void place_link(
	struct place *place, const char *relative, const char *target)
{
	cr_assert_eq(symlink(target, place_path(place, relative)), 0);
}

/* Scans again, after it has emptied the log. */
static inline int place_open(struct place *place)
{
	dataset_close(&place->dataset);
	cr_assert_eq(truncate(place->log, 0), 0);
	return dataset_open(&place->config, place->state, NULL, &place->dataset);
}

static inline bool place_logged(const struct place *place, const char *text)
{
	static char log[65536];
	FILE *file = fopen(place->log, "r");
	cr_assert_not_null(file);
	log[fread(log, 1, sizeof(log) - 1, file)] = '\0';
	fclose(file);
	return strstr(log, text);
}

/* Writes rows as older catalogues had them, before rows were kept in blobs. All samples are single
 * files. */
static inline void place_insert_rows(struct place *place, sqlite3 *db)
{
	for (sample_id id = 0; id < dataset_ids(place->dataset); id++) {
		struct dataset_sample sample;
		cr_assert_eq(dataset_get(place->dataset, id, &sample), 0);
		char *sql = sqlite3_mprintf(
			"INSERT INTO samples VALUES (%u, %Q, %Q, %u, %llu, %lld, %u, %u,"
			" 3, 8, 0, %d, %lld, 1, 0, NULL, NULL, NULL, NULL, NULL)",
			id, sample.relative,
			dataset_class_name(place->dataset, sample.label), sample.label,
			(unsigned long long)sample.bytes,
			(long long)sample.mtime_ns / 1000000000, sample.image.width,
			sample.image.height, sample.orientation,
			(long long)sample.mtime_ns);
		cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
		sqlite3_free(sql);
		dataset_sample_free(&sample);
	}
}

/* Turns the catalogue into one of version 4, which has no map, and runs `sql` in it. Closes the
 * dataset. */
static inline void place_make_older(struct place *place, const char *sql)
{
	static const char *const begin =
		"CREATE TABLE samples (id INTEGER PRIMARY KEY, path TEXT NOT NULL,"
		" class TEXT NOT NULL, label INTEGER, bytes INTEGER NOT NULL,"
		" mtime INTEGER NOT NULL, width INTEGER NOT NULL,"
		" height INTEGER NOT NULL, channels INTEGER NOT NULL,"
		" bits INTEGER NOT NULL, palette INTEGER NOT NULL,"
		" exif_orientation INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,"
		" probed INTEGER NOT NULL, gone INTEGER NOT NULL,"
		" part_container INTEGER, part_offset INTEGER, part_bytes INTEGER,"
		" part_checksum INTEGER, part_method INTEGER);"
		"DROP TABLE rows; PRAGMA user_version = 4";
	char map[160];
	sqlite3 *db;
	cr_assert_eq(sqlite3_open(place->catalogue, &db), SQLITE_OK);
	cr_assert_eq(sqlite3_exec(db, begin, NULL, NULL, NULL), SQLITE_OK);
	place_insert_rows(place, db);
	cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	snprintf(map, sizeof(map), "%s.map", place->catalogue);
	cr_assert_eq(unlink(map), 0);
	dataset_close(&place->dataset);
}

/* Returns the id of the path; SAMPLE_NONE: the catalogue does not have it. */
static inline sample_id place_id(struct place *place, const char *relative)
{
	sample_id found = SAMPLE_NONE;
	for (sample_id id = 0; id < dataset_ids(place->dataset); id++) {
		struct dataset_sample sample;
		cr_assert_eq(dataset_get(place->dataset, id, &sample), 0);
		if (strcmp(sample.relative, relative) == 0)
			found = id;
		dataset_sample_free(&sample);
	}
	return found;
}

/* Returns the number of samples that the predicate selects; -1: it is refused, with
 * *ret_message. */
static inline int64_t place_count(
	struct place *place, const char *where, char **ret_message)
{
	roaring_bitmap_t *ids;
	int err = dataset_select(place->dataset, where, &ids, ret_message);
	if (err) {
		cr_assert_eq(err, -EINVAL);
		cr_assert_not_null(*ret_message);
		return -1;
	}
	cr_assert_null(*ret_message);
	int64_t n = (int64_t)roaring_bitmap_get_cardinality(ids);
	roaring_bitmap_free(ids);
	return n;
}

/* Root ignores the permissions of files, so a test of permissions becomes another user. */
static inline void become_nobody(void)
{
	if (geteuid() == 0)
		cr_assert_eq(seteuid(65534), 0);
}

static inline void become_root_again(void)
{
	if (getuid() == 0)
		cr_assert_eq(seteuid(0), 0);
}
