// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "draw/draw.h"

/* Functions that several files of the draw engine use. */

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

/* Called when a stream begins to draw. Only one stream of a training's epoch has the ids of the
 * samples that the training still needs: if another stream has them, drops the ids of this
 * stream. */
void demand_enter(const struct draw *draw, struct stream *stream);
/* Removes a drawn sample from the ids of the samples that are still needed: from the stream's ids,
 * or, if the stream is a rank, from those of its training. The stream has no sampler. Returns true
 * if the sample was among the ids. */
bool demand_drawn(const struct draw *draw, const struct stream *stream, sample_id sample);
/* Called when a stream of a training ends. If it has the ids of the samples that the training still
 * needs, passes them to another stream of the training's epoch. Returns true if there is no such
 * stream, so that these samples must no longer count as needed. */
must_check bool demand_keep(const struct draw *draw, struct stream *stream);
