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

/* Called when a stream begins to draw. Among the streams of a training's epoch, only one keeps the
 * ids of the samples that the training still needs. If another stream already keeps them, the
 * function drops the ids of this stream. */
void demand_enter(const struct draw *draw, struct stream *stream);
/* Removes a drawn sample from the set of samples that are still needed. If the stream is a rank,
 * this is the set of its training; otherwise it is the stream's own set. Returns true if the sample
 * was in the set. Only for streams without a sampler. */
bool demand_drawn(const struct draw *draw, const struct stream *stream, sample_id sample);
/* Called when a stream of a training ends. If the stream keeps the ids of the samples that the
 * training still needs, passes the ids to another stream of the training's epoch. Returns true if
 * there is no other stream. The samples must then no longer count as needed. */
must_check bool demand_keep(const struct draw *draw, struct stream *stream);
