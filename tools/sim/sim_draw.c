// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "sim_sched_internal.h"
#include "epoch/questions.h"

#include <errno.h>

static void hold(struct sim_sched_job *job, sample_id sample)
{
	struct sim_sched *sched = job->sched;
	struct drawn drawn = {
		.sample = sample, .served = how_served(&sched->prepared, sample)};
	int err = cache_pin(sched->space, sample);
	sim_fail(sched, err);
	drawn.pinned = !err;
	if (drawn.pinned && sched->config.lookahead)
		sim_supply_request(job, sample);
	epochs_drawn(job->epochs, job->stream.epoch, &drawn);
}

/* Tells the cache that the job no longer needs the samples that its ended stream did not draw. */
static void give_need_back(struct sim_sched_job *job)
{
	struct sim_sched *sched = job->sched;
	roaring_bitmap_t *ids = sampler_set_ids(job->strand.set);
	sim_fail(sched, ids ? 0 : -ENOMEM);
	if (ids)
		cache_need_change(sched->space, ids, CACHE_NEED_DROP);
	draw_left(&sched->draw, &job->stream);
	job->strand.ids = ids;
}

static void execute_one(struct sim_sched *sched, const struct draw_effect *effect)
{
	struct sim_sched_job *job =
		effect->stream ? struct_of(effect->stream, struct sim_sched_job, stream)
			       : NULL;
	switch (effect->kind) {
	case DRAW_DROP:
		cache_need_drop(sched->space, effect->id);
		break;
	case DRAW_DRAWN:
		if (effect->drops)
			cache_need_drop(sched->space, effect->id);
		hold(job, effect->sample);
		break;
	case DRAW_LOW:
		job->wants_refill = true;
		break;
	case DRAW_LEAVE:
		give_need_back(job);
		draw_drop_samples(&job->stream);
		break;
	case DRAW_GONE:
		draw_drop_samples(&job->stream);
		break;
	case DRAW_EFFECT_KINDS:
		ensure(!"an effect");
	}
}

static void execute(struct sim_sched *sched)
{
	for (size_t i = 0; i < sched->draw.n_effects; i++)
		execute_one(sched, &sched->draw.effects[i]);
}

static int make_set(struct sim_sched_job *job)
{
	struct strand *strand = &job->strand;
	sampler_coarsen_all(strand->sampler);
	int err = sampler_set_new(strand->sampler, &strand->set);
	return err ? err : sampler_set_fill(strand->set, job->selection);
}

static void settle(struct sampler *sampler)
{
	while (!sampler_settle(sampler, UINT32_MAX))
		;
}

int sim_draw_begin(struct sim_sched_job *job, uint32_t epoch)
{
	struct sim_sched *sched = job->sched;
	uint32_t lookahead = sched->config.lookahead;
	struct order order = epochs_order(job->epochs, epoch);
	ensure(!job->has_stream && order.bound == 0);
	job->strand = (struct strand){.sampler = sched->sampler,
		.selection = job->selection,
		.at_once = 1,
		.lookahead = lookahead ? lookahead : 1};
	job->stream = (struct stream){.job = job->id,
		.epoch = epoch,
		.at_open = job->labels != NULL,
		.tensor_bytes =
			sim_supply_bytes(sched, roaring_bitmap_minimum(job->selection)),
		.n_strands = 1,
		.strands = &job->strand};
	int err = make_set(job);
	if (err) {
		draw_drop_samples(&job->stream);
		return err;
	}
	draw_count(&sched->draw, &job->stream);
	err = draw_enter(&sched->draw, &job->stream, 0, order.positions);
	if (err) {
		draw_left(&sched->draw, &job->stream);
		draw_drop_samples(&job->stream);
		return err;
	}
	settle(sched->sampler);
	cache_need_change(sched->space, job->selection, CACHE_NEED_ADD);
	job->has_stream = true;
	sim_draw_asks(job, job->asks);
	return 0;
}

void sim_draw_end(struct sim_sched_job *job)
{
	struct sim_sched *sched = job->sched;
	if (!job->has_stream)
		return;
	job->has_stream = false;
	draw_end(&sched->draw, &job->stream);
	execute(sched);
	settle(sched->sampler);
	cache_trim(sched->cache);
}

static struct ahead_cache cache_facts(const struct sim_sched *sched)
{
	const struct cache_usage *usage = cache_usage(sched->cache);
	return (struct ahead_cache){.capacity = usage->capacity,
		.pinned_bytes = usage->pinned_bytes,
		.awaited = usage->awaited};
}

void sim_draw_asks(struct sim_sched_job *job, bool asks)
{
	job->asks = asks;
	if (job->has_stream)
		draw_ready(&job->stream, asks || job->sched->config.lookahead > 0);
}

void sim_draw_asked(struct sim_sched_job *job, uint32_t position)
{
	struct sim_sched *sched = job->sched;
	struct ahead_cache cache = cache_facts(sched);
	draw_asked(&sched->draw, &job->stream, job->labels ? job->labels[position] : 0,
		SAMPLE_NONE, &cache);
	execute(sched);
}

void sim_draw_bound(struct sim_sched_job *job)
{
	struct sim_sched *sched = job->sched;
	if (!job->has_stream)
		return;
	struct epochs_coming coming = epochs_coming(job->epochs, job->stream.epoch);
	draw_bound(&sched->draw, &job->stream, coming.ahead, coming.unbound);
	execute(sched);
}

void sim_draw_fill(struct sim_sched_job *job)
{
	struct sim_sched *sched = job->sched;
	bool more = job->has_stream && sched->config.lookahead && !job->labels;
	while (more) {
		struct ahead_cache cache = cache_facts(sched);
		more = draw_go_on(&sched->draw, &job->stream, &cache);
		execute(sched);
	}
}
