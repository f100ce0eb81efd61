// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"
#include "tier/policy.h"
#include "tier/store.h"
#include "tier/tier.h"

#include <sys/queue.h>

/* Types shared by tier.c, which has the interface, and tier_writer.c, which has the
 * thread that writes. */

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
	LIST_ENTRY(tier_dataset) link; /* (lock) links the datasets of the tier */
	struct tier *tier;
	char *name;
	uint32_t number;
	const void *owner; /* (lock) NULL: there is none, or it has left */
	_Atomic uint64_t counts[TIER_COUNTS];
};

/* An offered sample that will be written. */
struct offer {
	TAILQ_ENTRY(offer) link;
	struct tier_sample sample;
	uint32_t worth;
	uint64_t n;
	uint8_t bytes[];
};

/* Room for the directories that one sample may need. */
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
	pthread_cond_t offered; /* signalled by an offer, and when the thread must stop */
	pthread_cond_t
		settled; /* signalled when the queue is empty, or the thread has ended */
	struct tier_policy *policy;	    /* (lock) */
	LIST_HEAD(, tier_dataset) datasets; /* (lock) */
	uint32_t n_datasets;		    /* (lock) */
	TAILQ_HEAD(, offer) queue;	    /* (lock) */
	uint64_t queued; /* (lock) bytes, including the offer that is being written */
	bool runs;	 /* (lock) the thread runs */
	bool ready;	 /* (lock) the thread has scanned the directory */
	bool broken;	 /* (lock) a write has failed, so nothing is written any more */
	/* (lock) Until this time no room is searched for a new sample of worth 0 or 1, because the
	 * last search found none. */
	uint64_t barren_until_ns;
	uint64_t told_used, told_samples; /* (lock) values last given to the gauges */
};

void *tier_main(void *tier);
void tier_unref(struct tier *tier);
struct tier_dataset *tier_get_dataset_locked(struct tier *tier, const char *name);
/* Updates the gauges. */
void tier_tell_locked(struct tier *tier);
/* Removes the entry of a sample. The caller must remove the file. false: there was no entry. */
bool tier_forget(const struct tier_sample *sample);

static inline struct stored tier_stored(const struct tier_sample *sample)
{
	return (struct stored){.dataset = sample->dataset->name,
		.id = sample->id,
		.identity = sample->identity};
}
