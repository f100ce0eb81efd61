// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "draw/draw_internal.h"

/* The stream of a mixture takes part only in draws of the sampler from which its next sample comes.
 * The dataset of this sample is chosen at random, weighted by the number of samples that each
 * dataset has left, so that each remaining sample is equally likely to be the next. */

uint32_t stream_remaining(const struct stream *stream)
{
	uint32_t n = 0;
	if (!stream->next->sampler)
		return stream->unbound;
	for (size_t i = 0; i < stream->n_strands; i++)
		n += sampler_remaining(stream->strands[i].sampler, stream->id);
	return n;
}

struct strand *strand_of(const struct stream *stream, sample_id sample)
{
	size_t i = stream->n_strands - 1;
	while (i > 0 && stream->strands[i].first > sample)
		i--;
	return &stream->strands[i];
}

const struct strand *strand_in(const struct stream *stream, const struct space *space)
{
	for (size_t i = 0; i < stream->n_strands; i++)
		if (stream->strands[i].space == space)
			return &stream->strands[i];
	return NULL;
}

const struct strand *strand_from(
	const struct stream *stream, const struct sampler *sampler)
{
	for (size_t i = 0; i < stream->n_strands; i++)
		if (stream->strands[i].sampler == sampler)
			return &stream->strands[i];
	return NULL;
}

bool strand_needs(const struct stream *stream, const struct strand *strand, sample_id id)
{
	if (strand->ids)
		return roaring_bitmap_contains(strand->ids, id);
	if (strand->set)
		return sampler_set_contains(strand->set, id);
	return strand->sampler && sampler_contains(strand->sampler, stream->id, id);
}

void stream_choose_next(struct stream *stream)
{
	if (stream->n_strands == 1)
		return;
	uint64_t k = stream->unbound > 0 ? rng_below(&stream->rng, stream->unbound) : 0;
	for (size_t i = 0; i < stream->n_strands && stream->unbound > 0; i++) {
		uint32_t n = sampler_remaining(stream->strands[i].sampler, stream->id);
		if (k < n) {
			stream->next = &stream->strands[i];
			return;
		}
		k -= n;
	}
}
