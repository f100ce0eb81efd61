// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "edition/edition.h"
#include "sched/datasets.h"
#include "sched/ranks.h"
#include "sched/sched_internal.h"
#include "supply/supply.h"

#include <string.h>

#define AT_ONCE 16384 /* samples looked at in one critical section */
/* sched_lacked leaves out trainings that need more samples: looking at all would take too long. */
#define MOST_LACKED 524288

/* Tells whether all jobs that read the space's tensors draw at random. Otherwise other daemons must
 * not be told of the cached samples: `exchange` is fair only if the cached samples were loaded at
 * random. */
static bool is_random_locked(const struct sched *sched, const struct space *space)
{
	const struct sched_job *job;
	lock_assert_held(&sched->lock);
	TAILQ_FOREACH (job, &sched->jobs, link)
		if (edition_part_in(job->is.now, space) &&
			job_kind(&job->is) != EPOCHS_DRAWN)
			return false;
	return true;
}

static void add_locked(
	const struct space *space, sample_id from, sample_id to, roaring_bitmap_t *ids)
{
	lock_assert_held(&sched_of_source(space->source)->lock);
	for (sample_id id = from; id < to; id++)
		if (cache_state(space->cache, id) != CACHE_ABSENT)
			roaring_bitmap_add(ids, id);
}

/* Adds to `ids` the samples of source `number` that are cached or loading, if the source belongs to
 * the dataset. Looks only at AT_ONCE samples, from `from` on. Returns the sample at which to go on;
 * 0: all were looked at. */
static sample_id add_some(struct sched *sched, size_t number, const char *dataset,
	sample_id from, roaring_bitmap_t *ids)
{
	LOCK_SCOPE(&sched->lock);
	const struct source *source = &sched->sources[number].is;
	const struct space *space;
	if (!source->dataset || strcmp(dataset_name(source->dataset), dataset) != 0)
		return 0;
	uint32_t n = dataset_ids(source->dataset);
	sample_id to = n < AT_ONCE || from > n - AT_ONCE ? n : from + AT_ONCE;
	LIST_FOREACH (space, &source->spaces, link)
		if (is_random_locked(sched, space))
			add_locked(space, from, to, ids);
	return to < n ? to : 0;
}

void sched_resident(struct sched *sched, const char *dataset, roaring_bitmap_t *ids)
{
	uint32_t n = sched_datasets(sched, NULL);
	for (uint32_t i = 0; i < n; i++)
		for (sample_id id = 0; (id = add_some(sched, i, dataset, id, ids)) != 0;)
			;
}

/* Looks at AT_ONCE samples of the strand, from `from` on, and adds to `ids` those that the cache
 * lacks. Returns the sample at which to go on; 0: all were looked at. */
static sample_id add_lacked_locked(
	const struct strand *strand, sample_id from, roaring_bitmap_t *ids)
{
	lock_assert_held(&sched_of_source(strand->space->source)->lock);
	roaring_uint32_iterator_t at;
	roaring_init_iterator(strand->ids, &at);
	if (!roaring_move_uint32_iterator_equalorlarger(&at, from))
		return 0;
	for (uint32_t n = 0; n < AT_ONCE; n++) {
		if (cache_state(strand->space->cache, at.current_value) == CACHE_ABSENT)
			roaring_bitmap_add(ids, at.current_value);
		if (!roaring_advance_uint32_iterator(&at))
			return 0;
	}
	return at.current_value;
}

/* Tells whether sched_lacked looks at the strand, to report the samples that this daemon will not
 * prepare for other daemons. Leaves out datasets with a tier: this daemon always prepares their
 * samples. */
static bool is_lacking(const struct strand *strand, const char *dataset)
{
	const struct source *source = strand->space->source;
	return strand->ids && !source->tier &&
	       strcmp(dataset_name(source->dataset), dataset) == 0 &&
	       roaring_bitmap_get_cardinality(strand->ids) <= MOST_LACKED;
}

/* Calls add_lacked_locked for the k-th strand (from 0) for which is_lacking is true. *ret: the
 * result. Returns false if there are at most k such strands. */
static bool add_some_lacked(struct sched *sched, const char *dataset, size_t k,
	sample_id from, roaring_bitmap_t *ids, sample_id *ret)
{
	const struct stream *stream;
	LOCK_SCOPE(&sched->lock);
	TAILQ_FOREACH (stream, &sched->draw.streams, link)
		for (size_t i = 0; stream->training && i < stream->n_strands; i++) {
			const struct strand *strand = &stream->strands[i];
			if (!is_lacking(strand, dataset) || k-- > 0)
				continue;
			*ret = add_lacked_locked(strand, from, ids);
			return true;
		}
	return false;
}

void sched_lacked(struct sched *sched, const char *dataset, roaring_bitmap_t *ids)
{
	sample_id from = 0;
	for (size_t k = 0; add_some_lacked(sched, dataset, k, from, ids, &from);)
		k += from == 0;
}
