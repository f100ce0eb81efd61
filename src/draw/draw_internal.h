// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "draw/draw.h"

struct draw_effect *draw_emit(struct draw *draw, enum draw_effect_kind kind);

void strand_drop_ids(struct strand *strand);

/* --- mixture_strand.c --- */

/* NULL: no strand draws from the sampler. */
const struct strand *strand_from(
	const struct stream *stream, const struct sampler *sampler);
/* Chooses the next sample's strand at random, weighted by the samples that are left. */
void stream_choose_next(struct stream *stream);

/* --- needed.c --- */

/* A stream of a training begins to draw: keeps its samples that are still needed, unless
 * another stream of this training's epoch keeps them. */
void demand_enter(const struct draw *draw, struct stream *stream);
/* Marks a drawn sample as no longer needed, by the rank's training or by the stream
 * itself. False: it was not needed. For streams without a sampler. */
bool demand_drawn(const struct draw *draw, const struct stream *stream, sample_id sample);
/* A stream of a training ends: leaves its needed samples to another stream of the
 * training's epoch. True: there is none, and the samples must no longer count as
 * needed. */
must_check bool demand_keep(const struct draw *draw, struct stream *stream);
