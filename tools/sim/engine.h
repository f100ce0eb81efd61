// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/rng.h"
#include "cache/cache.h"
#include "sim.h"
#include "sim_sampler.h"

/*
 * What the files of one run share: engine.c lets time pass and draws, reader.c reads
 * through the cache, world.c makes and frees all of it.
 */

/* Drawn for a job and not yet read; pinned. */
struct sim_drawn {
	sample_id sample;
	uint32_t epoch;
	uint32_t position;
	bool miss; /* it was loaded for this draw */
};

struct runner {
	job_id job;	  /* index in the scenario */
	stream_id stream; /* of its epoch */
	roaring_bitmap_t *selection;
	uint32_t size;
	double speed;	/* samples per tick, at most 1 */
	uint64_t start; /* tick */
	uint64_t n_read;
	bool active; /* it has a stream */
	uint32_t epoch;
	uint32_t drawn;	  /* of the epoch */
	sample_id *opens; /* labels: the files that the script opens, in its order */
	struct sim_drawn *queue; /* a ring */
	uint32_t room, head, length;
	uint32_t filled; /* length of the queue when it was filled last */
};

struct sim_engine {
	const struct sim_scenario *scenario;
	const struct sim_setup *setup;
	struct sim_sampler sampler;
	struct cache *cache;
	struct cache_space *space;
	struct rng rng;
	uint32_t *labels; /* by id; NULL: none */
	struct runner *runners;
	struct runner **readers; /* room for one round, as the next two */
	struct runner **round;
	stream_id *round_ids;
	sample_id *round_samples;
	size_t n_waiting; /* jobs that have not begun */
	size_t n_running;
	size_t n_active; /* streams */
	uint64_t tick;
	uint64_t count_from; /* the warm-up is over */
	uint64_t end;	     /* 0: until all are through */
	struct sim_result result;
};

must_check int sim_engine_new(const struct sim_scenario *scenario,
	const struct sim_setup *setup, struct sim_engine **ret);
void sim_engine_free(struct sim_engine **engine);

/* One round; what is drawn goes to the queues, with its need dropped and pinned. */
must_check int sim_draw(struct sim_engine *engine, struct runner *const *round, size_t n);

/* The jobs draw in one round what they read in this tick. */
must_check int sim_read_now(
	struct sim_engine *engine, struct runner *const *readers, size_t n);
/* They read what was drawn ahead, and draw again when too little is left. */
must_check int sim_read_ahead(
	struct sim_engine *engine, struct runner *const *readers, size_t n);

static inline struct sim_drawn *sim_queue_head(struct runner *runner)
{
	return &runner->queue[runner->head];
}

/* Where the next one goes. */
static inline struct sim_drawn *sim_queue_tail(struct runner *runner)
{
	return &runner->queue[(runner->head + runner->length) % runner->room];
}
