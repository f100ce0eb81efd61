// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "supply/supply.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>

/* The supply's engine with one dataset, two spaces, a cache and some jobs, without threads. */

#define SUPPLY_IDS 16
#define SUPPLY_SPACES 2
#define SUPPLY_JOBS 3

struct supply_world {
	struct daemon_config config;
	struct cache *cache;
	struct supply supply;
	struct source source;
	struct space spaces[SUPPLY_SPACES];
	struct share_job jobs[SUPPLY_JOBS];
	uint64_t bytes[SUPPLY_IDS]; /* by sample: bytes of its tensor */
	bool elsewhere[SUPPLY_IDS];
	uint64_t now_ns;
};

/* An open of a sample. */
struct supply_open {
	struct waiter waiter;
	struct space *space; /* NULL: the open is closed */
	sample_id sample;
	struct wanted *wanted; /* NULL: the cache had the tensor */
	unsigned job;
};

static inline void supply_world_make(struct supply_world *world, uint64_t cache_bytes,
	enum share_policy share, unsigned reads, cache_gone *gone, void *context)
{
	*world = (struct supply_world){.config = {.cache_bytes = cache_bytes,
					       .share = share,
					       .reads = reads,
					       .max_pixels = 1,
					       .workers = 100}};
	struct supply *supply = &world->supply;
	cr_assert_eq(cache_new(cache_bytes, EVICTION_REFCNT, 1, &world->cache), 0);
	supply_init(supply, &world->config);
	supply->cache = world->cache;
	cache_on_gone(world->cache, gone, context);
	supply->sources = calloc(1, sizeof(struct source *));
	supply->storages = calloc(1, sizeof(*supply->storages));
	supply->n_sources = 1;
	struct source *source = supply->sources[0] = &world->source;
	source->supply = supply;
	LIST_INIT(&source->spaces);
	cr_assert_eq(storage_get(supply, 1, "disk", &source->storage), 0);
	for (unsigned i = 0; i < SUPPLY_SPACES; i++) {
		struct space *space = &world->spaces[i];
		*space = (struct space){.source = source, .number = i, .references = 1};
		cr_assert_eq(cache_space_new(world->cache, SUPPLY_IDS, &space->cache), 0);
		LIST_INSERT_HEAD(&source->spaces, space, link);
	}
	for (unsigned i = 0; i < SUPPLY_JOBS; i++)
		share_join(&supply->shares, &world->jobs[i], 1, 1000000);
	for (unsigned i = 0; i < SUPPLY_IDS; i++)
		world->bytes[i] = 1;
}

/* Checks that nothing is drawn or open any more, and frees the world. */
static inline void supply_world_free(struct supply_world *world)
{
	cr_assert_null(world->supply.wanted);
	cache_on_gone(world->cache, NULL, NULL);
	for (unsigned i = 0; i < SUPPLY_JOBS; i++)
		share_leave(&world->jobs[i]);
	for (unsigned i = 0; i < SUPPLY_SPACES; i++)
		cache_space_free(&world->spaces[i].cache);
	supply_end(&world->supply);
	cache_free(&world->cache);
}

static inline void supply_world_validate(const struct supply_world *world)
{
	struct tensor *tensor;
	supply_validate(&world->supply);
	cache_validate(world->cache);
	while ((tensor = cache_reap(world->cache)))
		tensor_free(tensor);
}

static inline int supply_world_want(
	struct supply_world *world, struct wanted *wanted, unsigned job, bool urgent)
{
	const struct want want = {.job = &world->jobs[job],
		.id = job + 1,
		.urgent = urgent,
		.needs = {.memory.tensor = world->bytes[wanted->key.sample], .file = 1}};
	return supply_want(&world->supply, wanted, &want);
}

/* A job has drawn the sample. */
static inline void supply_world_draw(
	struct supply_world *world, struct space *space, unsigned job, sample_id sample)
{
	struct cache_space *cache = space->cache;
	cr_assert_eq(cache_pin(cache, sample), 0);
	if (cache_state(cache, sample) != CACHE_ABSENT)
		return;
	struct wanted *wanted = wanted_get(space, sample);
	cr_assert_eq(supply_world_want(world, wanted, job, false), 0);
}

/* Opens the sample. Returns false if the open waits. */
static inline bool supply_world_open(struct supply_world *world, struct space *space,
	unsigned job, sample_id sample, struct supply_open *open)
{
	open->space = space;
	open->sample = sample;
	open->job = job;
	open->waiter = (struct waiter){.job = &world->jobs[job]};
	if (supply_open(space, sample))
		return true;
	cr_assert_eq(cache_pin(space->cache, sample), 0);
	open->wanted = wanted_get(space, sample);
	open->wanted->opens++;
	cr_assert_eq(supply_world_want(world, open->wanted, job, true), 0);
	supply_wait(open->wanted, &open->waiter);
	return false;
}

static inline void supply_world_close(
	struct supply_world *world, struct supply_open *open)
{
	if (open->wanted) {
		supply_stop_waiting(open->wanted, &open->waiter);
		supply_detach(open->wanted, &world->jobs[open->job]);
	} else {
		supply_close(open->space, open->sample);
	}
	open->space = NULL;
	open->wanted = NULL;
}

static inline bool supply_world_is_elsewhere(void *context, const struct wanted *wanted)
{
	const struct supply_world *world = context;
	return world->elsewhere[wanted->key.sample];
}

static inline struct wanted *supply_world_read(struct supply_world *world)
{
	return supply_next_read(
		&world->supply, world->now_ns, supply_world_is_elsewhere, world);
}

/* Ends the decode of one sample. */
static inline void supply_world_done(
	struct supply_world *world, struct wanted *wanted, struct supply_result result)
{
	if (result.status == 0)
		result.tensor = tensor_new((struct tensor_shape){.height = 0, .width = 0},
			world->bytes[wanted->key.sample]);
	supply_done(&world->supply, wanted, &result, world->now_ns);
}
