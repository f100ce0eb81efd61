// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "draw/draw_internal.h"

/* --- how far ahead: the facts; lookahead.c has the rules ---------------------------------- */

static struct ahead ahead_of(const struct draw *draw, const struct stream *stream,
	const struct ahead_cache *cache)
{
	return (struct ahead){.may_draw = stream->ready,
		.lookahead = stream->next->lookahead,
		.at_once = stream->next->at_once,
		.length = stream->ahead,
		.filled = stream->filled,
		.remaining = stream_remaining(stream),
		.tensor_bytes = stream->tensor_bytes,
		.streams = draw->n_streams,
		.cache = *cache};
}

static bool may_join(const struct draw *draw, const struct stream *stream,
	const struct ahead_cache *cache)
{
	struct ahead ahead = ahead_of(draw, stream, cache);
	return ahead_may_join(&ahead);
}

/* Tells whether a stream that draws from the sampler has a full look-ahead. */
static bool another_is_full(const struct draw *draw, const struct sampler *sampler)
{
	const struct stream *other;
	TAILQ_FOREACH (other, &draw->streams, link) {
		const struct ahead ahead = {
			.lookahead = other->next->lookahead, .length = other->ahead};
		if (ahead_is_full(&ahead) && strand_from(other, sampler))
			return true;
	}
	return false;
}

static bool wants_round(const struct draw *draw, const struct stream *stream,
	const struct ahead_cache *cache)
{
	struct ahead ahead = ahead_of(draw, stream, cache);
	return ahead_has_room(&ahead) &&
	       ahead_wants_round(&ahead, another_is_full(draw, stream->next->sampler));
}

/* --- drawing ------------------------------------------------------------------------------ */

/* Adds the drawn sample to the stream's look-ahead. */
static void hold(struct draw *draw, struct stream *stream, const struct strand *strand,
	sample_id id)
{
	struct draw_effect *effect;
	ensure(id != SAMPLE_NONE);
	if (!strand->sampler) {
		demand_drawn(draw, stream, strand->first + id);
	} else {
		effect = draw_emit(draw, DRAW_DROP);
		effect->space = strand->space;
		effect->id = id;
	}
	effect = draw_emit(draw, DRAW_DRAWN);
	effect->stream = stream;
	effect->strand = strand;
	effect->space = strand->space;
	effect->id = id;
	effect->sample = strand->first + id;
	stream->unbound--;
	stream->ahead++;
	if (stream->filled < stream->ahead)
		stream->filled = stream->ahead;
}

/* Draws one round for all streams that may join it and whose next sample comes from the sampler.
 * false: there is no such stream. */
static bool draw_round(
	struct draw *draw, struct sampler *sampler, const struct ahead_cache *cache)
{
	struct stream *stream;
	size_t n = 0;
	TAILQ_FOREACH (stream, &draw->streams, link) {
		if (stream->next->sampler != sampler || !may_join(draw, stream, cache))
			continue;
		draw->round_streams[n] = stream;
		draw->round_ids[n++] = stream->id;
	}
	if (n == 0)
		return false;
	sampler_draw(sampler, draw->round_ids, n, draw->round_samples);
	for (size_t i = 0; i < n; i++) {
		stream = draw->round_streams[i];
		hold(draw, stream, stream->next, draw->round_samples[i]);
		stream_choose_next(stream);
	}
	return true;
}

/* Returns the sampler of the stream's next round. If another stream wants a round and could join
 * this one, but its next sample comes from another sampler, returns that sampler first, because
 * rounds of more streams share more. */
static struct sampler *choose_sampler(const struct draw *draw,
	const struct stream *stream, const struct ahead_cache *cache)
{
	struct sampler *sampler = stream->next->sampler;
	const struct stream *other;
	TAILQ_FOREACH (other, &draw->streams, link) {
		const struct strand *strand = strand_from(other, sampler);
		if (strand && strand != other->next &&
			sampler_remaining(sampler, other->id) > 0 &&
			wants_round(draw, other, cache))
			return other->next->sampler;
	}
	return sampler;
}

bool draw_go_on(struct draw *draw, struct stream *stream, const struct ahead_cache *cache)
{
	draw->n_effects = 0;
	if (wants_round(draw, stream, cache) &&
		draw_round(draw, choose_sampler(draw, stream, cache), cache))
		return true;
	struct ahead ahead = ahead_of(draw, stream, cache);
	stream->filled = ahead_refilled(&ahead);
	return false;
}

/* Can't fail: the position is not bound, so at least one sample is left, also with its label. */
void draw_asked(struct draw *draw, struct stream *stream, uint32_t label, sample_id fixed,
	const struct ahead_cache *cache)
{
	const struct strand *strand = stream->next;
	draw->n_effects = 0;
	if (!stream->at_open)
		ensure(draw_round(draw, strand->sampler, cache));
	else if (fixed != SAMPLE_NONE)
		hold(draw, stream, strand, fixed - strand->first);
	else
		hold(draw, stream, strand,
			sampler_draw_within(strand->sampler, stream->id, label));
}

bool draw_fed(struct draw *draw, struct stream *stream, struct feed *feed,
	const struct ahead_cache *cache)
{
	struct ahead ahead = ahead_of(draw, stream, cache);
	draw->n_effects = 0;
	if (feed->n == 0 || !ahead_has_room(&ahead))
		return false;
	sample_id sample = feed_take(feed);
	const struct strand *strand = strand_of(stream, sample);
	hold(draw, stream, strand, sample - strand->first);
	return true;
}

void draw_bound(
	struct draw *draw, struct stream *stream, uint32_t ahead, uint32_t unbound)
{
	const struct ahead low = {.length = ahead, .filled = stream->filled};
	draw->n_effects = 0;
	stream->ahead = ahead;
	stream->unbound = unbound;
	if (!stream->at_open && ahead_is_low(&low))
		draw_emit(draw, DRAW_LOW)->stream = stream;
}
