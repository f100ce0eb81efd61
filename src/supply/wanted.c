// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "sched/sched_internal.h"
#include "section/section.h"
#include "supply/supply.h"

#include <errno.h>

struct wanted *wanted_find_locked(const struct space *space, sample_id sample)
{
	lock_assert_held(&space->source->sched->lock);
	struct {
		const struct space *space;
		uint64_t sample;
	} key = {space, sample};
	struct wanted *wanted;
	HASH_FIND(hash, space->source->sched->wanted, &key, sizeof(key), wanted);
	return wanted;
}

struct wanted *wanted_get_locked(struct space *space, sample_id sample)
{
	lock_assert_held(&space->source->sched->lock);
	struct sched *sched = space->source->sched;
	struct wanted *wanted = wanted_find_locked(space, sample);
	if (wanted)
		return wanted;
	wanted = calloc(1, sizeof(*wanted));
	if (!wanted)
		return NULL;
	wanted->key = (struct wanted_key){.space = space, .sample = sample};
	TAILQ_INIT(&wanted->waiters);
	share_request_init(&wanted->request, 0);
	HASH_ADD(hash, sched->wanted, key, sizeof(wanted->key), wanted);
	if (!wanted->hash.tbl) {
		free(wanted);
		return NULL;
	}
	space->references++;
	return wanted;
}

/* Changes the state, and the counts of the storage and of the program. */
static void change_state_locked(struct wanted *wanted, enum wanted_state state)
{
	struct storage *storage = wanted->key.space->source->storage;
	lock_assert_held(&wanted->key.space->source->sched->lock);
	storage->urgent -= wanted->state == WANTED_URGENT;
	storage->queued -= wanted->state == WANTED_QUEUED;
	if ((wanted->state == WANTED_LOADING) != (state == WANTED_LOADING))
		program_change_taken_locked(wanted, state == WANTED_LOADING ? 1 : -1);
	wanted->state = state;
	storage->urgent += wanted->state == WANTED_URGENT;
	storage->queued += wanted->state == WANTED_QUEUED;
	if (state == WANTED_QUEUED)
		storage->ahead_needs = 0;
}

int wanted_request_locked(struct sched_job *job, struct wanted *wanted, bool urgent,
	struct aftermath *aftermath)
{
	lock_assert_held(&job->sched->lock);
	if (urgent || !share_wants(&job->share, &wanted->request)) {
		int err = share_ask(&job->share, &wanted->request, urgent);
		if (err)
			return err;
	}
	if (wanted->state == WANTED_OPEN_ONLY)
		wanted->asked_by = job->id;
	bool under_way =
		wanted->state == WANTED_LOADING || wanted->state == WANTED_DELAYED;
	bool asked = wanted->state == WANTED_URGENT ||
		     (wanted->state == WANTED_QUEUED && !urgent);
	if (under_way || asked)
		return 0;
	change_state_locked(wanted, urgent ? WANTED_URGENT : WANTED_QUEUED);
	aftermath->kick = true;
	return 0;
}

void wanted_queue_locked(struct wanted *wanted, bool urgent)
{
	lock_assert_held(&wanted->key.space->source->sched->lock);
	change_state_locked(wanted, urgent ? WANTED_URGENT : WANTED_QUEUED);
	share_again(&wanted->request);
}

void wanted_unqueue_locked(struct wanted *wanted)
{
	struct sched *sched = wanted->key.space->source->sched;
	lock_assert_held(&sched->lock);
	if (wanted->state == WANTED_DELAYED) {
		TAILQ_REMOVE(&sched->delayed, wanted, link);
		sched->lack_room -= wanted->lacks_room;
	}
	share_put_aside(&wanted->request);
	change_state_locked(wanted, WANTED_OPEN_ONLY);
}

void wanted_taken_locked(struct wanted *wanted)
{
	lock_assert_held(&wanted->key.space->source->sched->lock);
	change_state_locked(wanted, WANTED_LOADING);
}

bool wanted_is_pinned(const struct wanted *wanted)
{
	return cache_pins(wanted->key.space->cache, (sample_id)wanted->key.sample) > 0;
}

void wanted_drop_if_unused_locked(struct wanted *wanted)
{
	struct space *space = wanted->key.space;
	struct sched *sched = space->source->sched;
	lock_assert_held(&sched->lock);
	bool requested = wanted->state != WANTED_OPEN_ONLY;
	if (wanted->opens > 0 || wanted->state == WANTED_LOADING ||
		(requested && wanted_is_pinned(wanted)))
		return;
	ensure(TAILQ_EMPTY(&wanted->waiters));
	if (requested) { /* the sample will not be loaded */
		wanted_unqueue_locked(wanted);
		space_gone_locked(space, (sample_id)wanted->key.sample);
	}
	share_drop(&wanted->request);
	HASH_DELETE(hash, sched->wanted, wanted);
	free(wanted);
	space_put_locked(space);
}

void wanted_unpinned_locked(struct space *space, sample_id sample)
{
	struct wanted *wanted = wanted_find_locked(space, sample);
	lock_assert_held(&space->source->sched->lock);
	if (wanted)
		wanted_drop_if_unused_locked(wanted);
}

void wanted_keep_capacity_locked(struct wanted *wanted)
{
	struct sched *sched = wanted->key.space->source->sched;
	lock_assert_held(&sched->lock);
	struct cache_space *space = wanted->key.space->cache;
	sample_id sample = (sample_id)wanted->key.sample;
	cache_trim(sched->cache);
	if (cache_is_exceeded(sched->cache) && wanted->opens == 0 &&
		cache_state(space, sample) == CACHE_READY)
		cache_force_out(space, sample);
}

static bool waits(const struct sched_job *job, const struct wanted *wanted)
{
	const struct sched_handle *handle;
	TAILQ_FOREACH (handle, &wanted->waiters, link)
		if (handle->job == job)
			return true;
	return false;
}

/* Makes the request look-ahead again, at the head of its queue, after the last reader
 * gave up. */
static void make_less_urgent_locked(struct wanted *wanted, struct sched_job *job)
{
	lock_assert_held(&job->sched->lock);
	if (wanted->state == WANTED_OPEN_ONLY)
		return;
	if (share_wants(&job->share, &wanted->request) && !waits(job, wanted))
		/* can't fail: the job wants the request already */
		(void)!share_ask(&job->share, &wanted->request, false);
	if (wanted->state == WANTED_URGENT && wanted->opens == 0)
		change_state_locked(wanted, WANTED_QUEUED);
}

void wanted_detach_locked(struct sched_handle *handle, struct aftermath *aftermath)
{
	struct sched *sched = handle->job->sched;
	struct wanted *wanted = handle->wanted;
	uint64_t held = cache_least_bytes(sched->cache);
	lock_assert_held(&sched->lock);
	wanted->opens--;
	handle->wanted = NULL;
	handle->tensor = NULL;
	cache_unpin(wanted->key.space->cache, (sample_id)wanted->key.sample);
	make_less_urgent_locked(wanted, handle->job);
	wanted_keep_capacity_locked(wanted);
	wanted_drop_if_unused_locked(wanted);
	if (cache_least_bytes(sched->cache) < held) /* readers hold less now */
		retry_with_room_locked(sched, aftermath);
	aftermath->kick = true;
}
