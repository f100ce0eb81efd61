// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "supply/supply_internal.h"

/* Compares stored sums with sums that are computed anew over all wanted samples. */

struct sums {
	unsigned urgent, queued, lack_room, delayed;
	uint64_t working;
};

/* Checks a wanted sample. The request is in no queue (`aside`) exactly if the sample is delayed or
 * loading. */
static void validate_wanted(const struct wanted *wanted)
{
	enum cache_state cached =
		cache_state(wanted->key.space->cache, wanted_sample(wanted));
	const struct waiter *waiter;
	bool under_way =
		wanted->state == WANTED_DELAYED || wanted->state == WANTED_LOADING;
	ensure(under_way == wanted->request.aside);
	ensure(wanted->state != WANTED_OPEN_ONLY || !share_is_wanted(&wanted->request));
	ensure((wanted->state == WANTED_LOADING) == (cached == CACHE_LOADING));
	ensure(wanted->opens > 0 || wanted->state == WANTED_LOADING ||
		(wanted->state != WANTED_OPEN_ONLY && wanted_is_pinned(wanted)));
	ensure(TAILQ_EMPTY(&wanted->waiters) || wanted->state == WANTED_URGENT ||
		under_way);
	TAILQ_FOREACH (waiter, &wanted->waiters, link)
		ensure(waiter->waits && share_wants(waiter->job, &wanted->request));
}

static void add(struct sums *sums, const struct wanted *wanted)
{
	bool loads = wanted->state == WANTED_LOADING;
	sums->urgent += wanted->state == WANTED_URGENT;
	sums->queued += wanted->state == WANTED_QUEUED;
	sums->delayed += wanted->state == WANTED_DELAYED;
	sums->lack_room += wanted->state == WANTED_DELAYED && wanted->lacks_room;
	sums->working += loads ? wanted->working : 0;
}

static void validate_storages(const struct supply *supply, const struct sums *sums)
{
	const struct wanted *wanted;
	unsigned urgent = 0, queued = 0, waiting = 0;
	uint64_t bytes = 0, files = 0;
	for (size_t i = 0; i < supply->n_storages; i++) {
		const struct storage *storage = &supply->storages[i];
		urgent += storage->urgent;
		queued += storage->queued;
		waiting += storage->waiting;
		bytes += storage->bytes;
		TAILQ_FOREACH (wanted, &storage->reading, link)
			files += wanted->needs.file;
	}
	TAILQ_FOREACH (wanted, &supply->read, link) {
		files += wanted->needs.file;
		waiting--;
	}
	ensure(urgent == sums->urgent && queued == sums->queued && waiting == 0);
	ensure(bytes == files && supply->reading == files);
}

void supply_validate(const struct supply *supply)
{
	struct sums sums = {0};
	const struct wanted *wanted;
	for (wanted = supply->wanted; wanted; wanted = wanted->hash.next) {
		validate_wanted(wanted);
		add(&sums, wanted);
	}
	validate_storages(supply, &sums);
	TAILQ_FOREACH (wanted, &supply->delayed, link)
		sums.delayed--;
	ensure(sums.delayed == 0 && sums.lack_room == supply->lack_room);
	ensure(sums.working == supply->working);
	same_validate(supply);
	shares_validate(&supply->shares);
}
