// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/types.h"
#include "config/config.h"

#include <roaring/roaring.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Sampling for several streams together: events in, decisions out. No clock, no threads,
 * no I/O: the same seed and the same events give the same decisions.
 *
 * Each stream is given every id of its set once, in an order that by itself is uniformly
 * random (dsa, isa) or ascending (sequential). dsa: JOADER (NeurIPS 2022), Algorithm 1
 * and 2 with the dependent sampling tree of section 4; isa: each stream by itself.
 *
 *   Flow: sched inserts a stream when an epoch starts, draws rounds, removes the stream.
 *   Owns: the sets handed to sampler_insert.
 *   Threads: caller serialises.
 *   Errors: -ENOMEM, -EEXIST from insert; the rest can't fail; an unknown stream is a
 * bug.
 */

struct sampler;

must_check int sampler_new(enum sampler_kind kind, uint64_t seed, struct sampler **ret);
void sampler_free(struct sampler **sampler);

/* Takes over `remaining` (R_j: what the stream has not been given), also on failure. */
must_check int sampler_insert(
	struct sampler *sampler, stream_id stream, roaring_bitmap_t *remaining);
void sampler_remove(struct sampler *sampler, stream_id stream);

/*
 * One round (sampling.md's "round") for n distinct streams, in any order: ret[i] is the
 * sample for streams[i], SAMPLE_NONE where nothing remains. What is given is taken from
 * R.
 */
void sampler_draw(
	struct sampler *sampler, const stream_id *streams, size_t n, sample_id *ret);

uint32_t sampler_remaining(const struct sampler *sampler, stream_id stream); /* |R_j| */
bool sampler_contains(const struct sampler *sampler, stream_id stream, sample_id sample);

/* A copy of R_j, owned by the caller; NULL when there is no memory. */
roaring_bitmap_t *sampler_copy_remaining(const struct sampler *sampler, stream_id stream);

/* Aborts with the state dumped when an invariant does not hold. For tests. */
void sampler_validate(const struct sampler *sampler);
