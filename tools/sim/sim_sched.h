// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "cache/cache.h"
#include "epoch/epoch.h"
#include "share/share.h"
#include "sim_sampler.h"
#include "supply/supply.h"

/*
 * The daemon's scheduler without threads, tensors and files. Sampler, cache, the draw
 * engine and the epoch engine of each job are the daemon's own. Their decisions are
 * executed here as the daemon does it, but one event after the other: each has all its
 * consequences before the next, as if the daemon's clerk and workers took no time.
 *
 * With a clock of its own, the caller lets loads take time: samples that are drawn are asked for,
 * as the daemon's jobs ask; the caller takes the sample to read next, and says when it is loaded.
 *
 *   src                                  here
 *   sched: open.c, effects.c, clerk.c    sim_sched.c
 *   sched: draw_effects.c, streams.c     sim_draw.c
 *   sched: supplying.c, tasks.c          sim_supply.c
 *
 *   Flow: a job joins; a position is opened, loaded and released; the job leaves.
 *   Owns: its jobs.
 *   Threads: one.
 *   Errors: -ENOMEM, after which it can only be freed. Refusals of the engine are in the
 *         request's status.
 */

struct sim_sched;
struct sim_sched_job;

struct sim_sched_config {
	enum sampler_kind sampler;
	enum eviction_policy eviction;
	uint64_t capacity; /* number of samples, or size in the unit of `bytes` */
	uint64_t sampler_seed;
	uint64_t cache_seed;
	uint32_t n_ids;
	const uint32_t *
		labels; /* label of each id: the sampler exchanges within labels; NULL: none */
	/* Look-ahead of each job. 0: nothing is drawn or loaded before it is opened, and jobs
	 * that open together draw in one round. */
	uint32_t lookahead;
	uint32_t at_once; /* positions that one open of a script binds; 0: 1 */
	/* The caller has a clock: */
	bool timed;
	enum share_policy share;
	uint64_t cost_ns; /* cost of a decode, which jobs are charged for */
	/* Size of each id's tensor, in some unit; NULL: 1. Tensors of these sizes are
	 * allocated, so the numbers are small. */
	const uint64_t *bytes;
};

must_check int sim_sched_new(
	const struct sim_sched_config *config, struct sim_sched **ret);
void sim_sched_free(struct sim_sched **sched);

/*
 * Adds a job. selection: D_j. labels: a label for each position, which gets a sample of its
 * label; NULL: any position gets the next sample that was drawn. Both stay the caller's, and
 * must outlive the job.
 */
must_check int sim_sched_join(struct sim_sched *sched, job_id id,
	const roaring_bitmap_t *selection, const uint32_t *labels,
	struct sim_sched_job **ret);
/* Removes a job, which holds nothing open. The job is not used any more. */
void sim_sched_leave(struct sim_sched_job *job);

struct sim_open {
	struct sim_sched_job *job;
	struct open_request request; /* epoch and position, and the answer */
	bool answered;
	bool miss;	       /* nobody has read the sample since it was loaded */
	struct wanted *wanted; /* the supply's, once it is answered */
};

static inline struct sim_open sim_open_of(
	struct sim_sched_job *job, uint32_t epoch, uint32_t position)
{
	return (struct sim_open){
		.job = job, .request = {.epoch = epoch, .position = position}};
}

/*
 * Binds the positions: with look-ahead one at a time, else of several jobs together. It first
 * makes the streams of epochs that begin.
 */
must_check int sim_sched_open(
	struct sim_sched *sched, struct sim_open *const *opens, size_t n);
/* Brings the sample into the cache; then workers do what they can. */
must_check int sim_sched_load(struct sim_open *open);
/* Releases an open whose sample was read. An open that was refused has nothing to release. */
must_check int sim_sched_release(struct sim_open *open);

/* --- with a clock ------------------------------------------------------------------ */

/* Tells that a reader waits for the sample that it has opened. */
must_check int sim_sched_wait(struct sim_open *open);
/* Returns the sample to read next, by the shares; SAMPLE_NONE: no sample is wanted that could
 * be read. */
sample_id sim_sched_take(struct sim_sched *sched);
/* Tells that the sample is in the cache from now on. */
must_check int sim_sched_loaded(struct sim_sched *sched, sample_id sample);
/* Counts an open that has got its sample; sim_sched_waited counts the time that a job has
 * waited. */
void sim_sched_served(struct sim_sched_job *job);
void sim_sched_waited(struct sim_sched_job *job, uint64_t ns);
/* Tells that a second has passed: the shares change. busy: decoders that worked, in the mean. */
must_check int sim_sched_window(
	struct sim_sched *sched, double seconds, double decoders, double busy);

bool sim_sched_has(
	const struct sim_sched *sched, sample_id sample); /* the sample is in the cache */
uint64_t sim_sched_loads(const struct sim_sched *sched);  /* loads so far */

/* Aborts when an invariant does not hold. For tests. */
void sim_sched_validate(const struct sim_sched *sched);
