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
 *   Flow: tier_open, tier_dataset for each dataset; tier_read and tier_offer by those who
 *         read samples; tier_leave, tier_close.
 *   Owns: the directory, its files (store.h), and what decides about them (policy.h).
 *   Threads: any; one of its own, which looks through the directory first, and then
 *         writes. Nobody waits for it: what does not fit into its queue is not kept.
 *   Locks: one, under which nothing is read, written or called.
 *   Errors: -errno of tier_open, logged. What can't be written is told once, and nothing is
 *         written any more; what is damaged is removed, and fetched again.
 *   Life: counted references, since a read may outlive its caller (load.h).
 *   Faults: store.h.
 */

struct tier;
struct tier_dataset;

/* What the tier wants to know of a sample: its worth (policy.h). */
struct tier_asked {
	const void *owner; /* of the dataset; may be gone */
	sample_id id;
	uint32_t worth;
};
/* By the tier's thread, which holds no lock. */
typedef void tier_worths(void *context, struct tier_asked *asked, size_t n);

must_check int tier_open(const char *directory, uint64_t capacity, tier_worths *worths,
	void *context, struct tier **ret);
/* Writes no more, and asks no more. */
void tier_close(struct tier **tier);
const char *tier_directory(const struct tier *tier);

/* The tier's part that has the samples of the name; until tier_leave they are the owner's.
 * NULL: no memory. Valid as long as the tier is held. */
struct tier_dataset *tier_dataset(struct tier *tier, const char *name, const void *owner);
void tier_leave(struct tier_dataset *dataset);
const char *tier_dataset_directory(const struct tier_dataset *dataset);
void tier_hold(struct tier_dataset *dataset);
void tier_put(struct tier_dataset *dataset);

/* What bytes were read from. */
struct tier_source {
	const char *file; /* its path, or where else it is */
	int64_t mtime_ns; /* tells versions of it apart */
	uint64_t file_bytes;
	uint64_t offset; /* of the part that has the sample */
};

struct tier_sample {
	struct tier_dataset *dataset;
	sample_id id;
	uint64_t identity;
};
uint64_t tier_identity(const struct tier_source *source);

/* false: it has to be fetched. */
must_check bool tier_read(const struct tier_sample *sample, void *ret, uint64_t bytes);
/* It was fetched. The bytes are copied if they are to be kept. */
void tier_offer(
	const struct tier_sample *sample, const void *bytes, uint64_t n, uint32_t worth);

struct tier_status {
	uint64_t capacity, used, samples; /* of all datasets together */
	uint64_t queued;		  /* bytes that wait to be written */
	bool ready;			  /* its directory was looked through */
	bool writes;			  /* no disk was full */
	/* of the dataset */
	uint64_t hits, misses, hit_bytes, fetched_bytes, written, evicted, damaged;
};
void tier_status(struct tier_dataset *dataset, struct tier_status *ret);

/* Until all that was offered is kept, or is not. For tests. */
void tier_settle(struct tier *tier);
