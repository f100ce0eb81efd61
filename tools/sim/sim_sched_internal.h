// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "sim_sched.h"

/* Shared by the files of sim_sched. */

/* A job, which has one stream at most: its epochs are opened by their numbers. */
struct sim_sched_job {
	TAILQ_ENTRY(sim_sched_job) link;
	TAILQ_ENTRY(sim_sched_job) stream_link;
	struct sim_sched *sched;
	job_id id;
	const roaring_bitmap_t *selection;
	const uint32_t *labels;
	struct epochs *epochs;
	struct share_job share;
	bool has_stream;
	uint32_t stream_epoch;
	stream_id stream;
	uint32_t filled;   /* samples ahead after the last draw or refill */
	bool asks;	   /* the job opens a position and has no sample for it yet */
	bool wants_clerk;  /* a stream is to be made, or an order could be saved */
	bool wants_refill; /* after this event it draws ahead */
};
TAILQ_HEAD(sim_sched_jobs, sim_sched_job);

struct sim_sched {
	struct sim_sched_config config;
	struct sim_sampler sampler;
	struct cache *cache;
	struct cache_space *space;
	struct sim_sched_jobs jobs;
	struct sim_sched_jobs streams; /* jobs that have a stream, the oldest first */
	uint32_t n_jobs, n_streams;
	stream_id next_stream;
	struct daemon_config daemon; /* the part that the supply reads */
	struct supply supply;
	struct space prepared;	      /* the supply's view of `space` */
	bool *unread;		      /* by id: nobody has read it since it was loaded */
	struct sim_sched_job **round; /* this and the next two have room for all jobs */
	stream_id *round_ids;
	sample_id *round_samples;
	uint64_t loads;
	int error; /* the first error */
};

void sim_fail(struct sim_sched *sched, int err); /* keeps err, unless it is 0 */

/* --- sim_stream.c --- */

/* Makes the stream of the epoch, which begins. */
must_check int sim_stream_make(struct sim_sched_job *job, uint32_t epoch);
/* Ends the stream. queue: samples that it had drawn, unpinned already. */
void sim_stream_end(struct sim_sched_job *job, const struct drawn_queue *queue);
/* Draws a sample for the position. */
void sim_stream_draw(struct sim_sched_job *job, uint32_t position);
bool sim_stream_is_low(const struct sim_sched_job *job);
/* Runs rounds, for all jobs that have room, until this one has none. */
void sim_stream_fill(struct sim_sched_job *job);

/* --- sim_supply.c --- */

/* Makes the supply, once there is a cache. -ENOMEM */
must_check int sim_supply_make(struct sim_sched *sched);
void sim_supply_free(struct sim_sched *sched);
/* Returns how a sample that is drawn now will get into the cache. */
enum served sim_use_served(struct sim_sched *sched, sample_id sample);
/* Asks for the sample to be loaded, unless it is in the cache. */
void sim_use_request(struct sim_sched_job *job, sample_id sample);
uint64_t sim_use_bytes(const struct sim_sched *sched, sample_id sample);
void sim_use_unpin(struct sim_sched *sched, sample_id sample);
void sim_supply_attach(struct sim_open *open);
void sim_supply_detach(struct sim_open *open);
/* Loads the samples that were asked for, in that order, as long as there is room. */
void sim_supply_work(struct sim_sched *sched);
/* Loads a sample for a reader that waits. */
void sim_supply_load_now(struct sim_open *open);
void sim_supply_reap(struct sim_sched *sched);
