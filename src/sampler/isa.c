// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "sampler/sampler_internal.h"

/* Independent sampling: each stream draws uniformly from what it has left. */

int plain_insert(struct sampler *sampler, struct stream *stream)
{
	(void)sampler;
	(void)stream;
	return 0;
}

void plain_remove(struct sampler *sampler, struct stream *stream)
{
	(void)sampler;
	(void)stream;
}

bool plain_contains(
	const struct sampler *sampler, const struct stream *stream, sample_id sample)
{
	(void)sampler;
	return vertex_contains(&stream->own, sample);
}

roaring_bitmap_t *plain_copy(const struct sampler *sampler, const struct stream *stream)
{
	(void)sampler;
	return roaring_bitmap_copy(stream->own.ids);
}

void plain_validate(const struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->n; i++) {
		const struct stream *stream = sampler->by_id[i];
		ensure(stream->own.size == stream->remaining);
		ensure(roaring_bitmap_get_cardinality(stream->own.ids) ==
			stream->remaining);
	}
}

static void draw(struct sampler *sampler, size_t m)
{
	for (size_t i = 0; i < m; i++) {
		struct stream *stream = sampler->round[i];
		uint32_t rank = (uint32_t)rng_below(&sampler->rng, stream->remaining);
		*stream->ret = vertex_select(&stream->own, rank);
		vertex_take(&stream->own, *stream->ret);
		stream->remaining--;
	}
}

const struct sampler_ops sampler_isa = {
	.insert = plain_insert,
	.remove = plain_remove,
	.draw = draw,
	.contains = plain_contains,
	.copy = plain_copy,
	.validate = plain_validate,
};
