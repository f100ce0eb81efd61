// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/ensure.h"
#include "dataset/dataset_pairs.h"
#include "sched/ranks.h"
#include "sched/supplying.h"
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
 * No reader thread waits for a fetch, and a fetch is not a read of a storage. A sample that another
 * daemon asks for is never fetched, so two daemons never wait for each other.
 */

struct fetching {
	struct sched_fetch fetch;
	struct wanted *wanted;
};

static struct wanted *wanted_of(struct sched_fetch *fetch)
{
	return ((struct fetching *)fetch)->wanted;
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

bool fetch_is_due_locked(void *context, const struct wanted *wanted)
{
	lock_assert_held(&sched_of_source(wanted->key.space->source)->lock);
	(void)context;
	const struct space *space = wanted->key.space;
	const struct preparation *preparation = &space->preparation;
	const struct preparation *of_sample = preparation_of(wanted);
	const struct sched_fetcher *fetcher = &sched_of_source(space->source)->fetcher;
	return fetcher->fetch && !of_sample->encoded && !of_sample->approximate &&
	       fetcher->is_elsewhere(fetcher->context, space->source->dataset,
		       preparation, (sample_id)wanted->key.sample);
}

/* Sets the shape and the offset of a pair's second image. The bytes that the other daemon sends are
 * the first image and then the second one. */
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
		&behind, dataset_turned_shape(dataset, &behind, second));
	tensor->second_at = tensor_second_at(tensor_shape_bytes(tensor->shape));
}

void *sched_fetch_place(
	struct sched_fetch *fetch, struct tensor_shape shape, uint64_t bytes)
{
	struct wanted *wanted = wanted_of(fetch);
	const struct space *space = wanted->key.space;
	sample_id sample = (sample_id)wanted->key.sample;
	const struct preparation *preparation = preparation_of(wanted);
	struct tensor_shape expected = preparation_output(preparation,
		dataset_turned_shape(space->source->dataset, preparation, sample));
	uint64_t all = memory_tensor_bytes(space->source->supply, space->source->dataset,
		&space->preparation, sample);
	if (shape.height != expected.height || shape.width != expected.width ||
		bytes != all || fetch->tensor)
		return NULL;
	fetch->tensor = tensor_new(expected, bytes);
	if (fetch->tensor)
		set_second(wanted, fetch->tensor);
	return fetch->tensor ? fetch->tensor->data : NULL;
}

/* Copies the tensor to a file that the kernel can read, if wanted->in_file is true, and returns the
 * copy. Returns the tensor itself if no file is needed or can be made. */
static struct tensor *to_file(struct wanted *wanted, struct tensor *tensor)
{
	const struct space *space = wanted->key.space;
	uint8_t head[FILE_HEAD_SIZE];
	if (!wanted->in_file)
		return tensor;
	wanted->head.label =
		dataset_label(space->source->dataset, (sample_id)wanted->key.sample);
	size_t head_bytes = file_head_make(wanted->head, tensor->shape, head);
	return tensor_to_file(
		tensor, sched_of_source(space->source)->backings, head, head_bytes);
}

/* Ends a fetch. If the fetch has failed, `tensor` is NULL. */
static void end_fetch(struct wanted *wanted, struct tensor *tensor, int err)
{
	/* The other daemon leaves the sample to this daemon, which is no failure. */
	bool left = err == -ENOSPC;
	struct sched *sched = sched_of_source(wanted->key.space->source);
	if (!left)
		stats_add(tensor ? STAT_FETCHED : STAT_FETCH_FAILURES, 1);
	if (tensor)
		stats_add(STAT_FETCHED_BYTES, tensor->bytes);
	SECTION_SCOPE(sched, aftermath);
	if (tensor)
		supply_fetched(&sched->supply, wanted, tensor, clock_now_ns());
	else
		supply_not_fetched(&sched->supply, wanted, left);
	supply_execute_locked(sched, &aftermath);
}

void sched_fetch_done(struct sched_fetch *fetch, int err)
{
	struct wanted *wanted = wanted_of(fetch);
	struct tensor *tensor = fetch->tensor;
	free((struct fetching *)fetch);
	if (err)
		tensor_free(tensor);
	else if (tensor)
		tensor = to_file(wanted, tensor);
	end_fetch(wanted, err ? NULL : tensor, err);
}

void fetch_begin(struct wanted *wanted)
{
	const struct sched *sched = sched_of_source(wanted->key.space->source);
	struct fetching *fetching = calloc(1, sizeof(*fetching));
	int err = -ENOMEM;
	if (fetching) {
		fetching->wanted = wanted;
		fetching->fetch = (struct sched_fetch){
			.dataset = wanted->key.space->source->dataset,
			.preparation = &wanted->key.space->preparation,
			.sample = (sample_id)wanted->key.sample};
		err = sched->fetcher.fetch(sched->fetcher.context, &fetching->fetch);
	}
	if (!err)
		return;
	free(fetching);
	end_fetch(wanted, NULL, err);
}
