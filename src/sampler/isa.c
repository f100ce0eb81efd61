// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sampler/sampler_internal.h"

/* Independent sampling: each stream draws uniformly, whatever other streams draw. */

static void draw(struct sampler *sampler, size_t m)
{
	for (size_t i = 0; i < m; i++) {
		struct sampler_stream *stream = sampler->round[i];
		uint32_t rank = (uint32_t)rng_below(&sampler->rng, stream->remaining);
		*stream->ret = idset_select(stream->set, rank);
		stream_take(stream, *stream->ret);
	}
}

const struct sampler_ops sampler_isa = {.draw = draw};
