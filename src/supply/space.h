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
	struct storage *storage;
	struct tier_dataset *tier; /* NULL: no tier */
	struct dataset *dataset;
	/* editions of jobs that use the source, plus jobs that are being added or moved to it */
	atomic_uint jobs;
	struct sampler *shuffled; /* sampler of jobs that draw ahead */
	/* sampler of jobs that draw by label at opens; NULL: there was no such job */
	struct sampler *labelled;
	uint64_t seed;
	roaring_bitmap_t *bad; /* samples whose failure was logged */
	LIST_HEAD(, space) spaces;
	struct histogram reads; /* durations of reads, in ns per sample */
};

struct space {
	LIST_ENTRY(space) link;
	struct source *source;
	struct preparation preparation;
	roaring_bitmap_t *bad;	     /* samples for which the program failed, or NULL */
	char text[PREPARATION_TEXT]; /* the preparation, as sent to other daemons */
	uint64_t text_hash;
	struct cache_space *cache;
	uint64_t cost_ns; /* mean duration of recent decodes; 0: not known */
	/* tensors are copied to files that begin with `head` (sched/file_heads.c) */
	bool in_files;
	struct file_head head; /* The label in the head is set for each sample. */
	uint32_t number;       /* the space's number in samplers, unique in the source */
	uint32_t references;   /* held by parts of editions, wanted samples, opens */
};

/* Makes a space, which its source lists only after space_get. Slow for millions of ids. -ENOMEM */
must_check int space_make(
	struct source *source, const struct preparation *preparation, struct space **ret);
/* Returns the space with the source and the preparation of *spare, and adds a reference. If the
 * source lists no such space, lists and returns *spare, and sets *spare to NULL. */
struct space *space_get(struct space **spare);
/* Drops a reference. spaces_leave evicts the tensors of a space without references, and returns the
 * empty space. */
void space_put(struct space *space);
/* Evicts some tensors of a space without references. Returns true if the caller has to call again.
 * *ret: a space that is empty now, which the caller frees, or NULL. */
bool spaces_leave(struct supply *supply, struct space **ret);
/* Takes long if the dataset has millions of ids. */
void space_free(struct space *space);
/* Tells whether the sample is in the cache, or queued, delayed or loading. */
bool space_has(const struct space *space, sample_id sample);
/* Tells whether an open would now find the tensor in the cache, share a decode, or begin one. */
enum served how_served(struct space *space, sample_id sample);
/* Returns how much the sample is needed in its tier: the number of running epochs that have yet to
 * draw the sample, plus the number of preparations for which the sample is requested and not
 * loading yet. If `loading` is true, preparations for which the sample is loading count, too. */
uint32_t tier_need(const struct source *source, sample_id sample, bool loading);
uint64_t space_cost(const struct space *space); /* expected ns of a decode */
