// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "supply/supply_internal.h"

#include <errno.h>
#include <string.h>

/* Each storage has requests and reads in flight of its own (load/flight.h), so that a slow storage
 * holds up no other storage. */

/* most bytes of a storage's files that are being read or wait for a decoder */
#define READ_BYTES (UINT64_C(128) << 20)
#define READ_PER_DECODER 6
#define SILENT_NS UINT64_C(2000000000)

unsigned storage_most_reads(const struct supply *supply)
{
	unsigned each =
		supply->config->reads ? supply->config->reads : STORAGE_MOST_READS;
	return each * (unsigned)supply->n_storages;
}

int storage_get(
	struct supply *supply, uint64_t device, const char *root, struct storage **ret)
{
	for (size_t i = 0; device != 0 && i < supply->n_storages; i++) {
		*ret = &supply->storages[i];
		if ((*ret)->device == device)
			return 0;
	}
	if (supply->n_storages == CONFIG_MOST_DATASETS)
		return -ENFILE;
	char *name = strdup(root);
	if (!name)
		return -ENOMEM;
	*ret = &supply->storages[supply->n_storages++];
	**ret = (struct storage){.device = device, .root = name};
	flight_init(&(*ret)->flight, supply->config->reads, STORAGE_MOST_READS);
	TAILQ_INIT(&(*ret)->reading);
	return 0;
}

/* Returns the most samples of the storage that may be in flight or wait for a decoder. A new
 * request waits behind these samples, even if its job has had less than its share, so the limit is
 * low: a few per decoder, plus what is decoded during two mean reads (some reads take longer). */
static unsigned most_read(const struct supply *supply, const struct storage *storage)
{
	unsigned workers = supply->config->workers;
	uint64_t cost_ns = supply->cost_ns ? supply->cost_ns : 1;
	uint64_t used = 2 * workers * storage->latency_ns / cost_ns;
	uint64_t most = STORAGE_MOST_READS;
	if (storage->latency_ns == 0) /* not measured yet */
		return STORAGE_MOST_READS;
	return READ_PER_DECODER * workers + (unsigned)(used < most ? used : most);
}

bool storage_has_room(const struct supply *supply, const struct storage *storage)
{
	return flight_has_room(&storage->flight) && storage->bytes < READ_BYTES &&
	       storage->flight.in_flight + storage->waiting < most_read(supply, storage);
}

bool storage_has_requests(const struct supply *supply, const struct storage *storage)
{
	return (storage->urgent > 0 ||
		       (storage->queued > 0 &&
			       cache_fits(supply->cache, storage->ahead_needs))) &&
	       storage_has_room(supply, storage);
}

/* Tells whether one thread reads files faster than all decoders together decode them. */
static bool one_reader_is_enough(
	const struct supply *supply, const struct storage *storage)
{
	return storage->latency_ns > 0 &&
	       storage->latency_ns * supply->config->workers < supply->cost_ns;
}

/* Tells whether to wake a reader for the storage. If one reader is enough, and no sample is urgent,
 * a reader is woken only when the decoders have few samples left. The woken reader then goes on by
 * itself until the storage's limits are reached. */
bool storage_wakes_reader(const struct supply *supply, const struct storage *storage)
{
	unsigned read = storage->flight.in_flight + storage->waiting;
	if (!storage_has_requests(supply, storage))
		return false;
	return storage->urgent > 0 || !one_reader_is_enough(supply, storage) ||
	       read <= READ_PER_DECODER * supply->config->workers / 2;
}

static struct storage *storage_of(const struct wanted *wanted)
{
	return wanted->key.space->source->storage;
}

static void set_is_read(struct wanted *wanted, bool is_read, uint64_t now_ns)
{
	struct supply_effects *effects = &wanted->key.space->source->supply->effects;
	effects->moved = wanted;
	effects->moved_ns = now_ns;
	for (; wanted; wanted = wanted->also)
		wanted->is_read = is_read;
}

void storage_begin(struct wanted *wanted, uint64_t now_ns)
{
	struct storage *storage = storage_of(wanted);
	wanted->read_ns = now_ns;
	storage->bytes += wanted->needs.file;
	wanted->key.space->source->supply->reading += wanted->needs.file;
	TAILQ_INSERT_TAIL(&storage->reading, wanted, link);
	flight_begin(&storage->flight, now_ns);
	set_is_read(wanted, true, now_ns);
}

void supply_was_read(struct supply *supply, struct wanted *wanted, uint64_t now_ns)
{
	struct storage *storage = storage_of(wanted);
	uint64_t ns = now_ns - wanted->read_ns;
	TAILQ_REMOVE(&storage->reading, wanted, link);
	flight_end(&storage->flight, now_ns);
	mean_add(&storage->latency_ns, ns);
	histogram_add_alone(&wanted->key.space->source->reads, ns);
	storage->reads++;
	storage->read_bytes += wanted->needs.file;
	storage->waiting++;
	TAILQ_INSERT_TAIL(&supply->read, wanted, link);
	set_is_read(wanted, false, now_ns);
	supply->effects.decodes = true;
}

void storage_decodes(struct wanted *wanted)
{
	struct storage *storage = storage_of(wanted);
	struct supply *supply = wanted->key.space->source->supply;
	TAILQ_REMOVE(&supply->read, wanted, link);
	storage->waiting--;
	storage->bytes -= wanted->needs.file;
	supply->reading -= wanted->needs.file;
}

uint64_t storage_silent_ns(const struct storage *storage, uint64_t now_ns)
{
	const struct wanted *first = TAILQ_FIRST(&storage->reading);
	if (!first)
		return 0;
	uint64_t since = first->read_ns;
	/* a read has ended after the read of `first` began */
	if (storage->flight.idle_ns > since)
		since = storage->flight.idle_ns;
	return now_ns - since >= SILENT_NS ? now_ns - first->read_ns : 0;
}
