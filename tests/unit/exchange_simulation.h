// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/rng.h"
#include "sampler/sampler.h"

#include <stdlib.h>
#include <string.h>

/*
 * Jobs that read one sample at a time through a cache of a few slots with RefCnt eviction: the
 * sample with the least need goes first, and among equals the least recently used one. Only the
 * sampler is the real one.
 */

#define SIM_JOBS 4

struct sim_job {
	roaring_bitmap_t *set;
	stream_id stream;
	bool running;
	unsigned epoch;
	sample_id given; /* the last sample that the job was given */
	/* The order in which the job's script opens its files, for draws within labels. */
	uint32_t *labels;
	uint32_t next;
};

struct sim {
	struct sampler *sampler;
	struct rng rng;
	struct sim_job job[SIM_JOBS];
	const uint32_t *labels; /* NULL: jobs draw from all their samples */
	uint32_t slots;
	uint32_t cached; /* number of ids in: */
	sample_id *cache;
	bool *is_cached;     /* by sample */
	unsigned *need;	     /* by sample */
	unsigned long *used; /* by sample: when it was last used */
	unsigned long round;
	unsigned long served;
	unsigned long misses;
	stream_id streams;
};

static inline void *sim_alloc(size_t n, size_t size)
{
	void *memory = calloc(n, size);
	cr_assert_not_null(memory);
	return memory;
}

/* The caller sets each job's set in sim_job; sim_begin begins its first epoch. */
static inline void sim_new(struct sim *sim, enum sampler_kind kind, uint64_t seed,
	uint32_t n_ids, uint32_t slots, const uint32_t *labels)
{
	*sim = (struct sim){.slots = slots, .labels = labels};
	rng_seed(&sim->rng, seed + 1000);
	cr_assert_eq(labels ? sampler_new_labelled(seed, labels, n_ids, &sim->sampler)
			    : sampler_new(kind, seed, &sim->sampler),
		0);
	sim->cache = sim_alloc(slots, sizeof(*sim->cache));
	sim->is_cached = sim_alloc(n_ids, sizeof(*sim->is_cached));
	sim->need = sim_alloc(n_ids, sizeof(*sim->need));
	sim->used = sim_alloc(n_ids, sizeof(*sim->used));
}

static inline void sim_free(struct sim *sim)
{
	sampler_validate(sim->sampler);
	sampler_free(&sim->sampler);
	for (int j = 0; j < SIM_JOBS; j++) {
		if (sim->job[j].set)
			roaring_bitmap_free(sim->job[j].set);
		free(sim->job[j].labels);
	}
	free(sim->cache);
	free(sim->is_cached);
	free(sim->need);
	free(sim->used);
}

static inline void sim_join(struct sim *sim, int j, roaring_bitmap_t *set)
{
	sim->job[j].set = set;
	cr_assert_eq(sampler_join(sim->sampler, (job_id)j, 0, set), 0);
}

/* Puts the labels of the job's samples into random order. */
static inline void sim_shuffle(struct sim *sim, struct sim_job *job)
{
	uint32_t n = (uint32_t)roaring_bitmap_get_cardinality(job->set);
	if (!job->labels)
		job->labels = sim_alloc(n, sizeof(*job->labels));
	roaring_bitmap_to_uint32_array(job->set, job->labels);
	for (uint32_t i = 0; i < n; i++)
		job->labels[i] = sim->labels[job->labels[i]];
	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = (uint32_t)rng_below(&sim->rng, i);
		uint32_t label = job->labels[i - 1];
		job->labels[i - 1] = job->labels[k];
		job->labels[k] = label;
	}
	job->next = 0;
}

static inline bool sim_need_one(uint32_t id, void *need)
{
	((unsigned *)need)[id]++;
	return true;
}

static inline void sim_begin(struct sim *sim, int j)
{
	struct sim_job *job = &sim->job[j];
	if (job->running) {
		sampler_remove(sim->sampler, job->stream);
		job->epoch++;
	}
	job->running = true;
	job->stream = sim->streams++;
	roaring_iterate(job->set, sim_need_one, sim->need);
	roaring_bitmap_t *r = roaring_bitmap_copy(job->set);
	cr_assert_eq(sampler_insert(sim->sampler, job->stream, (job_id)j, r), 0);
	if (sim->labels)
		sim_shuffle(sim, job);
}

/* Tells whether a is evicted before b. */
static inline bool sim_sooner(const struct sim *sim, sample_id a, sample_id b)
{
	bool pinned = sim->used[a] == sim->round;
	if (pinned != (sim->used[b] == sim->round))
		return !pinned;
	if (sim->need[a] != sim->need[b])
		return sim->need[a] < sim->need[b];
	return sim->used[a] < sim->used[b];
}

static inline void sim_evict_one(struct sim *sim)
{
	uint32_t victim = 0;
	for (uint32_t i = 1; i < sim->cached; i++)
		if (sim_sooner(sim, sim->cache[i], sim->cache[victim]))
			victim = i;
	sample_id evicted = sim->cache[victim];
	sim->cache[victim] = sim->cache[--sim->cached];
	sim->is_cached[evicted] = false;
	sampler_evicted(sim->sampler, 0, evicted);
}

/* Loads the samples of a round into the cache, where they stay until all were read. */
static inline void sim_pin(struct sim *sim, const sample_id *samples, unsigned n)
{
	sim->round++;
	for (unsigned i = 0; i < n; i++) {
		cr_assert_gt(sim->need[samples[i]], 0);
		sim->need[samples[i]]--;
		sim->used[samples[i]] = sim->round;
	}
}

static inline void sim_read(struct sim *sim, struct sim_job *job, sample_id sample)
{
	job->given = sample;
	sim->served++;
	if (sim->is_cached[sample])
		return;
	sim->misses++;
	if (sim->cached == sim->slots)
		sim_evict_one(sim);
	sim->cache[sim->cached++] = sample;
	sim->is_cached[sample] = true;
}

static inline bool sim_left(const struct sim *sim, int j)
{
	const struct sim_job *job = &sim->job[j];
	return job->running && sampler_remaining(sim->sampler, job->stream);
}

/* Draws a round for those jobs in `who` that have samples left. Returns their number. */
static inline unsigned sim_round(struct sim *sim, unsigned who)
{
	stream_id streams[SIM_JOBS];
	sample_id samples[SIM_JOBS];
	int order[SIM_JOBS];
	unsigned n = 0;
	for (int j = 0; j < SIM_JOBS; j++) {
		struct sim_job *job = &sim->job[j];
		if (!(who >> j & 1) || !sim_left(sim, j))
			continue;
		order[n] = j;
		streams[n++] = job->stream;
		if (sim->labels)
			samples[n - 1] = sampler_draw_within(
				sim->sampler, job->stream, job->labels[job->next++]);
	}
	if (!sim->labels)
		sampler_draw(sim->sampler, streams, n, samples);
	sim_pin(sim, samples, n);
	for (unsigned i = 0; i < n; i++)
		sim_read(sim, &sim->job[order[i]], samples[i]);
	return n;
}

/* Draws a round as sim_round does. A job that has ended an epoch then begins the next one. */
static inline void sim_run_on(struct sim *sim, unsigned who)
{
	for (int j = 0; j < SIM_JOBS; j++)
		if (who >> j & 1 && !sim_left(sim, j))
			sim_begin(sim, j);
	sim_round(sim, who);
}

static inline roaring_bitmap_t *sim_range(uint32_t begin, uint32_t end)
{
	roaring_bitmap_t *set = roaring_bitmap_create();
	roaring_bitmap_add_range(set, begin, end);
	return set;
}

/* Simulates jobs with all n ids that start at 0, .18, .48 and .78 of an epoch. Returns the misses
 * per served sample in the three epochs after that. */
static inline double sim_staggered(
	enum sampler_kind kind, uint32_t n, double cache, const uint32_t *labels)
{
	static const double start[SIM_JOBS] = {0, .18, .48, .78};
	struct sim sim;
	unsigned who = 0;
	sim_new(&sim, kind, 5, n, (uint32_t)(cache * n), labels);
	for (int j = 0; j < SIM_JOBS; j++)
		sim_join(&sim, j, sim_range(0, n));
	for (uint32_t step = 0; step < 5 * n; step++) {
		for (int j = 0; j < SIM_JOBS; j++)
			who |= step >= start[j] * n ? 1U << j : 0;
		if (step == 2 * n)
			sim.served = sim.misses = 0;
		sim_run_on(&sim, who);
	}
	double misses = (double)sim.misses / (double)sim.served;
	sim_free(&sim);
	return misses;
}
