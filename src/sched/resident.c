// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "edition/edition.h"
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

static void add_of_all(
	struct source *source, sample_id from, sample_id to, roaring_bitmap_t *ids)
{
	struct sched *sched = sched_of_source(source);
	const struct space *space;
	LOCK_SCOPE(&sched->lock);
	LIST_FOREACH (space, &source->spaces, link)
		if (is_random_locked(sched, space))
			add_locked(space, from, to, ids);
}

void sched_resident(struct sched *sched, const char *dataset, roaring_bitmap_t *ids)
{
	for (size_t i = 0; i < sched->supply.n_sources; i++) {
		struct source *source = &sched->sources[i].is;
		uint32_t n = dataset_ids(source->dataset);
		if (strcmp(dataset_name(source->dataset), dataset) != 0)
			continue;
		for (sample_id id = 0; id < n; id += AT_ONCE)
			add_of_all(source, id, n - id < AT_ONCE ? n : id + AT_ONCE, ids);
	}
}
