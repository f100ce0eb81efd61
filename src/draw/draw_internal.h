// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "draw/draw.h"

/* Shared by the files of the draw engine. */

/* Adds an effect to those of the event. */
struct draw_effect *draw_emit(struct draw *draw, enum draw_effect_kind kind);

void strand_drop_ids(struct strand *strand);

/* --- mixture_strand.c --- */

/* Returns the strand that draws from the sampler, or NULL. */
const struct strand *strand_from(
	const struct stream *stream, const struct sampler *sampler);
/* Chooses the strand of the stream's next sample, in proportion to the number of samples
 * that remain to each. */
void stream_choose_next(struct stream *stream);

/* --- demand.c --- */

/* Drops the ids of a stream that begins to draw, if another stream of the training's epoch
 * has them. */
void demand_enter(const struct draw *draw, struct stream *stream);
/* Drops the need of a sample that a stream without a sampler was given: its own, or that of
 * the training. */
void demand_drawn(struct draw *draw, const struct stream *stream, sample_id sample);
/* Hands the ids of a stream that ends to another stream of the training's epoch. Returns
 * true if there is none, and the need of these ids has to be removed. */
must_check bool demand_keep(const struct draw *draw, struct stream *stream);
