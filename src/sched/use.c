// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/sched_internal.h"
#include "base/ensure.h"

#include <errno.h>

struct use *use_find_locked(const struct space *space, sample_id sample)
{
	lock_assert_held(&space->source->sched->lock);
	struct {
		const struct space *space;
		uint64_t sample;
	} key = {space, sample};
	struct use *use;
	HASH_FIND(hash, space->source->sched->uses, &key, sizeof(key), use);
	return use;
}

struct use *use_get_locked(struct space *space, sample_id sample)
{
	lock_assert_held(&space->source->sched->lock);
	struct sched *sched = space->source->sched;
	struct use *use = use_find_locked(space, sample);
	if (use)
		return use;
	use = calloc(1, sizeof(*use));
	if (!use)
		return NULL;
	use->key = (struct use_key){.space = space, .sample = sample};
	TAILQ_INIT(&use->waiters);
	HASH_ADD(hash, sched->uses, key, sizeof(use->key), use);
	if (!use->hash.tbl) {
		free(use);
		return NULL;
	}
	space->references++;
	return use;
}

void use_request_locked(struct use *use, bool urgent, struct aftermath *aftermath)
{
	lock_assert_held(&use->key.space->source->sched->lock);
	bool under_way = use->state == USE_LOADING || use->state == USE_DELAYED;
	if (under_way || use->state == USE_URGENT)
		return;
	if (use->state == USE_QUEUED) {
		if (!urgent)
			return;
		use_unqueue_locked(use);
	}
	use_queue_locked(use, urgent);
	aftermath->kick = true;
}

void use_queue_locked(struct use *use, bool urgent)
{
	struct storage *storage = use->key.space->source->storage;
	lock_assert_held(&use->key.space->source->sched->lock);
	use->state = urgent ? USE_URGENT : USE_QUEUED;
	TAILQ_INSERT_TAIL(urgent ? &storage->urgent : &storage->queued, use, link);
	if (!urgent)
		storage->ahead_needs = 0;
}

void use_unqueue_locked(struct use *use)
{
	struct sched *sched = use->key.space->source->sched;
	struct storage *storage = use->key.space->source->storage;
	lock_assert_held(&sched->lock);
	if (use->state == USE_URGENT)
		TAILQ_REMOVE(&storage->urgent, use, link);
	else if (use->state == USE_QUEUED)
		TAILQ_REMOVE(&storage->queued, use, link);
	if (use->state == USE_DELAYED) {
		TAILQ_REMOVE(&sched->delayed, use, link);
		sched->lack_room -= use->lacks_room;
	}
	use->state = USE_OPEN_ONLY;
}

bool use_is_wanted(const struct use *use)
{
	return cache_pins(use->key.space->cache, (sample_id)use->key.sample) > 0;
}

void use_drop_if_unused_locked(struct use *use)
{
	struct space *space = use->key.space;
	struct sched *sched = space->source->sched;
	lock_assert_held(&sched->lock);
	bool requested = use->state != USE_OPEN_ONLY;
	if (use->opens > 0 || use->state == USE_LOADING ||
		(requested && use_is_wanted(use)))
		return;
	ensure(TAILQ_EMPTY(&use->waiters));
	if (requested) { /* it will not be prepared, nor get into the cache */
		use_unqueue_locked(use);
		space_gone_locked(space, (sample_id)use->key.sample);
	}
	HASH_DELETE(hash, sched->uses, use);
	free(use);
	space_put_locked(space);
}

void use_unpinned_locked(struct space *space, sample_id sample)
{
	struct use *use = use_find_locked(space, sample);
	lock_assert_held(&space->source->sched->lock);
	if (use)
		use_drop_if_unused_locked(use);
}

void use_keep_capacity_locked(struct use *use)
{
	struct sched *sched = use->key.space->source->sched;
	lock_assert_held(&sched->lock);
	struct cache_space *space = use->key.space->cache;
	sample_id sample = (sample_id)use->key.sample;
	cache_trim(sched->cache);
	struct cache_usage usage = cache_usage(sched->cache);
	if (usage.live_bytes > usage.capacity && use->opens == 0 &&
		cache_state(space, sample) == CACHE_READY)
		cache_force_out(space, sample);
}

/* Its last reader gave up: it is look-ahead again, first in the line. */
static void make_less_urgent_locked(struct use *use)
{
	struct storage *storage = use->key.space->source->storage;
	lock_assert_held(&use->key.space->source->sched->lock);
	if (use->state != USE_URGENT || use->opens > 0)
		return;
	use_unqueue_locked(use);
	use->state = USE_QUEUED;
	TAILQ_INSERT_HEAD(&storage->queued, use, link);
	storage->ahead_needs = 0;
}

int use_attach_locked(struct sched_handle *handle)
{
	struct space *space = handle->job->space;
	sample_id sample = handle->request.sample;
	lock_assert_held(&space->source->sched->lock);
	struct use *use = use_get_locked(space, sample);
	if (!use)
		return -ENOMEM;
	if (cache_pin(space->cache, sample) != 0) {
		use_drop_if_unused_locked(use);
		return -ENOMEM;
	}
	use->opens++;
	handle->use = use;
	return 0;
}

void use_detach_locked(struct sched_handle *handle, struct aftermath *aftermath)
{
	struct sched *sched = handle->job->sched;
	struct use *use = handle->use;
	lock_assert_held(&sched->lock);
	use->opens--;
	handle->use = NULL;
	handle->tensor = NULL;
	cache_unpin(use->key.space->cache, handle->request.sample);
	make_less_urgent_locked(use);
	use_keep_capacity_locked(use);
	use_drop_if_unused_locked(use);
	retry_with_room_locked(sched, aftermath);
	aftermath->kick = true;
}
