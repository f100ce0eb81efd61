// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/*
 * read_epoch DIR: reads all files of a directory except labels, in the order of names, without
 * decoding. Prints one line of JSON: the total time, and the times of open, read and close, summed
 * over all threads.
 *
 *   -m        maps the files
 *   -b BYTES  reads this many bytes at once; the most, and the default, is 1 MiB
 *   -y        yields the CPU before each open
 *   -n N      reads all files N times
 *   -t N      N threads take turns at the files; they begin when all have allocated their memory
 */

#include "base/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES (1 << 20)
#define MAX_THREADS 1024

struct work {
	const char *path;
	int directory;
	struct dirent **names;
	int n;
	int times;
	bool map, yields;
	size_t at_once;		 /* bytes */
	pthread_barrier_t ready; /* all threads, and the main thread, begin together */
	atomic_int next;	 /* files taken so far, over all repetitions */
};

struct reading {
	/* sum: sum of every 64th byte of the mapped files, so that each page is read */
	uint64_t bytes, sum;
	uint64_t open_ns, read_ns, close_ns;
};

static int is_sample(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');
	return dot && entry->d_name[0] != '.' && strcmp(dot, ".cls") != 0 &&
	       strcmp(dot, ".json") != 0 && !strstr(entry->d_name, ".labels.");
}

static _Thread_local uint8_t buffer[BUFFER_BYTES];

/* Reads as many bytes as st_size says, as fread and numpy do. */
static int read_all(int fd, size_t size, size_t at_once, struct reading *reading)
{
	ssize_t n = 1;
	for (size_t done = 0; done < size && n > 0; done += (size_t)n) {
		size_t left = size - done;
		n = read(fd, buffer, left < at_once ? left : at_once);
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

static int read_file(const struct work *work, const char *name, struct reading *reading)
{
	if (work->yields)
		sched_yield();
	uint64_t begin = clock_now_ns();
	int fd = openat(work->directory, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	uint64_t opened = clock_now_ns();
	struct stat st;
	int err = fstat(fd, &st) ? -errno : 0;
	if (!err)
		err = work->map
			      ? read_mapping(fd, (size_t)st.st_size, reading)
			      : read_all(fd, (size_t)st.st_size, work->at_once, reading);
	uint64_t read_ = clock_now_ns();
	close(fd);
	reading->open_ns += opened - begin;
	reading->read_ns += read_ - opened;
	reading->close_ns += clock_now_ns() - read_;
	return err;
}

struct thread {
	pthread_t id;
	struct work *work;
	struct reading reading;
	int err;
};

static void *read_files(void *context)
{
	struct thread *thread = context;
	struct work *work = thread->work;
	int i;
	memset(buffer, 1, work->at_once);
	pthread_barrier_wait(&work->ready);
	while (!thread->err &&
		(i = atomic_fetch_add(&work->next, 1)) < work->n * work->times) {
		const char *name = work->names[i % work->n]->d_name;
		thread->err = read_file(work, name, &thread->reading);
		if (thread->err)
			fprintf(stderr, "read_epoch: %s/%s: %s\n", work->path, name,
				strerror(-thread->err));
	}
	return NULL;
}

static int read_together(
	struct work *work, int threads, struct reading *sum, uint64_t *ret_ns)
{
	static struct thread all[MAX_THREADS];
	int err = -pthread_barrier_init(&work->ready, NULL, (unsigned)threads + 1);
	for (int i = 0; !err && i < threads; i++) {
		all[i].work = work;
		err = -pthread_create(&all[i].id, NULL, read_files, &all[i]);
	}
	if (err) { /* a thread is missing, so the others would wait for ever at the barrier */
		fprintf(stderr, "read_epoch: %d threads: %s\n", threads, strerror(-err));
		exit(EXIT_FAILURE);
	}
	pthread_barrier_wait(&work->ready);
	uint64_t begin_ns = clock_now_ns();
	for (int i = 0; i < threads; i++) {
		const struct reading *reading = &all[i].reading;
		pthread_join(all[i].id, NULL);
		sum->bytes += reading->bytes;
		sum->sum += reading->sum;
		sum->open_ns += reading->open_ns;
		sum->read_ns += reading->read_ns;
		sum->close_ns += reading->close_ns;
		err = err ? err : all[i].err;
	}
	*ret_ns = clock_now_ns() - begin_ns;
	pthread_barrier_destroy(&work->ready);
	return err;
}

static int run(struct work *work, int threads)
{
	struct reading reading = {0};
	uint64_t ns;
	work->directory = open(work->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	work->n = scandir(work->path, &work->names, is_sample, alphasort);
	if (work->n < 0 || work->directory < 0) {
		fprintf(stderr, "read_epoch: %s: %s\n", work->path, strerror(errno));
		return EXIT_FAILURE;
	}
	int err = read_together(work, threads, &reading, &ns);
	if (!err)
		printf("{\"files\": %d, \"bytes\": %" PRIu64 ", \"seconds\": %.6f, "
		       "\"open_s\": %.6f, \"read_s\": %.6f, \"close_s\": %.6f, "
		       "\"sum\": %" PRIu64 "}\n",
			work->n * work->times, reading.bytes, (double)ns / 1e9,
			(double)reading.open_ns / 1e9, (double)reading.read_ns / 1e9,
			(double)reading.close_ns / 1e9, reading.sum);
	for (int i = 0; i < work->n; i++)
		free(work->names[i]);
	free(work->names);
	close(work->directory);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct work work = {.times = 1, .at_once = BUFFER_BYTES};
	int option, threads = 1;
	while ((option = getopt(argc, argv, "myb:n:t:")) != -1) {
		if (option == 'm')
			work.map = true;
		else if (option == 'y')
			work.yields = true;
		else if (option == 'b')
			work.at_once = strtoul(optarg, NULL, 10);
		else if (option == 'n')
			work.times = atoi(optarg);
		else if (option == 't')
			threads = atoi(optarg);
		else
			threads = 0;
	}
	if (threads < 1 || threads > MAX_THREADS || work.times < 1 ||
		work.at_once - 1 >= BUFFER_BYTES || argc != optind + 1) {
		fputs("usage: read_epoch [-m] [-y] [-b BYTES] [-n TIMES] [-t THREADS] "
		      "DIR\n",
			stderr);
		return 2;
	}
	work.path = argv[optind];
	return run(&work, threads);
}
