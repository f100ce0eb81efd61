// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/*
 * holds [SAMPLES]
 *
 * The longest time for which the scheduler's lock is held in one piece while jobs join,
 * begin epochs, read and leave: 1.28 million samples, or SAMPLES, with exchange, once
 * flat and once by classes. The dataset is in memory and all its samples are one image.
 * Clocks run on while other programs have the processor. The program is linked so that
 * lock_take and its like come by here (bench.mk); addr2line tells who let it go.
 */

#include "base/clock.h"
#include "base/lock.h"
#include "dataset/dataset_paths.h"
#include "sched/sched.h"

#include <errno.h>
#include <png.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CLASSES 1000
#define SIDE 8
#define READS 10000

struct dataset {
	char none;
};

static struct dataset many;
static uint32_t n_samples;
static char directory[64] = "/dev/shm/joaderfs-holds.XXXXXX";
static char image_path[80];

static void check(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "holds: %s: %s\n", what, strerror(-err));
	exit(EXIT_FAILURE);
}

/* --- the lock ------------------------------------------------------------------------- */

void __real_lock_take(struct lock *lock);
void __real_lock_release(struct lock *lock);
void __real_lock_yield(struct lock *lock);
void __real_lock_wait(struct lock *lock, pthread_cond_t *cond);
int __real_lock_wait_until(
	struct lock *lock, pthread_cond_t *cond, const struct timespec *deadline);
void __wrap_lock_take(struct lock *lock);
void __wrap_lock_release(struct lock *lock);
void __wrap_lock_yield(struct lock *lock);
void __wrap_lock_wait(struct lock *lock, pthread_cond_t *cond);
int __wrap_lock_wait_until(
	struct lock *lock, pthread_cond_t *cond, const struct timespec *deadline);

/* All under the scheduler's lock. */
static uint64_t held_since, longest, holds;
static const char *longest_by;
extern const char __executable_start;

static void begin(const struct lock *lock)
{
	if (lock->rank == LOCK_RANK_SCHED)
		held_since = clock_now_ns();
}

static void end(const struct lock *lock, const void *by)
{
	if (lock->rank != LOCK_RANK_SCHED)
		return;
	uint64_t held = clock_now_ns() - held_since;
	holds++;
	if (held <= longest)
		return;
	longest = held;
	longest_by = by;
}

void __wrap_lock_take(struct lock *lock)
{
	__real_lock_take(lock);
	begin(lock);
}

void __wrap_lock_release(struct lock *lock)
{
	end(lock, __builtin_return_address(0));
	__real_lock_release(lock);
}

void __wrap_lock_yield(struct lock *lock)
{
	end(lock, __builtin_return_address(0));
	__real_lock_yield(lock);
	begin(lock);
}

void __wrap_lock_wait(struct lock *lock, pthread_cond_t *cond)
{
	end(lock, __builtin_return_address(0));
	__real_lock_wait(lock, cond);
	begin(lock);
}

int __wrap_lock_wait_until(
	struct lock *lock, pthread_cond_t *cond, const struct timespec *deadline)
{
	end(lock, __builtin_return_address(0));
	int err = __real_lock_wait_until(lock, cond, deadline);
	begin(lock);
	return err;
}

/* --- the dataset ---------------------------------------------------------------------- */

const char *dataset_name(const struct dataset *dataset)
{
	(void)dataset;
	return "many";
}

const char *dataset_location(const struct dataset *dataset)
{
	return dataset_source(dataset);
}

const char *dataset_source(const struct dataset *dataset)
{
	(void)dataset;
	return directory;
}

uint32_t dataset_ids(const struct dataset *dataset)
{
	(void)dataset;
	return n_samples;
}

uint32_t dataset_samples(const struct dataset *dataset)
{
	return dataset_ids(dataset);
}

uint32_t dataset_classes(const struct dataset *dataset)
{
	(void)dataset;
	return CLASSES;
}

const char *dataset_class_name(const struct dataset *dataset, uint32_t label)
{
	(void)dataset;
	(void)label;
	return "class";
}

uint32_t dataset_label(const struct dataset *dataset, sample_id id)
{
	(void)dataset;
	return (uint32_t)((uint64_t)id * CLASSES / n_samples);
}

struct tensor_shape dataset_image_shape(const struct dataset *dataset, sample_id id)
{
	(void)dataset;
	(void)id;
	return (struct tensor_shape){.width = SIDE, .height = SIDE};
}

uint8_t dataset_orientation(const struct dataset *dataset, sample_id id)
{
	(void)dataset;
	(void)id;
	return 1;
}

static uint64_t image_bytes(void)
{
	struct stat status;
	return stat(image_path, &status) == 0 ? (uint64_t)status.st_size : 0;
}

uint64_t dataset_file_bytes(const struct dataset *dataset, sample_id id)
{
	(void)dataset;
	(void)id;
	return 100;
}

uint64_t dataset_bytes(const struct dataset *dataset)
{
	return dataset_file_bytes(dataset, 0) * n_samples;
}

uint32_t dataset_path_length(const struct dataset *dataset, sample_id id)
{
	(void)dataset;
	(void)id;
	return sizeof("image.png") - 1;
}

uint64_t dataset_fingerprint(
	const struct dataset *dataset, const roaring_bitmap_t *selection)
{
	(void)dataset;
	return roaring_bitmap_get_cardinality(selection);
}

int dataset_get(struct dataset *dataset, sample_id id, struct dataset_sample *ret)
{
	struct stat status;
	if (stat(image_path, &status) != 0)
		return -errno;
	*ret = (struct dataset_sample){.path = strdup(image_path),
		.relative = strdup("image.png"),
		.label = dataset_label(dataset, id),
		.bytes = image_bytes(),
		.mtime_ns = status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec,
		.image = dataset_image_shape(dataset, id),
		.orientation = 1};
	return 0;
}

void dataset_sample_free(struct dataset_sample *sample)
{
	free(sample->path);
	free(sample->relative);
	*sample = (struct dataset_sample){0};
}

/* No job of these asks for paths or rows. */
int dataset_paths(struct dataset *dataset, const struct dataset_paths **ret)
{
	(void)dataset;
	*ret = NULL;
	return -ENOENT;
}

int dataset_json(struct dataset *dataset, sample_id id, char **ret)
{
	(void)dataset;
	(void)id;
	*ret = NULL;
	return -ENOENT;
}

int dataset_json_longest(struct dataset *dataset, uint32_t *ret)
{
	(void)dataset;
	*ret = 0;
	return -ENOENT;
}

/* where: the step between ids. */
int dataset_select(struct dataset *dataset, const char *where, roaring_bitmap_t **ret,
	char **ret_message)
{
	(void)dataset;
	*ret_message = NULL;
	uint32_t step = where ? (uint32_t)strtoul(where, NULL, 10) : 1;
	*ret = roaring_bitmap_from_range(0, n_samples, step);
	return *ret ? 0 : -ENOMEM;
}

/* --- jobs ----------------------------------------------------------------------------- */

static struct sched *sched;
static enum view_layout layout;

static void report(void *context, const char *message)
{
	(void)context;
	fprintf(stderr, "holds: %s\n", message);
}

static void say(const char *what)
{
	sched_stats(sched); /* so that what was held before has ended */
	printf("  %-40s %9.3f ms  let go at %#tx, of %lu holds\n", what,
		(double)longest / 1e6, longest_by - &__executable_start,
		(unsigned long)holds);
	fflush(stdout);
	longest = holds = 0;
}

static struct sched_job *add(char *name, char *where)
{
	static char file[] = "job.ini", dataset[] = "many", extension[] = "ppm";
	struct job_config config = {.file = file,
		.weight = 1,
		.name = name,
		.dataset = dataset,
		.where = where,
		.extension = extension,
		.layout = layout,
		.epochs = 3,
		.idle_s = 600,
		.keep_epochs = 10,
		.lookahead = 64,
		.batch = 64};
	check(sched_job_add(sched, &config, false, report, NULL), "add");
	return sched_job_find(sched, name);
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

static void read_some(struct sched_job *job, uint32_t from, uint32_t end)
{
	for (uint32_t i = from; i < end; i++) {
		struct answer answer = {.opened = {0}};
		struct sched_open_callbacks callbacks = {
			.opened = opened, .context = &answer};
		sem_init(&answer.there, 0, 0);
		check(sched_open(job, 0, i, &callbacks), "open");
		while (sem_wait(&answer.there) != 0)
			;
		check(answer.opened.status, "read");
		sched_release(answer.opened.handle);
	}
}

static void take_away(struct sched_job *job, const char *name)
{
	check(sched_job_remove(sched, name), "remove");
	sched_job_put(job);
}

static void measure(void)
{
	static char a[] = "a", b[] = "b", c[] = "c", d[] = "d", third[] = "3",
		    fifth[] = "5";
	struct sched_job *job_a, *job_b, *job_c, *job_d;
	job_d = add(d, fifth);
	say("the first job joins");
	take_away(job_d, d);
	say("it leaves unread");
	job_a = add(a, NULL);
	say("another one joins");
	read_some(job_a, 0, 1);
	say("its epoch begins: coarser classes");
	job_b = add(b, NULL);
	say("the same samples join");
	read_some(job_b, 0, 1);
	say("its epoch begins");
	read_some(job_a, 1, READS);
	read_some(job_b, 1, READS);
	say("both read");
	job_c = add(c, third);
	say("a third of the samples join");
	read_some(job_c, 0, 1);
	say("its epoch begins");
	read_some(job_c, 1, READS);
	read_some(job_a, READS, 2 * READS);
	say("two read");
	take_away(job_c, c);
	say("the third leaves in its epoch");
	take_away(job_b, b);
	say("the second leaves in its epoch");
	take_away(job_a, a);
	say("the last one leaves in its epoch");
}

static void run(const char *title, enum view_layout of)
{
	struct daemon_config config = {.cache_bytes = 30000 * SIDE * SIDE * 3,
		.sampler = SAMPLER_EXCHANGE,
		.workers = 2,
		.max_pixels = 1000000,
		.seed = 1,
		.state = directory};
	struct dataset *dataset = &many;
	printf("%s, %u samples\n", title, n_samples);
	layout = of;
	check(sched_new(&config, &dataset, 1, &sched), "start");
	longest = holds = 0;
	measure();
	sched_stop(sched);
	sched_free(&sched);
}

static void write_image(void)
{
	uint8_t pixels[SIDE * SIDE * 3] = {0};
	png_image image = {.version = PNG_IMAGE_VERSION,
		.width = SIDE,
		.height = SIDE,
		.format = PNG_FORMAT_RGB};
	snprintf(image_path, sizeof(image_path), "%s/image.png", directory);
	if (!png_image_write_to_file(&image, image_path, 0, pixels, 0, NULL))
		check(-EIO, image_path);
}

int main(int argc, char **argv)
{
	char command[96];
	n_samples = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1281167;
	if (!mkdtemp(directory))
		check(-errno, directory);
	write_image();
	run("flat", LAYOUT_FLAT);
	run("classes", LAYOUT_CLASSES);
	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	return system(command) == 0 ? 0 : EXIT_FAILURE;
}
