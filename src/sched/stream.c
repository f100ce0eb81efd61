// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/sched_internal.h"
#include "base/ensure.h"
#include "stats/stats.h"

#include <errno.h>

uint32_t stream_remaining(const struct stream *stream)
{
	const struct order *order = &stream->epoch->order;
	return stream->sampler ? sampler_remaining(stream->sampler, stream->id)
			       : order->samples - order->bound;
}

static bool is_unbound(const struct stream *stream, sample_id sample)
{
	const struct sched_job *job = stream->job;
	uint32_t label = dataset_label(job->source->dataset, sample);
	uint32_t end = job->label_begin[label + 1];
	for (uint32_t position = job->label_begin[label]; position < end; position++)
		if (job_fixed_sample(job, position) == sample)
			return !epoch_has_bound(stream->epoch, position);
	return false;
}

bool stream_contains(const struct stream *stream, sample_id sample)
{
	return stream->sampler ? sampler_contains(stream->sampler, stream->id, sample)
			       : is_unbound(stream, sample);
}

/* Which class a reader will ask for is not known before it does. */
static bool draws_at_open(const struct sched_job *job)
{
	return job->config.layout == LAYOUT_CLASSES;
}

/*
 * --- how far ahead -------------------------------------------------------------------
 *
 * What is drawn ahead takes half of the cache at most, in which a sample that several
 * streams have drawn is counted once. If there is none left of that half, each stream has
 * its own part of another quarter.
 */
static uint64_t largest_tensor(const struct stream *stream)
{
	return stream->job->largest_bytes ? stream->job->largest_bytes : 1;
}

static bool cache_has_room(const struct stream *stream)
{
	struct cache_usage usage = cache_usage(stream->job->sched->cache);
	uint64_t ahead = usage.pinned_bytes + usage.awaited * largest_tensor(stream);
	return ahead + largest_tensor(stream) <= usage.capacity / 2;
}

static uint64_t own_share(const struct stream *stream)
{
	const struct sched *sched = stream->job->sched;
	uint64_t fit = sched->config->cache_bytes / 4 / sched->n_streams /
		       largest_tensor(stream);
	return fit > 0 ? fit : 1;
}

static bool has_room(const struct stream *stream)
{
	return stream->ready && stream->length < stream->job->config.lookahead &&
	       sampler_remaining(stream->sampler, stream->id) > 0 &&
	       (stream->length < own_share(stream) || cache_has_room(stream));
}

/*
 * What is drawn in a round that leaves streams out they have to draw later, and load
 * again if the cache is small. So a stream that is ahead of others takes the second half
 * of its look-ahead in rounds for all; those who read at one speed then stay together.
 */
static bool may_leave_others_out(const struct stream *stream)
{
	return stream->length < (stream->job->config.lookahead + 1) / 2;
}

static bool is_full(const struct stream *stream)
{
	return stream->length == stream->job->config.lookahead;
}

static bool leaves_others_out(const struct stream *stream)
{
	const struct stream *other;
	TAILQ_FOREACH (other, &stream->job->sched->streams, link)
		if (other->sampler == stream->sampler && is_full(other))
			return true;
	return false;
}

static bool wants_round(const struct stream *stream)
{
	return has_room(stream) &&
	       (may_leave_others_out(stream) || !leaves_others_out(stream));
}

enum served how_served_locked(struct space *space, sample_id sample)
{
	switch (cache_state(space->cache, sample)) {
	case CACHE_READY:
		return SERVED_HIT;
	case CACHE_LOADING:
		return SERVED_SHARED;
	case CACHE_ABSENT:
		break;
	}
	struct use *use = use_find_locked(space, sample);
	bool queued = use && use->state != USE_OPEN_ONLY;
	return queued ? SERVED_SHARED : SERVED_DECODED;
}

static void count_draw(enum served served)
{
	stats_add(STAT_DRAWS, 1);
	stats_add(served == SERVED_HIT	    ? STAT_DRAWN_HIT
		  : served == SERVED_SHARED ? STAT_DRAWN_SHARED
					    : STAT_DRAWN_DECODE,
		1);
}

/* Without memory for the pin or the request it is prepared when it is opened; a sampler
 * that has given it takes it for resident, though. */
static struct drawn hold(
	struct stream *stream, sample_id sample, struct aftermath *aftermath)
{
	struct space *space = stream->job->space;
	struct drawn drawn = {
		.sample = sample, .served = how_served_locked(space, sample)};
	cache_need_drop(space->cache, sample);
	drawn.pinned = cache_pin(space->cache, sample) == 0;
	if (drawn.pinned && cache_state(space->cache, sample) == CACHE_ABSENT) {
		struct use *use = use_get_locked(space, sample);
		if (use)
			use_request_locked(use, false, aftermath);
	}
	if (space_has_locked(space, sample))
		space_drawn_locked(space, sample, stream->sampler);
	else
		space_gone_locked(space, sample);
	count_draw(drawn.served);
	return drawn;
}

static void push(struct stream *stream, sample_id sample, struct aftermath *aftermath)
{
	uint32_t size = stream->job->config.lookahead;
	stream->queue[(stream->head + stream->length++) % size] =
		hold(stream, sample, aftermath);
	if (stream->filled < stream->length)
		stream->filled = stream->length;
}

/* One round for all streams of the sampler that have room. false: none has. */
static bool draw_round(
	struct sched *sched, const struct sampler *sampler, struct aftermath *aftermath)
{
	struct stream *stream;
	size_t n = 0;
	TAILQ_FOREACH (stream, &sched->streams, link) {
		if (stream->sampler != sampler || !has_room(stream))
			continue;
		sched->round_streams[n] = stream;
		sched->round_ids[n++] = stream->id;
	}
	if (n == 0)
		return false;
	sampler_draw(sched->round_streams[0]->sampler, sched->round_ids, n,
		sched->round_samples);
	stats_add(STAT_ROUNDS, 1);
	for (size_t i = 0; i < n; i++) {
		ensure(sched->round_samples[i] != SAMPLE_NONE);
		push(sched->round_streams[i], sched->round_samples[i], aftermath);
	}
	return true;
}

static bool is_low(const struct stream *stream)
{
	return !draws_at_open(stream->job) && stream->length * 2 <= stream->filled;
}

void stream_refill_locked(const struct stream *stream, struct aftermath *aftermath)
{
	if (is_low(stream))
		aftermath->refill = stream->epoch;
}

#define STEP_ROUNDS 8

/* Some rounds; false: there is no room for another one. */
static bool fill_some_locked(const struct epoch *epoch, struct aftermath *aftermath)
{
	struct stream *stream = epoch->stream;
	if (!stream || draws_at_open(epoch->job))
		return false;
	for (int i = 0; i < STEP_ROUNDS; i++)
		if (!wants_round(stream) ||
			!draw_round(epoch->job->sched, stream->sampler, aftermath)) {
			stream->filled = has_room(stream) ? stream->job->config.lookahead
							  : stream->length;
			return false;
		}
	return true;
}

void stream_fill(const struct epoch *epoch)
{
	struct sched *sched = epoch->job->sched;
	bool more = true;
	while (more) {
		struct aftermath aftermath;
		aftermath_init(&aftermath);
		lock_take(&sched->lock);
		more = fill_some_locked(epoch, &aftermath);
		sched_unlock(sched, &aftermath);
	}
}

/* An unbound position means that a sample remains, in its label too. */
static sample_id draw_at_open(const struct stream *stream, uint32_t position)
{
	const struct sched_job *job = stream->job;
	if (!stream->sampler)
		return job_fixed_sample(job, position);
	sample_id sample = sampler_draw_within(
		stream->sampler, stream->id, job_label_of(job, position));
	ensure(sample != SAMPLE_NONE);
	return sample;
}

struct drawn stream_take_locked(
	struct stream *stream, uint32_t position, struct aftermath *aftermath)
{
	if (draws_at_open(stream->job))
		return hold(stream, draw_at_open(stream, position), aftermath);
	if (stream->length == 0)
		draw_round(stream->job->sched, stream->sampler, aftermath);
	ensure(stream->length > 0);
	struct drawn drawn = stream->queue[stream->head];
	stream->head = (stream->head + 1) % stream->job->config.lookahead;
	stream->length--;
	return drawn;
}
