// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "draw/draw.h"

/* Shared by the files of the draw engine. */

/* Adds an effect to the current event. */
struct draw_effect *draw_emit(struct draw *draw, enum draw_effect_kind kind);

void strand_drop_ids(struct strand *strand);

/* --- mixture_strand.c --- */

/* Returns the strand that draws from the sampler, or NULL. */
const struct strand *strand_from(
	const struct stream *stream, const struct sampler *sampler);
/* Chooses the strand for the stream's next sample, in proportion to the samples that each strand
 * has left. */
void stream_choose_next(struct stream *stream);

/* --- needed.c --- */

/* Called when a stream begins to draw. If another stream of the training's epoch has the ids, drops
 * those of this stream. */
void demand_enter(const struct draw *draw, struct stream *stream);
/* Removes the need of a sample that a stream without a sampler got: the need of the stream, or of
 * the training. */
void demand_drawn(struct draw *draw, const struct stream *stream, sample_id sample);
/* Called when a stream ends. Passes its ids to another stream of the training's epoch. Returns true
 * if there is none, so that the need of the ids must be removed. */
must_check bool demand_keep(const struct draw *draw, struct stream *stream);
