// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sampler/sampler_internal.h"

/* No shuffling: dataset order, for validation sets. */

static void draw(struct sampler *sampler, size_t m)
{
	for (size_t i = 0; i < m; i++) {
		struct stream *stream = sampler->round[i];
		*stream->ret = roaring_bitmap_minimum(stream->own.ids);
		vertex_take(&stream->own, *stream->ret);
		stream->remaining--;
	}
}

const struct sampler_ops sampler_sequential = {
	.insert = plain_insert,
	.remove = plain_remove,
	.draw = draw,
	.contains = plain_contains,
	.copy = plain_copy,
	.validate = plain_validate,
};
