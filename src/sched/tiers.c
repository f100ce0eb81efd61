// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/supplying.h"
#include "supply/supply.h"

#include <errno.h>
#include <string.h>

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
