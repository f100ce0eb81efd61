// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "draw/draw.h"
#include "edition/edition.h"
#include "sched/gauges.h"
#include "sched/sched_internal.h"
#include "supply/supply.h"

/* Tells whether a job that is being read needs the sample again in the running or the next epoch. A
 * job with layout = mirror has no epochs, and is assumed to need all its samples. */
static bool has_reader_locked(const struct source *source, sample_id sample)
{
	const struct sched_job *job;
	lock_assert_held(&sched_of_source(source)->lock);
	TAILQ_FOREACH (job, &sched_of_source(source)->jobs, link) {
		const struct part *part = edition_part_of(job->is.now, source->dataset);
		if (part && roaring_bitmap_contains(part->selection, sample) &&
			(job->is.config.layout == LAYOUT_MIRROR ||
				draw_draws_for(
					&sched_of_source(source)->draw, job->is.id)))
			return true;
	}
	return false;
}

static const struct source *find_owner_locked(
	const struct sched *sched, const void *owner)
{
	lock_assert_held(&sched->lock);
	for (size_t i = 0; i < sched->supply.n_sources; i++)
		if (&sched->sources[i].is == owner && sched->sources[i].is.tier)
			return &sched->sources[i].is;
	return NULL;
}

void tell_worths(void *context, struct tier_asked *asked, size_t n)
{
	struct sched *sched = context;
	LOCK_SCOPE(&sched->lock);
	for (size_t i = 0; i < n; i++) {
		const struct source *source = find_owner_locked(sched, asked[i].owner);
		/* A file in the tier may be from an earlier scan, with a sample id that is gone. */
		if (source && asked[i].id >= dataset_ids(source->dataset))
			source = NULL;
		uint32_t need = source ? tier_need(source, asked[i].id, true) : 0;
		bool read =
			need > 0 || (source && has_reader_locked(source, asked[i].id));
		asked[i].worth = read + need;
	}
}

static bool status_locked(
	const struct source *source, struct tier_status *ret, const char **ret_directory)
{
	lock_assert_held(&sched_of_source(source)->lock);
	if (!source->tier)
		return false;
	tier_status(source->tier, ret);
	*ret_directory = tier_dataset_directory(source->tier);
	return true;
}

bool sched_tier(struct sched *sched, const struct dataset *dataset,
	struct tier_status *ret, const char **ret_directory)
{
	LOCK_SCOPE(&sched->lock);
	for (size_t i = 0; i < sched->supply.n_sources; i++)
		if (sched->sources[i].is.dataset == dataset)
			return status_locked(&sched->sources[i].is, ret, ret_directory);
	return false;
}

bool sched_job_tier(
	struct sched_job *job, struct tier_status *ret, const char **ret_directory)
{
	LOCK_SCOPE(&job->sched->lock);
	for (size_t i = 0; i < job->is.now->n_parts; i++)
		if (status_locked(job->is.now->parts[i].source, ret, ret_directory))
			return true;
	return false;
}
