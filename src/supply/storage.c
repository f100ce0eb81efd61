// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/log.h"
#include "far/far.h"
#include "sched/datasets.h"
#include "sched/gauges.h"
#include "sched/sched_internal.h"
#include "supply/supply.h"
#include "stats/stats.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* A storage is a device or a server on which files lie. Datasets on one device, or of one
 * server, share a storage. Each storage has its own requests and its own reads in flight
 * (flight.h), so that a storage that is slow, or does not answer, holds up no other
 * one. */

#define READ_BYTES                                                                       \
	(UINT64_C(128) << 20) /* bytes of files being read or waiting for a decoder */
#define READ_PER_DECODER 6
#define SILENT_NS UINT64_C(2000000000)

unsigned storage_most_reads(const struct sched *sched)
{
	unsigned each = sched->config->reads ? sched->config->reads : STORAGE_MOST_READS;
	return each * (unsigned)sched->n_storages;
}

uint64_t storage_device(const struct dataset *dataset)
{
	struct stat st;
	if (far_is(dataset_location(dataset)))
		return far_server(dataset_location(dataset)) | UINT64_C(1) << 63;
	return stat(dataset_location(dataset), &st) == 0 ? st.st_dev : 0;
}

static void storage_init(
	struct storage *storage, const struct sched *sched, uint64_t device, char *root)
{
	*storage = (struct storage){.device = device, .root = root};
	flight_init(&storage->flight, sched->config->reads, STORAGE_MOST_READS);
	TAILQ_INIT(&storage->reading);
}

/* A dataset on a device that is not known gets a storage of its own. */
int storage_of_locked(
	struct sched *sched, uint64_t device, const char *root, struct storage **ret)
{
	lock_assert_held(&sched->lock);
	for (size_t i = 0; device != 0 && i < sched->n_storages; i++) {
		*ret = &sched->storages[i];
		if ((*ret)->device == device)
			return 0;
	}
	if (sched->n_storages == CONFIG_MOST_DATASETS)
		return -ENFILE;
	char *name = strdup(root);
	if (!name)
		return -ENOMEM;
	*ret = &sched->storages[sched->n_storages++];
	storage_init(*ret, sched, device, name);
	return 0;
}

/* --- room ------------------------------------------------------------------------------- */

/*
 * Returns the most samples that may be in flight or wait for a decoder. A later request
 * waits behind all of them, whatever the share of its job. Therefore the limit is low:
 * some samples per decoder, and twice as many as the decoders decode during one read,
 * since reads vary in length.
 */
static unsigned most_read(const struct sched *sched, const struct storage *storage)
{
	unsigned workers = sched->config->workers;
	uint64_t cost_ns = sched->cost_ns ? sched->cost_ns : 1;
	uint64_t used = 2 * workers * storage->latency_ns / cost_ns;
	uint64_t most = STORAGE_MOST_READS;
	if (storage->latency_ns == 0) /* unknown yet */
		return STORAGE_MOST_READS;
	return READ_PER_DECODER * workers + (unsigned)(used < most ? used : most);
}

bool storage_has_room_locked(const struct sched *sched, const struct storage *storage)
{
	lock_assert_held(&sched->lock);
	return flight_has_room(&storage->flight) && storage->bytes < READ_BYTES &&
	       storage->flight.in_flight + storage->waiting < most_read(sched, storage);
}

bool storage_has_requests_locked(const struct sched *sched, const struct storage *storage)
{
	lock_assert_held(&sched->lock);
	return (storage->urgent > 0 ||
		       (storage->queued > 0 &&
			       cache_fits(sched->cache, storage->ahead_needs))) &&
	       storage_has_room_locked(sched, storage);
}

/* Tells whether one thread reads faster than all decoders decode. */
static bool one_reader_is_enough(const struct sched *sched, const struct storage *storage)
{
	return storage->latency_ns > 0 &&
	       storage->latency_ns * sched->config->workers < sched->cost_ns;
}

/* If one reader thread is enough, it reads until there is no more room, and sleeps until
 * the decoders have used up half of the samples read ahead. */
bool storage_wakes_reader_locked(const struct sched *sched, const struct storage *storage)
{
	unsigned read = storage->flight.in_flight + storage->waiting;
	lock_assert_held(&sched->lock);
	if (!storage_has_requests_locked(sched, storage))
		return false;
	return storage->urgent > 0 || !one_reader_is_enough(sched, storage) ||
	       read <= READ_PER_DECODER * sched->config->workers / 2;
}

/* --- a read ----------------------------------------------------------------------------- */

static struct storage *storage_of(const struct wanted *wanted)
{
	return wanted->key.space->source->storage;
}

/* Marks the sample, and those that share its decode, as being read or not. */
static void set_is_read_locked(struct wanted *wanted, bool is_read, uint64_t now_ns)
{
	lock_assert_held(&wanted->key.space->source->sched->lock);
	for (; wanted; wanted = wanted->also) {
		wanted->is_read = is_read;
		wanted->key.space->source->sched->supply_calls->moved_on_locked(
			wanted, now_ns);
	}
}

void storage_begin_locked(struct wanted *wanted)
{
	struct storage *storage = storage_of(wanted);
	const struct source *source = wanted->key.space->source;
	lock_assert_held(&source->sched->lock);
	wanted->read_ns = clock_now_ns();
	wanted->file_bytes = memory_file_bytes(
		source->sched, wanted->key.space, (sample_id)wanted->key.sample);
	storage->bytes += wanted->file_bytes;
	source->sched->reading += wanted->file_bytes;
	TAILQ_INSERT_TAIL(&storage->reading, wanted, link);
	flight_begin(&storage->flight, wanted->read_ns);
	set_is_read_locked(wanted, true, wanted->read_ns);
}

void storage_end_locked(struct wanted *wanted)
{
	uint64_t now_ns = clock_now_ns();
	struct storage *storage = storage_of(wanted);
	struct sched *sched = wanted->key.space->source->sched;
	lock_assert_held(&sched->lock);
	TAILQ_REMOVE(&storage->reading, wanted, link);
	flight_end(&storage->flight, now_ns);
	shares_mean(&storage->latency_ns, now_ns - wanted->read_ns);
	histogram_add_alone(&wanted->key.space->source->reads, now_ns - wanted->read_ns);
	storage->reads++;
	storage->read_bytes += wanted->file_bytes;
	storage->waiting++;
	TAILQ_INSERT_TAIL(&sched->read, wanted, link);
	set_is_read_locked(wanted, false, now_ns);
}

void storage_decodes_locked(struct wanted *wanted)
{
	struct storage *storage = storage_of(wanted);
	struct sched *sched = wanted->key.space->source->sched;
	lock_assert_held(&sched->lock);
	TAILQ_REMOVE(&sched->read, wanted, link);
	storage->waiting--;
	storage->bytes -= wanted->file_bytes;
	sched->reading -= wanted->file_bytes;
}

/* --- storages that do not answer -------------------------------------------------------- */

static uint64_t silent_ns(const struct storage *storage, uint64_t now)
{
	const struct wanted *first = TAILQ_FIRST(&storage->reading);
	if (!first)
		return 0;
	uint64_t since = first->read_ns;
	if (storage->flight.idle_ns > since) /* a read has ended since */
		since = storage->flight.idle_ns;
	return now - since >= SILENT_NS ? now - first->read_ns : 0;
}

void storage_status_locked(const struct sched *sched, const struct storage *storage,
	struct sched_storage *ret)
{
	lock_assert_held(&sched->lock);
	*ret = (struct sched_storage){.root = storage->root,
		.reads = storage->flight.in_flight,
		.most_reads = storage->flight.limit,
		.silent_ns = silent_ns(storage, clock_now_ns()),
		.ended = storage->reads,
		.bytes = storage->read_bytes,
		.latency_ns = storage->latency_ns};
}

bool sched_storage(struct sched *sched, size_t i, struct sched_storage *ret)
{
	LOCK_SCOPE(&sched->lock);
	if (i < sched->n_storages)
		storage_status_locked(sched, &sched->storages[i], ret);
	return i < sched->n_storages;
}

/* Tells whether the storage has stopped or begun to answer since the last call. */
static bool has_changed(struct sched *sched, size_t i, struct sched_storage *ret)
{
	LOCK_SCOPE(&sched->lock);
	struct storage *storage = &sched->storages[i];
	storage_status_locked(sched, storage, ret);
	bool changed = storage->silent != (ret->silent_ns > 0);
	storage->silent = ret->silent_ns > 0;
	return changed;
}

void storages_report(struct sched *sched)
{
	for (size_t i = 0; i < sched->n_storages; i++) {
		struct sched_storage storage;
		if (!has_changed(sched, i, &storage))
			continue;
		if (storage.silent_ns > 0)
			log_warn("%s: the storage does not answer; %u reads wait",
				storage.root, storage.reads);
		else
			log_info("%s: the storage answers again", storage.root);
	}
}
