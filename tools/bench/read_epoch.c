// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/*
 * read_epoch DIR: reads every file of a directory that is not a label, in the order of
 * the names, and does nothing with the bytes: what a sample costs without any decoding in
 * the reader. Prints one line of JSON: the time in all, and what open, read and close
 * took of it; and whether files were read by mapping them (with -m).
 */

#include "base/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES (1 << 20)

struct reading {
	bool map;
	uint64_t bytes, sum; /* the sum makes sure that a mapping is really read */
	uint64_t open_ns, read_ns, close_ns;
};

static int is_sample(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');
	return dot && entry->d_name[0] != '.' && strcmp(dot, ".cls") != 0 &&
	       strcmp(dot, ".json") != 0 && !strstr(entry->d_name, ".labels.");
}

/* Reads as many bytes as st_size says, as readers do that look at it: fread, numpy. */
static int read_all(int fd, size_t size, struct reading *reading)
{
	static uint8_t buffer[BUFFER_BYTES];
	ssize_t n = 1;
	for (size_t done = 0; done < size && n > 0; done += (size_t)n) {
		size_t left = size - done;
		n = read(fd, buffer, left < BUFFER_BYTES ? left : BUFFER_BYTES);
		if (n < 0)
			return -errno;
		reading->bytes += (uint64_t)n;
	}
	return 0;
}

static int read_mapping(int fd, size_t size, struct reading *reading)
{
	const uint8_t *bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED)
		return -errno;
	for (size_t i = 0; i < size; i += 64)
		reading->sum += bytes[i];
	munmap((void *)(uintptr_t)bytes, size);
	reading->bytes += size;
	return 0;
}

/* 0 or -errno */
static int read_file(int directory, const char *name, struct reading *reading)
{
	uint64_t begin = clock_now_ns();
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	uint64_t opened = clock_now_ns();
	struct stat st;
	int err = fstat(fd, &st) ? -errno : 0;
	if (!err)
		err = reading->map ? read_mapping(fd, (size_t)st.st_size, reading)
				   : read_all(fd, (size_t)st.st_size, reading);
	uint64_t read_ = clock_now_ns();
	close(fd);
	reading->open_ns += opened - begin;
	reading->read_ns += read_ - opened;
	reading->close_ns += clock_now_ns() - read_;
	return err;
}

static int read_files(
	const char *path, struct dirent **names, int n, struct reading *reading)
{
	int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err = directory < 0 ? -errno : 0;
	for (int i = 0; !err && i < n; i++) {
		err = read_file(directory, names[i]->d_name, reading);
		if (err)
			fprintf(stderr, "read_epoch: %s/%s: %s\n", path, names[i]->d_name,
				strerror(-err));
	}
	return err;
}

static int run(const char *path, bool map)
{
	struct dirent **names;
	struct reading reading = {.map = map};
	int n = scandir(path, &names, is_sample, alphasort);
	if (n < 0) {
		fprintf(stderr, "read_epoch: %s: %s\n", path, strerror(errno));
		return EXIT_FAILURE;
	}
	uint64_t begin = clock_now_ns();
	int err = read_files(path, names, n, &reading);
	uint64_t ns = clock_now_ns() - begin;
	if (!err)
		printf("{\"files\": %d, \"bytes\": %" PRIu64 ", \"seconds\": %.6f, "
		       "\"open_s\": %.6f, \"read_s\": %.6f, \"close_s\": %.6f, "
		       "\"sum\": %" PRIu64 "}\n",
			n, reading.bytes, (double)ns / 1e9, (double)reading.open_ns / 1e9,
			(double)reading.read_ns / 1e9, (double)reading.close_ns / 1e9,
			reading.sum);
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	bool map = argc == 3 && strcmp(argv[1], "-m") == 0;
	if (argc != 2 && !map) {
		fputs("usage: read_epoch [-m] DIR\n", stderr);
		return 2;
	}
	return run(argv[argc - 1], map);
}
