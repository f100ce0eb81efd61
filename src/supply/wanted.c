// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "supply/supply_internal.h"

void supply_init(struct supply *supply, const struct daemon_config *config)
{
	supply->config = config;
	shares_init(&supply->shares, config->share);
	TAILQ_INIT(&supply->read);
	TAILQ_INIT(&supply->delayed);
	TAILQ_INIT(&supply->effects.ready);
}

void supply_end(struct supply *supply)
{
	struct wanted *wanted, *next;
	HASH_ITER (hash, supply->wanted, wanted, next) {
		share_drop(&wanted->request);
		HASH_DELETE(hash, supply->wanted, wanted);
		free(wanted);
	}
	same_free(supply);
	free(supply->program_loads);
	for (size_t i = 0; i < supply->n_storages; i++)
		free(supply->storages[i].root);
	free(supply->storages);
	free(supply->sources);
}

void supply_take_effects(struct supply *supply, struct supply_effects *ret)
{
	*ret = supply->effects;
	TAILQ_INIT(&ret->ready);
	TAILQ_CONCAT(&ret->ready, &supply->effects.ready, link);
	supply->effects = (struct supply_effects){0};
	TAILQ_INIT(&supply->effects.ready);
}

struct wanted *wanted_find(const struct space *space, sample_id sample)
{
	struct {
		const struct space *space;
		uint64_t sample;
	} key = {space, sample};
	struct wanted *wanted;
	HASH_FIND(hash, space->source->supply->wanted, &key, sizeof(key), wanted);
	return wanted;
}

struct wanted *wanted_get(struct space *space, sample_id sample)
{
	struct supply *supply = space->source->supply;
	struct wanted *wanted = wanted_find(space, sample);
	if (wanted)
		return wanted;
	wanted = calloc(1, sizeof(*wanted));
	if (!wanted)
		return NULL;
	wanted->key = (struct wanted_key){.space = space, .sample = sample};
	TAILQ_INIT(&wanted->waiters);
	share_request_init(&wanted->request, 0);
	HASH_ADD(hash, supply->wanted, key, sizeof(wanted->key), wanted);
	if (!wanted->hash.tbl) {
		free(wanted);
		return NULL;
	}
	space->references++;
	return wanted;
}

void wanted_set_state(struct wanted *wanted, enum wanted_state state)
{
	struct storage *storage = wanted->key.space->source->storage;
	storage->urgent -= wanted->state == WANTED_URGENT;
	storage->queued -= wanted->state == WANTED_QUEUED;
	if ((wanted->state == WANTED_LOADING) != (state == WANTED_LOADING))
		program_change_taken(wanted, state == WANTED_LOADING ? 1 : -1);
	wanted->state = state;
	storage->urgent += wanted->state == WANTED_URGENT;
	storage->queued += wanted->state == WANTED_QUEUED;
	if (state == WANTED_QUEUED)
		storage->ahead_needs = 0;
}

int supply_want(struct supply *supply, struct wanted *wanted, const struct want *want)
{
	if (want->urgent || !share_wants(want->job, &wanted->request)) {
		int err = share_ask(want->job, &wanted->request, want->urgent);
		if (err)
			return err;
	}
	if (wanted->state == WANTED_OPEN_ONLY) {
		wanted->asked_by = want->id;
		wanted->needs = want->needs;
	} else if (wanted->state != WANTED_QUEUED || !want->urgent) {
		return 0; /* The sample is already requested, or being prepared. */
	}
	wanted_set_state(wanted, want->urgent ? WANTED_URGENT : WANTED_QUEUED);
	supply->effects.reads = true;
	return 0;
}

void wanted_queue(struct wanted *wanted)
{
	bool urgent = !TAILQ_EMPTY(&wanted->waiters);
	wanted_set_state(wanted, urgent ? WANTED_URGENT : WANTED_QUEUED);
	share_again(&wanted->request);
}

void wanted_unqueue(struct wanted *wanted)
{
	struct supply *supply = wanted->key.space->source->supply;
	if (wanted->state == WANTED_DELAYED) {
		TAILQ_REMOVE(&supply->delayed, wanted, link);
		supply->lack_room -= wanted->lacks_room;
	}
	share_put_aside(&wanted->request);
	wanted_set_state(wanted, WANTED_OPEN_ONLY);
}

bool wanted_is_pinned(const struct wanted *wanted)
{
	return cache_pins(wanted->key.space->cache, wanted_sample(wanted)) > 0;
}

void wanted_drop_if_unused(struct wanted *wanted)
{
	struct space *space = wanted->key.space;
	struct supply *supply = space->source->supply;
	bool requested = wanted->state != WANTED_OPEN_ONLY;
	if (wanted->opens > 0 || wanted->state == WANTED_LOADING ||
		(requested && wanted_is_pinned(wanted)))
		return;
	ensure(TAILQ_EMPTY(&wanted->waiters));
	if (requested) { /* The sample will not be loaded. */
		wanted_unqueue(wanted);
		ensure(!supply->effects.gone);
		supply->effects.gone = space;
		supply->effects.gone_sample = wanted_sample(wanted);
	}
	share_drop(&wanted->request);
	HASH_DELETE(hash, supply->wanted, wanted);
	free(wanted);
	space_put(space);
}

void supply_drop(struct space *space, sample_id sample)
{
	struct supply *supply = space->source->supply;
	struct wanted *wanted = wanted_find(space, sample);
	cache_unpin(space->cache, sample);
	if (wanted)
		wanted_drop_if_unused(wanted);
	cache_trim(supply->cache);
	supply->effects.reads = true;
}

static bool is_open(const struct space *space, sample_id sample)
{
	const struct wanted *wanted = wanted_find(space, sample);
	return cache_opens(space->cache, sample) > 0 || (wanted && wanted->opens > 0);
}

void wanted_keep_capacity(struct space *space, sample_id sample)
{
	struct cache *cache = space->source->supply->cache;
	if (!cache_trim(cache) && !is_open(space, sample) &&
		cache_state(space->cache, sample) == CACHE_READY)
		cache_force_out(space->cache, sample);
}

void supply_wait(struct wanted *wanted, struct waiter *waiter)
{
	waiter->waits = true;
	TAILQ_INSERT_TAIL(&wanted->waiters, waiter, link);
}

void supply_stop_waiting(struct wanted *wanted, struct waiter *waiter)
{
	if (waiter->waits)
		TAILQ_REMOVE(&wanted->waiters, waiter, link);
	waiter->waits = false;
}

void wanted_answer(struct wanted *wanted, int status, bool bad)
{
	struct supply_effects *effects = &wanted->key.space->source->supply->effects;
	struct waiter *waiter;
	TAILQ_FOREACH (waiter, &wanted->waiters, link) {
		waiter->waits = false;
		waiter->status = status;
		waiter->bad = bad;
	}
	TAILQ_CONCAT(&effects->ready, &wanted->waiters, link);
}

static bool waits(const struct wanted *wanted, const struct share_job *job)
{
	const struct waiter *waiter;
	TAILQ_FOREACH (waiter, &wanted->waiters, link)
		if (waiter->job == job)
			return true;
	return false;
}

/* Moves the request to the head of the job's look-ahead queue, if no reader of the job waits for
 * the sample any more. */
static void make_less_urgent(struct wanted *wanted, struct share_job *job)
{
	if (wanted->state == WANTED_OPEN_ONLY)
		return;
	if (share_wants(job, &wanted->request) && !waits(wanted, job))
		/* can't fail, because the job has already asked for the sample */
		(void)!share_ask(job, &wanted->request, false);
	if (wanted->state == WANTED_URGENT && wanted->opens == 0)
		wanted_set_state(wanted, WANTED_QUEUED);
}

bool supply_open(struct space *space, sample_id sample)
{
	if (!cache_open(space->cache, sample))
		return false;
	space->references++;
	return true;
}

/* Queues the delayed samples that lacked room, if a close has made room. held: the result of
 * cache_least_bytes before the close. */
static void note_closed(struct supply *supply, uint64_t held)
{
	if (cache_least_bytes(supply->cache) < held)
		supply_has_room(supply);
	supply->effects.reads = true;
}

void supply_close(struct space *space, sample_id sample)
{
	struct supply *supply = space->source->supply;
	uint64_t held = cache_least_bytes(supply->cache);
	cache_close(space->cache, sample);
	wanted_keep_capacity(space, sample);
	space_put(space);
	note_closed(supply, held);
}

void supply_detach(struct wanted *wanted, struct share_job *job)
{
	struct space *space = wanted->key.space;
	struct supply *supply = space->source->supply;
	sample_id sample = wanted_sample(wanted);
	uint64_t held = cache_least_bytes(supply->cache);
	wanted->opens--;
	cache_unpin(space->cache, sample);
	make_less_urgent(wanted, job);
	wanted_keep_capacity(space, sample);
	wanted_drop_if_unused(wanted);
	note_closed(supply, held);
}
