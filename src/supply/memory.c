// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/dataset_pairs.h"
#include "image/sections.h"
#include "supply/supply_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/*
 * The daemon uses memory for images in four ways. Each has a limit of its own:
 *
 *   tensors, and contents made from a tensor for one open (augmentation, float, png): the size of
 *     the cache, plus a part that is only for tensors and contents that readers have open
 *   files that are being read, or wait for a decoder
 *   memory to prepare images, besides the tensors: image_working_bytes, which is never too low
 *   buffers that each decoder keeps from one image to the next
 *
 * joaderfs-preparation(7) states the sum (Memory). A sample that does not fit now waits; a sample
 * that can never fit is refused.
 */

#define MIB (UINT64_C(1) << 20)
/* lower bound of two limits: for the bytes that readers have open, and for one decode; also the
 * result of most_at_once if the cache leaves no memory */
#define LEAST_BYTES (256 * MIB)
#define OPEN_PER_PIXEL 6 /* bytes that readers may have open, per pixel of max_pixels */
#define WORKING_PER_PIXEL 16
/* most bytes that a decoder keeps: eight buffers of KEEP_BYTES (image/buffer.h) */
#define KEPT_BY_WORKER (128 * MIB)

static uint64_t max_pixels(const struct supply *supply)
{
	return supply->config->max_pixels ? supply->config->max_pixels : IMAGE_MAX_PIXELS;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint64_t memory_most_open(const struct supply *supply)
{
	uint64_t beside = larger(LEAST_BYTES, OPEN_PER_PIXEL * max_pixels(supply));
	return supply->config->cache_bytes + beside;
}

static uint64_t most_working(const struct supply *supply)
{
	return larger(LEAST_BYTES, WORKING_PER_PIXEL * max_pixels(supply));
}

uint64_t memory_most(const struct supply *supply)
{
	return memory_most_open(supply) + 2 * most_working(supply) +
	       supply->config->workers * KEPT_BY_WORKER;
}

static struct memory_size full_size(const struct supply *supply,
	const struct dataset *dataset, const struct preparation *preparation,
	sample_id sample);

/* Adds the memory for the later frames of a sample that is a group of frames. These frames are
 * decoded one by one. */
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
		size->working = larger(size->working,
			image_working_bytes(preparation,
				dataset_turned_shape(dataset, preparation, next),
				dataset_file_bytes(dataset, next)));
	size->working += frame;
}

/* Adds the memory for the second file of a pair, which is prepared after the first. */
static void add_second(const struct supply *supply, const struct dataset *dataset,
	const struct preparation *preparation, sample_id sample, struct memory_size *size)
{
	const struct tensor_section *section = preparation_pair(preparation);
	if (!section || dataset_pair_fails(dataset, preparation, sample, NULL))
		return;
	const struct preparation behind =
		dataset_preparation_behind(dataset, preparation, sample);
	struct memory_size second = full_size(
		supply, dataset, &behind, dataset_second(dataset, preparation, sample));
	size->tensor = tensor_second_at(size->tensor) + second.tensor;
	size->working = larger(size->working, second.working + second.tensor);
}

/* Returns the memory that the sample needs, even above the limits; zeros if the image's header
 * can't be read. A tensor that is copied to a file needs its bytes twice. */
static struct memory_size full_size(const struct supply *supply,
	const struct dataset *dataset, const struct preparation *preparation,
	sample_id sample)
{
	preparation = dataset_preparation(dataset, preparation, sample);
	struct tensor_shape image = dataset_turned_shape(dataset, preparation, sample);
	uint64_t file = dataset_file_bytes(dataset, sample);
	struct memory_size size = {0};
	bool decoded = !preparation->encoded && !preparation->array;
	if (decoded && (image.width == 0 || image.height == 0))
		return size;
	size.tensor = preparation_bytes(preparation, image, file);
	if (decoded)
		size.working = image_working_bytes(preparation, image, file);
	add_second(supply, dataset, preparation, sample, &size);
	add_frames(dataset, preparation, sample, &size);
	if (supply->copies)
		size.working += size.tensor;
	return size;
}

/* Returns why the sample is refused; NULL: it is not refused. "": dataset_pair_fails has the
 * message. Another text says, for the message of memory_refuses, what exceeds a limit: *ret_found
 * is the amount, and *ret_limit the limit. */
static const char *find_reason(const struct supply *supply, const struct dataset *dataset,
	const struct preparation *preparation, sample_id sample, uint64_t *ret_found,
	uint64_t *ret_limit)
{
	preparation = dataset_preparation(dataset, preparation, sample);
	if (dataset_pair_fails(dataset, preparation, sample, NULL))
		return "";
	struct tensor_shape image = dataset_turned_shape(dataset, preparation, sample);
	*ret_found = preparation_most_pixels(preparation, image);
	*ret_limit = max_pixels(supply);
	if (!preparation->encoded && !preparation->array && *ret_found > *ret_limit)
		return "pixels, before or after resizing,";
	struct memory_size size = full_size(supply, dataset, preparation, sample);
	*ret_found = size.tensor;
	*ret_limit = memory_most_open(supply);
	if (size.tensor > *ret_limit)
		return "bytes when it is prepared";
	*ret_found = size.working;
	*ret_limit = most_working(supply);
	return size.working > *ret_limit ? "bytes to be prepared" : NULL;
}

static const char *reason_of(const struct supply *supply, const struct space *space,
	sample_id sample, uint64_t *ret_found, uint64_t *ret_limit)
{
	return find_reason(supply, space->source->dataset, &space->preparation, sample,
		ret_found, ret_limit);
}

bool memory_refuses(const struct supply *supply, const struct space *space,
	sample_id sample, char message[static IMAGE_MESSAGE])
{
	uint64_t found, limit;
	const char *reason = reason_of(supply, space, sample, &found, &limit);
	if (reason && !*reason)
		(void)dataset_pair_fails(
			space->source->dataset, &space->preparation, sample, message);
	else if (reason)
		snprintf(message, IMAGE_MESSAGE,
			"%" PRIu64 " %s are more than the limit of %" PRIu64, found,
			reason, limit);
	return reason != NULL;
}

uint64_t memory_tensor_bytes(const struct supply *supply, const struct dataset *dataset,
	const struct preparation *preparation, sample_id sample)
{
	uint64_t found, limit;
	if (find_reason(supply, dataset, preparation, sample, &found, &limit))
		return 0;
	return full_size(supply, dataset, preparation, sample).tensor;
}

static uint64_t file_bytes(const struct space *space, sample_id sample)
{
	const struct dataset *dataset = space->source->dataset;
	uint64_t bytes = dataset_file_bytes(dataset, sample);
	sample_id next;
	for (uint32_t i = 0; (next = dataset_behind(dataset, &space->preparation, sample,
				      i)) != SAMPLE_NONE;
		i++)
		bytes += dataset_file_bytes(dataset, next);
	return bytes;
}

/* Tells whether a decode for this preparation can also make tensors of other preparations. */
static bool can_share_decode(const struct preparation *preparation)
{
	return !preparation->encoded && !preparation->approximate && !preparation->exif &&
	       !preparation->fills_truncated && !preparation->array &&
	       !preparation->sections && !preparation->frames &&
	       preparation->channels != CHANNELS_KEEP;
}

struct wanted_needs wanted_needs_of(const struct space *space, sample_id sample)
{
	const struct supply *supply = space->source->supply;
	uint64_t found, limit;
	/* A refused sample must not share a decode, which would then fail for all its tensors. */
	if (reason_of(supply, space, sample, &found, &limit))
		return (struct wanted_needs){.alone = true};
	return (struct wanted_needs){.memory = full_size(supply, space->source->dataset,
					     &space->preparation, sample),
		.file = file_bytes(space, sample),
		.alone = !can_share_decode(&space->preparation)};
}

uint64_t memory_held(const struct supply *supply)
{
	return cache_usage(supply->cache)->bytes + supply->contents + supply->working +
	       supply->reading;
}

static void note_peak(struct supply *supply)
{
	supply->held_peak = larger(supply->held_peak, memory_held(supply));
}

bool memory_has_room(const struct supply *supply, uint64_t tensor_bytes)
{
	uint64_t beside = supply->contents + tensor_bytes;
	return cache_least_bytes(supply->cache) + beside <= memory_most_open(supply);
}

/* Returns a limit of memory. All running decodes together have this limit, and all files that are
 * being read or wait for a decoder have the same limit. The limit is a quarter of the memory that
 * the cache leaves, so two quarters are left for readers. The limit is LEAST_BYTES if the cache
 * leaves no memory, and in each case at most the limit of a single decode (most_working). */
static uint64_t most_at_once(const struct supply *supply)
{
	uint64_t left = supply->config->memory.left, cache = supply->config->cache_bytes;
	uint64_t part = left > cache ? (left - cache) / 4 : LEAST_BYTES;
	return part < most_working(supply) ? part : most_working(supply);
}

/* A file of any size may be read alone: samples that need too much memory were refused earlier. */
bool memory_may_read(const struct supply *supply, uint64_t file_bytes)
{
	return supply->reading == 0 ||
	       supply->reading + file_bytes <= most_at_once(supply);
}

bool memory_may_decode(const struct supply *supply, uint64_t working)
{
	return supply->working == 0 || supply->working + working <= most_at_once(supply);
}

void memory_change_working(struct supply *supply, int64_t by)
{
	supply->working += (uint64_t)by;
	note_peak(supply);
}

int supply_hold_content(struct supply *supply, uint64_t bytes)
{
	uint64_t held = cache_usage(supply->cache)->live_bytes + supply->contents;
	uint64_t most = memory_most_open(supply);
	if (held > most || bytes > most - held)
		return -ENOMEM;
	supply->contents += bytes;
	note_peak(supply);
	return 0;
}

void supply_drop_content(struct supply *supply, uint64_t bytes)
{
	supply->contents -= bytes;
}
