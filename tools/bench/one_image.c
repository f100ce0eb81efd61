// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "config/config.h"
#include "one_image.h"
#include "sched/jobs.h"
#include "sched/positions.h"

#include <errno.h>
#include <png.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CLASSES 1000
#define PATH_BYTES 128

static char top[64] = "/dev/shm/joaderfs-bench.XXXXXX";

void one_image_check(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(-err));
	exit(EXIT_FAILURE);
}

static void write_image(const char *path)
{
	uint8_t pixels[ONE_IMAGE_SIDE * ONE_IMAGE_SIDE * 3] = {0};
	png_image image = {.version = PNG_IMAGE_VERSION,
		.width = ONE_IMAGE_SIDE,
		.height = ONE_IMAGE_SIDE,
		.format = PNG_FORMAT_RGB};
	if (!png_image_write_to_file(&image, path, 0, pixels, 0, NULL))
		one_image_check(-EIO, path);
}

static void make_directory(const char *path)
{
	if (mkdir(path, 0700) != 0)
		one_image_check(-errno, path);
}

static void make_tree(uint32_t samples)
{
	char image[PATH_BYTES], path[PATH_BYTES];
	snprintf(image, sizeof(image), "%s/image.png", top);
	write_image(image);
	snprintf(path, sizeof(path), "%s/photos", top);
	make_directory(path);
	for (uint32_t i = 0; i < samples; i++) {
		if (i < CLASSES) {
			snprintf(path, sizeof(path), "%s/photos/%u", top, i);
			make_directory(path);
		}
		snprintf(path, sizeof(path), "%s/photos/%u/%u.png", top, i % CLASSES, i);
		if (link(image, path) != 0)
			one_image_check(-errno, path);
	}
}

static void remove_all(void)
{
	char command[96];
	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	if (system(command) != 0)
		fprintf(stderr, "%s: can't be removed\n", top);
}

struct dataset *one_image_new(uint32_t samples)
{
	static char name[] = "many", extensions[] = "png", photos[PATH_BYTES];
	struct dataset *dataset;
	if (!mkdtemp(top))
		one_image_check(-errno, top);
	one_image_check(-atexit(remove_all), top);
	make_tree(samples);
	snprintf(photos, sizeof(photos), "%s/photos", top);
	struct dataset_config config = {
		.name = name, .path = photos, .extensions = extensions};
	one_image_check(dataset_open(&config, top, NULL, &dataset), photos);
	return dataset;
}

char *one_image_directory(void)
{
	return top;
}

static void report(void *context, const char *message)
{
	(void)context;
	fprintf(stderr, "%s\n", message);
}

struct sched_job *one_image_add(struct sched *sched, struct job_config config)
{
	static char file[] = "job.ini", dataset[] = "many", extension[] = "ppm";
	config.file = file;
	config.dataset = dataset;
	config.extension = extension;
	config.weight = 1;
	config.idle_s = 600;
	config.batch = 64;
	one_image_check(sched_job_add(sched, &config, false, report, NULL), config.name);
	return sched_job_find(sched, config.name);
}

struct answer {
	sem_t there;
	struct sched_opened opened;
};

static void opened(void *context, const struct sched_opened *opened)
{
	struct answer *answer = context;
	answer->opened = *opened;
	sem_post(&answer->there);
}

void one_image_read(struct sched_job *job, uint32_t epoch, uint32_t position)
{
	struct answer answer = {.opened = {0}};
	struct sched_open_callbacks callbacks = {.opened = opened, .context = &answer};
	sem_init(&answer.there, 0, 0);
	one_image_check(sched_open(job, epoch, position, &callbacks), "open");
	while (sem_wait(&answer.there) != 0)
		;
	one_image_check(answer.opened.status, "read");
	sched_release(answer.opened.handle);
	sem_destroy(&answer.there);
}
