// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "draw/draw_internal.h"

#include <string.h>

/*
 * Lists the samples that trainings still need from this daemon. A training asks for each sample
 * once in an epoch: through one of its ranks here or, if this daemon is the sample's home, through
 * another daemon. Until then the sample is needed. The cache first evicts samples that are not
 * needed: samples for which the training has already asked, and samples with another home for which
 * no rank here will ask (RefCnt for an aggregated cache: JOADER, NeurIPS 2022, appendix E.3).
 *
 * One stream of the training's epoch, the bearer, lists the needed samples in the field `ids` of
 * its strands. A daemon that fetches a sample does not tell for which training: the fetch counts
 * for the oldest epoch that needs the sample. If this guess is wrong, the cache only keeps the
 * sample for a shorter or longer time.
 */

static bool is_bearer(const struct stream *stream)
{
	return stream->training && stream->strands[0].ids;
}

static bool are_ranks(const struct stream *a, const struct stream *b)
{
	return a->training && b->training && a->epoch == b->epoch &&
	       strcmp(a->training, b->training) == 0 && a->n_strands == b->n_strands &&
	       a->strands[0].space == b->strands[0].space;
}

static struct stream *find_bearer(const struct draw *draw, const struct stream *stream)
{
	struct stream *other;
	TAILQ_FOREACH (other, &draw->streams, link)
		if (is_bearer(other) && are_ranks(other, stream))
			return other;
	return NULL;
}

bool draw_is_borne(const struct draw *draw, const struct stream *stream)
{
	return find_bearer(draw, stream) != NULL;
}

void demand_enter(const struct draw *draw, struct stream *stream)
{
	if (find_bearer(draw, stream) == stream)
		return;
	for (size_t i = 0; i < stream->n_strands; i++)
		bitmap_free(&stream->strands[i].ids);
}

static bool take(const struct strand *strand, sample_id id)
{
	return strand->ids && roaring_bitmap_remove_checked(strand->ids, id);
}

bool demand_drawn(const struct draw *draw, const struct stream *stream, sample_id sample)
{
	const struct stream *bearer =
		stream->training ? find_bearer(draw, stream) : stream;
	if (!bearer)
		return false;
	const struct strand *strand = strand_of(bearer, sample);
	return take(strand, sample - strand->first);
}

bool draw_fetched(struct draw *draw, const struct space *space, sample_id id)
{
	const struct stream *stream;
	draw->n_effects = 0;
	TAILQ_FOREACH (stream, &draw->streams, link) {
		const struct strand *strand = strand_in(stream, space);
		if (!stream->training || !strand || !take(strand, id))
			continue;
		struct draw_effect *effect = draw_emit(draw, DRAW_DROP);
		effect->strand = strand;
		effect->id = id;
		return true;
	}
	return false;
}

bool demand_keep(const struct draw *draw, struct stream *stream)
{
	struct stream *heir;
	if (!is_bearer(stream))
		return false;
	TAILQ_FOREACH (heir, &draw->streams, link)
		if (heir != stream && are_ranks(heir, stream))
			break;
	if (!heir)
		return true;
	for (size_t i = 0; i < stream->n_strands; i++) {
		heir->strands[i].ids = stream->strands[i].ids;
		stream->strands[i].ids = NULL;
	}
	return false;
}
