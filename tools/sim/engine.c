// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "engine.h"
#include "base/ensure.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static roaring_bitmap_t *random_subset(const struct sim_dataset *dataset, uint64_t seed)
{
	struct rng rng;
	rng_seed(&rng, seed);
	roaring_bitmap_t *ids = roaring_bitmap_create();
	uint32_t size = dataset->size;
	for (uint32_t id = dataset->first; ids && size > 0; id++)
		if (rng_below(&rng, dataset->end - id) < size) {
			roaring_bitmap_add(ids, id);
			size--;
		}
	return ids;
}

roaring_bitmap_t *sim_dataset_ids(
	const struct sim_scenario *scenario, size_t dataset, uint64_t seed)
{
	const struct sim_dataset *d = &scenario->datasets[dataset];
	if (d->sample)
		return random_subset(d, rng_mix(seed, dataset));
	return roaring_bitmap_from_range(d->first, d->end, 1);
}

/* --- epochs ------------------------------------------------------------------------ */

/* What the script opens: it shuffles its files itself, so their labels come so. */
static void shuffle(struct sim_engine *engine, struct runner *runner)
{
	roaring_bitmap_to_uint32_array(runner->selection, runner->opens);
	for (uint32_t n = runner->size; n > 1; n--) {
		uint32_t i = (uint32_t)rng_below(&engine->rng, n);
		uint32_t id = runner->opens[i];
		runner->opens[i] = runner->opens[n - 1];
		runner->opens[n - 1] = id;
	}
}

static int begin_epoch(struct sim_engine *engine, struct runner *runner)
{
	roaring_bitmap_t *remaining = roaring_bitmap_copy(runner->selection);
	if (!remaining)
		return -ENOMEM;
	int err = sim_sampler_insert(
		&engine->sampler, runner->stream, runner->job, remaining);
	if (err)
		return err;
	cache_need_add_all(engine->space, runner->selection);
	if (runner->opens)
		shuffle(engine, runner);
	runner->drawn = 0;
	runner->active = true;
	engine->n_active++;
	return 0;
}

/* All of the epoch is drawn: the next one begins at once. */
static int end_epoch(struct sim_engine *engine, struct runner *runner)
{
	sim_sampler_remove(&engine->sampler, runner->stream);
	runner->active = false;
	engine->n_active--;
	runner->stream += (stream_id)engine->scenario->n_jobs;
	runner->epoch++;
	if (runner->epoch == engine->scenario->jobs[runner->job].epochs)
		return 0;
	return begin_epoch(engine, runner);
}

static bool runs(const struct sim_engine *engine, const struct runner *runner)
{
	return engine->tick >= runner->start && (runner->active || runner->length > 0);
}

static int begin_due(struct sim_engine *engine)
{
	for (size_t i = 0; i < engine->scenario->n_jobs; i++) {
		struct runner *runner = &engine->runners[i];
		if (runner->start != engine->tick)
			continue;
		int err = sim_sampler_join(
			&engine->sampler, runner->job, 0, runner->selection);
		if (!err)
			err = begin_epoch(engine, runner);
		if (err)
			return err;
		engine->n_waiting--;
		engine->n_running++;
	}
	return 0;
}

/* --- drawing ----------------------------------------------------------------------- */

static sample_id draw_within(struct sim_engine *engine, struct runner *runner)
{
	uint32_t label = engine->labels[runner->opens[runner->drawn]];
	return sim_sampler_draw_within(&engine->sampler, runner->stream, label);
}

static int take_draw(struct sim_engine *engine, struct runner *runner, sample_id sample)
{
	ensure(sample != SAMPLE_NONE);
	struct sim_drawn *drawn = sim_queue_tail(runner);
	*drawn = (struct sim_drawn){
		.sample = sample, .epoch = runner->epoch, .position = runner->drawn++};
	runner->length++;
	cache_need_drop(engine->space, sample);
	int err = cache_pin(engine->space, sample);
	if (!err && sim_sampler_remaining(&engine->sampler, runner->stream) == 0)
		err = end_epoch(engine, runner);
	return err;
}

int sim_draw(struct sim_engine *engine, struct runner *const *round, size_t n)
{
	for (size_t i = 0; i < n; i++)
		engine->round_ids[i] = round[i]->stream;
	if (engine->labels)
		engine->round_samples[0] = draw_within(engine, round[0]);
	else
		sim_sampler_draw(
			&engine->sampler, engine->round_ids, n, engine->round_samples);
	for (size_t i = 0; i < n; i++) {
		int err = take_draw(engine, round[i], engine->round_samples[i]);
		if (err)
			return err;
	}
	return 0;
}

/* --- time -------------------------------------------------------------------------- */

/* How many samples it should have read when this tick is over. */
static uint64_t due(const struct sim_engine *engine, const struct runner *runner)
{
	double ticks = (double)(engine->tick - runner->start);
	return (uint64_t)(runner->speed * ticks + 1e-9) + 1;
}

static size_t find_readers(struct sim_engine *engine)
{
	size_t n = 0;
	for (size_t i = 0; i < engine->scenario->n_jobs; i++) {
		struct runner *runner = &engine->runners[i];
		if (!runs(engine, runner) || due(engine, runner) <= runner->n_read)
			continue;
		runner->n_read++;
		engine->readers[n++] = runner;
	}
	return n;
}

static void leave_done(struct sim_engine *engine, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct runner *runner = engine->readers[i];
		if (runs(engine, runner))
			continue;
		sim_sampler_leave(&engine->sampler, runner->job);
		engine->n_running--;
	}
}

static int tick(struct sim_engine *engine)
{
	int err = begin_due(engine);
	if (err)
		return err;
	size_t n = find_readers(engine);
	if (engine->scenario->lookahead)
		err = sim_read_ahead(engine, engine->readers, n);
	else if (engine->labels)
		for (size_t i = 0; i < n && !err; i++)
			err = sim_read_now(engine, &engine->readers[i], 1);
	else
		err = sim_read_now(engine, engine->readers, n);
	if (!err)
		leave_done(engine, n);
	return err;
}

static int run(struct sim_engine *engine)
{
	for (engine->tick = 0; engine->n_running + engine->n_waiting > 0;
		engine->tick++) {
		if (engine->end && engine->tick >= engine->end)
			break;
		int err = tick(engine);
		if (err)
			return err;
	}
	return 0;
}

int sim_run(const struct sim_scenario *scenario, const struct sim_setup *setup,
	struct sim_result *ret)
{
	struct sim_engine *engine;
	int err = sim_engine_new(scenario, setup, &engine);
	if (err)
		return err;
	err = run(engine);
	*ret = engine->result;
	sim_engine_free(&engine);
	return err;
}
