// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/fault.h"
#include "dataset/dataset_internal.h"
#include "dataset_place.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>

static ino_t file_inode(const char *path)
{
	struct stat status;
	cr_assert_eq(stat(path, &status), 0);
	return status.st_ino;
}

static void three_files(struct place *place)
{
	place_begin(place);
	place_jpeg(place, "a/1.jpg");
	place_jpeg(place, "a/2.jpg");
	place_jpeg(place, "b/1.jpg");
}

Test(dataset_catalogue, is_not_written_when_nothing_changed)
{
	struct place place;
	three_files(&place);
	cr_assert_eq(place_open(&place), 0);
	ino_t inode = file_inode(place.catalogue);
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(file_inode(place.catalogue), inode);
	cr_assert_eq(dataset_samples(place.dataset), 3);
	place_jpeg(&place, "a/3.jpg");
	cr_assert_eq(place_open(&place), 0);
	cr_assert_neq(file_inode(place.catalogue), inode);
	place_end(&place);
}

Test(dataset_catalogue, keeps_ids_over_loss_and_return)
{
	struct place place;
	three_files(&place);
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(unlink(place_path(&place, "a/2.jpg")), 0);
	place_jpeg(&place, "a/0.jpg");
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(dataset_ids(place.dataset), 4);
	cr_assert_eq(dataset_samples(place.dataset), 3);
	cr_assert_eq(place_id(&place, "a/1.jpg"), 0);
	cr_assert_eq(place_id(&place, "a/2.jpg"), 1, "gone, and it keeps its id");
	cr_assert_eq(place_id(&place, "b/1.jpg"), 2);
	cr_assert_eq(place_id(&place, "a/0.jpg"), 3, "new ones come last");
	char *message;
	cr_assert_eq(place_count(&place, NULL, &message), 3);
	cr_assert_eq(place_count(&place, "1", &message), 3);
	cr_assert_eq(place_count(&place, "path = 'a/2.jpg'", &message), 0);

	place_jpeg(&place, "a/2.jpg");
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(dataset_ids(place.dataset), 4);
	cr_assert_eq(dataset_samples(place.dataset), 4);
	cr_assert_eq(place_id(&place, "a/2.jpg"), 1);
	cr_assert(place_logged(&place, "1 came back"));
	place_end(&place);
}

Test(dataset_catalogue, labels_follow_the_classes)
{
	struct place place;
	three_files(&place);
	cr_assert_eq(place_open(&place), 0);
	place_jpeg(&place, "aa/1.jpg");
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(dataset_label(place.dataset, place_id(&place, "b/1.jpg")), 2);
	cr_assert(place_logged(&place, "b was 1 and is 2 now"));

	cr_assert_eq(unlink(place_path(&place, "aa/1.jpg")), 0);
	cr_assert_eq(rmdir(place_path(&place, "aa")), 0);
	cr_assert_eq(place_open(&place), 0);
	sample_id gone = place_id(&place, "aa/1.jpg");
	cr_assert_str_eq(
		dataset_class_name(place.dataset, dataset_label(place.dataset, gone)),
		"");
	cr_assert_eq(place_open(&place), 0, "such a row can be read again");
	cr_assert_eq(dataset_ids(place.dataset), 4);
	place_end(&place);
}

static void set_mtime(const char *path, time_t seconds)
{
	const struct timespec times[2] = {{seconds, 7}, {seconds, 7}};
	cr_assert_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

Test(dataset_catalogue, reads_headers_only_of_what_changed)
{
	struct place place;
	three_files(&place);
	set_mtime(place_path(&place, "a/1.jpg"), 1000);
	set_mtime(place_path(&place, "a/2.jpg"), 1000);
	cr_assert_eq(place_open(&place), 0);

	/* With the same size and time and other content, the known header stays in use. */
	struct stat status;
	cr_assert_eq(stat(place_path(&place, "a/1.jpg"), &status), 0);
	cr_assert_eq(truncate(place_path(&place, "a/1.jpg"), 0), 0);
	cr_assert_eq(truncate(place_path(&place, "a/1.jpg"), status.st_size), 0);
	set_mtime(place_path(&place, "a/1.jpg"), 1000);
	write_jpeg(place_path(&place, "a/2.jpg"), 9, 3);
	set_mtime(place_path(&place, "a/2.jpg"), 1001);
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(dataset_image_shape(place.dataset, 0).width, 4);
	cr_assert_eq(dataset_image_shape(place.dataset, 1).width, 9);
	cr_assert(place_logged(&place, "0 files are new, 1 changed"));

	struct dataset_sample sample;
	cr_assert_eq(dataset_get(place.dataset, 1, &sample), 0);
	cr_assert_eq(sample.mtime_ns, 1001000000007);
	dataset_sample_free(&sample);
	set_mtime(place_path(&place, "a/1.jpg"), 1002);
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(dataset_image_shape(place.dataset, 0).width, 0);
	place_end(&place);
}

Test(dataset_catalogue, belongs_to_one_path)
{
	struct place place;
	char other[128];
	three_files(&place);
	place_jpeg(&place, "../other/c/1.jpg");
	cr_assert_eq(place_open(&place), 0);
	snprintf(other, sizeof(other), "%s/other", place.directory);
	place.config.path = other;
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(dataset_ids(place.dataset), 1);
	cr_assert_str_eq(dataset_class_name(place.dataset, 0), "c");
	cr_assert(place_logged(&place, "it belonged to another path"));
	place_end(&place);
}

/* The next scan finds everything again, and nothing new. */
static void expect_back(struct place *place, const char *what)
{
	cr_assert_eq(place_open(place), 0, "%s", what);
	cr_assert_eq(dataset_ids(place->dataset), 3, "%s", what);
	cr_assert_eq(dataset_samples(place->dataset), 3, "%s", what);
	cr_assert_not(place_logged(place, "back"), "%s", what);
	cr_assert_not(place_logged(place, "gone"), "%s", what);
}

static void expect_kept(struct place *place, const char *what, const char *message)
{
	cr_assert_eq(place_open(place), 0, "%s", what);
	cr_assert_eq(dataset_samples(place->dataset), 3, "%s", what);
	cr_assert_eq(dataset_classes(place->dataset), 2, "%s", what);
	cr_assert_eq(place_id(place, "b/1.jpg"), 2, "%s", what);
	cr_assert(place_logged(place, message), "%s", what);
	cr_assert(place_logged(place, "the catalogue of the last scan stays in use"),
		"%s", what);
}

Test(dataset_catalogue, a_tree_that_is_suddenly_empty_loses_nothing)
{
	struct place place;
	char away[128];
	three_files(&place);
	cr_assert_eq(place_open(&place), 0);
	snprintf(away, sizeof(away), "%s/away", place.directory);
	cr_assert_eq(rename(place.root, away), 0);
	expect_kept(&place, "no root", "tree/ can't be read: No such file or directory");
	cr_assert_eq(mkdir(place.root, 0755), 0);
	expect_kept(&place, "an empty root", "tree/ can't be read, or is empty");
	cr_assert_eq(rmdir(place.root), 0);
	cr_assert_eq(rename(away, place.root), 0);
	expect_back(&place, "the root");

	snprintf(away, sizeof(away), "%s/b", place.directory);
	cr_assert_eq(rename(place_path(&place, "b"), away), 0);
	cr_assert_eq(mkdir(place_path(&place, "b"), 0755), 0);
	expect_kept(&place, "an empty class", "tree/b can't be read, or is empty");
	cr_assert_eq(rename(away, place_path(&place, "b")), 0);
	expect_back(&place, "the class");
	place_end(&place);
}

Test(dataset_catalogue, what_can_not_be_read_is_not_gone)
{
	static const mode_t modes[] = {0, 0444};
	struct place place;
	char datasets[128];
	three_files(&place);
	cr_assert_eq(place_open(&place), 0);
	snprintf(datasets, sizeof(datasets), "%s/datasets", place.state);
	cr_assert(chmod(place.state, 0755) == 0 && chmod(datasets, 0755) == 0);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(chmod(place_path(&place, "b"), modes[i]), 0);
		become_nobody();
		expect_kept(&place, "no permission", "Permission denied");
		become_root_again();
		cr_assert_eq(chmod(place_path(&place, "b"), 0755), 0);
		expect_back(&place, "permission");
	}
	cr_assert_eq(fault_add("dataset.list:EIO:after=2:times=1"), 0);
	expect_kept(&place, "an error of the disk", "Input/output error");
	expect_back(&place, "no error");
	place_end(&place);
}

Test(dataset_catalogue, a_link_to_a_mount_that_is_missing_is_not_gone)
{
	struct place place;
	char elsewhere[128], away[128];
	three_files(&place);
	place.config.follow_outside = true;
	snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", place.directory);
	snprintf(away, sizeof(away), "%s/away", place.directory);
	cr_assert_eq(rename(place_path(&place, "b"), elsewhere), 0);
	place_link(&place, "b", elsewhere);
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(rename(elsewhere, away), 0);
	expect_kept(&place, "a link", "lead nowhere");
	cr_assert_eq(rename(away, elsewhere), 0);
	expect_back(&place, "its target");
	place_end(&place);
}

Test(dataset_catalogue, what_was_never_read_does_not_keep_what_is_gone)
{
	struct place place;
	three_files(&place);
	cr_assert_eq(mkdir(place_path(&place, "lost+found"), 0), 0);
	become_nobody();
	cr_assert_eq(place_open(&place), 0);
	become_root_again();
	cr_assert_eq(unlink(place_path(&place, "a/2.jpg")), 0);
	become_nobody();
	cr_assert_eq(place_open(&place), 0);
	cr_assert(place_logged(&place, "lost+found: Permission denied"));
	cr_assert_eq(dataset_samples(place.dataset), 2);
	become_root_again();
	place_end(&place);
}

static void spoil_text(const char *file)
{
	FILE *out = fopen(file, "w");
	fputs("this is no database, whatever its name says, and it is long enough", out);
	fclose(out);
}

static void spoil_truncate(const char *file)
{
	cr_assert_eq(truncate(file, 5000), 0);
}

static void spoil_empty(const char *file)
{
	cr_assert_eq(truncate(file, 0), 0);
}

/* Overwrites all pages except the first one, which has the tables' names. */
static void spoil_pages(const char *file)
{
	FILE *out = fopen(file, "r+");
	fseek(out, 4096, SEEK_SET);
	for (int i = 0; i < 20000; i++)
		fputc(0xa5, out);
	fclose(out);
}

static void run_sql(const char *file, const char *sql)
{
	sqlite3 *db;
	cr_assert_eq(sqlite3_open(file, &db), SQLITE_OK);
	cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void spoil_foreign(const char *file)
{
	unlink(file);
	run_sql(file, "CREATE TABLE samples (id, path)");
}

static void spoil_version(const char *file)
{
	run_sql(file, "PRAGMA user_version = 99");
}

static void spoil_ids(const char *file)
{
	run_sql(file, "UPDATE rows SET first = 1");
}

static void spoil_classes(const char *file)
{
	run_sql(file, "DELETE FROM classes"); /* now all labels are too large */
}

static void spoil_rows(const char *file)
{
	run_sql(file, "UPDATE rows SET content = randomblob(length(content))");
}

static void spoil_length(const char *file)
{
	run_sql(file, "UPDATE rows SET bytes = 1 << 40");
}

Test(dataset_catalogue, damaged_or_foreign_is_kept_aside_and_built_anew)
{
	void (*const spoil[])(const char *) = {spoil_text, spoil_truncate, spoil_empty,
		spoil_pages, spoil_foreign, spoil_version, spoil_ids, spoil_classes,
		spoil_rows, spoil_length};
	struct place place;
	char kept[160];
	three_files(&place);
	snprintf(kept, sizeof(kept), "%s.unusable", place.catalogue);
	for (size_t i = 0; i < sizeof(spoil) / sizeof(*spoil); i++) {
		cr_assert_eq(place_open(&place), 0);
		dataset_close(&place.dataset);
		spoil[i](place.catalogue);
		ino_t spoiled = file_inode(place.catalogue);
		cr_assert_eq(place_open(&place), 0, "%zu", i);
		cr_assert(place_logged(&place, "rebuilt"), "%zu", i);
		cr_assert_eq(dataset_samples(place.dataset), 3);
		cr_assert_eq(file_inode(kept), spoiled);
		cr_assert_eq(place_open(&place), 0);
		cr_assert_not(place_logged(&place, "rebuilt"));
	}
	place_end(&place);
}

/* Ids stay, and the next start finds a catalogue without a row for each sample. */
Test(dataset_catalogue, one_with_a_table_of_samples_is_brought_up_to_date)
{
	struct place place;
	char *message;
	three_files(&place);
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(unlink(place_path(&place, "a/1.jpg")), 0);
	place_jpeg(&place, "a/0.jpg");
	cr_assert_eq(place_open(&place), 0);
	sample_id last = place_id(&place, "a/0.jpg"), n = dataset_ids(place.dataset);
	place_make_older(&place, "UPDATE samples SET gone = path = 'a/1.jpg'");
	for (int start = 0; start < 2; start++) {
		cr_assert_eq(place_open(&place), 0);
		cr_assert_not(place_logged(&place, "rebuilt"));
		cr_assert_not(place_logged(&place, "files are new"));
		cr_assert_eq(place_id(&place, "a/0.jpg"), last);
		cr_assert_eq(dataset_ids(place.dataset), n);
		cr_assert_eq(place_count(&place, "path = 'a/0.jpg'", &message), 1);
	}
	/* the table is gone */
	run_sql(place.catalogue, "CREATE TABLE samples (id, path)");
	place_end(&place);
}

/* An edition that epochs use is read without an update. */
Test(dataset_catalogue, a_kept_one_with_a_table_of_samples_has_its_metadata)
{
	struct place place;
	struct dataset *kept;
	char file[160], *message, *json;
	roaring_bitmap_t *found;
	three_files(&place);
	cr_assert_eq(place_open(&place), 0);
	place_make_older(&place, "ALTER TABLE samples ADD COLUMN age INTEGER;"
				 "UPDATE samples SET age = 10 * id");
	snprintf(file, sizeof(file), "%s.0", place.catalogue);
	cr_assert_eq(rename(place.catalogue, file), 0);
	cr_assert_eq(dataset_open_kept(&place.config, place.state, 0, &kept), 0);
	cr_assert_eq(dataset_select(kept, "age > 5", &found, &message), 0);
	cr_assert_eq(roaring_bitmap_get_cardinality(found), 2);
	roaring_bitmap_free(found);
	cr_assert_eq(dataset_json(kept, 1, &json), 0);
	cr_assert(strstr(json, "\"age\": 10}"), "%s", json);
	free(json);
	dataset_close(&kept);
	place_end(&place);
}

Test(dataset_catalogue, one_that_can_not_be_kept_aside_is_not_replaced)
{
	struct place place;
	char kept[160];
	three_files(&place);
	cr_assert_eq(place_open(&place), 0);
	dataset_close(&place.dataset);
	spoil_pages(place.catalogue);
	ino_t spoiled = file_inode(place.catalogue);
	snprintf(kept, sizeof(kept), "%s.unusable", place.catalogue);
	cr_assert_eq(mkdir(kept, 0755), 0);
	cr_assert_lt(place_open(&place), 0);
	cr_assert(place_logged(&place, "can't be renamed to"));
	cr_assert_eq(file_inode(place.catalogue), spoiled);
	cr_assert_eq(rmdir(kept), 0);
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(file_inode(kept), spoiled);
	place_end(&place);
}

Test(dataset_catalogue, a_failed_write_leaves_the_old_one)
{
	struct place place;
	three_files(&place);
	cr_assert_eq(place_open(&place), 0);
	ino_t inode = file_inode(place.catalogue);
	place_jpeg(&place, "a/3.jpg");
	for (int after = 0; after < 4; after++) {
		char fault[64], left[160];
		snprintf(fault, sizeof(fault), "dataset.write:ENOSPC:after=%d", after);
		cr_assert_eq(fault_add(fault), 0);
		cr_assert_eq(place_open(&place), -ENOSPC);
		cr_assert(place_logged(&place, "No space left on device"));
		cr_assert(place_logged(&place, place.catalogue));
		cr_assert_eq(file_inode(place.catalogue), inode);
		snprintf(left, sizeof(left), "%s.new", place.catalogue);
		cr_assert_neq(access(left, F_OK), 0);
		fault_clear();
	}
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(dataset_samples(place.dataset), 4);
	place_end(&place);
}

static void fill_disk(const char *directory)
{
	char path[160], block[4096] = "";
	snprintf(path, sizeof(path), "%s/full", directory);
	FILE *file = fopen(path, "w");
	cr_assert_not_null(file);
	setvbuf(file, NULL, _IONBF, 0);
	while (fwrite(block, sizeof(block), 1, file) == 1)
		;
	cr_assert_eq(errno, ENOSPC);
	fclose(file);
}

Test(dataset_catalogue, a_full_disk_leaves_the_old_one)
{
	struct place place;
	char path[160];
	if (unshare(CLONE_NEWNS) < 0 ||
		mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0)
		cr_skip_test("needs root, to mount a tmpfs");
	three_files(&place);
	cr_assert_eq(mkdir(place.state, 0755), 0);
	cr_assert_eq(mount("tmpfs", place.state, "tmpfs", 0, "size=128k"), 0);
	cr_assert_eq(place_open(&place), 0);
	ino_t inode = file_inode(place.catalogue);
	place_jpeg(&place, "a/3.jpg");
	fill_disk(place.state);
	cr_assert_eq(place_open(&place), -ENOSPC);
	cr_assert(place_logged(&place, "No space left on device"));
	cr_assert_eq(file_inode(place.catalogue), inode);
	snprintf(path, sizeof(path), "%s/full", place.state);
	cr_assert_eq(unlink(path), 0);
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(place_id(&place, "a/3.jpg"), 3);
	dataset_close(&place.dataset);
	cr_assert_eq(umount2(place.state, MNT_DETACH), 0);
	place_end(&place);
}

Test(dataset_catalogue, says_when_the_state_directory_can_not_be_written)
{
	struct place place;
	three_files(&place);
	cr_assert_eq(mkdir(place.state, 0555), 0);
	become_nobody();
	cr_assert_eq(place_open(&place), -EACCES);
	cr_assert(place_logged(&place, "can't be written: Permission denied"));
	become_root_again();
	cr_assert_eq(rmdir(place.state), 0);
	FILE *file = fopen(place.state, "w");
	fclose(file);
	cr_assert_eq(place_open(&place), -ENOTDIR);
	cr_assert(place_logged(&place, "can't be written: Not a directory"));
	place_end(&place);
}

Test(dataset_catalogue, a_killed_scan_leaves_the_old_one_or_the_new_one)
{
	struct place place;
	char name[32];
	unsigned n = 0, old = 0, fresh = 0;
	place_begin(&place);
	for (; n < 300; n++) {
		snprintf(name, sizeof(name), "a/%u.jpg", n);
		place_text(&place, name, "");
	}
	cr_assert_eq(place_open(&place), 0);
	for (useconds_t delay = 0; delay < 20000; delay += 500) {
		snprintf(name, sizeof(name), "a/%u.jpg", n++);
		place_text(&place, name, "");
		dataset_close(&place.dataset);
		pid_t child = fork();
		if (child == 0)
			_exit(place_open(&place) != 0);
		usleep(delay);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		struct catalogue catalogue;
		cr_assert_eq(
			catalogue_load(place.catalogue, place.root, true, &catalogue), 0);
		cr_assert(catalogue.n_rows == n - 1 || catalogue.n_rows == n);
		*(catalogue.n_rows == n ? &fresh : &old) += 1;
		for (size_t i = 0; i < catalogue.n_rows; i++)
			cr_assert_not(catalogue.rows[i].gone);
		catalogue_free(&catalogue);
		cr_assert_eq(place_open(&place), 0);
		cr_assert_eq(place_id(&place, name), n - 1);
	}
	cr_assert(old > 0, "some were killed early");
	place_end(&place);
}
