// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "dataset_place.h"

#include <pthread.h>
#include <pty.h>
#include <sys/wait.h>

Test(dataset_get, gives_what_the_catalogue_has)
{
	struct place place;
	struct dataset_sample sample;
	place_begin(&place);
	write_png(place_path(&place, "a/1.png"), 7, 5);
	write_png(place_path(&place, "b/deep/2.png"), 8, 6);
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(dataset_get(place.dataset, 1, &sample), 0);
	struct stat status;
	cr_assert_eq(stat(place_path(&place, "b/deep/2.png"), &status), 0);
	cr_assert_str_eq(sample.path, place_path(&place, "b/deep/2.png"));
	cr_assert_str_eq(sample.relative, "b/deep/2.png");
	cr_assert_eq(sample.relative, sample.path + strlen(place.root) + 1);
	cr_assert_eq(sample.label, 1);
	cr_assert_eq((off_t)sample.bytes, status.st_size);
	cr_assert_eq(sample.mtime_ns,
		status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec);
	cr_assert_eq(sample.image.width, 8);
	cr_assert_eq(sample.image.height, 6);
	cr_assert_eq(dataset_bytes(place.dataset),
		dataset_file_bytes(place.dataset, 0) + sample.bytes);
	dataset_sample_free(&sample);
	cr_assert_eq(dataset_get(place.dataset, 2, &sample), -ENOENT);
	cr_assert_eq(dataset_get(place.dataset, SAMPLE_NONE, &sample), -ENOENT);
	dataset_sample_free(&sample);
	place_end(&place);
}

Test(dataset_get, a_slash_at_the_end_of_the_path_changes_nothing)
{
	struct place place;
	struct dataset_sample sample;
	place_begin(&place);
	place_jpeg(&place, "a/1.jpg");
	cr_assert_eq(place_open(&place), 0);
	strcat(place.root, "//");
	cr_assert_eq(place_open(&place), 0);
	cr_assert_not(place_logged(&place, "another path"));
	cr_assert_eq(dataset_get(place.dataset, 0, &sample), 0);
	cr_assert_null(strstr(sample.path, "//"));
	dataset_sample_free(&sample);
	place_end(&place);
}

static void *get_many(void *context)
{
	struct dataset *dataset = context;
	for (unsigned i = 0; i < 500; i++) {
		struct dataset_sample sample;
		char expected[16];
		snprintf(expected, sizeof(expected), "a/%02u.jpg", i % 50);
		cr_assert_eq(dataset_get(dataset, i % 50, &sample), 0);
		cr_assert_str_eq(sample.relative, expected);
		dataset_sample_free(&sample);
	}
	return NULL;
}

Test(dataset_get, can_be_called_by_many_threads)
{
	struct place place;
	pthread_t threads[16];
	place_begin(&place);
	for (unsigned i = 0; i < 50; i++) {
		char name[16];
		snprintf(name, sizeof(name), "a/%02u.jpg", i);
		place_text(&place, name, "");
	}
	cr_assert_eq(place_open(&place), 0);
	for (int i = 0; i < 16; i++)
		cr_assert_eq(
			pthread_create(&threads[i], NULL, get_many, place.dataset), 0);
	for (int i = 0; i < 16; i++)
		pthread_join(threads[i], NULL);
	place_end(&place);
}

/* Scans, and returns the progress as a terminal shows it. */
static void watch_scan(struct place *place, char *text, size_t size)
{
	int terminal;
	size_t n = 0;
	pid_t child = forkpty(&terminal, NULL, NULL, NULL);
	cr_assert_geq(child, 0);
	if (child == 0)
		_exit(place_open(place) != 0);
	for (ssize_t got = 1; got > 0 && n < size - 1; n += (size_t)(got > 0 ? got : 0))
		got = read(terminal, text + n, size - 1 - n);
	text[n] = '\0';
	close(terminal);
	int status;
	waitpid(child, &status, 0);
	cr_assert_eq(status, 0);
}

Test(dataset_get, a_terminal_shows_progress_in_one_line)
{
	struct place place;
	char text[4096];
	uint64_t updates = 0;
	place_begin(&place);
	for (unsigned i = 0; i < 500; i++) {
		char name[16];
		snprintf(name, sizeof(name), "a/%02u.jpg", i);
		place_text(&place, name, "");
	}
	uint64_t begin = clock_now_ns();
	watch_scan(&place, text, sizeof(text));
	uint64_t elapsed = clock_now_ns() - begin;
	cr_assert_eq(strncmp(text, "\rscanning flowers: 0 files, 0 headers", 37), 0);
	cr_assert_null(strchr(text, '\n'));
	cr_assert_str_eq(text + strlen(text) - 4, "\r\033[K", "cleared in the end");
	for (const char *line = text; (line = strstr(line, "scanning")); line++)
		updates++;
	cr_assert_leq(updates, 1 + elapsed / 200000000, "at most five a second");
	place_end(&place);
}
