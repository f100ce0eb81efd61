// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"
#include "tier/policy.h"
#include "tier/store.h"
#include "tier/tier.h"

#include <sys/queue.h>

/* Types of tier.c and tier_writer.c. tier.lock protects the fields marked (lock). */

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
	/* (lock) the argument `owner` of the function tier_dataset; NULL after tier_leave, and for
	 * a dataset that only the scan has found */
	const void *owner;
	_Atomic uint64_t counts[TIER_COUNTS];
};

struct offer {
	TAILQ_ENTRY(offer) link;
	struct tier_sample sample;
	uint32_t worth;
	uint64_t n;
	uint8_t bytes[];
};

#define TIER_SLACK (2 * STORE_DIRECTORY) /* most bytes for a sample's new directories */

struct tier {
	char *directory;
	tier_worths *worths;
	void *context;
	struct store *store;
	atomic_uint references;
	atomic_bool stop;
	pthread_t thread;
	struct lock lock;
	pthread_cond_t offered; /* an offer came, or the tier stops */
	pthread_cond_t settled; /* an offer was handled, or the thread is ready or ends */
	struct tier_policy policy;	    /* (lock) */
	LIST_HEAD(, tier_dataset) datasets; /* (lock) */
	uint32_t n_datasets;		    /* (lock) */
	TAILQ_HEAD(, offer) queue;	    /* (lock) */
	/* (lock) bytes of all offers, including the offer that is being written */
	uint64_t queued;
	bool runs;   /* (lock) the tier's thread is running */
	bool ready;  /* (lock) the tier's thread has scanned the directory */
	bool broken; /* (lock) a write has failed, so nothing is written any more */
	/* (lock) Until this time the full tier refuses samples of worth 0 or 1, because a search
	 * for room found too few entries of less worth. */
	uint64_t barren_until_ns;
	/* (lock) this tier's part of the gauges STAT_TIER_BYTES and STAT_TIER_SAMPLES */
	uint64_t told_used, told_samples;
};

void *tier_main(void *tier);
void tier_unref(struct tier *tier);
struct tier_dataset *tier_get_dataset_locked(struct tier *tier, const char *name);
/* Updates STAT_TIER_BYTES and STAT_TIER_SAMPLES, which count all tiers. */
void tier_tell_locked(struct tier *tier);
/* Removes the entry of the sample if the entry has the same identity. Returns true if the caller
 * must now remove the file. */
bool tier_forget(const struct tier_sample *sample);

static inline struct stored tier_stored(const struct tier_sample *sample)
{
	return (struct stored){.dataset = sample->dataset->name,
		.id = sample->id,
		.identity = sample->identity};
}
