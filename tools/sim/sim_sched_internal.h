// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "draw/draw.h"
#include "sim_sched.h"

/* A job has at most one stream, because it opens its epochs by number, one after another. */
struct sim_sched_job {
	TAILQ_ENTRY(sim_sched_job) link;
	struct sim_sched *sched;
	job_id id;
	const roaring_bitmap_t *selection;
	const uint32_t *labels;
	struct epochs *epochs;
	struct share_job share;
	bool has_stream;
	struct stream stream;
	struct strand strand;
	bool asks; /* the job is opening a position, and has no sample for it yet */
	bool wants_clerk; /* there is slow work: a stream must be made, or an epoch has ended */
	bool wants_refill; /* the job draws ahead after this event */
};
TAILQ_HEAD(sim_sched_jobs, sim_sched_job);

struct sim_sched {
	struct sim_sched_config config;
	struct sampler *sampler;
	struct draw draw;
	struct cache *cache;
	struct cache_space *space;
	struct sim_sched_jobs jobs;
	struct daemon_config
		daemon; /* only the fields that the supply engine reads are set */
	struct supply supply;
	struct source source;  /* the only source of the supply */
	struct space prepared; /* the supply's view of `space` */
	bool *unread; /* indexed by id: the sample was not read since it was loaded */
	uint64_t loads;
	int error; /* the first error */
};

/* Keeps the first error. Does nothing if err is 0. */
void sim_fail(struct sim_sched *sched, int err);

/* --- sim_draw.c: events for the draw engine, whose effects are executed at once --- */

/* Makes the stream of an epoch that begins. */
must_check int sim_draw_begin(struct sim_sched_job *job, uint32_t epoch);
void sim_draw_end(struct sim_sched_job *job);
/* Notes whether the job is opening a position. Without look-ahead the job draws only while it is
 * opening a position. */
void sim_draw_asks(struct sim_sched_job *job, bool asks);
void sim_draw_asked(struct sim_sched_job *job, uint32_t position);
void sim_draw_bound(struct sim_sched_job *job);
/* Draws rounds until this job has no room for more samples. Other jobs with room draw, too. */
void sim_draw_fill(struct sim_sched_job *job);

/* --- sim_supply.c --- */

/* Makes the supply engine. sched->cache must exist. Returns 0 or an error such as -ENOMEM. */
must_check int sim_supply_make(struct sim_sched *sched);
void sim_supply_free(struct sim_sched *sched);
/* Requests a load of the sample, unless it is in the cache. */
void sim_supply_request(struct sim_sched_job *job, sample_id sample);
uint64_t sim_supply_bytes(const struct sim_sched *sched, sample_id sample);
void sim_supply_unpin(struct sim_sched *sched, sample_id sample);
void sim_supply_attach(struct sim_open *open);
void sim_supply_detach(struct sim_open *open);
/* Loads the requested samples in the order of the requests, as long as there is room. */
void sim_supply_work(struct sim_sched *sched);
/* Loads a sample that a reader waits for. */
void sim_supply_load_now(struct sim_open *open);
void sim_supply_reap(struct sim_sched *sched);
