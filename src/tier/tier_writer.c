// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/log.h"
#include "base/size_text.h"
#include "stats/stats.h"
#include "tier/tier_internal.h"

#include <inttypes.h>
#include <sched.h>
#include <string.h>

/* The thread of a tier. Only this thread adds entries and writes files. */

#define BARREN_NS UINT64_C(1000000000)

void tier_tell_locked(struct tier *tier)
{
	uint64_t used = tier->policy.used;
	uint64_t samples = tier->policy.n;
	lock_assert_held(&tier->lock);
	stats_change(STAT_TIER_BYTES, (int64_t)(used - tier->told_used));
	stats_change(STAT_TIER_SAMPLES, (int64_t)(samples - tier->told_samples));
	tier->told_used = used;
	tier->told_samples = samples;
}

/* Adds an entry. Returns false if the sample already has an entry, or if there is no memory. */
static bool add_locked(struct tier *tier, const struct tier_dataset *dataset,
	const struct stored *sample, uint64_t room)
{
	const struct tier_entry entry = {.dataset = dataset->number,
		.id = sample->id,
		.identity = sample->identity,
		.room = room};
	lock_assert_held(&tier->lock);
	bool added = !tier_policy_find(&tier->policy, entry.dataset, entry.id) &&
		     tier_policy_add(&tier->policy, &entry) == 0;
	tier_tell_locked(tier);
	return added;
}

static void found(void *context, const struct stored *sample, uint64_t room)
{
	struct tier *tier = context;
	lock_take(&tier->lock);
	const struct tier_dataset *dataset =
		tier_get_dataset_locked(tier, sample->dataset);
	bool added = dataset && add_locked(tier, dataset, sample, room);
	lock_release(&tier->lock);
	if (!added)
		store_remove(tier->store, sample);
}

static void take_directories(struct tier *tier, uint64_t room)
{
	LOCK_SCOPE(&tier->lock);
	tier->policy.used += room;
	tier_tell_locked(tier);
}

static void scan(struct tier *tier)
{
	struct store_scan scan = {.found = found, .context = tier, .stop = &tier->stop};
	int err = store_scan(tier->store, &scan);
	take_directories(tier, scan.directories);
	if (err)
		log_warn(
			"tier %s: can't be scanned: %s", tier->directory, strerror(-err));
	if (scan.strange > 0)
		log_warn("tier %s: found %" PRIu64
			 " files that do not belong to a tier; they are left unchanged, "
			 "and their size is not counted",
			tier->directory, scan.strange);
}

static struct tier_dataset *find_dataset_locked(const struct tier *tier, uint32_t number)
{
	struct tier_dataset *dataset;
	lock_assert_held(&tier->lock);
	LIST_FOREACH (dataset, &tier->datasets, link)
		if (dataset->number == number)
			return dataset;
	return NULL;
}

static size_t look(struct tier *tier, struct tier_entry entries[TIER_LOOK],
	struct tier_asked asked[TIER_LOOK])
{
	LOCK_SCOPE(&tier->lock);
	size_t n = tier_policy_look(&tier->policy, entries);
	for (size_t i = 0; i < n; i++)
		asked[i] = (struct tier_asked){.id = entries[i].id,
			.owner = find_dataset_locked(tier, entries[i].dataset)->owner};
	return n;
}

static void evict(struct tier *tier, const struct tier_entry *entry)
{
	lock_take(&tier->lock);
	struct tier_sample sample = {.dataset = find_dataset_locked(tier, entry->dataset),
		.id = entry->id,
		.identity = entry->identity};
	lock_release(&tier->lock);
	const struct stored stored = tier_stored(&sample);
	if (!tier_forget(&sample))
		return;
	store_remove(tier->store, &stored);
	atomic_fetch_add(&sample.dataset->counts[TIER_EVICTED], 1);
	stats_add(STAT_TIER_EVICTIONS, 1);
}

static uint64_t lacks(struct tier *tier, uint64_t room)
{
	LOCK_SCOPE(&tier->lock);
	return tier_policy_lacks(&tier->policy, room);
}

/* Looks at the next TIER_LOOK entries. Evicts those that are worth less than `worth`, beginning
 * with the entries of least worth, until `lacking` bytes are freed. */
static void make_some_room(struct tier *tier, uint32_t worth, uint64_t lacking)
{
	struct tier_entry entries[TIER_LOOK];
	struct tier_asked asked[TIER_LOOK];
	uint32_t worths[TIER_LOOK];
	size_t n = look(tier, entries, asked);
	tier->worths(tier->context, asked, n);
	for (size_t i = 0; i < n; i++)
		worths[i] = asked[i].worth;
	n = tier_policy_choose(entries, worths, n, worth, lacking);
	for (size_t i = 0; i < n; i++)
		evict(tier, &entries[i]);
}

static bool make_room(struct tier *tier, uint32_t worth, uint64_t room)
{
	uint64_t lacking = lacks(tier, room);
	for (unsigned i = 0; lacking > 0 && i < TIER_LOOKS && !atomic_load(&tier->stop);
		i++) {
		make_some_room(tier, tier_policy_limit(i, worth), lacking);
		lacking = lacks(tier, room);
	}
	if (lacking > 0 && worth <= 1) {
		LOCK_SCOPE(&tier->lock);
		tier->barren_until_ns = clock_now_ns() + BARREN_NS;
	}
	return lacking == 0;
}

/* Evicts entries of any worth until the tier does not exceed its capacity, which may be smaller
 * than in the previous run. */
static void shrink(struct tier *tier)
{
	uint64_t lacking;
	while ((lacking = lacks(tier, 0)) > 0 && !atomic_load(&tier->stop)) {
		struct tier_entry entries[TIER_LOOK];
		struct tier_asked asked[TIER_LOOK];
		size_t n = look(tier, entries, asked);
		for (size_t i = 0; i < n && lacks(tier, 0) > 0; i++)
			evict(tier, &entries[i]);
		if (n == 0)
			return;
	}
}

static bool wants(struct tier *tier, const struct tier_sample *sample)
{
	LOCK_SCOPE(&tier->lock);
	return !tier->broken &&
	       !tier_policy_find(&tier->policy, sample->dataset->number, sample->id);
}

static void break_down(struct tier *tier, int err)
{
	log_warn("tier %s: can't be written: %s; it takes no more samples until the next "
		 "start, but its samples are still read",
		tier->directory, strerror(-err));
	LOCK_SCOPE(&tier->lock);
	tier->broken = true;
}

static void write_down(struct tier *tier, const struct offer *offer)
{
	const struct tier_sample *sample = &offer->sample;
	const struct stored stored = tier_stored(sample);
	unsigned directories;
	int err = store_write(tier->store, &stored, offer->bytes, offer->n, &directories);
	take_directories(tier, directories * (uint64_t)STORE_DIRECTORY);
	if (err) {
		break_down(tier, err);
		return;
	}
	lock_take(&tier->lock);
	bool added = add_locked(
		tier, sample->dataset, &stored, store_room(tier->store, offer->n));
	lock_release(&tier->lock);
	if (!added) {
		store_remove(tier->store, &stored);
		return;
	}
	atomic_fetch_add(&sample->dataset->counts[TIER_WRITTEN], 1);
	stats_add(STAT_TIER_WRITTEN, 1);
}

static void keep(struct tier *tier, const struct offer *offer)
{
	uint64_t room = store_room(tier->store, offer->n) + TIER_SLACK;
	if (wants(tier, &offer->sample) && make_room(tier, offer->worth, room))
		write_down(tier, offer);
}

/* Waits for the next offer. Returns NULL if the tier must stop. */
static struct offer *next_offer(struct tier *tier)
{
	LOCK_SCOPE(&tier->lock);
	while (TAILQ_EMPTY(&tier->queue) && !atomic_load(&tier->stop))
		lock_wait(&tier->lock, &tier->offered);
	struct offer *offer = TAILQ_FIRST(&tier->queue);
	if (!offer || atomic_load(&tier->stop))
		return NULL;
	TAILQ_REMOVE(&tier->queue, offer, link);
	return offer;
}

static void end_offer(struct tier *tier, struct offer *offer)
{
	lock_take(&tier->lock);
	tier->queued -= offer->n;
	pthread_cond_broadcast(&tier->settled);
	lock_release(&tier->lock);
	free(offer);
}

static void become_ready(struct tier *tier)
{
	shrink(tier);
	LOCK_SCOPE(&tier->lock);
	tier->ready = true;
	log_info("tier %s: %zu samples, %s of %s", tier->directory, tier->policy.n,
		size_text(tier->policy.used).text, size_text(tier->policy.capacity).text);
	pthread_cond_broadcast(&tier->settled);
}

void *tier_main(void *argument)
{
	struct tier *tier = argument;
	struct offer *offer;
	/* Batch priority, if the kernel permits it, lets training jobs run first. */
	(void)pthread_setschedparam(
		pthread_self(), SCHED_BATCH, &(struct sched_param){0});
	(void)pthread_setname_np(pthread_self(), "tier");
	scan(tier);
	become_ready(tier);
	while ((offer = next_offer(tier))) {
		keep(tier, offer);
		end_offer(tier, offer);
	}
	lock_take(&tier->lock);
	tier->runs = false;
	pthread_cond_broadcast(&tier->settled);
	lock_release(&tier->lock);
	tier_unref(tier);
	return NULL;
}

void tier_settle(struct tier *tier)
{
	LOCK_SCOPE(&tier->lock);
	while (!tier->ready || tier->queued > 0)
		lock_wait(&tier->lock, &tier->settled);
}
