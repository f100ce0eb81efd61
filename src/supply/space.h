// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/histogram.h"
#include "cache/cache.h"
#include "dataset/dataset.h"
#include "epoch/record.h"
#include "load/file_head.h"
#include "sampler/sampler.h"

#include <stdatomic.h>
#include <sys/queue.h>

/*
 * Sources (the daemon's datasets) and their spaces (the tensors of a source with one preparation).
 *
 *   Flow: a job gets its spaces by space_make and space_get, and gives them back by space_put.
 *         spaces_leave evicts the tensors of spaces that nobody uses.
 *   Owns: a space owns its part of the cache. The source belongs to the caller.
 *   Threads: the caller serialises, but space_make and space_free need no lock.
 *   Errors: -ENOMEM from space_make.
 */

struct supply;
struct storage;
struct tier_dataset;

struct source {
	struct supply *supply;
	struct storage *storage;   /* the storage that has the dataset's files */
	struct tier_dataset *tier; /* NULL: the dataset has no tier */
	struct dataset *dataset;
	/* number of editions of the source, plus the number of jobs that are just being added to
	 * the source or moved to it */
	atomic_uint jobs;
	struct sampler *shuffled; /* sampler of jobs that draw ahead */
	/* sampler of jobs that draw by label when a file is opened; NULL until there is such a
	 * job */
	struct sampler *labelled;
	uint64_t seed;
	roaring_bitmap_t *bad; /* samples for which a failure was logged */
	LIST_HEAD(, space) spaces;
	struct histogram reads; /* duration of reads, in ns per sample */
};

struct space {
	LIST_ENTRY(space) link;
	struct source *source;
	struct preparation preparation;
	/* (lock) Samples for which the program of the preparation failed; NULL: none. */
	roaring_bitmap_t *bad;
	char text[PREPARATION_TEXT]; /* the preparation as text, for other daemons */
	uint64_t text_hash;
	struct cache_space *cache;
	uint64_t cost_ns; /* mean duration of recent decodes; 0: not known */
	/* tensors are copied to files that begin with `head` (sched/file_heads.c) */
	bool in_files;
	struct file_head head; /* the label in the head is set for each sample */
	/* the number of the space in samplers; unique in the source */
	uint32_t number;
	/* number of parts of editions, wanted samples and opens that use the space */
	uint32_t references;
};

/* Makes a space for the preparation. This takes a while if there are millions of ids. -ENOMEM */
must_check int space_make(
	struct source *source, const struct preparation *preparation, struct space **ret);
/* Returns the source's space for the preparation of *spare. If there is none, uses *spare as the
 * space, and sets *spare to NULL. */
struct space *space_get(struct space **spare);
/* Drops a reference. If it was the last one, spaces_leave later evicts the space's tensors, and
 * returns the empty space. If a job begins to use the space again before this, the space
 * remains. */
void space_put(struct space *space);
/* Evicts some tensors of spaces without references. Returns true if the caller has to call this
 * again, because more such tensors are left. *ret: an empty space, which the caller frees, or
 * NULL. */
bool spaces_leave(struct supply *supply, struct space **ret);
/* Frees the space, which takes a while if there are millions of ids. */
void space_free(struct space *space);
/* Tells whether the sample is in the cache, or on its way there: queued, delayed or loading. */
bool space_has(const struct space *space, sample_id sample);
/* Returns how the sample would be served now: hit, shared or decoded. */
enum served how_served(struct space *space, sample_id sample);
/* Returns how much the sample is needed in its tier. The need is a sum: of the running epochs that
 * have yet to draw the sample, and of the preparations for which the sample is drawn and waits to
 * be read. loading: preparations for which the sample is already loading count, too. */
uint32_t tier_need(const struct source *source, sample_id sample, bool loading);
uint64_t space_cost(const struct space *space); /* expected ns to decode a sample */
