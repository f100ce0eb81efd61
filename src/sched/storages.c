// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/log.h"
#include "far/far.h"
#include "sched/gauges.h"
#include "sched/supplying.h"

#include <sys/stat.h>

uint64_t storage_device(const struct dataset *dataset)
{
	struct stat st;
	if (far_is(dataset_location(dataset)))
		return far_server(dataset_location(dataset)) | UINT64_C(1) << 63;
	return stat(dataset_location(dataset), &st) == 0 ? st.st_dev : 0;
}

void storage_status_locked(const struct sched *sched, const struct storage *storage,
	struct sched_storage *ret)
{
	lock_assert_held(&sched->lock);
	*ret = (struct sched_storage){.root = storage->root,
		.reads = storage->flight.in_flight,
		.most_reads = storage->flight.limit,
		.silent_ns = storage_silent_ns(storage, clock_now_ns()),
		.ended = storage->reads,
		.bytes = storage->read_bytes,
		.latency_ns = storage->latency_ns};
}

bool sched_storage(struct sched *sched, size_t i, struct sched_storage *ret)
{
	LOCK_SCOPE(&sched->lock);
	if (i < sched->supply.n_storages)
		storage_status_locked(sched, &sched->supply.storages[i], ret);
	return i < sched->supply.n_storages;
}

/* Tells whether the storage has stopped answering, or answers again, since the last call. */
static bool has_changed(struct sched *sched, size_t i, struct sched_storage *ret)
{
	LOCK_SCOPE(&sched->lock);
	struct storage *storage = &sched->supply.storages[i];
	storage_status_locked(sched, storage, ret);
	bool changed = storage->silent != (ret->silent_ns > 0);
	storage->silent = ret->silent_ns > 0;
	return changed;
}

void storages_report(struct sched *sched)
{
	for (size_t i = 0; i < sched->supply.n_storages; i++) {
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
