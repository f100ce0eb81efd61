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

static struct stream *stream_new(struct sched_job *job)
{
	struct stream *stream = calloc(1, sizeof(*stream));
	struct drawn *queue = calloc(job->config.lookahead, sizeof(*queue));
	if (!stream || !queue) {
		free(stream);
		free(queue);
		return NULL;
	}
	bool shuffled = job->config.order == ORDER_SHUFFLED;
	*stream = (struct stream){.job = job,
		.sampler = shuffled ? job->source->shuffled : job->source->sequential,
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

int stream_begin_locked(
	struct sched_job *job, roaring_bitmap_t *remaining, struct aftermath *aftermath)
{
	struct sched *sched = job->sched;
	roaring_bitmap_t *copy = roaring_bitmap_copy(remaining);
	struct stream *stream = stream_new(job);
	int err = -ENOMEM;
	if (!copy || !stream || grow_scratch(sched, sched->n_streams + 1) != 0)
		goto fail;
	err = sampler_insert(stream->sampler, stream->id, job->id, copy);
	copy = NULL;
	if (err)
		goto fail;
	cache_need_add_all(job->space->cache, remaining);
	roaring_bitmap_free(remaining);
	job->stream = stream;
	job->idle = false;
	TAILQ_INSERT_TAIL(&sched->streams, stream, link);
	sched->n_streams++;
	stream_refill_locked(stream, aftermath);
	return 0;
fail:
	if (copy)
		roaring_bitmap_free(copy);
	roaring_bitmap_free(remaining);
	stream_free(stream);
	return err;
}

static bool drop_need_if_remaining(uint32_t id, void *context)
{
	struct stream *stream = context;
	if (sampler_contains(stream->sampler, stream->id, id))
		cache_need_drop(stream->job->space->cache, id);
	return true;
}

static void drop_remaining_need(struct stream *stream)
{
	roaring_bitmap_t *remaining = sampler_copy_remaining(stream->sampler, stream->id);
	if (!remaining) { /* no memory: slower, but it must be given back */
		roaring_iterate(stream->job->selection, drop_need_if_remaining, stream);
		return;
	}
	cache_need_drop_all(stream->job->space->cache, remaining);
	roaring_bitmap_free(remaining);
}

void stream_end_locked(struct sched_job *job, struct aftermath *aftermath)
{
	struct sched *sched = job->sched;
	struct stream *stream = job->stream;
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
	sampler_remove(stream->sampler, stream->id);
	TAILQ_REMOVE(&sched->streams, stream, link);
	sched->n_streams--;
	stream_free(stream);
	job->stream = NULL;
	cache_trim(sched->cache);
	aftermath->kick = true;
}

/* Look-ahead shrinks so that what all streams have drawn fits in half of the cache. */
static uint32_t room_limit(const struct stream *stream)
{
	const struct sched_job *job = stream->job;
	uint64_t each = job->largest_bytes ? job->largest_bytes : 1;
	uint64_t fit = job->sched->config->cache_bytes / 2 / job->sched->n_streams / each;
	if (fit < 1)
		return 1;
	return fit < job->config.lookahead ? (uint32_t)fit : job->config.lookahead;
}

static bool has_room(const struct stream *stream)
{
	return stream->length < room_limit(stream) &&
	       sampler_remaining(stream->sampler, stream->id) > 0;
}

static enum served how_served(struct space *space, sample_id sample)
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

/* Without memory for the pin or the request it is prepared when it is opened. */
static void push(struct stream *stream, sample_id sample, struct aftermath *aftermath)
{
	struct sched_job *job = stream->job;
	struct space *space = job->space;
	struct drawn drawn = {.sample = sample, .served = how_served(space, sample)};
	cache_need_drop(space->cache, sample);
	drawn.pinned = cache_pin(space->cache, sample) == 0;
	if (drawn.pinned && cache_state(space->cache, sample) == CACHE_ABSENT) {
		struct use *use = use_get_locked(space, sample);
		if (use)
			use_request_locked(use, false, aftermath);
	}
	stream->queue[(stream->head + stream->length++) % job->config.lookahead] = drawn;
	count_draw(drawn.served);
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
	if (stream->length * 2 > room_limit(stream))
		return;
	while (has_room(stream) && draw_round(sched, stream->sampler, aftermath))
		;
}

bool stream_take_locked(
	struct stream *stream, struct drawn *ret, struct aftermath *aftermath)
{
	if (stream->length == 0)
		stream_refill_locked(stream, aftermath);
	if (stream->length == 0)
		return false;
	*ret = stream->queue[stream->head];
	stream->head = (stream->head + 1) % stream->job->config.lookahead;
	stream->length--;
	return true;
}
