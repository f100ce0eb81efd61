// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A tier: a directory on a fast disk that keeps samples of remote datasets as they were fetched.
 *
 *     reading stage --tier_read--> found: no fetch
 *           |
 *         fetch --tier_offer--> queue --> the tier's thread writes the sample to the directory,
 *                                         and removes less needed samples
 *
 *   Flow: tier_open; tier_dataset for each dataset; then threads that read samples call tier_read
 *         and tier_offer; at the end tier_leave for each dataset; tier_close.
 *   Owns: the directory, its files (store.h), and the choice of these files (policy.h).
 *   Threads: any. The tier's own thread first scans the directory, and then writes. tier_offer does
 *         not wait for this thread: the tier refuses a sample that does not fit into the queue.
 *   Locks: one; a thread that holds the lock accesses no file and calls no callback.
 *   Errors: tier_open returns -errno, and logs errors of the directory. The first failure to write
 *         is logged, and ends all writing. Damaged files are removed, and their samples are fetched
 *         again.
 *   Life: references are counted, because a read that hangs may outlast tier_close.
 *   Faults that tests inject: see store.h.
 */

struct tier;
struct tier_dataset;

/* Asks how much a sample of the tier is worth (policy.h). `worth` is the answer. */
struct tier_asked {
	/* the argument `owner` of the function tier_dataset; NULL: no dataset uses the sample any
	 * more. The owner may have been freed, so the callee must use only its address. */
	const void *owner;
	sample_id id;
	uint32_t worth;
};
/* Sets `worth` in each of the n elements. The tier's thread calls this, without a lock. */
typedef void tier_worths(void *context, struct tier_asked *asked, size_t n);

must_check int tier_open(const char *directory, uint64_t capacity, tier_worths *worths,
	void *context, struct tier **ret);
/* Closes the tier, which from now on writes no files and calls no tier_worths. */
void tier_close(struct tier **tier);
const char *tier_directory(const struct tier *tier);

/* Returns the tier's part for the dataset `name`; NULL: no memory. The part can be used until
 * tier_close. After tier_hold it can be used until tier_put, even if tier_close comes first.
 * `owner` is passed to tier_worths until tier_leave, and identifies the dataset there. */
struct tier_dataset *tier_dataset(struct tier *tier, const char *name, const void *owner);
void tier_leave(struct tier_dataset *dataset);
const char *tier_dataset_directory(const struct tier_dataset *dataset);
void tier_hold(struct tier_dataset *dataset);
void tier_put(struct tier_dataset *dataset);

struct tier_source {
	const char *file; /* path or URL of the file */
	int64_t mtime_ns; /* distinguishes versions of the file */
	uint64_t file_bytes;
	uint64_t offset; /* offset of the sample's bytes in the file */
};

struct tier_sample {
	struct tier_dataset *dataset;
	sample_id id;
	uint64_t identity;
};
uint64_t tier_identity(const struct tier_source *source);

/* Copies a sample's bytes to `ret`. Returns false if the caller must fetch the sample. */
must_check bool tier_read(const struct tier_sample *sample, void *ret, uint64_t bytes);
/* Offers a fetched sample, which the tier copies or refuses. worth: as in policy.h. */
void tier_offer(
	const struct tier_sample *sample, const void *bytes, uint64_t n, uint32_t worth);

struct tier_status {
	uint64_t capacity, used, samples; /* capacity and used are in bytes */
	uint64_t queued; /* bytes of offered samples that are not written yet */
	bool ready;	 /* the tier's thread has scanned the directory */
	bool writes;	 /* false: a write has failed, so nothing is written any more */
	/* The numbers from here on are counts of one dataset. */
	uint64_t hits, misses, hit_bytes, fetched_bytes, written, evicted, damaged;
};
void tier_status(struct tier_dataset *dataset, struct tier_status *ret);

/* Waits until each offered sample was written or dropped. For tests. */
void tier_settle(struct tier *tier);
