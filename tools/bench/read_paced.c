// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/* read_paced DIR WORKERS MS START SECONDS: waits START seconds. Then reads the samples of a
 * directory again and again for SECONDS, like a training that needs MS milliseconds per sample.
 * WORKERS threads read up to PREFETCH samples ahead; a simulated model takes BATCH at a time.
 * Prints one line of JSON: the model's samples, the seconds, and the seconds in which the model
 * waited. */

#include "base/clock.h"
#include "base/lock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST_WORKERS 64
#define PREFETCH 64
#define BATCH 8
#define BUFFER_BYTES (1 << 20)

struct training {
	int directory;
	struct dirent **names;
	uint64_t n_names;
	pthread_mutex_t mutex; /* protects all members below */
	pthread_cond_t fetched_cond, used_cond;
	uint64_t asked, fetched, used;
	bool ends;
	int err;
};

static int is_sample(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');
	return dot && entry->d_name[0] != '.' && strcmp(dot, ".cls") != 0;
}

static void sleep_until(uint64_t ns)
{
	struct timespec time = timespec_of_ns(ns);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
		;
}

static int read_file(int directory, const char *name, uint8_t *buffer)
{
	ssize_t n = 1;
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (n > 0)
		n = read(fd, buffer, BUFFER_BYTES);
	int err = n < 0 ? -errno : 0;
	close(fd);
	return err;
}

/* Waits until the worker may read a file ahead, and sets *ret to its name. Returns false when the
 * training ends. */
static bool next_name(struct training *training, const char **ret)
{
	pthread_mutex_lock(&training->mutex);
	while (!training->ends && training->asked - training->used >= PREFETCH)
		pthread_cond_wait(&training->used_cond, &training->mutex);
	bool ends = training->ends;
	if (!ends)
		*ret = training->names[training->asked++ % training->n_names]->d_name;
	pthread_mutex_unlock(&training->mutex);
	return !ends;
}

static void *worker(void *context)
{
	struct training *training = context;
	uint8_t *buffer = malloc(BUFFER_BYTES);
	const char *name;
	while (buffer && next_name(training, &name)) {
		int err = read_file(training->directory, name, buffer);
		pthread_mutex_lock(&training->mutex);
		training->fetched += err == 0;
		if (err)
			training->err = err;
		training->ends |= err != 0;
		pthread_cond_broadcast(&training->fetched_cond);
		pthread_mutex_unlock(&training->mutex);
	}
	free(buffer);
	return NULL;
}

/* Returns the ns in which the model waited for the batch. */
static uint64_t take_batch(struct training *training, uint64_t end_ns)
{
	uint64_t begin = clock_now_ns();
	struct timespec end = timespec_of_ns(end_ns);
	int err = 0;
	pthread_mutex_lock(&training->mutex);
	while (!training->ends && err == 0 && training->fetched - training->used < BATCH)
		err = pthread_cond_timedwait(
			&training->fetched_cond, &training->mutex, &end);
	if (training->fetched - training->used >= BATCH)
		training->used += BATCH;
	pthread_cond_broadcast(&training->used_cond);
	pthread_mutex_unlock(&training->mutex);
	return clock_now_ns() - begin;
}

static bool has_ended(struct training *training, uint64_t end_ns)
{
	pthread_mutex_lock(&training->mutex);
	training->ends |= clock_now_ns() >= end_ns;
	bool ends = training->ends;
	pthread_cond_broadcast(&training->used_cond);
	pthread_mutex_unlock(&training->mutex);
	return ends;
}

static void train(
	struct training *training, int workers, double ms, double start, double seconds)
{
	pthread_t threads[MOST_WORKERS];
	uint64_t begin = clock_now_ns() + (uint64_t)(start * 1e9), waited = 0;
	uint64_t end = begin + (uint64_t)(seconds * 1e9);
	sleep_until(begin);
	for (int i = 0; i < workers; i++)
		if (pthread_create(&threads[i], NULL, worker, training) != 0)
			abort();
	while (!has_ended(training, end)) {
		waited += take_batch(training, end);
		uint64_t until = clock_now_ns() + (uint64_t)(BATCH * ms * NS_PER_MS);
		sleep_until(until < end ? until : end);
	}
	for (int i = 0; i < workers; i++)
		pthread_join(threads[i], NULL);
	printf("{\"samples\": %" PRIu64 ", \"seconds\": %.6f, \"waited\": %.6f}\n",
		training->used, seconds, (double)waited / 1e9);
}

static int open_directory(const char *path, struct training *ret)
{
	*ret = (struct training){.mutex = PTHREAD_MUTEX_INITIALIZER};
	condition_init(&ret->fetched_cond);
	condition_init(&ret->used_cond);
	ret->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int n = scandir(path, &ret->names, is_sample, alphasort);
	if (ret->directory < 0 || n <= 0)
		return n == 0 ? -ENOENT : -errno;
	ret->n_names = (uint64_t)n;
	return 0;
}

int main(int argc, char **argv)
{
	struct training training;
	int workers = argc == 6 ? atoi(argv[2]) : 0;
	if (workers < 1 || workers > MOST_WORKERS) {
		fputs("usage: read_paced DIR WORKERS MS START SECONDS\n", stderr);
		return 2;
	}
	int err = open_directory(argv[1], &training);
	if (!err) {
		train(&training, workers, strtod(argv[3], NULL), strtod(argv[4], NULL),
			strtod(argv[5], NULL));
		err = training.err;
	}
	if (err)
		fprintf(stderr, "read_paced: %s: %s\n", argv[1], strerror(-err));
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
