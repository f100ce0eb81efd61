// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/* laps DIR SAMPLES READERS MS START: waits START seconds. Then reads one epoch after another of the
 * job with the directory DIR and SAMPLES samples, until a signal ends this program. READERS threads
 * read, and sleep MS milliseconds after each sample. Prints the seconds of each epoch. */

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_BYTES (1 << 20)
#define MOST_READERS 64

struct job {
	const char *directory;
	uint32_t samples, epoch;
	atomic_uint next;
	struct timespec pause;
	pthread_barrier_t begin, end;
};

static void fail(const char *path)
{
	fprintf(stderr, "laps: %s: %s\n", path, strerror(errno));
	exit(EXIT_FAILURE);
}

static void read_sample(const struct job *job, uint32_t position, char *buffer)
{
	char path[512];
	snprintf(path, sizeof(path), "%s/epoch-%04" PRIu32 "/%08" PRIu32 ".ppm",
		job->directory, job->epoch, position);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail(path);
	ssize_t n;
	while ((n = read(fd, buffer, BUFFER_BYTES)) > 0)
		;
	if (n < 0)
		fail(path);
	close(fd);
}

static void *read_laps(void *context)
{
	struct job *job = context;
	char *buffer = malloc(BUFFER_BYTES);
	if (!buffer)
		fail("memory");
	for (;;) {
		uint32_t position;
		pthread_barrier_wait(&job->begin);
		while ((position = atomic_fetch_add(&job->next, 1)) < job->samples) {
			read_sample(job, position, buffer);
			nanosleep(&job->pause, NULL);
		}
		pthread_barrier_wait(&job->end);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc != 6) {
		fputs("usage: laps DIR SAMPLES READERS MS START\n", stderr);
		return 2;
	}
	struct job job = {.directory = argv[1],
		.samples = (uint32_t)atoi(argv[2]),
		.pause = timespec_of_ns((uint64_t)(atof(argv[4]) * 1e6))};
	int n = atoi(argv[3]);
	struct timespec start = timespec_of_ns((uint64_t)(atof(argv[5]) * 1e9));
	pthread_t thread;
	if (n < 1 || n > MOST_READERS)
		return 2;
	pthread_barrier_init(&job.begin, NULL, (unsigned)n + 1);
	pthread_barrier_init(&job.end, NULL, (unsigned)n + 1);
	for (int i = 0; i < n; i++)
		if (pthread_create(&thread, NULL, read_laps, &job) != 0)
			fail("thread");
	nanosleep(&start, NULL);
	for (;; job.epoch++) {
		uint64_t begin = clock_now_ns();
		atomic_store(&job.next, 0);
		pthread_barrier_wait(&job.begin);
		pthread_barrier_wait(&job.end);
		printf("%.6f\n", (double)(clock_now_ns() - begin) / 1e9);
		fflush(stdout);
	}
}
