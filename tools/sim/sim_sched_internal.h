// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "sim_sched.h"

/* What the files of the scheduler's double share. */

/* A sample that jobs have to do with; its index is its id. */
struct sim_use {
	TAILQ_ENTRY(sim_use) link;
	bool queued;		      /* to be loaded */
	bool unread;		      /* since it was loaded */
	bool loading, urgent;	      /* with a clock */
	struct share_request request; /* likewise */
	uint32_t opens;
};

/* A job has one stream at most: its epochs are opened by their numbers. */
struct sim_sched_job {
	TAILQ_ENTRY(sim_sched_job) link;
	TAILQ_ENTRY(sim_sched_job) stream_link;
	struct sim_sched *sched;
	job_id id;
	const roaring_bitmap_t *selection;
	const uint32_t *labels;
	struct epochs *epochs;
	struct share_job share; /* with a clock */
	bool has_stream;
	uint32_t stream_epoch;
	stream_id stream;
	uint32_t filled;   /* for ahead.h */
	bool asks;	   /* it opens a position and has no sample for it yet */
	bool wants_clerk;  /* a stream is to be made, or an order could be saved */
	bool wants_refill; /* after this event */
};
TAILQ_HEAD(sim_sched_jobs, sim_sched_job);

struct sim_sched {
	struct sim_sched_config config;
	struct sim_sampler sampler;
	struct cache *cache;
	struct cache_space *space;
	struct sim_sched_jobs jobs;
	struct sim_sched_jobs streams; /* those that have one, the oldest first */
	uint32_t n_jobs, n_streams;
	stream_id next_stream;
	struct sim_use *uses;
	TAILQ_HEAD(, sim_use) queued;
	struct sim_sched_job **round; /* room for all jobs, as the next two */
	stream_id *round_ids;
	sample_id *round_samples;
	uint64_t loads;
	struct shares shares; /* with a clock */
	int error;	      /* the first */
};

void sim_fail(struct sim_sched *sched, int err); /* unless that is 0 */

/* --- sim_stream.c --- */

/* Of the epoch, which begins. */
must_check int sim_stream_make(struct sim_sched_job *job, uint32_t epoch);
/* queue: what it had drawn and is unpinned already. */
void sim_stream_end(struct sim_sched_job *job, const struct drawn_queue *queue);
/* A sample for the position. */
void sim_stream_draw(struct sim_sched_job *job, uint32_t position);
bool sim_stream_is_low(const struct sim_sched_job *job);
/* Rounds, for all that have room, until this one has none. */
void sim_stream_fill(struct sim_sched_job *job);

/* --- sim_use.c --- */

/* How a sample that is drawn now will come to be there. */
enum served sim_use_served(const struct sim_sched *sched, sample_id sample);
/* To be loaded, unless it is there. */
void sim_use_request(struct sim_sched_job *job, sample_id sample);
uint64_t sim_use_bytes(const struct sim_sched *sched, sample_id sample);
/* It was loaded. */
must_check int sim_use_publish(struct sim_sched *sched, sample_id sample);
void sim_use_unpin(struct sim_sched *sched, sample_id sample);
void sim_use_attach(struct sim_open *open);
void sim_use_detach(struct sim_open *open);
/* Loads what was asked for, in that order, as long as there is room. */
void sim_use_work(struct sim_sched *sched);
/* For a reader that waits. */
void sim_use_load_now(struct sim_sched *sched, sample_id sample);
void sim_use_reap(struct sim_sched *sched);

/* --- sim_load.c: with a clock --- */

/* The job asks for it; urgent: a reader waits. */
void sim_load_ask(struct sim_sched_job *job, sample_id sample, bool urgent);
/* Nobody has drawn it any more. */
void sim_load_drop(struct sim_sched *sched, sample_id sample);
