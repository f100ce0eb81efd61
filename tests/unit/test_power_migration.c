// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/dataset_catalogue.h"
#include "dataset_place.h"
#include "effort.h"
#include "power_failure.h"

/*
 * The power fails at any moment while the catalogue of an older version is converted to this
 * version. Each sample must keep its id, which no scan of the tree could find again. A disk that
 * loses synced data is noticed.
 */

#define SAMPLES 8
#define FAILURES 4 /* failures of power after each event */

/* Gives ids in an order that a scan would not choose. */
#define REVERSE_IDS                                                                      \
	"UPDATE samples SET id = -1 - id;"                                               \
	"UPDATE samples SET id = id + (SELECT count(*) FROM samples)"

static struct place place;
static char after[] = "/dev/shm/power_migration.XXXXXX";

/* --- calls of SQLite ----------------------------------------------------------------- */

static ssize_t note_write(int fd, const void *bytes, size_t n)
{
	off_t at = lseek(fd, 0, SEEK_CUR);
	ssize_t done = write(fd, bytes, n);
	if (done > 0)
		disk_note_content(DISK_WRITE, fd, bytes, (size_t)done, (uint64_t)at);
	return done;
}

/* The linker can't lead the calls of a shared library to the recorder, so SQLite gets other
 * functions. */
static void record_sqlite(void)
{
	const struct {
		const char *name;
		sqlite3_syscall_ptr call;
	} calls[] = {{"write", (sqlite3_syscall_ptr)note_write},
		{"pwrite", (sqlite3_syscall_ptr)__wrap_pwrite},
		{"pwrite64", (sqlite3_syscall_ptr)__wrap_pwrite},
		{"ftruncate", (sqlite3_syscall_ptr)__wrap_ftruncate},
		{"unlink", (sqlite3_syscall_ptr)__wrap_unlink}};
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		cr_assert_eq(vfs->xSetSystemCall(vfs, calls[i].name, calls[i].call),
			SQLITE_OK, "%s", calls[i].name);
}

/* --- the migration ------------------------------------------------------------------- */

static void make_places(void)
{
	char name[32];
	place_begin(&place);
	cr_assert_not_null(mkdtemp(after));
	for (int i = 0; i < SAMPLES; i++) {
		snprintf(name, sizeof(name), "a/%d.jpg", i);
		place_jpeg(&place, name);
	}
	cr_assert_eq(place_open(&place), 0);
	place_make_older(&place, REVERSE_IDS);
	record_sqlite();
}

static void remove_places(void)
{
	place_end(&place);
	disk_clear(after);
	(void)!__real_rmdir(after);
}

TestSuite(power_migration, .init = make_places, .fini = remove_places, .timeout = 600);

/* Returns the version of the catalogue that the disk has; -1: it is damaged. */
static int version_after(void)
{
	char file[160];
	int version = -1;
	sqlite3 *db;
	sqlite3_stmt *statement = NULL;
	snprintf(file, sizeof(file), "%s/datasets/flowers.sqlite", after);
	if (sqlite3_open_v2(file, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
		sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &statement, NULL) ==
			SQLITE_OK &&
		sqlite3_step(statement) == SQLITE_ROW)
		version = sqlite3_column_int(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return version;
}

/* Tells whether the next start finds each sample under its id. */
static bool keeps_ids(void)
{
	struct dataset *dataset;
	bool same = true;
	cr_assert_eq(dataset_open(&place.config, after, NULL, &dataset), 0);
	cr_assert_eq(dataset_ids(dataset), SAMPLES);
	for (sample_id id = 0; id < SAMPLES; id++) {
		struct path_text text = {0};
		char name[32];
		snprintf(name, sizeof(name), "a/%u.jpg", SAMPLES - 1 - id);
		same &= strcmp(dataset_relative(dataset, id, &text), name) == 0;
	}
	dataset_close(&dataset);
	return same;
}

struct damage {
	unsigned lost; /* failures after which samples had other ids */
	unsigned old;  /* failures after the end that left the older version */
};

static struct damage fail_anywhere(enum disk_lie lie)
{
	struct damage found = {0};
	struct rng rng;
	rng_seed(&rng, 35 + (uint64_t)lie);
	disk_record(place.state, lie);
	cr_assert_eq(place_open(&place), 0);
	disk_stop();
	for (size_t end = 0; end <= disk.n_events; end++)
		for (unsigned i = 0; i < effort(FAILURES, 50 * FAILURES); i++) {
			power_fails(end, i % DISK_ORDERS, &rng, after);
			bool old = version_after() == CATALOGUE_WITH_TABLE;
			found.old += end == disk.n_events && old;
			found.lost += !keeps_ids();
		}
	return found;
}

Test(power_migration, keeps_ids_and_lasts)
{
	struct damage found = fail_anywhere(LIE_NONE);
	cr_assert_eq(found.lost, 0);
	cr_assert_eq(found.old, 0, "the migration was promised to last");
}

Test(power_migration, what_was_not_synced_is_noticed)
{
	cr_assert_gt(fail_anywhere(LIE_RENAMED_UNSYNCED).lost, 0);
}

Test(power_migration, a_directory_that_was_not_synced_is_noticed)
{
	struct damage found = fail_anywhere(LIE_DIRECTORIES_UNSYNCED);
	cr_assert_eq(found.lost, 0);
	cr_assert_gt(found.old, 0);
}
