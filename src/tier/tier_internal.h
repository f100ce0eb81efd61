// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"
#include "tier/policy.h"
#include "tier/store.h"
#include "tier/tier.h"

#include <sys/queue.h>

/* Types that tier.c and tier_writer.c (the thread that writes) share. tier.lock protects
 * the fields marked (lock). */

enum tier_count {
	TIER_HITS,
	TIER_MISSES,
	TIER_HIT_BYTES,
	TIER_FETCHED_BYTES,
	TIER_WRITTEN,
	TIER_EVICTED,
	TIER_DAMAGED,
	TIER_COUNTS
};

struct tier_dataset {
	LIST_ENTRY(tier_dataset) link; /* (lock) */
	struct tier *tier;
	char *name;
	uint32_t number;
	/* (lock) the `owner` that was passed to tier_dataset(). NULL after tier_leave(),
	 * and for a dataset that only the scan of the directory has found. */
	const void *owner;
	_Atomic uint64_t counts[TIER_COUNTS];
};

/* An offered sample, until the tier's thread has written it. */
struct offer {
	TAILQ_ENTRY(offer) link;
	struct tier_sample sample;
	uint32_t worth;
	uint64_t n;
	uint8_t bytes[];
};

/* Most bytes that a new sample takes for new directories. */
#define TIER_SLACK (2 * STORE_DIRECTORY)

struct tier {
	char *directory;
	uint64_t capacity;
	tier_worths *worths;
	void *context;
	struct store *store;
	atomic_uint references;
	atomic_bool stop;
	pthread_t thread;
	struct lock lock;
	/* signalled when an offer comes, or the thread has to stop */
	pthread_cond_t offered;
	/* signalled when the thread has handled an offer, is ready, or ends */
	pthread_cond_t settled;
	struct tier_policy *policy;	    /* (lock) */
	LIST_HEAD(, tier_dataset) datasets; /* (lock) */
	uint32_t n_datasets;		    /* (lock) */
	TAILQ_HEAD(, offer) queue;	    /* (lock) */
	/* (lock) bytes of all offers, including the offer that is being written */
	uint64_t queued;
	bool runs;   /* (lock) the tier's thread is running */
	bool ready;  /* (lock) the tier's thread has scanned the directory */
	bool broken; /* (lock) a write has failed, so nothing is written any more */
	/* (lock) The full tier refuses samples of worth 0 or 1 until this time, because
	 * a search for room found too few entries that are worth less than the new
	 * sample. */
	uint64_t barren_until_ns;
	/* (lock) this tier's part of the gauges STAT_TIER_BYTES and STAT_TIER_SAMPLES */
	uint64_t told_used, told_samples;
};

void *tier_main(void *tier);
void tier_unref(struct tier *tier);
struct tier_dataset *tier_get_dataset_locked(struct tier *tier, const char *name);
/* Updates STAT_TIER_BYTES and STAT_TIER_SAMPLES, which count all tiers. */
void tier_tell_locked(struct tier *tier);
/* Removes the entry of this version of the sample. Returns true if the entry existed;
 * the caller must then remove the sample's file. */
bool tier_forget(const struct tier_sample *sample);

static inline struct stored tier_stored(const struct tier_sample *sample)
{
	return (struct stored){.dataset = sample->dataset->name,
		.id = sample->id,
		.identity = sample->identity};
}
