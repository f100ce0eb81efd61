// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "supply/supply.h"
#include "watch/watch.h"

#include <string.h>

/*
 * Counts how long a job's readers waited, and for what. A job waits while at least one of its
 * readers waits. The cause follows from the sample of the reader that has waited longest:
 *
 *   storage      the sample is being read or fetched, other reads of the storage have to end first,
 *                or a transient error has delayed the sample
 *   decoding     the sample is being prepared, or no decoder is free
 *   queue        it is the turn of other jobs' samples, or there is no memory for the sample
 *   file system  joaderfs itself, whatever the sample: the time to answer opens (waits_took)
 */

static enum wait_cause cause_of(const struct wanted *wanted)
{
	const struct storage *storage = wanted->key.space->source->storage;
	const struct source *source = wanted->key.space->source;
	switch (wanted->state) {
	case WANTED_LOADING:
		return wanted->fetching || wanted->is_read ? WAIT_STORAGE : WAIT_DECODING;
	case WANTED_DELAYED:
		return wanted->lacks_room ? WAIT_QUEUE : WAIT_STORAGE;
	default:
		if (!flight_has_room(&storage->flight))
			return WAIT_STORAGE;
		return storage_has_room(source->supply, storage) ? WAIT_QUEUE
								 : WAIT_DECODING;
	}
}

uint64_t waits_count_locked(
	struct watch *watch, const struct wanted *first, uint64_t now_ns)
{
	uint64_t waited_ns = watch->waiting > 0 ? now_ns - watch->since_ns : 0;
	lock_assert_held(watch->job->lock);
	watch->totals.exposed_ns[watch->cause] += waited_ns;
	if (watch->waiting > 0 && first)
		watch->cause = cause_of(first);
	watch->since_ns = now_ns;
	return waited_ns;
}

void waits_change_locked(struct watch *watch, const struct wanted *wanted, int change)
{
	lock_assert_held(watch->job->lock);
	if (watch->waiting == 0)
		watch->cause = cause_of(wanted);
	watch->waiting += (unsigned)change;
}

void waits_took(struct watch *watch, uint64_t ns)
{
	atomic_fetch_add_explicit(&watch->own_ns, ns, memory_order_relaxed);
}

void waits_exposed_locked(const struct watch *watch, uint64_t ret[static WAIT_CAUSES])
{
	lock_assert_held(watch->job->lock);
	memcpy(ret, watch->totals.exposed_ns, sizeof(watch->totals.exposed_ns));
	ret[WAIT_FILE_SYSTEM] =
		atomic_load_explicit(&watch->own_ns, memory_order_relaxed);
}

/* Sets *ret to the job's waits, and to the part of the latest epoch in which readers waited. The
 * part is at most 1, although the sum of the waits can exceed the epoch's duration: several opens
 * are answered in parallel, and WAIT_FILE_SYSTEM counts the time of each open. */
void waits_of_epoch_locked(
	const struct watch *watch, uint64_t now_ns, struct epoch_waits *ret)
{
	const struct lap *lap = &watch->lap;
	uint64_t waited_ns = 0;
	lock_assert_held(watch->job->lock);
	waits_exposed_locked(watch, ret->exposed_ns);
	uint64_t end_ns = watch->waiting > 0 ? now_ns : lap->last_ns;
	ret->epoch_ns = lap->begun_ns ? end_ns - lap->begun_ns : 0;
	for (int i = 0; i < WAIT_CAUSES; i++)
		waited_ns += ret->exposed_ns[i] - lap->exposed_ns[i];
	ret->waited_part = ret->epoch_ns ? (double)waited_ns / (double)ret->epoch_ns : 0;
	if (ret->waited_part > 1)
		ret->waited_part = 1;
}
