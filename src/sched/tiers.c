// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "draw/draw.h"
#include "edition/edition.h"
#include "sched/gauges.h"
#include "sched/supplying.h"
#include "supply/supply.h"

#include <errno.h>
#include <string.h>

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

/* Sets the worth of each sample that a tier asks about: a tier replaces samples of little worth
 * first. */
static void tell_worths(void *context, struct tier_asked *asked, size_t n)
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

static struct tier *find_tier(const struct sched *sched, const char *directory)
{
	for (size_t i = 0; i < sched->n_tiers; i++)
		if (strcmp(tier_directory(sched->tiers[i]), directory) == 0)
			return sched->tiers[i];
	return NULL;
}

int tier_find(struct sched_source *source, const struct dataset_config *config)
{
	struct sched *sched = source->sched;
	if (!config || !config->tier.directory)
		return 0;
	source->at = find_tier(sched, config->tier.directory);
	if (source->at)
		return 0;
	if (sched->n_tiers == CONFIG_MOST_DATASETS)
		return -ENFILE;
	int err = tier_open(config->tier.directory, config->tier.bytes, tell_worths,
		sched, &source->at);
	if (!err)
		sched->tiers[sched->n_tiers++] = source->at;
	return err;
}

int tier_join_locked(struct sched_source *source)
{
	lock_assert_held(&source->sched->lock);
	if (!source->at)
		return 0;
	source->is.tier =
		tier_dataset(source->at, dataset_name(source->is.dataset), &source->is);
	return source->is.tier ? 0 : -ENOMEM;
}

void tiers_close(struct sched *sched)
{
	lock_take(&sched->lock);
	for (size_t i = 0; i < sched->supply.n_sources; i++) {
		tier_leave(sched->sources[i].is.tier);
		sched->sources[i].is.tier = NULL;
	}
	lock_release(&sched->lock);
	while (sched->n_tiers > 0)
		tier_close(&sched->tiers[--sched->n_tiers]);
}

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
