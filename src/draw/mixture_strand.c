// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/lock.h"
#include "draw/draw.h"
#include "edition/edition.h"
#include "sched/sched_internal.h"
#include "supply/supply.h"

/*
 * The stream of a mixture has a strand in the sampler of each of its datasets. It takes
 * part in the rounds of one sampler at a time: the sampler of its next sample. Each
 * remaining sample is equally likely to be the next one: this file draws the dataset, in
 * proportion to the samples that remain of each, and the sampler draws the sample within
 * the dataset.
 */

uint32_t strand_remaining(const struct stream *stream, const struct strand *strand)
{
	return sampler_remaining(strand->sampler, stream->id);
}

struct strand *strand_of(const struct stream *stream, sample_id sample)
{
	const struct edition *edition = stream->edition;
	return &stream->strands[part_of(edition, sample) - edition->parts];
}

const struct strand *strand_in(const struct stream *stream, const struct space *space)
{
	for (size_t i = 0; i < stream->n_strands; i++)
		if (stream->strands[i].part->space == space)
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

void stream_choose_next_locked(struct stream *stream)
{
	lock_assert_held(&stream->job->sched->lock);
	if (stream->n_strands == 1)
		return;
	uint32_t remaining = stream_remaining(stream);
	uint64_t k = remaining > 0 ? rng_below(&stream->rng, remaining) : 0;
	for (size_t i = 0; i < stream->n_strands && remaining > 0; i++) {
		uint32_t n = strand_remaining(stream, &stream->strands[i]);
		if (k < n) {
			stream->next = &stream->strands[i];
			return;
		}
		k -= n;
	}
}
