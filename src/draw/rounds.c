// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "draw/draw_internal.h"

/* A round draws one sample for each stream that takes part. When half of a stream's drawn samples
 * are left (DRAW_LOW), the caller draws rounds as long as the stream wants more. */

/* Tells whether the cache has room for another drawn sample. The drawn samples of all streams
 * together may fill half of the cache; a sample that several streams have drawn counts once. */
static bool cache_has_room(const struct stream *stream, const struct ahead_cache *cache)
{
	uint64_t held = cache->pinned_bytes + cache->awaited * stream->tensor_bytes;
	return held + stream->tensor_bytes <= cache->capacity / 2;
}

/* Returns the number of samples, at least one, that the stream may have ahead even if the drawn
 * samples fill half of the cache. All streams together take at most a quarter of the cache in
 * this way; they take more only if a quarter has no room for one sample of each stream. */
static uint64_t own_share(const struct draw *draw, const struct stream *stream,
	const struct ahead_cache *cache)
{
	uint64_t fit = cache->capacity / 4 / draw->n_streams / stream->tensor_bytes;
	return fit > 0 ? fit : 1;
}

static bool may_draw_more(const struct stream *stream)
{
	return stream->ready && stream->ahead < stream->next->lookahead &&
	       stream->unbound > 0;
}

static bool has_room(const struct draw *draw, const struct stream *stream,
	const struct ahead_cache *cache)
{
	return may_draw_more(stream) &&
	       (cache_has_room(stream, cache) ||
		       stream->ahead < own_share(draw, stream, cache));
}

/* Tells whether the stream takes part in a round that another stream or an open has begun. A stream
 * without room takes part, too, if its next open binds more samples than the stream has ahead. That
 * open has to draw the missing samples in any case. If they are drawn now, jobs of equal speed,
 * which open their batches shortly after each other, draw the same samples. */
static bool may_join(const struct draw *draw, const struct stream *stream,
	const struct ahead_cache *cache)
{
	return has_room(draw, stream, cache) ||
	       (may_draw_more(stream) && stream->ahead < stream->next->at_once);
}

static bool another_is_full(const struct draw *draw, const struct sampler *sampler)
{
	const struct stream *other;
	TAILQ_FOREACH (other, &draw->streams, link)
		if (other->ahead >= other->next->lookahead && strand_from(other, sampler))
			return true;
	return false;
}

/* Tells whether the stream begins a round now. A stream draws the second half of its look-ahead
 * only while no other stream of the sampler has drawn its full look-ahead. A full stream could not
 * take part in the round; if the cache is small, it would later load the samples of the round
 * again. So streams of equal speed stay together. */
static bool wants_round(const struct draw *draw, const struct stream *stream,
	const struct ahead_cache *cache)
{
	bool first_half = stream->ahead < (stream->next->lookahead + 1) / 2;
	return has_room(draw, stream, cache) &&
	       (first_half || !another_is_full(draw, stream->next->sampler));
}

static void hold(struct draw *draw, struct stream *stream, const struct strand *strand,
	sample_id id)
{
	ensure(id != SAMPLE_NONE);
	struct draw_effect *effect = draw_emit(draw, DRAW_DRAWN);
	effect->drops = strand->sampler || demand_drawn(draw, stream, strand->first + id);
	effect->stream = stream;
	effect->strand = strand;
	effect->id = id;
	effect->sample = strand->first + id;
	stream->unbound--;
	stream->ahead++;
	if (stream->filled < stream->ahead)
		stream->filled = stream->ahead;
}

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

/* Returns the sampler for the next round: usually the sampler A of the stream's next sample. But a
 * mixture may have samples left in A, want a round, and have its next sample in another sampler B.
 * Then returns B: after a round of B, the mixture may be able to take part in rounds of A. */
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
	/* DRAW_LOW follows when half of `filled` samples are left. If the stream has room, it has
	 * only stopped to wait for other streams: `filled` becomes its full look-ahead. If it has
	 * no room, `filled` becomes the number of samples that it has ahead. */
	stream->filled =
		has_room(draw, stream, cache) ? stream->next->lookahead : stream->ahead;
	return false;
}

/* The opened position is not bound yet. So the stream has a sample left to draw, and, if the job's
 * positions have labels, a sample with the position's label. */
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
	draw->n_effects = 0;
	if (feed->n == 0 || !has_room(draw, stream, cache))
		return false;
	sample_id sample = feed_take(feed);
	const struct strand *strand = strand_of(stream, sample);
	hold(draw, stream, strand, sample - strand->first);
	return true;
}

void draw_bound(
	struct draw *draw, struct stream *stream, uint32_t ahead, uint32_t unbound)
{
	draw->n_effects = 0;
	stream->ahead = ahead;
	stream->unbound = unbound;
	if (!stream->at_open && ahead * 2 <= stream->filled)
		draw_emit(draw, DRAW_LOW)->stream = stream;
}
