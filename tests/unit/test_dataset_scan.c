// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/dataset_internal.h"
#include "dataset_place.h"

Test(dataset_scan, classes_are_the_directories_in_byte_order)
{
	struct place place;
	place_begin(&place);
	place_jpeg(&place, "b/1.jpg");
	place_jpeg(&place, "a/1.jpg");
	place_jpeg(&place, "B/1.jpg");
	place_jpeg(&place, "a b/1.jpg");
	cr_assert_eq(place_open(&place), 0);

	static const char *const expected[] = {"B", "a", "a b", "b"};
	cr_assert_eq(dataset_classes(place.dataset), 4);
	for (uint32_t label = 0; label < 4; label++) {
		cr_assert_str_eq(
			dataset_class_name(place.dataset, label), expected[label]);
		cr_assert_eq(dataset_label(place.dataset, label), label);
	}
	cr_assert_str_eq(dataset_name(place.dataset), "flowers");
	cr_assert_str_eq(dataset_source(place.dataset), place.root);
	place_end(&place);
}

Test(dataset_scan, takes_files_by_ending_and_skips_hidden_ones)
{
	struct place place;
	place_begin(&place);
	place_jpeg(&place, "a/1.jpg");
	place_jpeg(&place, "a/2.JPG");
	place_jpeg(&place, "a/deep/er/3.jPg");
	place_jpeg(&place, "a/jpg");
	place_jpeg(&place, "a/.hidden.jpg");
	place_jpeg(&place, "a/.hidden/1.jpg");
	place_jpeg(&place, ".hidden/1.jpg");
	place_jpeg(&place, "a/notes.txt");
	place_jpeg(&place, "a/directory.jpg/notes.txt");
	cr_assert_eq(mkfifo(place_path(&place, "a/fifo.jpg"), 0600), 0);
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(dataset_samples(place.dataset), 3);
	cr_assert_eq(dataset_classes(place.dataset), 1);

	place.config.extensions = (char[]){"*"};
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(dataset_samples(place.dataset), 6);
	place_end(&place);
}

Test(dataset_scan, ids_follow_class_then_directory_then_name)
{
	static const char *const sorted[] = {"a/1.jpg", "a/z.jpg", "a/b/2.jpg",
		"a/b/3.jpg", "a/b c/1.jpg", "a/b/z/0.jpg", "a b/0.jpg", "b/0.jpg"};
	struct place place;
	place_begin(&place);
	for (int i = 7; i >= 0; i--)
		place_jpeg(&place, sorted[i]);
	cr_assert_eq(place_open(&place), 0);
	for (sample_id id = 0; id < 8; id++)
		cr_assert_eq(place_id(&place, sorted[id]), id, "%s", sorted[id]);
	place_end(&place);
}

Test(dataset_scan, ids_do_not_depend_on_the_number_of_threads)
{
	struct place place;
	char names[200][32];
	place_begin(&place);
	for (unsigned i = 0; i < 200; i++) {
		snprintf(names[i], sizeof(names[i]), "c%u/d%u/%u.jpg", i % 7, i % 3,
			i * 37);
		place_text(&place, names[i], "");
	}
	sample_id ids[200];
	for (unsigned threads = 1; threads <= 16; threads *= 2) {
		unlink(place.catalogue);
		dataset_close(&place.dataset);
		cr_assert_eq(dataset_open_threads(&place.config, place.state, NULL,
				     threads, &place.dataset),
			0);
		for (unsigned i = 0; i < 200; i++) {
			sample_id id = place_id(&place, names[i]);
			cr_assert(threads == 1 || id == ids[i]);
			ids[i] = id;
		}
	}
	place_end(&place);
}

Test(dataset_scan, names_are_bytes)
{
	char longest[256 + 2];
	snprintf(longest, sizeof(longest), "a/%0*d.jpg", 251, 7);
	const char *const names[] = {"a/with space.jpg", "a/new\nline.jpg",
		"a/M\xc3\xbcller.jpg", "a/invalid\xff\xfe.jpg", "a/100%_'\"\\;--.jpg",
		"a/\x01.jpg", "cl\xff ass\n/1.jpg", longest};
	struct place place;
	place_begin(&place);
	for (int i = 0; i < 8; i++)
		place_jpeg(&place, names[i]);
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(dataset_samples(place.dataset), 8);
	for (int i = 0; i < 8; i++) {
		struct dataset_sample sample;
		sample_id id = place_id(&place, names[i]);
		cr_assert_neq(id, SAMPLE_NONE, "%s", names[i]);
		cr_assert_eq(dataset_get(place.dataset, id, &sample), 0);
		cr_assert_eq(access(sample.path, R_OK), 0);
		dataset_sample_free(&sample);
	}
	char *message;
	cr_assert_eq(place_count(&place, "path like '%lid\xff%'", &message), 1);
	cr_assert_eq(place_count(&place, "path like '%M\xc3\xbcller%'", &message), 1);
	cr_assert_eq(place_count(&place, "path like 'a/%'", &message), 7);
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(dataset_ids(place.dataset), 8, "they are found again");
	place_end(&place);
}

Test(dataset_scan, follows_links_that_stay_inside)
{
	struct place place;
	place_begin(&place);
	place_jpeg(&place, "a/1.jpg");
	place_jpeg(&place, "a/more/2.jpg");
	place_link(&place, "b/file.jpg", "../a/1.jpg");
	place_link(&place, "b/directory", "../a/more");
	place_link(&place, "c", "a");
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(dataset_classes(place.dataset), 3);
	cr_assert_neq(place_id(&place, "b/file.jpg"), SAMPLE_NONE);
	cr_assert_neq(place_id(&place, "b/directory/2.jpg"), SAMPLE_NONE);
	cr_assert_neq(place_id(&place, "c/more/2.jpg"), SAMPLE_NONE);
	cr_assert_not(place_logged(&place, "warning"));
	place_end(&place);
}

Test(dataset_scan, refuses_links_that_leave_the_tree)
{
	struct place place;
	place_begin(&place);
	place_jpeg(&place, "../elsewhere/1.jpg");
	place_jpeg(&place, "../tree-next/1.jpg");
	place_jpeg(&place, "a/1.jpg");
	place_link(&place, "a/2.jpg", "../../elsewhere/1.jpg");
	place_link(&place, "a/more", "../../tree-next");
	place_link(&place, "b", "../elsewhere");
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(dataset_samples(place.dataset), 1);
	cr_assert_eq(dataset_classes(place.dataset), 1);
	cr_assert(place_logged(&place, "3 symbolic links that leave the tree"));
	cr_assert(place_logged(&place, "the first: a/2.jpg"));

	place.config.follow_outside = true;
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(dataset_samples(place.dataset), 4);
	cr_assert_eq(dataset_classes(place.dataset), 2);
	cr_assert_not(place_logged(&place, "leave the tree"));
	place_end(&place);
}

Test(dataset_scan, ends_in_spite_of_circular_links)
{
	struct place place;
	place_begin(&place);
	place_jpeg(&place, "a/1.jpg");
	place_link(&place, "a/self.jpg", "self.jpg");
	place_link(&place, "a/here", ".");
	place_link(&place, "a/up", "..");
	place_link(&place, "whole", ".");
	for (int i = 0; i < 12; i++) { /* each to each: 12! ways without a limit */
		char from[32], to[32];
		for (int k = 0; k < 12; k++) {
			snprintf(from, sizeof(from), "m/%d/to%d", i, k);
			snprintf(to, sizeof(to), "../%d", k);
			place_link(&place, from, to);
		}
	}
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(dataset_samples(place.dataset), 1);
	cr_assert_eq(dataset_classes(place.dataset), 1);
	cr_assert(place_logged(&place, "in a circle"));
	place_end(&place);
}

Test(dataset_scan, warns_of_dangling_links_and_empty_classes)
{
	struct place place;
	place_begin(&place);
	place_jpeg(&place, "b/1.jpg");
	place_link(&place, "b/2.jpg", "nowhere");
	place_text(&place, "a/notes.txt", "");
	place_text(&place, "c/notes.txt", "");
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(dataset_classes(place.dataset), 1);
	cr_assert_eq(dataset_label(place.dataset, 0), 0);
	cr_assert(place_logged(
		&place, "2 directories have no image, so they are no classes: a, c"));
	cr_assert(place_logged(&place, "lead nowhere were skipped; the first: b/2.jpg"));
	place_end(&place);
}

Test(dataset_scan, says_what_is_wrong_with_the_path)
{
	struct place place;
	place_begin(&place);
	cr_assert_eq(place_open(&place), -EINVAL);
	cr_assert(place_logged(&place, "no class directories; expected"));
	place_jpeg(&place, "1.jpg");
	cr_assert_eq(place_open(&place), -EINVAL);
	cr_assert(place_logged(&place, "(1 files lie directly in it)"));
	place_text(&place, "a/notes.txt", "");
	cr_assert_eq(place_open(&place), -ENOENT);
	cr_assert(place_logged(&place, "no file with an ending of \"jpg png\""));
	cr_assert(place_logged(&place, "<class>/<file>"));

	place.config.path = place.log;
	cr_assert_eq(place_open(&place), -ENOTDIR);
	cr_assert(place_logged(&place, "is not a directory"));
	place.config.path = (char[]){"/nowhere/at/all"};
	cr_assert_eq(place_open(&place), -ENOENT);
	cr_assert(place_logged(&place, "does not exist"));
	cr_assert_null(place.dataset);
	place_end(&place);
}

Test(dataset_scan, goes_on_where_it_may_not_read)
{
	struct place place;
	place_begin(&place);
	place_jpeg(&place, "a/1.jpg");
	place_jpeg(&place, "a/locked/2.jpg");
	place_jpeg(&place, "b/3.jpg");
	cr_assert_eq(chmod(place_path(&place, "a/locked"), 0), 0);
	cr_assert_eq(chmod(place_path(&place, "b/3.jpg"), 0), 0);
	become_nobody();
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(dataset_samples(place.dataset), 2);
	cr_assert(place_logged(&place, "the first: a/locked: Permission denied"));
	cr_assert(place_logged(&place, "the first: b/3.jpg: Permission denied"));
	become_root_again();
	cr_assert_eq(chmod(place_path(&place, "b/3.jpg"), 0644), 0);
	become_nobody();
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(dataset_image_shape(place.dataset, 1).width, 4, "looked at again");

	become_root_again();
	cr_assert_eq(chmod(place.root, 0), 0);
	become_nobody();
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(dataset_samples(place.dataset), 2, "those that are known");
	cr_assert(place_logged(&place, "can't be read: Permission denied"));
	become_root_again();
	cr_assert_eq(unlink(place.catalogue), 0);
	become_nobody();
	cr_assert_eq(place_open(&place), -EACCES);
	cr_assert(place_logged(&place, "can't be read: Permission denied"));
	become_root_again();
	chmod(place.root, 0755);
	chmod(place_path(&place, "a/locked"), 0755);
	place_end(&place);
}

Test(dataset_scan, can_be_stopped)
{
	struct place place;
	atomic_bool stop = true;
	place_begin(&place);
	place_jpeg(&place, "a/1.jpg");
	cr_assert_eq(
		dataset_open(&place.config, place.state, &stop, &place.dataset), -EINTR);
	cr_assert_null(place.dataset);
	cr_assert_neq(access(place.catalogue, F_OK), 0);
	place_end(&place);
}

/* A header of an empty file in a tar. */
static void write_member(FILE *tar, unsigned number)
{
	unsigned char header[512] = {0};
	unsigned sum = 0;
	snprintf((char *)header, 100, "class%u/%06u.jpg", number % 2, number);
	memcpy(header + 124, "00000000000", 12);
	memset(header + 148, ' ', 8);
	memcpy(header + 257, "ustar\00000", 8);
	for (size_t i = 0; i < sizeof(header); i++)
		sum += header[i];
	snprintf((char *)header + 148, 8, "%06o", sum);
	cr_assert_eq(fwrite(header, sizeof(header), 1, tar), 1);
}

static void write_tar(const char *name, unsigned n)
{
	FILE *tar = fopen(name, "w");
	cr_assert_not_null(tar);
	for (unsigned i = 0; i < n; i++)
		write_member(tar, i);
	cr_assert_eq(fclose(tar), 0);
}

/* The scan's lists shrink while samples are taken from them. No sample may be lost. */
Test(dataset_scan, has_each_of_many_samples_of_a_tar)
{
	const unsigned n = 150000;
	struct place place;
	struct path_text path = {0};
	char name[96];
	place_begin(&place);
	snprintf(name, sizeof(name), "%s/many.tar", place.directory);
	write_tar(name, n);
	place.config.path = name;
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(dataset_samples(place.dataset), n);
	for (sample_id id = 0; id < n; id++) {
		char expected[32];
		unsigned of = id < n / 2 ? 2 * id : 2 * (id - n / 2) + 1;
		snprintf(expected, sizeof(expected), "class%u/%06u.jpg", of % 2, of);
		cr_assert_str_eq(dataset_relative(place.dataset, id, &path), expected);
	}
	place_end(&place);
}

/* Spoils the compressed rows of the catalogue; its size and time stay. */
static void spoil_rows(const struct place *place)
{
	static uint8_t bytes[1 << 20];
	struct stat before;
	int fd = open(place->catalogue, O_RDWR | O_CLOEXEC);
	cr_assert_geq(fd, 0);
	cr_assert_eq(fstat(fd, &before), 0);
	ssize_t n = pread(fd, bytes, sizeof(bytes), 0);
	const uint8_t *rows = memmem(bytes, (size_t)n, "\x78\x9c", 2);
	cr_assert_not_null(rows);
	cr_assert_eq(pwrite(fd, "spoilt", 6, rows - bytes + 2), 6);
	cr_assert_eq(
		futimens(fd, (struct timespec[]){before.st_atim, before.st_mtim}), 0);
	close(fd);
}

/* A start with unchanged tars takes no memory for their samples. */
Test(dataset_scan, of_unchanged_tars_does_not_read_the_samples_of_the_catalogue)
{
	struct place place;
	struct dataset *next;
	char name[96];
	place_begin(&place);
	snprintf(name, sizeof(name), "%s/some.tar", place.directory);
	for (unsigned n = 10; n <= 12; n++) {
		write_tar(name, n);
		place.config.path = name;
		cr_assert_eq(place_open(&place), 0);
		cr_assert_eq(dataset_samples(place.dataset), n);
		cr_assert_eq(
			dataset_scan_next(&place.config, place.state, NULL, &next), 0);
		cr_assert_null(next);
	}
	spoil_rows(&place);
	cr_assert_eq(dataset_scan_next(&place.config, place.state, NULL, &next), 0);
	cr_assert_null(next);
	cr_assert_not(place_logged(&place, "damaged"));
	place.config.look = LOOK_BEFORE;
	cr_assert_eq(place_open(&place), 0);
	cr_assert_not(place_logged(&place, "damaged"));
	cr_assert_eq(dataset_samples(place.dataset), 12);
	/* now the scan reads the samples */
	cr_assert_eq(utimensat(AT_FDCWD, name, NULL, 0), 0);
	cr_assert_neq(dataset_scan_next(&place.config, place.state, NULL, &next), 0);
	cr_assert(place_logged(&place, "damaged"));
	cr_assert_eq(place_open(&place), 0);
	cr_assert(place_logged(&place, "damaged"));
	place_end(&place);
}
