// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "edition/edition.h"
#include "sched/datasets.h"
#include "sched/ranks.h"
#include "sched/sched_internal.h"
#include "supply/supply.h"

#include <string.h>

/* Lists the samples of a dataset in the cache, for daemons that draw its samples. */

#define AT_ONCE 16384 /* samples looked at in one critical section */

/* Tells whether all jobs of the space draw: exchange is fair only to samples loaded at random. */
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

/* Adds samples of the source from `from` on, if the source is of the dataset. Returns the next
 * sample to look at; 0: none. */
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
