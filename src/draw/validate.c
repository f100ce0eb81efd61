// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "draw/draw_internal.h"

/* draws: the stream is in draw->streams */
static void validate_strands(const struct stream *stream, bool draws)
{
	for (size_t i = 0; i < stream->n_strands; i++) {
		const struct strand *strand = &stream->strands[i];
		bool sampled = strand->sampler != NULL;
		ensure(i == 0 || strand->first > stream->strands[i - 1].first);
		ensure(sampled == (stream->strands[0].sampler != NULL));
		ensure(!sampled || !stream->training);
		if (!draws)
			continue;
		ensure(!strand->set && (!strand->ids || !sampled));
		ensure(strand->at_once > 0 && strand->lookahead > 0);
		if (sampled)
			ensure(sampler_remaining(strand->sampler, stream->id) <=
				roaring_bitmap_get_cardinality(strand->selection));
	}
}

static bool are_distinct(const struct stream *a, const struct stream *b)
{
	if (a->id == b->id)
		return false;
	if (a->job != b->job)
		return true;
	bool same_sampler = a->edition == b->edition && a->next->sampler;
	return a->epoch != b->epoch && (!same_sampler || a->joined_as != b->joined_as);
}

static void validate_stream(const struct draw *draw, const struct stream *stream)
{
	const struct stream *other;
	validate_strands(stream, true);
	TAILQ_FOREACH (other, &draw->streams, link)
		ensure(other == stream || are_distinct(other, stream));
	ensure(!stream->leaves && stream->id < draw->next_id);
	ensure(stream->next >= stream->strands &&
		stream->next < stream->strands + stream->n_strands);
	if (stream->next->sampler && stream_remaining(stream) > 0)
		ensure(sampler_remaining(stream->next->sampler, stream->id) > 0);
	if (stream->next->sampler)
		ensure(stream_remaining(stream) == stream->unbound);
	ensure(stream->ahead == 0 || stream->ready || stream->filled > 0);
	ensure(stream->tensor_bytes > 0);
}

void draw_validate(const struct draw *draw)
{
	const struct stream *stream;
	uint32_t n = 0;
	TAILQ_FOREACH (stream, &draw->streams, link) {
		validate_stream(draw, stream);
		n++;
	}
	ensure(n == draw->n_streams);
	TAILQ_FOREACH (stream, &draw->counted, link)
		validate_strands(stream, false);
}
