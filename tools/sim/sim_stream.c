// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "draw/lookahead.h"
#include "sim_sched_internal.h"
#include "epoch/questions.h"

#include <errno.h>

/* --- it comes and goes --------------------------------------------------------------- */

int sim_stream_make(struct sim_sched_job *job, uint32_t epoch)
{
	struct sim_sched *sched = job->sched;
	ensure(!job->has_stream && epochs_order(job->epochs, epoch).bound == 0);
	roaring_bitmap_t *remaining = roaring_bitmap_copy(job->selection);
	if (!remaining)
		return -ENOMEM;
	job->stream = sched->next_stream++;
	job->stream_epoch = epoch;
	job->filled = 0;
	int err = sim_sampler_insert(&sched->sampler, job->stream, job->id, remaining);
	if (err)
		return err;
	cache_need_add_all(sched->space, job->selection);
	job->has_stream = true;
	TAILQ_INSERT_TAIL(&sched->streams, job, stream_link);
	sched->n_streams++;
	return 0;
}

/* Returns the samples that were not drawn. NULL: no memory. */
static roaring_bitmap_t *remaining(
	const struct sim_sched_job *job, const struct drawn_queue *queue)
{
	struct order order = epochs_order(job->epochs, job->stream_epoch);
	roaring_bitmap_t *ids = roaring_bitmap_copy(job->selection);
	for (uint32_t k = 0; ids && k < order.bound; k++)
		roaring_bitmap_remove(ids, order_binding(&order, k).sample);
	for (uint32_t i = 0; ids && i < queue->length; i++)
		roaring_bitmap_remove(
			ids, queue->ring[(queue->head + i) % queue->size].sample);
	return ids;
}

static void give_need_back(struct sim_sched_job *job, const struct drawn_queue *queue)
{
	roaring_bitmap_t *ids = remaining(job, queue);
	if (ids)
		cache_need_drop_all(job->sched->space, ids);
	sim_fail(job->sched, ids ? 0 : -ENOMEM);
	roaring_bitmap_free(ids);
}

void sim_stream_end(struct sim_sched_job *job, const struct drawn_queue *queue)
{
	struct sim_sched *sched = job->sched;
	if (!job->has_stream)
		return;
	bool needs = sim_sampler_remaining(&sched->sampler, job->stream) > 0;
	sim_sampler_remove(&sched->sampler, job->stream);
	job->has_stream = false;
	TAILQ_REMOVE(&sched->streams, job, stream_link);
	sched->n_streams--;
	if (needs)
		give_need_back(job, queue);
	cache_trim(sched->cache);
}

/* --- drawing ------------------------------------------------------------------------- */

/* Makes the input of lookahead.h. Without look-ahead, jobs that ask draw one sample each. */
static struct ahead ahead_of(const struct sim_sched_job *job)
{
	const struct sim_sched *sched = job->sched;
	uint32_t lookahead = sched->config.lookahead;
	struct cache_held held = cache_held(sched->cache);
	return (struct ahead){.may_draw = job->has_stream && (lookahead || job->asks),
		.lookahead = lookahead ? lookahead : 1,
		.at_once =
			sched->config.sampler == SAMPLER_DSA ? sched->config.at_once : 1,
		.length = epochs_ahead(job->epochs, job->stream_epoch),
		.filled = job->filled,
		.remaining = sim_sampler_remaining(&sched->sampler, job->stream),
		.tensor_bytes =
			sim_use_bytes(sched, roaring_bitmap_minimum(job->selection)),
		.streams = sched->n_streams,
		.cache = {held.capacity, held.pinned_bytes, held.awaited}};
}

static bool may_join(const struct sim_sched_job *job)
{
	struct ahead ahead = ahead_of(job);
	return ahead_may_join(&ahead);
}

static bool another_is_full(const struct sim_sched *sched)
{
	const struct sim_sched_job *job;
	TAILQ_FOREACH (job, &sched->streams, stream_link) {
		struct ahead ahead = ahead_of(job);
		if (ahead_is_full(&ahead))
			return true;
	}
	return false;
}

static bool wants_round(const struct sim_sched_job *job)
{
	struct ahead ahead = ahead_of(job);
	return ahead_wants_round(&ahead, another_is_full(job->sched));
}

bool sim_stream_is_low(const struct sim_sched_job *job)
{
	struct ahead ahead = ahead_of(job);
	return ahead_is_low(&ahead);
}

/* Pins a drawn sample, asks for it, and gives it to the engine. */
static void hold(struct sim_sched_job *job, sample_id sample)
{
	struct sim_sched *sched = job->sched;
	ensure(sample != SAMPLE_NONE);
	struct drawn drawn = {.sample = sample,
		.served = sim_use_served(sched, sample),
		.pinned = true};
	cache_need_drop(sched->space, sample);
	int err = cache_pin(sched->space, sample);
	sim_fail(sched, err);
	drawn.pinned = !err;
	if (drawn.pinned && sched->config.lookahead)
		sim_use_request(job, sample);
	epochs_drawn(job->epochs, job->stream_epoch, &drawn);
	uint32_t length = epochs_ahead(job->epochs, job->stream_epoch);
	if (job->filled < length)
		job->filled = length;
}

/* Runs one round for all jobs that may join it. false: none may. */
static bool draw_round(struct sim_sched *sched)
{
	struct sim_sched_job *job;
	size_t n = 0;
	TAILQ_FOREACH (job, &sched->streams, stream_link) {
		if (!may_join(job))
			continue;
		sched->round[n] = job;
		sched->round_ids[n++] = job->stream;
	}
	if (n == 0)
		return false;
	sim_sampler_draw(&sched->sampler, sched->round_ids, n, sched->round_samples);
	for (size_t i = 0; i < n; i++)
		hold(sched->round[i], sched->round_samples[i]);
	return true;
}

void sim_stream_fill(struct sim_sched_job *job)
{
	if (!job->has_stream || !job->sched->config.lookahead || job->labels)
		return;
	while (wants_round(job) && draw_round(job->sched))
		;
	struct ahead ahead = ahead_of(job);
	job->filled = ahead_refilled(&ahead);
}

void sim_stream_draw(struct sim_sched_job *job, uint32_t position)
{
	struct sim_sched *sched = job->sched;
	if (job->labels) {
		hold(job, sim_sampler_draw_within(
				  &sched->sampler, job->stream, job->labels[position]));
		return;
	}
	bool drawn = draw_round(sched);
	ensure(drawn);
}
