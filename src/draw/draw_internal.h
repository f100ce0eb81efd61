// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "draw/draw.h"

struct draw_effect *draw_emit(struct draw *draw, enum draw_effect_kind kind);

/* Returns the strand that draws from the sampler, or NULL. */
const struct strand *strand_from(
	const struct stream *stream, const struct sampler *sampler);
/* Chooses at random the strand of the next sample, weighted by the number of samples that each
 * strand has left. */
void stream_choose_next(struct stream *stream);

/* Called when a stream of a training begins to draw. The stream keeps the list of needed samples,
 * unless another stream of this training's epoch keeps it. */
void demand_enter(const struct draw *draw, struct stream *stream);
/* Marks a drawn sample as no longer needed by the training or, if the stream belongs to none, by
 * the stream. Returns false if the sample was not needed. For streams without a sampler. */
bool demand_drawn(const struct draw *draw, const struct stream *stream, sample_id sample);
/* Called when a stream of a training ends. If the stream keeps the list of needed samples, gives
 * the list to another stream of the training's epoch. Returns true if there is no other stream:
 * then the samples must no longer count as needed. */
must_check bool demand_keep(const struct draw *draw, struct stream *stream);
