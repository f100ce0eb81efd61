// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "cache/cache.h"
#include "epoch/epoch.h"
#include "sim_sampler.h"

/*
 * The daemon's scheduler without threads, tensors and files. Sampler, cache, the rules of
 * look-ahead and the epoch engine of each job are the daemon's own. What they decide is
 * done here as src/sched does it, but one event after the other: each has all its
 * consequences before the next, as if the daemon's clerk and workers took no time.
 *
 *   src/sched                          here
 *   open.c, effects.c, clerk.c         sim_sched.c
 *   stream.c, stream_life.c            sim_stream.c
 *   use.c                              sim_use.c
 *
 *   Flow: a job joins; a position is opened, loaded and released; the job leaves.
 *   Owns: its jobs.
 *   Threads: one.
 *   Errors: -ENOMEM, after which it can only be freed. What the engine refuses is in the
 *         request's status.
 */

struct sim_sched;
struct sim_sched_job;

struct sim_sched_config {
	enum sampler_kind sampler;
	enum eviction_policy eviction;
	uint64_t capacity; /* samples */
	uint64_t sampler_seed;
	uint64_t cache_seed;
	uint32_t n_ids;
	const uint32_t *labels; /* by id: the sampler exchanges within them; NULL: none */
	/* Of each job. 0: nothing is drawn or loaded before it is opened, and those who
	 * open together draw in one round. */
	uint32_t lookahead;
};

must_check int sim_sched_new(
	const struct sim_sched_config *config, struct sim_sched **ret);
void sim_sched_free(struct sim_sched **sched);

/*
 * selection: D_j. labels: of each position, which is given a sample of its label; NULL:
 * any position is given the next one that was drawn. Both stay the caller's, and stay.
 */
must_check int sim_sched_join(struct sim_sched *sched, job_id id,
	const roaring_bitmap_t *selection, const uint32_t *labels,
	struct sim_sched_job **ret);
/* It holds nothing open. The job is not used any more. */
void sim_sched_leave(struct sim_sched_job *job);

struct sim_open {
	struct sim_sched_job *job;
	struct open_request request; /* epoch and position; the answer */
	bool answered;
	bool miss; /* nobody has read the sample since it was loaded */
};

static inline struct sim_open sim_open_of(
	struct sim_sched_job *job, uint32_t epoch, uint32_t position)
{
	return (struct sim_open){
		.job = job, .request = {.epoch = epoch, .position = position}};
}

/*
 * Binds the positions; with look-ahead one at a time, else of several jobs together. The
 * streams of epochs that begin are made first.
 */
must_check int sim_sched_open(
	struct sim_sched *sched, struct sim_open *const *opens, size_t n);
/* The sample is in the cache afterwards; then workers do what they can. */
must_check int sim_sched_load(struct sim_open *open);
/* It was read. An open that was refused has nothing to release. */
must_check int sim_sched_release(struct sim_open *open);

bool sim_sched_has(const struct sim_sched *sched, sample_id sample); /* in the cache */
uint64_t sim_sched_loads(const struct sim_sched *sched);	     /* so far */

/* Aborts when an invariant does not hold. For tests. */
void sim_sched_validate(const struct sim_sched *sched);
