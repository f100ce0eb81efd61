// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "engine.h"
#include "base/ensure.h"

#include <errno.h>
#include <stdlib.h>

static bool counted(const struct sim_engine *engine)
{
	return engine->tick >= engine->count_from;
}

static void reap(struct sim_engine *engine)
{
	struct tensor *tensor;
	while ((tensor = cache_reap(engine->cache)))
		tensor_free(tensor);
}

/* A load: the miss that all of this is about. -ENOSPC: the cache is full of pins. */
static int load(struct sim_engine *engine, sample_id sample, bool force)
{
	struct tensor *tensor = tensor_new((struct tensor_shape){0, 0}, 1);
	if (!tensor)
		return -ENOMEM;
	int err = cache_reserve(engine->space, sample, 1, force);
	if (err) {
		tensor_free(tensor);
		return err;
	}
	cache_publish(engine->space, sample, tensor);
	reap(engine);
	if (counted(engine))
		engine->result.misses++;
	return 0;
}

static bool resident(const struct sim_engine *engine, sample_id sample)
{
	return cache_state(engine->space, sample) == CACHE_READY;
}

static int consume(struct sim_engine *engine, struct runner *runner)
{
	struct sim_drawn *drawn = sim_queue_head(runner);
	if (!resident(engine, drawn->sample)) {
		int err = load(engine, drawn->sample, true);
		if (err)
			return err;
		drawn->miss = true;
	}
	cache_unpin(engine->space, drawn->sample);
	if (counted(engine))
		engine->result.served++;
	struct sim_read read = {engine->tick, runner->job, drawn->epoch, drawn->position,
		drawn->sample, drawn->miss};
	if (engine->setup->observer)
		engine->setup->observer(engine->setup->context, &read);
	runner->head = (runner->head + 1) % runner->room;
	runner->length--;
	return 0;
}

/* --- read when drawn --------------------------------------------------------------- */

/*
 * All who drew a sample read it at once, as readers do that wait for the same one. So a
 * cache of one slot is enough for a round.
 */
static int consume_together(
	struct sim_engine *engine, struct runner *const *readers, size_t n, size_t first)
{
	sample_id sample = sim_queue_head(readers[first])->sample;
	int err = 0;
	for (size_t i = first; i < n && !err; i++)
		if (readers[i]->length > 0 &&
			sim_queue_head(readers[i])->sample == sample)
			err = consume(engine, readers[i]);
	return err;
}

/* What is in the cache is read before what is not may push it out. */
int sim_read_now(struct sim_engine *engine, struct runner *const *readers, size_t n)
{
	if (n == 0)
		return 0;
	int err = sim_draw(engine, readers, n);
	for (size_t i = 0; i < n && !err; i++)
		if (resident(engine, sim_queue_head(readers[i])->sample))
			err = consume(engine, readers[i]);
	for (size_t i = 0; i < n && !err; i++)
		if (readers[i]->length > 0)
			err = consume_together(engine, readers, n, i);
	cache_trim(engine->cache);
	reap(engine);
	return err;
}

/* --- read ahead, as the daemon does ------------------------------------------------ */

/* Half of the cache for what is drawn ahead, or an own part of a quarter. */
static bool has_room(const struct sim_engine *engine, const struct runner *runner)
{
	struct cache_usage usage = cache_usage(engine->cache);
	uint64_t share = usage.capacity / 4 / (engine->n_active ? engine->n_active : 1);
	if (!runner->active || runner->length >= runner->room)
		return false;
	return runner->length < (share ? share : 1) ||
	       usage.pinned_bytes + usage.awaited < usage.capacity / 2;
}

static bool leaves_others_out(const struct sim_engine *engine)
{
	for (size_t i = 0; i < engine->scenario->n_jobs; i++) {
		const struct runner *runner = &engine->runners[i];
		if (runner->active && runner->length == runner->room)
			return true;
	}
	return false;
}

/* The second half only together with all others. */
static bool wants_round(const struct sim_engine *engine, const struct runner *runner)
{
	return has_room(engine, runner) &&
	       (runner->length < (runner->room + 1) / 2 || !leaves_others_out(engine));
}

/* When there is no room it waits until it is read. */
static int load_ahead(struct sim_engine *engine, struct runner *runner)
{
	struct sim_drawn *drawn =
		&runner->queue[(runner->head + runner->length - 1) % runner->room];
	if (resident(engine, drawn->sample))
		return 0;
	int err = load(engine, drawn->sample, false);
	drawn->miss = !err;
	return err == -ENOSPC ? 0 : err;
}

/* A round for all who have room. */
static int draw_round(struct sim_engine *engine)
{
	size_t n = 0;
	for (size_t i = 0; i < engine->scenario->n_jobs; i++)
		if (has_room(engine, &engine->runners[i]))
			engine->round[n++] = &engine->runners[i];
	int err = sim_draw(engine, engine->round, n);
	for (size_t i = 0; i < n && !err; i++) {
		struct runner *runner = engine->round[i];
		err = load_ahead(engine, runner);
		if (runner->filled < runner->length)
			runner->filled = runner->length;
	}
	return err;
}

static int refill(struct sim_engine *engine, struct runner *runner)
{
	int err = 0;
	if (runner->length * 2 > runner->filled)
		return 0;
	while (!err && wants_round(engine, runner))
		err = draw_round(engine);
	runner->filled = has_room(engine, runner) ? runner->room : runner->length;
	return err;
}

int sim_read_ahead(struct sim_engine *engine, struct runner *const *readers, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int err = refill(engine, readers[i]);
		if (!err)
			err = consume(engine, readers[i]);
		if (err)
			return err;
		cache_trim(engine->cache);
		reap(engine);
	}
	return 0;
}
