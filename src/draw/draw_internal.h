// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "draw/draw.h"

/* Shared by the files of the draw engine. */

/* Adds an effect to those of the current event, and returns it. */
struct draw_effect *draw_emit(struct draw *draw, enum draw_effect_kind kind);

void strand_drop_ids(struct strand *strand);

/* --- mixture_strand.c --- */

/* Returns the strand that draws from the sampler, or NULL. */
const struct strand *strand_from(
	const struct stream *stream, const struct sampler *sampler);
/* Chooses the strand of the stream's next sample at random, in proportion to the number of samples
 * that each strand has left. */
void stream_choose_next(struct stream *stream);

/* --- needed.c --- */

/* Called when a stream begins to draw. If another stream of the same training and epoch has the
 * needed ids, drops the ids of this stream. */
void demand_enter(const struct draw *draw, struct stream *stream);
/* Removes a sample that a stream without a sampler has drawn from the stream's ids, or, if the stream
 * is a rank, from those of its training. Returns true if the sample was among them. */
bool demand_drawn(const struct draw *draw, const struct stream *stream, sample_id sample);
/* Called when a stream ends. Passes its ids to another stream of the same training and epoch.
 * Returns true if there is no such stream, so that the need of the ids must be removed. */
must_check bool demand_keep(const struct draw *draw, struct stream *stream);
