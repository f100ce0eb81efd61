// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/rng.h"
#include "cache/cache.h"
#include "epoch/epoch.h"
#include "share/share.h"
#include "sim_sampler.h"
#include "supply/supply.h"

/*
 * The daemon's scheduler without threads, tensors and files. Sampler, cache, draw engine, supply
 * engine and the epoch engine of each job are the daemon's own code. Their decisions are executed
 * here as in the daemon, but one event after another: all consequences of an event come before the
 * next event, as if the daemon's clerk and workers took no time.
 *
 * A caller with a clock can let loads take time: drawn samples are requested as in the daemon; the
 * caller takes the next sample to read, and reports when it is loaded.
 *
 *   src                                  here
 *   sched: open.c, effects.c, clerk.c    sim_sched.c
 *   sched: draw_effects.c, streams.c     sim_draw.c
 *   sched: supplying.c, tasks.c          sim_supply.c
 *
 *   Flow: a job joins; a position is opened, loaded and released; the job leaves.
 *   Owns: its jobs.
 *   Threads: one.
 *   Errors: -ENOMEM, after which the sim_sched can only be freed. Refusals of the engine are in the
 *         request's status.
 */

struct sim_sched;
struct sim_sched_job;

struct sim_sched_config {
	enum sampler_kind sampler;
	enum eviction_policy eviction;
	/* size of the cache, in the unit of `bytes`; in samples if `bytes` is NULL */
	uint64_t capacity;
	uint64_t sampler_seed;
	uint64_t cache_seed;
	uint32_t n_ids;
	/* label of each id, if the sampler exchanges samples of the same label only; NULL: none */
	const uint32_t *labels;
	/* Look-ahead of each job, in samples. 0: samples are drawn and loaded only when they are
	 * opened, and jobs that open together draw in one round. */
	uint32_t lookahead;
	/* The fields from here on are for a caller with a clock. */
	bool timed;
	enum share_policy share;
	/* expected time of a decode, until the shares have measured it */
	uint64_t cost_ns;
	/* Size of each id's tensor, in a unit that the caller chooses; NULL: each has size 1. Each
	 * tensor is really allocated, with one byte per unit, so the caller chooses a large unit. */
	const uint64_t *bytes;
};

must_check int sim_sched_new(
	const struct sim_sched_config *config, struct sim_sched **ret);
void sim_sched_free(struct sim_sched **sched);

/* Adds a job. selection: the ids that the job reads. labels: the label of each position, which gets
 * a sample of this label; NULL: each position gets the next drawn sample. The caller owns both, and
 * must not free them before the job has left. */
must_check int sim_sched_join(struct sim_sched *sched, job_id id,
	const roaring_bitmap_t *selection, const uint32_t *labels,
	struct sim_sched_job **ret);
/* Removes a job that has nothing open. The job must not be used any more. */
void sim_sched_leave(struct sim_sched_job *job);

struct sim_open {
	struct sim_sched_job *job;
	struct open_request request; /* epoch and position, and the answer */
	bool answered;
	bool miss; /* this is the first read of the sample since it was loaded */
	/* the sample in the supply engine; NULL: the open has no sample */
	struct wanted *wanted;
};

static inline struct sim_open sim_open_of(
	struct sim_sched_job *job, uint32_t epoch, uint32_t position)
{
	return (struct sim_open){
		.job = job, .request = {.epoch = epoch, .position = position}};
}

/* Binds the positions. With look-ahead, n must be 1; otherwise the positions of several jobs are
 * bound together. First makes the streams of epochs that begin. */
must_check int sim_sched_open(
	struct sim_sched *sched, struct sim_open *const *opens, size_t n);
/* Loads the open's sample into the cache, then samples drawn ahead, as long as there is room. */
must_check int sim_sched_load(struct sim_open *open);
/* Releases an open whose sample was read. An open that was refused must not be released. */
must_check int sim_sched_release(struct sim_open *open);

/* Returns the label of each id, id % labels, which the caller frees; NULL: no memory. */
uint32_t *sim_labels_new(uint32_t n_ids, uint32_t labels);
/* Makes the label of each of n positions, and the order of opens, which is not yet shuffled. The
 * caller frees both arrays, also after -ENOMEM. */
must_check int sim_positions_new(const roaring_bitmap_t *selection, uint32_t n,
	const uint32_t *id_labels, uint32_t **ret_labels, uint32_t **ret_opens);
/* Shuffles the order in which a script opens its n positions. */
void sim_shuffle(struct rng *rng, uint32_t *opens, uint32_t n);

/* --- with a clock ------------------------------------------------------------------ */

/* Notes that a reader waits for the sample that it has opened. */
must_check int sim_sched_wait(struct sim_open *open);
/* Returns the sample to read next, which the shares (src/share) choose; SAMPLE_NONE: nothing can be
 * read now. */
sample_id sim_sched_take(struct sim_sched *sched);
/* Notes that the caller has read and decoded the sample, which is in the cache from now on. */
must_check int sim_sched_loaded(struct sim_sched *sched, sample_id sample);
/* Adds a wait of a reader to the time for which the job's readers have waited. */
void sim_sched_waited(struct sim_sched_job *job, uint64_t ns);
/* Updates the shares from the counts of the last `seconds` (shares_window). decoders, busy: seconds
 * of decode time available and used per second. */
must_check int sim_sched_window(
	struct sim_sched *sched, double seconds, double decoders, double busy);

/* Tells whether the sample is in the cache. */
bool sim_sched_has(const struct sim_sched *sched, sample_id sample);
uint64_t sim_sched_loads(const struct sim_sched *sched); /* number of loads so far */
