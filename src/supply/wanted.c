// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "sched/sched_internal.h"
#include "section/section.h"
#include "supply/supply.h"

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
	share_request_init(&use->request, 0);
	HASH_ADD(hash, sched->uses, key, sizeof(use->key), use);
	if (!use->hash.tbl) {
		free(use);
		return NULL;
	}
	space->references++;
	return use;
}

/* Changes the state, and the counts of the storage and of the program. */
static void change_state_locked(struct use *use, enum use_state state)
{
	struct storage *storage = use->key.space->source->storage;
	lock_assert_held(&use->key.space->source->sched->lock);
	storage->urgent -= use->state == USE_URGENT;
	storage->queued -= use->state == USE_QUEUED;
	if ((use->state == USE_LOADING) != (state == USE_LOADING))
		program_change_taken_locked(use, state == USE_LOADING ? 1 : -1);
	use->state = state;
	storage->urgent += use->state == USE_URGENT;
	storage->queued += use->state == USE_QUEUED;
	if (state == USE_QUEUED)
		storage->ahead_needs = 0;
}

int use_request_locked(
	struct sched_job *job, struct use *use, bool urgent, struct aftermath *aftermath)
{
	lock_assert_held(&job->sched->lock);
	if (urgent || !share_wants(&job->share, &use->request)) {
		int err = share_ask(&job->share, &use->request, urgent);
		if (err)
			return err;
	}
	if (use->state == USE_OPEN_ONLY)
		use->asked_by = job->id;
	bool under_way = use->state == USE_LOADING || use->state == USE_DELAYED;
	bool asked = use->state == USE_URGENT || (use->state == USE_QUEUED && !urgent);
	if (under_way || asked)
		return 0;
	change_state_locked(use, urgent ? USE_URGENT : USE_QUEUED);
	aftermath->kick = true;
	return 0;
}

void use_queue_locked(struct use *use, bool urgent)
{
	lock_assert_held(&use->key.space->source->sched->lock);
	change_state_locked(use, urgent ? USE_URGENT : USE_QUEUED);
	share_again(&use->request);
}

void use_unqueue_locked(struct use *use)
{
	struct sched *sched = use->key.space->source->sched;
	lock_assert_held(&sched->lock);
	if (use->state == USE_DELAYED) {
		TAILQ_REMOVE(&sched->delayed, use, link);
		sched->lack_room -= use->lacks_room;
	}
	share_put_aside(&use->request);
	change_state_locked(use, USE_OPEN_ONLY);
}

void use_taken_locked(struct use *use)
{
	lock_assert_held(&use->key.space->source->sched->lock);
	change_state_locked(use, USE_LOADING);
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
	if (requested) { /* the sample will not be loaded */
		use_unqueue_locked(use);
		space_gone_locked(space, (sample_id)use->key.sample);
	}
	share_drop(&use->request);
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
	if (cache_is_exceeded(sched->cache) && use->opens == 0 &&
		cache_state(space, sample) == CACHE_READY)
		cache_force_out(space, sample);
}

static bool waits(const struct sched_job *job, const struct use *use)
{
	const struct sched_handle *handle;
	TAILQ_FOREACH (handle, &use->waiters, link)
		if (handle->job == job)
			return true;
	return false;
}

/* Makes the request look-ahead again, at the head of its queue, after the last reader
 * gave up. */
static void make_less_urgent_locked(struct use *use, struct sched_job *job)
{
	lock_assert_held(&job->sched->lock);
	if (use->state == USE_OPEN_ONLY)
		return;
	if (share_wants(&job->share, &use->request) && !waits(job, use))
		/* can't fail: the job wants the request already */
		(void)!share_ask(&job->share, &use->request, false);
	if (use->state == USE_URGENT && use->opens == 0)
		change_state_locked(use, USE_QUEUED);
}

void use_detach_locked(struct sched_handle *handle, struct aftermath *aftermath)
{
	struct sched *sched = handle->job->sched;
	struct use *use = handle->use;
	uint64_t held = cache_least_bytes(sched->cache);
	lock_assert_held(&sched->lock);
	use->opens--;
	handle->use = NULL;
	handle->tensor = NULL;
	cache_unpin(use->key.space->cache, (sample_id)use->key.sample);
	make_less_urgent_locked(use, handle->job);
	use_keep_capacity_locked(use);
	use_drop_if_unused_locked(use);
	if (cache_least_bytes(sched->cache) < held) /* readers hold less now */
		retry_with_room_locked(sched, aftermath);
	aftermath->kick = true;
}
