// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "cache/cache.h"
#include "epoch/epoch.h"
#include "share/share.h"
#include "sim_sampler.h"

/*
 * The daemon's scheduler without threads, tensors and files. Sampler, cache, the rules of
 * look-ahead and the epoch engine of each job are the daemon's own. What they decide is
 * done here as src/sched does it, but one event after the other: each has all its
 * consequences before the next, as if the daemon's clerk and workers took no time.
 *
 * With a clock of its own, the caller lets loads take time: what is drawn is asked for, as the
 * daemon's jobs ask; the caller takes what is read next, and says when it is loaded.
 *
 *   src/sched                          here
 *   open.c, effects.c, clerk.c         sim_sched.c
 *   rounds.c, stream.c            sim_stream.c
 *   wanted.c                              sim_use.c
 *   prepare.c, shares.c                sim_load.c (with a clock)
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
	uint64_t capacity; /* samples, or in the unit of bytes */
	uint64_t sampler_seed;
	uint64_t cache_seed;
	uint32_t n_ids;
	const uint32_t *labels; /* by id: the sampler exchanges within them; NULL: none */
	/* Of each job. 0: nothing is drawn or loaded before it is opened, and those who
	 * open together draw in one round. */
	uint32_t lookahead;
	uint32_t at_once; /* positions that one open of a script binds; 0: 1 */
	/* With a clock: */
	bool timed;
	enum share_policy share;
	uint64_t cost_ns; /* of a decode, as jobs are charged for it */
	/* Of the tensor of each id, in some unit; NULL: 1. They are allocated: few. */
	const uint64_t *bytes;
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

/* --- with a clock ------------------------------------------------------------------ */

/* A reader waits for what it has opened. */
must_check int sim_sched_wait(struct sim_open *open);
/* What is read next, as the shares have it; SAMPLE_NONE: none is asked for
 * that could be read. */
sample_id sim_sched_take(struct sim_sched *sched);
/* It is in the cache from now on. */
must_check int sim_sched_loaded(struct sim_sched *sched, sample_id sample);
/* An open that is answered has its sample; the samples and waits of a job are counted. */
void sim_sched_served(struct sim_sched_job *job);
void sim_sched_waited(struct sim_sched_job *job, uint64_t ns);
/* A second has passed: jobs have other shares. busy: decoders that worked, in the mean. */
must_check int sim_sched_window(
	struct sim_sched *sched, double seconds, double decoders, double busy);

bool sim_sched_has(const struct sim_sched *sched, sample_id sample); /* in the cache */
uint64_t sim_sched_loads(const struct sim_sched *sched);	     /* so far */

/* Aborts when an invariant does not hold. For tests. */
void sim_sched_validate(const struct sim_sched *sched);
