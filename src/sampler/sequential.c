// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sampler/sampler_internal.h"

/* Each stream gets its samples in dataset order, for validation sets. */

static void draw(struct sampler *sampler, size_t m)
{
	for (size_t i = 0; i < m; i++) {
		struct sampler_stream *stream = sampler->round[i];
		*stream->ret = idset_select(stream->set, 0);
		stream_take(stream, *stream->ret);
	}
}

const struct sampler_ops sampler_sequential = {.draw = draw};
