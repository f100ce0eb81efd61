// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/fault.h"
#include "edition/edition.h"
#include "sched/sched_internal.h"
#include "world.h"

#include <fcntl.h>
#include <unistd.h>

/*
 * A daemon that starts again finds notes about the samples in the job's directory, and does not
 * examine each sample. The notes are right, or are not used.
 */

#define N 60

static char half[] = "bytes % 3 > 0 and label = 1", other[] = "label = 0";

static struct job_config config_of(char *where, enum view_layout layout)
{
	static char name[] = "job";
	struct job_config config = world_job_config(name);
	config.where = where;
	config.layout = layout;
	return config;
}

/* Facts about a job's samples, by which different samples are recognized. */
struct found {
	uint32_t samples, n_begins;
	roaring_bitmap_t *selection, *readable;
	uint32_t begins[8];
	char *state;
};

static void look(struct world *world, struct sched_job *job, struct found *ret)
{
	const struct sched_edition *edition = sched_edition(job, SCHED_CURRENT);
	size_t n;
	*ret = (struct found){.samples = edition->samples,
		.n_begins =
			edition->label_begin ? dataset_classes(world->dataset) + 1 : 0,
		.selection = roaring_bitmap_copy(edition->selection),
		.readable = roaring_bitmap_copy(edition->readable)};
	for (uint32_t i = 0; i < ret->n_begins; i++)
		ret->begins[i] = edition->label_begin[i];
	sched_edition_put(edition);
	FILE *out = open_memstream(&ret->state, &n);
	sched_job_print_state(job, out); /* the state contains the fingerprint */
	fclose(out);
}

static void same(const struct found *a, const struct found *b)
{
	cr_assert_eq(a->samples, b->samples);
	cr_assert(roaring_bitmap_equals(a->selection, b->selection));
	cr_assert(roaring_bitmap_equals(a->readable, b->readable));
	cr_assert_eq(a->n_begins, b->n_begins);
	cr_assert_arr_eq(a->begins, b->begins, sizeof(a->begins));
	cr_assert_str_eq(a->state, b->state);
}

static void found_free(struct found *found)
{
	roaring_bitmap_free(found->selection);
	roaring_bitmap_free(found->readable);
	free(found->state);
}

/* Starts, adds the job, finds the facts, and stops. */
static void look_again(
	struct world *world, const struct job_config *config, struct found *ret)
{
	world_start(world);
	struct sched_job *job = world_add_config(world, config);
	look(world, job, ret);
	sched_job_put(job);
	world_stop(world);
}

static void path_of(const struct world *world, const char *name, char ret[static 128])
{
	snprintf(ret, 128, "%s/state/%s", world->directory, name);
}

/* Changes a byte of the file, which keeps its size and its times. */
static void spoil(
	const struct world *world, const char *name, off_t at, unsigned char mask)
{
	char path[128];
	struct stat before;
	unsigned char byte;
	path_of(world, name, path);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	cr_assert_geq(fd, 0, "%s: %s", path, strerror(errno));
	cr_assert_eq(0, fstat(fd, &before));
	cr_assert_eq(1, pread(fd, &byte, 1, at));
	byte ^= mask;
	cr_assert_eq(1, pwrite(fd, &byte, 1, at));
	cr_assert_eq(
		0, futimens(fd, (struct timespec[]){before.st_atim, before.st_mtim}));
	close(fd);
}

static off_t size_of(const struct world *world, const char *name)
{
	char path[128];
	struct stat status;
	path_of(world, name, path);
	return stat(path, &status) == 0 ? status.st_size : -1;
}

static void begin(struct world *world)
{
	char path[128];
	world_begin(world, N, N);
	world_stop(world);
	world->dataset_config.look = LOOK_NEVER;
	/* the image has no header, so its job can't have it */
	world_image_path(world, 4, path);
	cr_assert_eq(0, truncate(path, 3));
	world->dataset_config.look = LOOK_BEFORE;
	world_start(world);
	world_stop(world);
	world->dataset_config.look = LOOK_NEVER;
}

/* world_end stops the world, so it must run. */
static void end(struct world *world)
{
	world_start(world);
	world_end(world);
}

/* The catalogue's database can't be read any more, and is not needed. */
Test(sched_measured, the_next_start_does_not_look_again)
{
	static const enum view_layout layouts[] = {LAYOUT_FLAT, LAYOUT_CLASSES};
	for (size_t i = 0; i < 4; i++) {
		struct world world;
		struct found first, again;
		struct job_config config = config_of(i % 2 ? half : NULL, layouts[i / 2]);
		begin(&world);
		look_again(&world, &config, &first);
		cr_assert_eq(
			first.samples, roaring_bitmap_get_cardinality(first.selection));
		cr_assert(
			i % 2 || !roaring_bitmap_equals(first.selection, first.readable));
		for (off_t at = 0; at < 8192; at += 16)
			spoil(&world, "datasets/tiny.sqlite", at, 0x55);
		look_again(&world, &config, &again);
		same(&first, &again);
		for (off_t at = 0; at < 8192; at += 16)
			spoil(&world, "datasets/tiny.sqlite", at, 0x55);
		found_free(&first);
		found_free(&again);
		end(&world);
	}
}

Test(sched_measured, one_that_is_damaged_is_made_again)
{
	struct world world;
	struct found first, again;
	struct job_config config = config_of(half, LAYOUT_CLASSES);
	char path[128];
	begin(&world);
	look_again(&world, &config, &first);
	off_t size = size_of(&world, "jobs/job/selection");
	cr_assert_gt(size, 100);
	for (off_t at = 0; at < size; at++) {
		spoil(&world, "jobs/job/selection", at, (unsigned char)(1u << at % 8));
		look_again(&world, &config, &again);
		same(&first, &again);
		found_free(&again);
		cr_assert_eq(size, size_of(&world, "jobs/job/selection"));
	}
	path_of(&world, "jobs/job/selection", path);
	for (off_t cut = size - 1; cut >= 0; cut -= 13) {
		cr_assert_eq(0, truncate(path, cut));
		look_again(&world, &config, &again);
		same(&first, &again);
		found_free(&again);
	}
	found_free(&first);
	end(&world);
}

/* Another ini, other files or another cache need another note. */
Test(sched_measured, one_of_other_samples_is_not_used)
{
	struct world world;
	struct found first, found;
	struct job_config config = config_of(half, LAYOUT_FLAT);
	char path[128];
	begin(&world);
	look_again(&world, &config, &first);
	config.where = other;
	look_again(&world, &config, &found);
	cr_assert_eq(N / 2, found.samples);
	cr_assert(!roaring_bitmap_equals(first.selection, found.selection));
	found_free(&found);
	config.where = NULL;
	world_image_path(&world, N, path);
	world_write_png(path, N);
	world.dataset_config.look = LOOK_BEFORE;
	look_again(&world, &config, &found);
	cr_assert_eq(N + 1, found.samples);
	cr_assert_eq(N, roaring_bitmap_get_cardinality(found.readable));
	found_free(&found);
	found_free(&first);
	end(&world);
}

static void write_image(const char *path, unsigned width)
{
	uint8_t pixels[3 * 64 * 8] = {0};
	png_image image = {.version = PNG_IMAGE_VERSION,
		.width = width,
		.height = 8,
		.format = PNG_FORMAT_RGB};
	cr_assert(png_image_write_to_file(&image, path, 0, pixels, 0, NULL));
}

/* Adds the sums over a job's samples to *bytes and *readable. Returns its typical size of a
 * tensor. */
static uint64_t add_found_of(struct world *world, struct job_config config,
	uint64_t *bytes, uint64_t *readable)
{
	struct sched_job_status status;
	world_start(world);
	struct sched_job *job = world_add_config(world, &config);
	const struct sched_edition *edition = sched_edition(job, SCHED_CURRENT);
	*readable += roaring_bitmap_get_cardinality(edition->readable);
	sched_edition_put(edition);
	sched_job_status(job, &status);
	*bytes += status.all_bytes;
	uint64_t typical = job->is.now->typical_bytes;
	sched_job_put(job);
	world_stop(world);
	return typical;
}

static uint64_t add_found(
	struct world *world, char *where, uint64_t *bytes, uint64_t *readable)
{
	return add_found_of(world, config_of(where, LAYOUT_FLAT), bytes, readable);
}

/* A job of a whole dataset measures tensors by shape. Some shapes are refused. */
Test(sched_measured, all_samples_have_the_sizes_that_each_of_them_has)
{
	static char odd[] = "id % 2 = 1", even[] = "id % 2 = 0";
	struct world world;
	char path[128];
	uint64_t each = 0, all = 0, readable_of_each = 0, readable = 0;
	world_begin(&world, N, N);
	world_stop(&world);
	for (unsigned i = 0; i < N; i++) {
		world_image_path(&world, i, path);
		write_image(path, 1 + i % 60);
		if (i % 9 == 0)
			cr_assert_eq(0, truncate(path, 3));
	}
	world.config.max_pixels = 57 * 8;
	world.dataset_config.look = LOOK_BEFORE;
	add_found(&world, odd, &each, &readable_of_each);
	add_found(&world, even, &each, &readable_of_each);
	uint64_t typical = add_found(&world, NULL, &all, &readable);
	cr_assert_eq(all, each);
	cr_assert_eq(readable, readable_of_each);
	cr_assert_eq(readable, N - 7 - 3);
	/* 45 of the 60 tensors are smaller than the typical one: 10 have no bytes, and 35 have a
	 * width below 41 that is not 1, 10, 19, 28 or 37. */
	cr_assert_eq(typical, (uint64_t)41 * 8 * 3);
	end(&world);
}

static struct job_config encoded_of(char *where)
{
	struct job_config config = config_of(where, LAYOUT_FLAT);
	config.format = FORMAT_SOURCE;
	config.preparation = (struct preparation){.encoded = true};
	return config;
}

/* A job of all encoded files examines one of each shape, unless a file may be empty. */
Test(sched_measured, encoded_samples_are_as_large_as_their_files)
{
	static char odd[] = "id % 2 = 1", even[] = "id % 2 = 0";
	struct world world;
	char path[128];
	world_begin(&world, N, N);
	world_stop(&world);
	world.dataset_config.look = LOOK_BEFORE;
	for (int empty = 0; empty < 2; empty++) {
		uint64_t each = 0, all = 0, readable_of_each = 0, readable = 0;
		world_image_path(&world, 5, path);
		cr_assert_eq(0, truncate(path, empty ? 0 : 5000));
		world_image_path(&world, 6, path); /* also without a header */
		cr_assert(!empty || truncate(path, 3) == 0);
		add_found_of(&world, encoded_of(odd), &each, &readable_of_each);
		add_found_of(&world, encoded_of(even), &each, &readable_of_each);
		uint64_t typical =
			add_found_of(&world, encoded_of(NULL), &all, &readable);
		cr_assert_eq(all, each);
		cr_assert_eq(readable, readable_of_each);
		cr_assert_eq(readable, N - (uint64_t)empty);
		cr_assert(typical > 0 && typical < 5000);
	}
	end(&world);
}

static char said[400];

static void note(void *context, const char *message)
{
	(void)context;
	snprintf(said, sizeof(said), "%s", message);
}

/* Other jobs continue. Without the fault the same job can be added. */
Test(sched_measured, a_job_of_too_many_samples_is_refused)
{
	struct world world;
	struct job_config config = config_of(half, LAYOUT_FLAT);
	world_begin(&world, N, N);
	static char before[] = "before";
	struct sched_job *first = world_add(&world, before);
	cr_assert_eq(0, fault_add("sched.samples:EIO:times=1"));
	cr_assert_eq(-EINVAL, sched_job_add(world.sched, &config, false, note, NULL));
	cr_assert(strstr(said, "job.ini:[job]:where: found "), "%s", said);
	cr_assert(strstr(said, "allowed: at most 268435456 in a job"), "%s", said);
	cr_assert(strstr(said, "where = hash(path) % 2 = 0"), "%s", said);
	world_read(first, 0, 0);
	sched_job_put(first);
	sched_job_put(world_add_config(&world, &config));
	fault_clear();
	world_end(&world);
}
