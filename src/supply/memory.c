// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/dataset_pairs.h"
#include "image/sections.h"
#include "sched/sched.h"
#include "sched/sched_internal.h"
#include "supply/supply.h"
#include "stats/stats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/*
 * The memory that the daemon holds for images, and its limits:
 *
 *   tensors, and contents made of them for one open (augmentation, float, png):
 *       at most the cache and what may be open beside it. Only readers exceed the cache.
 *   files that are being read, or wait for a decoder.
 *   memory that decoders need to prepare images, without the tensors: by an estimate that is
 *       never too low (image_working_bytes).
 *   buffers that each decoder keeps from one image to the next.
 *
 * joaderfs-preparation(7) states the sum (Memory). A sample that does not fit now waits; a sample
 * that can never fit is refused.
 */

#define MIB (UINT64_C(1) << 20)
#define LEAST_BYTES (256 * MIB) /* least limit: open beside the cache, files, decoding */
#define OPEN_PER_PIXEL 6	/* bytes per pixel of max_pixels */
#define WORKING_PER_PIXEL 16
#define KEPT_BY_WORKER (128 * MIB) /* eight buffers of KEEP_BYTES */

static uint64_t max_pixels(const struct sched *sched)
{
	return sched->config->max_pixels ? sched->config->max_pixels : IMAGE_MAX_PIXELS;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint64_t memory_most_open(const struct sched *sched)
{
	uint64_t beside = larger(LEAST_BYTES, OPEN_PER_PIXEL * max_pixels(sched));
	return sched->config->cache_bytes + beside;
}

static uint64_t most_working(const struct sched *sched)
{
	return larger(LEAST_BYTES, WORKING_PER_PIXEL * max_pixels(sched));
}

uint64_t memory_most(const struct sched *sched)
{
	return memory_most_open(sched) + 2 * most_working(sched) +
	       sched->config->workers * KEPT_BY_WORKER;
}

/* --- one sample ----------------------------------------------------------------------- */

/* Returns the size of the image, rotated by its EXIF orientation if the preparation says
 * so. 0x0: the header is not readable. */
static struct tensor_shape shape_of(const struct dataset *dataset,
	const struct preparation *preparation, sample_id sample)
{
	return preparation_image(preparation, dataset_image_shape(dataset, sample),
		dataset_orientation(dataset, sample));
}

static struct memory_size full_size(const struct sched *sched,
	const struct dataset *dataset, const struct preparation *preparation,
	sample_id sample);

/* Adds the memory of the later frames of a group, which are decoded one after the
 * other. */
static void add_frames(const struct dataset *dataset,
	const struct preparation *preparation, sample_id sample, struct memory_size *size)
{
	uint64_t frame = preparation->frames ? size->tensor / preparation->frames : 0;
	sample_id next;
	if (!preparation->frames ||
		dataset_pair_fails(dataset, preparation, sample, NULL))
		return;
	for (uint32_t i = 0;
		(next = dataset_behind(dataset, preparation, sample, i)) != SAMPLE_NONE;
		i++)
		size->working = larger(
			size->working, image_working_bytes(preparation,
					       shape_of(dataset, preparation, next),
					       dataset_file_bytes(dataset, next)));
	size->working += frame;
}

/* Adds the memory of the second file of a pair, which is prepared after the first one. */
static void add_second(const struct sched *sched, const struct dataset *dataset,
	const struct preparation *preparation, sample_id sample, struct memory_size *size)
{
	const struct tensor_section *section = preparation_pair(preparation);
	if (!section || dataset_pair_fails(dataset, preparation, sample, NULL))
		return;
	const struct preparation behind =
		dataset_preparation_behind(dataset, preparation, sample);
	struct memory_size second = full_size(
		sched, dataset, &behind, dataset_second(dataset, preparation, sample));
	size->tensor = tensor_second_at(size->tensor) + second.tensor;
	size->working = larger(size->working, second.working + second.tensor);
}

/* Returns the memory that a sample needs, without regard to the limits. A tensor that is
 * to lie in a file is copied there, and needs its bytes twice. */
static struct memory_size full_size(const struct sched *sched,
	const struct dataset *dataset, const struct preparation *preparation,
	sample_id sample)
{
	preparation = dataset_preparation(dataset, preparation, sample);
	struct tensor_shape image = shape_of(dataset, preparation, sample);
	uint64_t file = dataset_file_bytes(dataset, sample);
	struct memory_size size = {0};
	bool decoded = !preparation->encoded && !preparation->array;
	if (decoded && (image.width == 0 || image.height == 0))
		return size;
	size.tensor = preparation_bytes(preparation, image, file);
	if (decoded)
		size.working = image_working_bytes(preparation, image, file);
	add_second(sched, dataset, preparation, sample, &size);
	add_frames(dataset, preparation, sample, &size);
	if (sched->backings)
		size.working += size.tensor;
	return size;
}

/* Returns why the sample is refused, or NULL. "": dataset_pair_fails tells the reason. */
static const char *find_reason(const struct sched *sched, const struct dataset *dataset,
	const struct preparation *preparation, sample_id sample, uint64_t *ret_found,
	uint64_t *ret_limit)
{
	preparation = dataset_preparation(dataset, preparation, sample);
	if (dataset_pair_fails(dataset, preparation, sample, NULL))
		return "";
	struct tensor_shape image = shape_of(dataset, preparation, sample);
	*ret_found = preparation_most_pixels(preparation, image);
	*ret_limit = max_pixels(sched);
	if (!preparation->encoded && !preparation->array && *ret_found > *ret_limit)
		return "pixels, as it is or resized,";
	struct memory_size size = full_size(sched, dataset, preparation, sample);
	*ret_found = size.tensor;
	*ret_limit = memory_most_open(sched);
	if (size.tensor > *ret_limit)
		return "bytes when it is prepared";
	*ret_found = size.working;
	*ret_limit = most_working(sched);
	return size.working > *ret_limit ? "bytes to be prepared" : NULL;
}

static const char *reason_of(const struct sched *sched, const struct space *space,
	sample_id sample, uint64_t *ret_found, uint64_t *ret_limit)
{
	return find_reason(sched, space->source->dataset, &space->preparation, sample,
		ret_found, ret_limit);
}

bool memory_refuses(const struct sched *sched, const struct space *space,
	sample_id sample, char message[static IMAGE_MESSAGE])
{
	uint64_t found, limit;
	const char *reason = reason_of(sched, space, sample, &found, &limit);
	if (reason && !*reason)
		(void)dataset_pair_fails(
			space->source->dataset, &space->preparation, sample, message);
	else if (reason)
		snprintf(message, IMAGE_MESSAGE,
			"%" PRIu64 " %s are more than the limit of %" PRIu64, found,
			reason, limit);
	return reason != NULL;
}

uint64_t memory_tensor_bytes(const struct sched *sched, const struct dataset *dataset,
	const struct preparation *preparation, sample_id sample)
{
	uint64_t found, limit;
	if (find_reason(sched, dataset, preparation, sample, &found, &limit))
		return 0;
	return full_size(sched, dataset, preparation, sample).tensor;
}

struct memory_size memory_size_of(
	const struct sched *sched, const struct space *space, sample_id sample)
{
	uint64_t found, limit;
	if (reason_of(sched, space, sample, &found, &limit))
		return (struct memory_size){0};
	return full_size(sched, space->source->dataset, &space->preparation, sample);
}

uint64_t memory_file_bytes(
	const struct sched *sched, const struct space *space, sample_id sample)
{
	uint64_t found, limit;
	if (reason_of(sched, space, sample, &found, &limit))
		return 0;
	const struct dataset *dataset = space->source->dataset;
	uint64_t bytes = dataset_file_bytes(dataset, sample);
	sample_id next;
	for (uint32_t i = 0; (next = dataset_behind(dataset, &space->preparation, sample,
				      i)) != SAMPLE_NONE;
		i++)
		bytes += dataset_file_bytes(dataset, next);
	return bytes;
}

/* --- the account ---------------------------------------------------------------------- */

static uint64_t held_locked(const struct sched *sched)
{
	lock_assert_held(&sched->lock);
	return cache_usage(sched->cache).bytes + sched->contents + sched->working +
	       sched->reading;
}

static void note_peak_locked(struct sched *sched)
{
	lock_assert_held(&sched->lock);
	sched->held_peak = larger(sched->held_peak, held_locked(sched));
}

bool memory_has_room_locked(const struct sched *sched, uint64_t tensor_bytes)
{
	lock_assert_held(&sched->lock);
	uint64_t beside = sched->contents + tensor_bytes;
	return cache_least_bytes(sched->cache) + beside <= memory_most_open(sched);
}

/* Returns the most bytes that several images may take together for decoding, and as many
 * for their files: a quarter of the memory that the cache leaves, so that half of it
 * remains for readers. One image alone may take more. The user decides about the cache,
 * which may be larger than the available memory. */
static uint64_t most_at_once(const struct sched *sched)
{
	uint64_t left = sched->config->memory.left, cache = sched->config->cache_bytes;
	uint64_t part = left > cache ? (left - cache) / 4 : LEAST_BYTES;
	return part < most_working(sched) ? part : most_working(sched);
}

/* A single file may always be read: it is no larger than the memory that its sample's
 * preparation takes, and that memory is limited. */
bool memory_may_read_locked(const struct sched *sched, uint64_t file_bytes)
{
	lock_assert_held(&sched->lock);
	return sched->reading == 0 || sched->reading + file_bytes <= most_at_once(sched);
}

bool memory_may_decode_locked(const struct sched *sched, uint64_t working)
{
	lock_assert_held(&sched->lock);
	return sched->working == 0 || sched->working + working <= most_at_once(sched);
}

void memory_change_working_locked(struct sched *sched, int64_t by)
{
	lock_assert_held(&sched->lock);
	sched->working += (uint64_t)by;
	note_peak_locked(sched);
}

int sched_hold_content(struct sched *sched, uint64_t bytes)
{
	LOCK_SCOPE(&sched->lock);
	uint64_t held = cache_usage(sched->cache).live_bytes + sched->contents;
	uint64_t most = memory_most_open(sched);
	if (held > most || bytes > most - held)
		return -ENOMEM;
	sched->contents += bytes;
	note_peak_locked(sched);
	return 0;
}

void sched_drop_content(struct sched *sched, uint64_t bytes)
{
	LOCK_SCOPE(&sched->lock);
	sched->contents -= bytes;
	if (sched->lack_room == 0)
		return;
	sched->room_made = true;
	pthread_cond_signal(&sched->house_cond);
}

void memory_stats_locked(const struct sched *sched)
{
	lock_assert_held(&sched->lock);
	stats_set(STAT_HELD_BYTES, held_locked(sched));
	stats_set(STAT_HELD_PEAK, sched->held_peak);
	stats_set(STAT_HELD_LIMIT, memory_most(sched));
}
