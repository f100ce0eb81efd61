// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/*
 * read_epoch DIR: reads every file of a directory that does not hold labels, in the order
 * of the names, and does nothing with the bytes: what a sample costs without any decoding
 * in the reader. Prints one line of JSON; a file of several samples counts as one.
 */

#include "base/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define BUFFER_BYTES (1 << 20)

static int is_sample(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');
	return dot && entry->d_name[0] != '.' && strcmp(dot, ".cls") != 0 &&
	       !strstr(entry->d_name, ".labels.");
}

/* Bytes read, or -errno. */
static int64_t read_file(int directory, const char *name, uint8_t *buffer)
{
	int64_t bytes = 0;
	ssize_t n;
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while ((n = read(fd, buffer, BUFFER_BYTES)) > 0)
		bytes += n;
	if (n < 0)
		bytes = -errno;
	close(fd);
	return bytes;
}

static double cpu_s(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static int read_all(const char *path, struct dirent **names, int n_names)
{
	static uint8_t buffer[BUFFER_BYTES];
	uint64_t bytes = 0, begin = clock_now_ns();
	int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; directory >= 0 && i < n_names; i++) {
		int64_t n = read_file(directory, names[i]->d_name, buffer);
		if (n < 0) {
			fprintf(stderr, "read_epoch: %s/%s: %s\n", path, names[i]->d_name,
				strerror((int)-n));
			return EXIT_FAILURE;
		}
		bytes += (uint64_t)n;
	}
	printf("{\"samples\": %d, \"bytes\": %" PRIu64
	       ", \"seconds\": %.6f, \"cpu_s\": %.6f}\n",
		n_names, bytes, (double)(clock_now_ns() - begin) / 1e9, cpu_s());
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct dirent **names;
	if (argc != 2) {
		fputs("usage: read_epoch DIR\n", stderr);
		return 2;
	}
	int n = scandir(argv[1], &names, is_sample, alphasort);
	if (n < 0) {
		fprintf(stderr, "read_epoch: %s: %s\n", argv[1], strerror(errno));
		return EXIT_FAILURE;
	}
	int status = read_all(argv[1], names, n);
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
	return status;
}
