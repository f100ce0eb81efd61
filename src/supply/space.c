// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/sched_internal.h"
#include "section/section.h"
#include "supply/supply.h"

#include <errno.h>

static bool number_is_taken(const struct source *source, uint32_t number)
{
	const struct space *space;
	LIST_FOREACH (space, &source->spaces, link) {
		if (space->number == number)
			return true;
	}
	return false;
}

static uint32_t lowest_number(const struct source *source)
{
	uint32_t number = 0;
	while (number_is_taken(source, number))
		number++;
	return number;
}

int space_make(
	struct source *source, const struct preparation *preparation, struct space **ret)
{
	struct space *space = calloc(1, sizeof(*space));
	if (!space)
		return -ENOMEM;
	*space = (struct space){.source = source, .preparation = *preparation};
	preparation_print(preparation, space->text);
	for (const char *c = space->text; *c; c++)
		space->text_hash = rng_mix(space->text_hash, (unsigned char)*c);
	int err = cache_space_make(dataset_ids(source->dataset), &space->cache);
	if (err) {
		space_free(space);
		return err;
	}
	*ret = space;
	return 0;
}

struct space *space_get_locked(struct space **spare)
{
	struct space *space, *made = *spare;
	struct source *source = made->source;
	lock_assert_held(&source->sched->lock);
	LIST_FOREACH (space, &source->spaces, link) {
		if (preparation_equal(&space->preparation, &made->preparation)) {
			source->sched->n_deserted -= space->references == 0;
			space->references++;
			return space;
		}
	}
	made->number = lowest_number(source);
	made->references = 1;
	cache_space_put_in(source->sched->cache, made->cache);
	LIST_INSERT_HEAD(&source->spaces, made, link);
	*spare = NULL;
	return made;
}

void space_put_locked(struct space *space)
{
	lock_assert_held(&space->source->sched->lock);
	if (--space->references == 0)
		space->source->sched->n_deserted++;
}

static struct space *first_deserted_locked(struct sched *sched)
{
	struct space *space;
	lock_assert_held(&sched->lock);
	for (size_t i = 0; i < sched->n_sources; i++)
		LIST_FOREACH (space, &sched->sources[i].spaces, link)
			if (space->references == 0)
				return space;
	return NULL;
}

#define STEP_TENSORS 64

bool spaces_leave_locked(struct sched *sched, struct space **ret)
{
	struct space *space = first_deserted_locked(sched);
	lock_assert_held(&sched->lock);
	*ret = NULL;
	if (!space)
		return false;
	if (!cache_space_empty(space->cache, STEP_TENSORS))
		return true;
	cache_space_take_out(space->cache);
	LIST_REMOVE(space, link);
	*ret = space;
	return --sched->n_deserted > 0;
}

void space_free(struct space *space)
{
	if (!space)
		return;
	cache_space_free(&space->cache);
	if (space->bad)
		roaring_bitmap_free(space->bad);
	free(space);
}

/* --- residency: which samples are in the cache, for samplers that exchange ---------- */

bool space_has_locked(const struct space *space, sample_id sample)
{
	lock_assert_held(&space->source->sched->lock);
	const struct wanted *wanted;
	if (cache_state(space->cache, sample) != CACHE_ABSENT)
		return true;
	wanted = wanted_find_locked(space, sample);
	return wanted && wanted->state != WANTED_OPEN_ONLY;
}

enum served how_served_locked(struct space *space, sample_id sample)
{
	lock_assert_held(&space->source->sched->lock);
	switch (cache_state(space->cache, sample)) {
	case CACHE_READY:
		return SERVED_HIT;
	case CACHE_LOADING:
		return SERVED_SHARED;
	case CACHE_ABSENT:
		break;
	}
	struct wanted *wanted = wanted_find_locked(space, sample);
	bool queued = wanted && wanted->state != WANTED_OPEN_ONLY;
	return queued ? SERVED_SHARED : SERVED_DECODED;
}

void unpin_locked(struct space *space, sample_id sample, struct aftermath *aftermath)
{
	lock_assert_held(&space->source->sched->lock);
	cache_unpin(space->cache, sample);
	wanted_unpinned_locked(space, sample);
	cache_trim(space->source->sched->cache);
	aftermath->kick = true;
}

void space_drawn_locked(
	struct space *space, sample_id sample, const struct sampler *sampler)
{
	lock_assert_held(&space->source->sched->lock);
	const struct source *source = space->source;
	if (sampler == source->shuffled && source->labelled)
		sampler_resident(source->labelled, space->number, sample);
}

void space_gone_locked(struct space *space, sample_id sample)
{
	lock_assert_held(&space->source->sched->lock);
	const struct source *source = space->source;
	sampler_evicted(source->shuffled, space->number, sample);
	if (source->labelled)
		sampler_evicted(source->labelled, space->number, sample);
}

void sched_cache_gone(void *context, struct cache_space *cache, sample_id sample)
{
	struct sched *sched = context;
	for (size_t i = 0; i < sched->n_sources; i++) {
		struct space *space;
		LIST_FOREACH (space, &sched->sources[i].spaces, link) {
			if (space->cache != cache)
				continue;
			space_gone_locked(space, sample);
			same_gone_locked(space, sample);
		}
	}
}
