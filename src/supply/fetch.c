// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "dataset/dataset_pairs.h"
#include "sched/ranks.h"
#include "sched/sched_internal.h"
#include "section/section.h"
#include "supply/supply.h"
#include "stats/stats.h"

#include <errno.h>

/*
 * Fetches tensors from another daemon, instead of preparing the samples here.
 *
 *     next read --elsewhere?--> fetch() ... sched_fetch_place ... sched_fetch_done
 *                                 |                                  |
 *                                 +-- an error: queued again, and prepared here
 *
 * No reader thread waits for a fetch, and no storage counts it. If another daemon asks
 * for a sample, this daemon prepares the sample or refuses, and never fetches it in turn:
 * two daemons never wait for each other.
 */

static struct wanted *wanted_of(struct sched_fetch *fetch)
{
	return (struct wanted *)((char *)fetch - offsetof(struct wanted, fetch));
}

static const struct preparation *preparation_of(const struct wanted *wanted)
{
	const struct space *space = wanted->key.space;
	return dataset_preparation(space->source->dataset, &space->preparation,
		(sample_id)wanted->key.sample);
}

void sched_fetch_by(struct sched *sched, const struct sched_fetcher *fetcher)
{
	LOCK_SCOPE(&sched->lock);
	ensure(sched->n_jobs == 0);
	sched->fetcher = *fetcher;
}

bool fetch_is_due_locked(const struct wanted *wanted)
{
	const struct space *space = wanted->key.space;
	const struct preparation *preparation = &space->preparation;
	const struct preparation *of_sample = preparation_of(wanted);
	const struct sched_fetcher *fetcher = &space->source->sched->fetcher;
	lock_assert_held(&space->source->sched->lock);
	return fetcher->fetch && !wanted->here && !of_sample->encoded &&
	       !of_sample->approximate &&
	       fetcher->is_elsewhere(fetcher->context, space->source->dataset,
		       preparation, (sample_id)wanted->key.sample);
}

/* --- the tensor comes ------------------------------------------------------------------- */

/* Returns the size of the image in the file, rotated by its EXIF orientation if the
 * preparation says so. */
static struct tensor_shape image_of(const struct wanted *wanted)
{
	const struct dataset *dataset = wanted->key.space->source->dataset;
	sample_id sample = (sample_id)wanted->key.sample;
	return preparation_image(preparation_of(wanted),
		dataset_image_shape(dataset, sample),
		dataset_orientation(dataset, sample));
}

/* Describes the second file of a pair: the other daemon sends both, one behind the other. */
static void set_second(const struct wanted *wanted, struct tensor *tensor)
{
	const struct space *space = wanted->key.space;
	const struct dataset *dataset = space->source->dataset;
	const struct preparation behind = dataset_preparation_behind(
		dataset, &space->preparation, (sample_id)wanted->key.sample);
	sample_id second = dataset_second(
		dataset, &space->preparation, (sample_id)wanted->key.sample);
	if (second == SAMPLE_NONE)
		return;
	tensor->second = preparation_output(
		&behind, preparation_image(&behind, dataset_image_shape(dataset, second),
				 dataset_orientation(dataset, second)));
	tensor->second_at = tensor_second_at(tensor_shape_bytes(tensor->shape));
}

void *sched_fetch_place(
	struct sched_fetch *fetch, struct tensor_shape shape, uint64_t bytes)
{
	struct wanted *wanted = wanted_of(fetch);
	const struct space *space = wanted->key.space;
	sample_id sample = (sample_id)wanted->key.sample;
	const struct preparation *preparation = preparation_of(wanted);
	struct tensor_shape image = image_of(wanted);
	struct tensor_shape expected = preparation_output(preparation, image);
	uint64_t all = memory_size_of(space->source->sched, space, sample).tensor;
	if (shape.height != expected.height || shape.width != expected.width ||
		bytes != all || fetch->tensor)
		return NULL;
	fetch->tensor = tensor_new(expected, bytes);
	if (fetch->tensor)
		set_second(wanted, fetch->tensor);
	return fetch->tensor ? fetch->tensor->data : NULL;
}

/* Copies the tensor to a file that the kernel can read, as is done for a tensor that was
 * prepared here. */
static void to_file(struct wanted *wanted)
{
	const struct sched *sched = wanted->key.space->source->sched;
	struct tensor *tensor = wanted->fetch.tensor;
	uint8_t head[FILE_HEAD_SIZE];
	if (!wanted->in_file)
		return;
	size_t head_bytes = file_head_make(wanted->head, tensor->shape, head);
	wanted->fetch.tensor = tensor_to_file(tensor, sched->backings, head, head_bytes);
}

static void prepare_here_locked(struct wanted *wanted, struct aftermath *aftermath)
{
	struct space *space = wanted->key.space;
	lock_assert_held(&space->source->sched->lock);
	wanted->here = true;
	wanted_unqueue_locked(wanted);
	cache_abandon(space->cache, (sample_id)wanted->key.sample);
	if (wanted_is_pinned(wanted))
		wanted_queue_locked(wanted, !TAILQ_EMPTY(&wanted->waiters));
	else
		share_drop(&wanted->request);
	wanted_drop_if_unused_locked(wanted);
	aftermath->kick = true;
}

static void end_fetch(struct wanted *wanted, int err)
{
	struct sched *sched = wanted->key.space->source->sched;
	struct tensor *tensor = wanted->fetch.tensor;
	struct aftermath aftermath;
	aftermath_init(&aftermath);
	stats_add(err ? STAT_FETCH_FAILURES : STAT_FETCHED, 1);
	if (!err)
		stats_add(STAT_FETCHED_BYTES, tensor->bytes);
	lock_take(&sched->lock);
	wanted->fetching = false;
	wanted->fetch.tensor = NULL;
	if (err) {
		prepare_here_locked(wanted, &aftermath);
	} else {
		wanted->asked_by = 0;
		cache_spare(wanted->key.space->cache, (sample_id)wanted->key.sample);
		load_publish_locked(wanted, tensor, &aftermath);
	}
	sched_unlock(sched, &aftermath);
	if (err)
		tensor_free(tensor);
}

void sched_fetch_done(struct sched_fetch *fetch, int err)
{
	struct wanted *wanted = wanted_of(fetch);
	if (!err && !fetch->tensor)
		err = -EBADMSG;
	if (!err)
		to_file(wanted);
	end_fetch(wanted, err);
}

void fetch_begin(struct wanted *wanted)
{
	const struct sched *sched = wanted->key.space->source->sched;
	wanted->fetch =
		(struct sched_fetch){.dataset = wanted->key.space->source->dataset,
			.preparation = &wanted->key.space->preparation,
			.sample = (sample_id)wanted->key.sample};
	int err = sched->fetcher.fetch(sched->fetcher.context, &wanted->fetch);
	if (err)
		end_fetch(wanted, err);
}
