// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "tier/tier_internal.h"
#include "base/clock.h"
#include "base/ensure.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/signals.h"
#include "stats/stats.h"

#include <errno.h>
#include <string.h>

#define QUEUE_BYTES ((uint64_t)32 << 20)
#define END_NS UINT64_C(2000000000)

static struct tier *tier_new(const char *directory, uint64_t capacity)
{
	struct tier *tier = calloc(1, sizeof(*tier));
	if (!tier)
		return NULL;
	tier->policy.capacity = capacity;
	atomic_init(&tier->references, 1);
	lock_init(&tier->lock, LOCK_RANK_TIER, "tier");
	condition_init(&tier->offered);
	condition_init(&tier->settled);
	TAILQ_INIT(&tier->queue);
	LIST_INIT(&tier->datasets);
	tier->directory = strdup(directory);
	if (tier->directory)
		return tier;
	tier_unref(tier);
	return NULL;
}

static void tier_free(struct tier *tier)
{
	struct tier_dataset *dataset;
	struct offer *offer;
	while ((dataset = LIST_FIRST(&tier->datasets))) {
		LIST_REMOVE(dataset, link);
		free(dataset->name);
		free(dataset);
	}
	while ((offer = TAILQ_FIRST(&tier->queue))) {
		TAILQ_REMOVE(&tier->queue, offer, link);
		free(offer);
	}
	store_close(&tier->store);
	tier_policy_free(&tier->policy);
	free(tier->directory);
	pthread_cond_destroy(&tier->offered);
	pthread_cond_destroy(&tier->settled);
	lock_destroy(&tier->lock);
	free(tier);
}

void tier_unref(struct tier *tier)
{
	if (atomic_fetch_sub(&tier->references, 1) == 1)
		tier_free(tier);
}

void tier_hold(struct tier_dataset *dataset)
{
	if (dataset)
		atomic_fetch_add(&dataset->tier->references, 1);
}

void tier_put(struct tier_dataset *dataset)
{
	if (dataset)
		tier_unref(dataset->tier);
}

int tier_open(const char *directory, uint64_t capacity, tier_worths *worths,
	void *context, struct tier **ret)
{
	struct tier *tier = tier_new(directory, capacity);
	*ret = NULL;
	if (!tier)
		return -ENOMEM;
	tier->worths = worths;
	tier->context = context;
	int err = store_open(directory, &tier->store);
	if (!err) {
		atomic_fetch_add(&tier->references, 1); /* for the thread */
		tier->runs = true;
		err = signals_thread(&tier->thread, tier_main, tier);
		if (err)
			tier_unref(tier);
	}
	if (err)
		tier_unref(tier);
	else
		*ret = tier;
	return err;
}

/* Returns false if the thread does not end within END_NS, because a disk does not answer. */
static bool wait_for_thread(struct tier *tier)
{
	uint64_t until = clock_now_ns() + END_NS;
	LOCK_SCOPE(&tier->lock);
	atomic_store(&tier->stop, true);
	pthread_cond_broadcast(&tier->offered);
	while (tier->runs && lock_wait_until(&tier->lock, &tier->settled, until) == 0)
		;
	return !tier->runs;
}

void tier_close(struct tier **tier_pointer)
{
	struct tier *tier = *tier_pointer;
	*tier_pointer = NULL;
	if (!tier)
		return;
	if (wait_for_thread(tier)) {
		ensure(pthread_join(tier->thread, NULL) == 0);
	} else {
		log_warn("tier %s: the disk does not answer; joaderfs ends without "
			 "waiting for its thread",
			tier->directory);
		pthread_detach(tier->thread);
	}
	stats_change(STAT_TIER_BYTES, -(int64_t)tier->told_used);
	stats_change(STAT_TIER_SAMPLES, -(int64_t)tier->told_samples);
	tier_unref(tier);
}

const char *tier_directory(const struct tier *tier)
{
	return tier->directory;
}

const char *tier_dataset_directory(const struct tier_dataset *dataset)
{
	return dataset->tier->directory;
}

struct tier_dataset *tier_get_dataset_locked(struct tier *tier, const char *name)
{
	struct tier_dataset *dataset;
	lock_assert_held(&tier->lock);
	LIST_FOREACH (dataset, &tier->datasets, link)
		if (strcmp(dataset->name, name) == 0)
			return dataset;
	dataset = calloc(1, sizeof(*dataset));
	char *copy = strdup(name);
	if (!dataset || !copy) {
		free(dataset);
		free(copy);
		return NULL;
	}
	dataset->tier = tier;
	dataset->name = copy;
	dataset->number = tier->n_datasets++;
	LIST_INSERT_HEAD(&tier->datasets, dataset, link);
	return dataset;
}

struct tier_dataset *tier_dataset(struct tier *tier, const char *name, const void *owner)
{
	LOCK_SCOPE(&tier->lock);
	struct tier_dataset *dataset = tier_get_dataset_locked(tier, name);
	if (dataset)
		dataset->owner = owner;
	return dataset;
}

void tier_leave(struct tier_dataset *dataset)
{
	if (!dataset)
		return;
	LOCK_SCOPE(&dataset->tier->lock);
	dataset->owner = NULL;
}

static void count(
	struct tier_dataset *dataset, enum tier_count what, enum stat_id stat, uint64_t n)
{
	atomic_fetch_add(&dataset->counts[what], n);
	stats_add(stat, n);
}

void tier_status(struct tier_dataset *dataset, struct tier_status *ret)
{
	struct tier *tier = dataset->tier;
	LOCK_SCOPE(&tier->lock);
	*ret = (struct tier_status){.capacity = tier->policy.capacity,
		.used = tier->policy.used,
		.samples = tier->policy.n,
		.queued = tier->queued,
		.ready = tier->ready,
		.writes = !tier->broken,
		.hits = dataset->counts[TIER_HITS],
		.misses = dataset->counts[TIER_MISSES],
		.hit_bytes = dataset->counts[TIER_HIT_BYTES],
		.fetched_bytes = dataset->counts[TIER_FETCHED_BYTES],
		.written = dataset->counts[TIER_WRITTEN],
		.evicted = dataset->counts[TIER_EVICTED],
		.damaged = dataset->counts[TIER_DAMAGED]};
}

uint64_t tier_identity(const struct tier_source *source)
{
	uint64_t hash = rng_mix((uint64_t)source->mtime_ns, source->file_bytes);
	return rng_mix_text(rng_mix(hash, source->offset), source->file);
}

/* Tells whether the tier has this version of the sample. Removes the entry of an outdated version,
 * and sets *ret_outdated: the caller must remove the outdated file. ret_outdated->dataset is
 * NULL if there is no outdated version. */
static bool find(const struct tier_sample *sample, struct stored *ret_outdated)
{
	const struct tier_dataset *dataset = sample->dataset;
	struct tier *tier = dataset->tier;
	*ret_outdated = (struct stored){.dataset = NULL};
	LOCK_SCOPE(&tier->lock);
	const struct tier_entry *entry =
		tier_policy_find(&tier->policy, dataset->number, sample->id);
	if (!entry || atomic_load(&tier->stop))
		return false;
	if (entry->identity == sample->identity)
		return true;
	*ret_outdated = (struct stored){
		.dataset = dataset->name, .id = sample->id, .identity = entry->identity};
	tier_policy_remove(&tier->policy, dataset->number, sample->id);
	tier_tell_locked(tier);
	return false;
}

bool tier_forget(const struct tier_sample *sample)
{
	struct tier *tier = sample->dataset->tier;
	LOCK_SCOPE(&tier->lock);
	uint32_t number = sample->dataset->number;
	const struct tier_entry *entry =
		tier_policy_find(&tier->policy, number, sample->id);
	if (!entry || entry->identity != sample->identity)
		return false;
	tier_policy_remove(&tier->policy, number, sample->id);
	tier_tell_locked(tier);
	return true;
}

static void drop_damaged(const struct tier_sample *sample, const struct stored *stored)
{
	struct tier_dataset *dataset = sample->dataset;
	if (!tier_forget(sample))
		return; /* another thread has removed the sample in the meantime */
	store_remove(dataset->tier->store, stored);
	count(dataset, TIER_DAMAGED, STAT_TIER_DAMAGED, 1);
}

bool tier_read(const struct tier_sample *sample, void *ret, uint64_t bytes)
{
	struct tier_dataset *dataset = sample->dataset;
	struct store *store = dataset->tier->store;
	struct stored outdated;
	const struct stored stored = tier_stored(sample);
	int err = find(sample, &outdated) ? 0 : -ENOENT;
	if (outdated.dataset)
		store_remove(store, &outdated);
	if (!err) {
		err = store_read(store, &stored, ret, bytes);
		if (err)
			drop_damaged(sample, &stored);
	}
	count(dataset, err ? TIER_MISSES : TIER_HITS,
		err ? STAT_TIER_MISSES : STAT_TIER_HITS, 1);
	if (!err)
		count(dataset, TIER_HIT_BYTES, STAT_TIER_HIT_BYTES, bytes);
	return !err;
}

/* Tells whether the tier accepts a sample of n bytes and this worth. If a full tier has found too
 * little room for a sample of worth 0 or 1, it refuses all samples of these two worths for
 * BARREN_NS. */
static bool wants_locked(const struct tier *tier, uint64_t n, uint32_t worth)
{
	lock_assert_held(&tier->lock);
	if (atomic_load(&tier->stop) || tier->broken || tier->queued + n > QUEUE_BYTES)
		return false;
	uint64_t room = store_room(tier->store, n) + TIER_SLACK;
	if (room > tier->policy.capacity)
		return false;
	return !tier->ready || tier_policy_lacks(&tier->policy, room) == 0 || worth > 1 ||
	       clock_now_ns() >= tier->barren_until_ns;
}

/* Reserves n bytes in the queue. Returns false if the tier refuses the sample. */
static bool begin_offer(struct tier *tier, uint64_t n, uint32_t worth)
{
	LOCK_SCOPE(&tier->lock);
	bool wants = wants_locked(tier, n, worth);
	tier->queued += wants ? n : 0;
	return wants;
}

static void end_offer(struct tier *tier, struct offer *offer, uint64_t n)
{
	LOCK_SCOPE(&tier->lock);
	if (!offer) {
		tier->queued -= n;
		return;
	}
	TAILQ_INSERT_TAIL(&tier->queue, offer, link);
	pthread_cond_signal(&tier->offered);
}

void tier_offer(
	const struct tier_sample *sample, const void *bytes, uint64_t n, uint32_t worth)
{
	struct tier *tier = sample->dataset->tier;
	count(sample->dataset, TIER_FETCHED_BYTES, STAT_TIER_FETCHED_BYTES, n);
	if (!begin_offer(tier, n, worth))
		return;
	struct offer *offer = malloc(sizeof(*offer) + n);
	if (offer) {
		offer->sample = *sample;
		offer->worth = worth;
		offer->n = n;
		memcpy(offer->bytes, bytes, n);
	}
	end_offer(tier, offer, n);
}
