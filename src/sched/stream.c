// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/sched_internal.h"
#include "base/ensure.h"
#include "stats/stats.h"

#include <errno.h>

/* Room for every stream's part in a round. */
static int grow_scratch(struct sched *sched, uint32_t n)
{
	stream_id *ids = realloc(sched->round_ids, n * sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	sched->round_ids = ids;
	struct stream **streams = realloc(sched->round_streams, n * sizeof(*streams));
	if (!streams)
		return -ENOMEM;
	sched->round_streams = streams;
	sample_id *samples = realloc(sched->round_samples, n * sizeof(*samples));
	if (!samples)
		return -ENOMEM;
	sched->round_samples = samples;
	return 0;
}

static struct stream *stream_new(struct epoch *epoch)
{
	struct sched_job *job = epoch->job;
	struct stream *stream = calloc(1, sizeof(*stream));
	struct drawn *queue = calloc(job->config.lookahead, sizeof(*queue));
	if (!stream || !queue) {
		free(stream);
		free(queue);
		return NULL;
	}
	*stream = (struct stream){.job = job,
		.epoch = epoch,
		.sampler = job->sampler,
		.joined_as = job->id,
		.id = job->sched->next_stream++,
		.queue = queue};
	return stream;
}

static void stream_free(struct stream *stream)
{
	if (stream)
		free(stream->queue);
	free(stream);
}

/*
 * A job has one stream in a sampler. The epoch that drains beside the running one joins
 * as a job of its own, with the same selection.
 */
#define STAND_IN (UINT32_C(1) << 31)

static int join_stand_in(struct stream *stream)
{
	const struct sched_job *job = stream->job;
	if (stream->epoch != job->draining)
		return 0;
	int err = sampler_join(
		stream->sampler, job->id | STAND_IN, job->space->number, job->selection);
	if (!err)
		stream->joined_as = job->id | STAND_IN;
	return err;
}

static void leave_stand_in(const struct stream *stream)
{
	if (stream->joined_as & STAND_IN)
		sampler_leave(stream->sampler, stream->joined_as);
}

static int insert(struct stream *stream, const roaring_bitmap_t *remaining)
{
	if (!stream->sampler)
		return 0;
	roaring_bitmap_t *copy = roaring_bitmap_copy(remaining);
	if (!copy)
		return -ENOMEM;
	int err = join_stand_in(stream);
	if (err) {
		roaring_bitmap_free(copy);
		return err;
	}
	err = sampler_insert(stream->sampler, stream->id, stream->joined_as, copy);
	if (err)
		leave_stand_in(stream);
	return err;
}

int stream_begin_locked(
	struct epoch *epoch, roaring_bitmap_t *remaining, struct aftermath *aftermath)
{
	struct sched *sched = epoch->job->sched;
	struct stream *stream = stream_new(epoch);
	int err = stream ? grow_scratch(sched, sched->n_streams + 1) : -ENOMEM;
	if (!err)
		err = insert(stream, remaining);
	if (err) {
		roaring_bitmap_free(remaining);
		stream_free(stream);
		return err;
	}
	cache_need_add_all(epoch->job->space->cache, remaining);
	roaring_bitmap_free(remaining);
	epoch->stream = stream;
	epoch->job->idle = false;
	TAILQ_INSERT_TAIL(&sched->streams, stream, link);
	sched->n_streams++;
	stream_refill_locked(stream, aftermath);
	return 0;
}

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

static bool drop_need_if_remaining(uint32_t id, void *context)
{
	struct stream *stream = context;
	if (sampler_contains(stream->sampler, stream->id, id))
		cache_need_drop(stream->job->space->cache, id);
	return true;
}

static void drop_unbound_need(struct stream *stream)
{
	for (uint32_t i = 0; i < stream->job->samples; i++)
		if (!epoch_has_bound(stream->epoch, i))
			cache_need_drop(stream->job->space->cache,
				job_fixed_sample(stream->job, i));
}

static void drop_remaining_need(struct stream *stream)
{
	if (!stream->sampler) {
		drop_unbound_need(stream);
		return;
	}
	roaring_bitmap_t *remaining = sampler_copy_remaining(stream->sampler, stream->id);
	if (!remaining) { /* no memory: slower, but it must be given back */
		roaring_iterate(stream->job->selection, drop_need_if_remaining, stream);
		return;
	}
	cache_need_drop_all(stream->job->space->cache, remaining);
	roaring_bitmap_free(remaining);
}

void stream_end_locked(struct epoch *epoch, struct aftermath *aftermath)
{
	struct sched_job *job = epoch->job;
	struct sched *sched = job->sched;
	struct stream *stream = epoch->stream;
	if (!stream)
		return;
	for (uint32_t i = 0; i < stream->length; i++) {
		struct drawn *drawn =
			&stream->queue[(stream->head + i) % job->config.lookahead];
		if (!drawn->pinned)
			continue;
		cache_unpin(job->space->cache, drawn->sample);
		use_settle_sample_locked(job->space, drawn->sample);
	}
	drop_remaining_need(stream);
	if (stream->sampler) {
		sampler_remove(stream->sampler, stream->id);
		leave_stand_in(stream);
	}
	TAILQ_REMOVE(&sched->streams, stream, link);
	sched->n_streams--;
	stream_free(stream);
	epoch->stream = NULL;
	cache_trim(sched->cache);
	aftermath->kick = true;
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
	return stream->length < stream->job->config.lookahead &&
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

void stream_refill_locked(struct stream *stream, struct aftermath *aftermath)
{
	struct sched *sched = stream->job->sched;
	if (draws_at_open(stream->job))
		return;
	if (stream->length * 2 > stream->filled)
		return;
	while (wants_round(stream) && draw_round(sched, stream->sampler, aftermath))
		;
	stream->filled =
		has_room(stream) ? stream->job->config.lookahead : stream->length;
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
		stream_refill_locked(stream, aftermath);
	ensure(stream->length > 0);
	struct drawn drawn = stream->queue[stream->head];
	stream->head = (stream->head + 1) % stream->job->config.lookahead;
	stream->length--;
	return drawn;
}
