// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/datasets.h"
#include "draw/draw.h"
#include "edition/edition.h"
#include "sched/gauges.h"
#include "sched/sched_internal.h"
#include "supply/supply.h"

#include <errno.h>
#include <string.h>

/*
 * Tiers: disks that keep samples as they were read (src/tier). The scheduler knows what a
 * sample is worth to them: who still needs it.
 */

/* --- worths ----------------------------------------------------------------------------- */

static bool has_stream_locked(const struct sched_job *job)
{
	const struct stream *stream;
	lock_assert_held(&job->sched->lock);
	TAILQ_FOREACH (stream, &job->sched->streams, link)
		if (stream->job == job)
			return true;
	return false;
}

/* Whether a job that reads will read it again, if only in its next epoch. A mirror has no
 * epochs. */
static bool has_reader_locked(const struct source *source, sample_id sample)
{
	const struct sched_job *job;
	lock_assert_held(&source->sched->lock);
	TAILQ_FOREACH (job, &source->sched->jobs, link) {
		const struct part *part = edition_part_of_source(job->now, source);
		if (part && roaring_bitmap_contains(part->selection, sample) &&
			(job->config.layout == LAYOUT_MIRROR || has_stream_locked(job)))
			return true;
	}
	return false;
}

/* How many running epochs need it, and have not read it. What is drawn is needed no more,
 * but will be read soon; with `loading` also what is being read just now. */
static uint32_t need_locked(const struct source *source, sample_id sample, bool loading)
{
	const struct space *space;
	uint32_t need = 0;
	lock_assert_held(&source->sched->lock);
	LIST_FOREACH (space, &source->spaces, link) {
		const struct use *use = use_find_locked(space, sample);
		need += cache_need(space->cache, sample);
		need += use && use->state != USE_OPEN_ONLY &&
			(loading || use->state != USE_LOADING);
	}
	return need;
}

uint32_t tier_worth_of_read_locked(const struct source *source, sample_id sample)
{
	lock_assert_held(&source->sched->lock);
	return source->tier ? 1 + need_locked(source, sample, false) : 0;
}

static const struct source *find_owner_locked(
	const struct sched *sched, const void *owner)
{
	lock_assert_held(&sched->lock);
	for (size_t i = 0; i < sched->n_sources; i++)
		if (&sched->sources[i] == owner && sched->sources[i].tier)
			return &sched->sources[i];
	return NULL;
}

static void tell_worths(void *context, struct tier_asked *asked, size_t n)
{
	struct sched *sched = context;
	LOCK_SCOPE(&sched->lock);
	for (size_t i = 0; i < n; i++) {
		const struct source *source = find_owner_locked(sched, asked[i].owner);
		/* A file of the tier may be older than the dataset. */
		if (source && asked[i].id >= dataset_ids(source->dataset))
			source = NULL;
		uint32_t need = source ? need_locked(source, asked[i].id, true) : 0;
		bool read =
			need > 0 || (source && has_reader_locked(source, asked[i].id));
		asked[i].worth = read + need;
	}
}

/* --- their life ------------------------------------------------------------------------- */

static struct tier *find_tier(const struct sched *sched, const char *directory)
{
	for (size_t i = 0; i < sched->n_tiers; i++)
		if (strcmp(tier_directory(sched->tiers[i]), directory) == 0)
			return sched->tiers[i];
	return NULL;
}

int tier_find(struct source *source, const struct dataset_config *config)
{
	struct sched *sched = source->sched;
	if (!config || !config->tier.directory)
		return 0;
	source->at = find_tier(sched, config->tier.directory);
	if (source->at)
		return 0;
	if (sched->n_tiers == SCHED_MOST_DATASETS)
		return -ENFILE;
	int err = tier_open(config->tier.directory, config->tier.bytes, tell_worths,
		sched, &source->at);
	if (!err)
		sched->tiers[sched->n_tiers++] = source->at;
	return err;
}

int tier_join_locked(struct source *source)
{
	lock_assert_held(&source->sched->lock);
	if (!source->at)
		return 0;
	source->tier = tier_dataset(source->at, dataset_name(source->dataset), source);
	return source->tier ? 0 : -ENOMEM;
}

void tiers_close(struct sched *sched)
{
	lock_take(&sched->lock);
	for (size_t i = 0; i < sched->n_sources; i++) {
		tier_leave(sched->sources[i].tier);
		sched->sources[i].tier = NULL;
	}
	lock_release(&sched->lock);
	while (sched->n_tiers > 0)
		tier_close(&sched->tiers[--sched->n_tiers]);
}

/* --- what others ask -------------------------------------------------------------------- */

struct tier_sample tier_sample_of(
	const struct source *source, sample_id id, const struct dataset_sample *sample)
{
	bool part = sample->container != NULL;
	const struct tier_source from = {.file = part ? sample->container : sample->path,
		.mtime_ns = sample->mtime_ns,
		.file_bytes = part ? sample->part.container_bytes : sample->bytes,
		.offset = part ? sample->part.offset : 0};
	if (!source->tier)
		return (struct tier_sample){.dataset = NULL};
	return (struct tier_sample){
		.dataset = source->tier, .id = id, .identity = tier_identity(&from)};
}

static bool status_locked(
	const struct source *source, struct tier_status *ret, const char **ret_directory)
{
	lock_assert_held(&source->sched->lock);
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
	for (size_t i = 0; i < sched->n_sources; i++)
		if (sched->sources[i].dataset == dataset)
			return status_locked(&sched->sources[i], ret, ret_directory);
	return false;
}

bool sched_job_tier(
	struct sched_job *job, struct tier_status *ret, const char **ret_directory)
{
	LOCK_SCOPE(&job->sched->lock);
	for (size_t i = 0; i < job->now->n_parts; i++)
		if (status_locked(job->now->parts[i].source, ret, ret_directory))
			return true;
	return false;
}
