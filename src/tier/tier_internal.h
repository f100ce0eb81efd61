// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"
#include "tier/policy.h"
#include "tier/store.h"
#include "tier/tier.h"

#include <sys/queue.h>

/* What tier.c, which callers meet, and keeping.c, the thread that writes, share. */

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
	const void *owner; /* (lock) NULL: none, or not any more */
	_Atomic uint64_t counts[TIER_COUNTS];
};

/* A sample that is to be kept. */
struct offer {
	TAILQ_ENTRY(offer) link;
	struct tier_sample sample;
	uint32_t worth;
	uint64_t n;
	uint8_t bytes[];
};

/* Directories that a sample may need. */
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
	pthread_cond_t offered;	    /* or to stop */
	pthread_cond_t settled;	    /* nothing is queued, or the thread has ended */
	struct tier_policy *policy; /* (lock) */
	LIST_HEAD(, tier_dataset) datasets; /* (lock) */
	uint32_t n_datasets;		    /* (lock) */
	TAILQ_HEAD(, offer) queue;	    /* (lock) */
	uint64_t queued; /* (lock) bytes, with the one that is written */
	bool runs;	 /* (lock) the thread */
	bool ready;	 /* (lock) the directory was looked through */
	bool broken;	 /* (lock) nothing can be written any more */
	/* (lock) Until then nothing is looked for that is worth less than what one job alone
	 * has just read: there was nothing. */
	uint64_t barren_until_ns;
	uint64_t told_used, told_samples; /* (lock) to the counters */
};

void *tier_main(void *tier);
void tier_unref(struct tier *tier);
struct tier_dataset *tier_get_dataset_locked(struct tier *tier, const char *name);
/* Counters of what it has. */
void tier_tell_locked(struct tier *tier);
/* It is not there any more; its file has to be removed. false: it was not. */
bool tier_forget(const struct tier_sample *sample);

static inline struct stored tier_stored(const struct tier_sample *sample)
{
	return (struct stored){.dataset = sample->dataset->name,
		.id = sample->id,
		.identity = sample->identity};
}
