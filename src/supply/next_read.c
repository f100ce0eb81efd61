// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "supply/supply_internal.h"

#include <errno.h>

/*
 * Chooses the sample that is read next, in the order of share.h. Samples that readers wait for may
 * exceed the cache, up to the limit in memory.c. Samples drawn ahead must fit into the cache; if
 * one does not fit, the next ones are tried.
 *
 *                supply_want              supply_next_read            supply_done
 *   open only ----------------> queued or ----------------> loading -------------> open only
 *   (also if new)               urgent                         |                   (or freed)
 *                                 ^                            | a transient error
 *    supply_time, supply_has_room |                            v
 *                                 +------------------------ delayed
 *
 *   queued:  drawn ahead.
 *   urgent:  a reader waits. An urgent sample without room is delayed, too (put_off).
 *   loading: the file is read, waits for a decoder, is decoded (storage.c, next_decode.c); or the
 *            tensor comes from another daemon. A sample that could not be fetched is queued again.
 */

/* Reserves room in the cache, which an urgent sample may exceed, and marks the sample as loading.
 * -ENOSPC: a sample drawn ahead does not fit; -EAGAIN: files being read take too much memory;
 * -ENOMEM: readers have too much open. */
static int reserve(struct wanted *wanted, bool urgent)
{
	struct space *space = wanted->key.space;
	struct supply *supply = space->source->supply;
	uint64_t tensor = wanted->needs.memory.tensor;
	if (!memory_may_read(supply, wanted->needs.file))
		return -EAGAIN;
	if (urgent && !memory_has_room(supply, tensor))
		return -ENOMEM;
	int err = cache_reserve(space->cache, wanted_sample(wanted), tensor, urgent);
	if (err)
		return err;
	wanted_set_state(wanted, WANTED_LOADING);
	wanted->in_file = space->in_files;
	wanted->head = space->head;
	wanted->working = 0;
	wanted->also = NULL;
	return 0;
}

static bool is_queued(const struct wanted *wanted)
{
	return wanted->state == WANTED_QUEUED || wanted->state == WANTED_URGENT;
}

/* Adds queued preparations of the sample to the chain of `wanted`, which is decoded once. */
static void share_decode(struct wanted *wanted)
{
	struct space *space;
	if (wanted->needs.alone)
		return;
	LIST_FOREACH (space, &wanted->key.space->source->spaces, link) {
		struct wanted *other = wanted_find(space, wanted_sample(wanted));
		if (!other || !is_queued(other) || !wanted_is_pinned(other) ||
			other->needs.alone ||
			reserve(other, other->state == WANTED_URGENT) != 0)
			continue;
		other->also = wanted->also;
		wanted->also = other;
		share_with(&wanted->request, &other->request);
	}
}

/* Delays an urgent sample because memory is short. After too many tries the sample fails. */
static void put_off(struct wanted *wanted, int err, uint64_t now_ns)
{
	wanted_unqueue(wanted);
	if (retry_later(wanted, true, 0, now_ns))
		return;
	share_drop(&wanted->request);
	wanted_answer(wanted, err, false);
	wanted_drop_if_unused(wanted);
}

/* largest number of samples drawn ahead that one search tries per storage */
#define MOST_PASSED_OVER 256

/* A search for the next sample to read: share_next calls `offer` with one request after another. */
struct offers {
	struct supply *supply;
	supply_is_elsewhere *is_elsewhere;
	void *context;
	/* urgent sample to be delayed, because readers have too much open */
	struct wanted *put_off;
	int err;
};

static struct wanted *wanted_of(struct share_request *request)
{
	return struct_of(request, struct wanted, request);
}

/* Returns the sample's worth for its tier (tier/policy.h). 0: the source has no tier. */
static uint32_t worth_of(const struct source *source, sample_id sample)
{
	return source->tier ? 1 + tier_need(source, sample, false) : 0;
}

static enum share_answer taken(const struct offers *offers, struct wanted *wanted)
{
	wanted->request.cost_ns = space_cost(wanted->key.space);
	wanted->fetching = !wanted->here && offers->is_elsewhere &&
			   offers->is_elsewhere(offers->context, wanted);
	if (!wanted->fetching) {
		share_decode(wanted);
		wanted->tier_worth =
			worth_of(wanted->key.space->source, wanted_sample(wanted));
	}
	return SHARE_TAKE;
}

static enum share_answer offer_ahead(const struct offers *offers, struct wanted *wanted)
{
	struct storage *storage = wanted->key.space->source->storage;
	uint64_t bytes = wanted->needs.memory.tensor;
	if (storage->offered == MOST_PASSED_OVER ||
		!cache_fits(offers->supply->cache, storage->ahead_needs))
		return SHARE_PASS_REST;
	storage->offered++;
	if (bytes >= storage->lacked)
		return SHARE_PASS;
	int err = reserve(wanted, false);
	if (err == 0)
		return taken(offers, wanted);
	if (err == -EAGAIN)
		return SHARE_PASS_REST;
	storage->lacked = bytes;
	return SHARE_PASS;
}

static enum share_answer offer(void *context, struct share_request *request)
{
	struct offers *offers = context;
	struct wanted *wanted = wanted_of(request);
	if (!storage_has_room(offers->supply, wanted->key.space->source->storage))
		return SHARE_PASS_REST;
	if (!program_has_room(wanted))
		return SHARE_PASS_REST;
	if (wanted->state == WANTED_QUEUED)
		return offer_ahead(offers, wanted);
	int err = reserve(wanted, true);
	if (err == 0)
		return taken(offers, wanted);
	if (err == -EAGAIN)
		return SHARE_PASS_REST;
	offers->put_off = wanted;
	offers->err = err;
	return SHARE_STOP;
}

static void begin_offers(struct supply *supply)
{
	for (size_t i = 0; i < supply->n_storages; i++) {
		supply->storages[i].lacked = UINT64_MAX;
		supply->storages[i].offered = 0;
	}
}

/* Notes for each storage the size of the smallest tensor drawn ahead that did not fit
 * (ahead_needs). Called after a search that found no sample to read. */
static void note_needs(struct supply *supply)
{
	for (size_t i = 0; i < supply->n_storages; i++) {
		struct storage *storage = &supply->storages[i];
		if (storage->offered > 0 && storage->lacked < UINT64_MAX)
			storage->ahead_needs = storage->lacked;
	}
}

/* Returns false if there is certainly no sample to read. */
static bool has_reads(const struct supply *supply)
{
	for (size_t i = 0; i < supply->n_storages; i++)
		if (storage_has_requests(supply, &supply->storages[i]))
			return true;
	return false;
}

bool supply_wakes_reader(const struct supply *supply)
{
	for (size_t i = 0; i < supply->n_storages; i++)
		if (storage_wakes_reader(supply, &supply->storages[i]))
			return true;
	return false;
}

struct wanted *supply_next_read(struct supply *supply, uint64_t now_ns,
	supply_is_elsewhere *is_elsewhere, void *context)
{
	struct share_request *request = NULL;
	struct offers offers;
	if (supply->stopping || !has_reads(supply))
		return NULL;
	do {
		offers = (struct offers){.supply = supply,
			.is_elsewhere = is_elsewhere,
			.context = context};
		begin_offers(supply);
		request = share_next(&supply->shares, offer, &offers);
		if (offers.put_off)
			put_off(offers.put_off, offers.err, now_ns);
	} while (offers.put_off);
	if (!request) {
		note_needs(supply);
		return NULL;
	}
	struct wanted *wanted = wanted_of(request);
	if (!wanted->fetching)
		storage_begin(wanted, now_ns);
	supply->effects.reads = true; /* Another sample may be ready to be read. */
	return wanted;
}
