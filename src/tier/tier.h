// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A tier: a directory on a fast disk that keeps encoded samples of datasets that are far
 * away, as they were fetched.
 *
 *     reading stage --tier_read--> found: no fetch
 *           |
 *         fetch --tier_offer--> queue --> a thread writes, and removes what is worth less
 *
 *   Flow: tier_open, tier_dataset for each dataset; threads that read samples call tier_read and
 *         tier_offer; tier_leave, tier_close.
 *   Owns: the directory, its files (store.h), and the policy that decides about them (policy.h).
 *   Threads: any. The tier's own thread first scans the directory, and then writes. No thread waits
 *         for it: samples that do not fit into its queue are not kept.
 *   Locks: one. While it is held, nothing is read, written or called.
 *   Errors: -errno of tier_open, logged. The first failure to write is logged, and ends all
 *         writing. Damaged files are removed, and their samples are fetched again.
 *   Life: counted references, since a read may outlive its caller (load.h).
 *   Faults: store.h.
 */

struct tier;
struct tier_dataset;

/* A request for the worth of a sample (policy.h). */
struct tier_asked {
	const void *owner; /* owner of the dataset; may already be freed */
	sample_id id;
	uint32_t worth;
};
/* Fills in the worths. Called by the tier's thread, without a lock. */
typedef void tier_worths(void *context, struct tier_asked *asked, size_t n);

must_check int tier_open(const char *directory, uint64_t capacity, tier_worths *worths,
	void *context, struct tier **ret);
/* Closes the tier. Afterwards it writes nothing, and does not ask for worths. */
void tier_close(struct tier **tier);
const char *tier_directory(const struct tier *tier);

/* Returns the tier's part for the samples of the dataset `name`. Until tier_leave the owner is
 * asked for the worth of samples. The part is valid as long as the tier is held. NULL: no
 * memory. */
struct tier_dataset *tier_dataset(struct tier *tier, const char *name, const void *owner);
void tier_leave(struct tier_dataset *dataset);
const char *tier_dataset_directory(const struct tier_dataset *dataset);
void tier_hold(struct tier_dataset *dataset);
void tier_put(struct tier_dataset *dataset);

/* The file from which a sample's bytes were read. */
struct tier_source {
	const char *file; /* its path or its URL */
	int64_t mtime_ns; /* distinguishes versions of the file */
	uint64_t file_bytes;
	uint64_t offset; /* offset of the sample's part in the file */
};

struct tier_sample {
	struct tier_dataset *dataset;
	sample_id id;
	uint64_t identity;
};
uint64_t tier_identity(const struct tier_source *source);

/* Reads a sample from the tier. false: the caller must fetch it. */
must_check bool tier_read(const struct tier_sample *sample, void *ret, uint64_t bytes);
/* Offers a sample that was fetched. If the tier wants to keep it, the tier copies the bytes. */
void tier_offer(
	const struct tier_sample *sample, const void *bytes, uint64_t n, uint32_t worth);

struct tier_status {
	uint64_t capacity, used, samples; /* sums over all datasets */
	uint64_t queued;		  /* bytes that wait to be written */
	bool ready;			  /* the thread has scanned the directory */
	bool writes;			  /* no write has failed */
	/* The next members are about one dataset. */
	uint64_t hits, misses, hit_bytes, fetched_bytes, written, evicted, damaged;
};
void tier_status(struct tier_dataset *dataset, struct tier_status *ret);

/* Waits until each offered sample is kept or dropped. For tests. */
void tier_settle(struct tier *tier);
