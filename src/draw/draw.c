// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/array_grow.h"
#include "draw/draw_internal.h"

#include <errno.h>
#include <stdlib.h>

/* If an event has inserted or removed a stream, the caller calls sampler_settle for the stream's
 * samplers until it returns true. From then on the sampler `exchange` knows which samples in the
 * cache each stream can get. */

void draw_init(struct draw *draw)
{
	*draw = (struct draw){0};
	TAILQ_INIT(&draw->streams);
	TAILQ_INIT(&draw->counted);
}

void draw_free(struct draw *draw)
{
	free(draw->effects);
	free(draw->round_ids);
	free(draw->round_streams);
	free(draw->round_samples);
}

void draw_drop_samples(struct stream *stream)
{
	for (size_t i = 0; i < stream->n_strands; i++) {
		sampler_set_free(&stream->strands[i].set);
		bitmap_free(&stream->strands[i].ids);
	}
}

struct draw_effect *draw_emit(struct draw *draw, enum draw_effect_kind kind)
{
	struct draw_effect *effect = &draw->effects[draw->n_effects++];
	*effect = (struct draw_effect){.kind = kind};
	return effect;
}

struct stream *draw_find(const struct draw *draw, job_id job, uint32_t epoch)
{
	struct stream *stream;
	TAILQ_FOREACH (stream, &draw->streams, link)
		if (stream->job == job && stream->epoch == epoch)
			return stream;
	return NULL;
}

bool draw_draws_for(const struct draw *draw, job_id job)
{
	const struct stream *stream;
	TAILQ_FOREACH (stream, &draw->streams, link)
		if (stream->job == job)
			return true;
	return false;
}

void draw_count(struct draw *draw, struct stream *stream)
{
	TAILQ_INSERT_TAIL(&draw->counted, stream, link);
}

/* Makes room for n streams and n effects: an event has at most one effect per stream. -ENOMEM */
static int reserve(struct draw *draw, size_t n)
{
	bool has_room = array_resize(draw->round_ids, n) &&
			array_resize(draw->round_streams, n) &&
			array_resize(draw->round_samples, n) &&
			array_resize(draw->effects, n);
	return has_room ? 0 : -ENOMEM;
}

/* A job has at most one stream in a sampler. While the stream of its previous epoch still draws,
 * the stream of its next epoch joins the sampler under another job id, the stand-in. */
#define STAND_IN (UINT32_C(1) << 31)

static bool has_other_stream(const struct draw *draw, const struct stream *stream)
{
	const struct stream *other;
	TAILQ_FOREACH (other, &draw->streams, link)
		if (other->job == stream->job && other->edition == stream->edition &&
			!(other->joined_as & STAND_IN))
			return true;
	return false;
}

static void leave_stand_in(const struct stream *stream, const struct strand *strand)
{
	if (stream->joined_as & STAND_IN)
		sampler_leave(strand->sampler, stream->joined_as);
}

static int insert_strand(const struct stream *stream, struct strand *strand)
{
	int err = 0;
	if (stream->joined_as & STAND_IN)
		err = sampler_join(strand->sampler, stream->joined_as, strand->number,
			strand->selection);
	if (err)
		return err;
	struct sampler_set *set = strand->set;
	strand->set = NULL;
	err = sampler_insert_set(strand->sampler, stream->id, stream->joined_as, set);
	if (err)
		leave_stand_in(stream, strand);
	return err;
}

static void remove_strand(const struct stream *stream, struct strand *strand)
{
	strand->set = sampler_remove_set(strand->sampler, stream->id);
	leave_stand_in(stream, strand);
}

static int insert(struct draw *draw, struct stream *stream)
{
	int err = reserve(draw, draw->n_streams + 1);
	stream->id = draw->next_id++;
	stream->joined_as = stream->job;
	stream->next = stream->strands;
	if (err || !stream->next->sampler)
		return err;
	if (has_other_stream(draw, stream))
		stream->joined_as |= STAND_IN;
	size_t n = 0;
	for (; n < stream->n_strands && !err; n++)
		err = insert_strand(stream, &stream->strands[n]);
	for (n -= err != 0; err && n > 0; n--)
		remove_strand(stream, &stream->strands[n - 1]);
	return err;
}

int draw_enter(struct draw *draw, struct stream *stream, uint32_t ahead, uint32_t unbound)
{
	int err = insert(draw, stream);
	if (err)
		return err;
	stream->ahead = ahead;
	stream->unbound = unbound;
	TAILQ_REMOVE(&draw->counted, stream, link);
	TAILQ_INSERT_TAIL(&draw->streams, stream, link);
	draw->n_streams++;
	if (stream->training)
		demand_enter(draw, stream);
	for (size_t i = 0; i < stream->n_strands && stream->next->sampler; i++)
		bitmap_free(&stream->strands[i].ids);
	uint64_t where = rng_mix(stream->epoch, unbound);
	rng_seed(&stream->rng, rng_mix(draw->seed, rng_mix(stream->job, where)));
	stream_choose_next(stream);
	return 0;
}

void draw_ready(struct stream *stream, bool ready)
{
	stream->ready = ready;
}

void draw_give_up(struct stream *stream)
{
	stream->leaves = true;
}

/* Removes the stream from its samplers. Returns true if the cache still counts samples as needed
 * for this stream. */
static bool remove_from_samplers(struct draw *draw, struct stream *stream)
{
	bool remains = stream->unbound > 0;
	if (stream->training)
		return demand_keep(draw, stream);
	for (size_t i = 0; i < stream->n_strands && stream->next->sampler; i++)
		remove_strand(stream, &stream->strands[i]);
	return remains;
}

void draw_end(struct draw *draw, struct stream *stream)
{
	draw->n_effects = 0;
	TAILQ_REMOVE(&draw->streams, stream, link);
	draw->n_streams--;
	stream->leaves = remove_from_samplers(draw, stream);
	if (stream->leaves)
		TAILQ_INSERT_TAIL(&draw->counted, stream, link);
	draw_emit(draw, stream->leaves ? DRAW_LEAVE : DRAW_GONE)->stream = stream;
}

static struct stream *find_leaving(const struct draw *draw)
{
	struct stream *stream;
	TAILQ_FOREACH (stream, &draw->counted, link)
		if (stream->leaves)
			return stream;
	return NULL;
}

bool draw_any_leaves(const struct draw *draw)
{
	return find_leaving(draw) != NULL;
}

struct stream *draw_take_leaving(struct draw *draw)
{
	struct stream *stream = find_leaving(draw);
	if (stream)
		stream->leaves = false;
	return stream;
}

void draw_left(struct draw *draw, struct stream *stream)
{
	TAILQ_REMOVE(&draw->counted, stream, link);
}
