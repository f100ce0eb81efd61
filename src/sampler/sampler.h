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
 * random (dsa, isa, exchange) or ascending (sequential). dsa: JOADER (NeurIPS 2022),
 * Algorithm 1 and 2; isa: each stream by itself; exchange: a sample that is not in the
 * cache is exchanged for one that is, among samples that the same jobs have (their
 * membership class, and their label if labels are given), and streams of a round draw
 * the same class as often as they can.
 *
 *   Flow: a job joins; a stream is inserted when an epoch of it starts, rounds are drawn,
 *         the stream is removed; the job leaves. Residency is reported as it changes.
 *   Owns: the sets handed to sampler_insert.
 *   Threads: caller serialises, but for sets outside of a sampler: filling, reading and
 *         freeing them takes long if they are large, and needs no lock.
 *   Errors: -ENOMEM, -EEXIST from join and insert; the rest can't fail; an unknown stream
 *         or job is a bug.
 */

struct sampler;

must_check int sampler_new(enum sampler_kind kind, uint64_t seed, struct sampler **ret);
/*
 * An exchange sampler that exchanges only within a label: labels[id] for ids below n_ids,
 * copied. It serves sampler_draw_within too.
 */
must_check int sampler_new_labelled(
	uint64_t seed, const uint32_t *labels, uint32_t n_ids, struct sampler **ret);
void sampler_free(struct sampler **sampler);

/*
 * A job comes: selection (D_j, copied as far as it is needed) decides about membership
 * classes; space tells whose residency counts for it: jobs of equal preparation have the
 * same. Engines without membership classes ignore it. What a job has divided stays
 * divided after it has left, as long as a stream or a resident remembers it.
 */
must_check int sampler_join(struct sampler *sampler, job_id job, uint32_t space,
	const roaring_bitmap_t *selection);
void sampler_leave(struct sampler *sampler, job_id job); /* it has no stream any more */

/*
 * A stream of a job that has joined. Takes over `remaining` (R_j: what the stream has not
 * been given; a subset of D_j), also on failure. exchange: one stream at a time for each
 * job, -EEXIST otherwise.
 */
must_check int sampler_insert(struct sampler *sampler, stream_id stream, job_id job,
	roaring_bitmap_t *remaining);
void sampler_remove(struct sampler *sampler, stream_id stream);

/*
 * R_j as this sampler keeps it. To make one, empty, is a matter of the caller's lock; to
 * fill it takes long and needs no lock, nor the sampler. If jobs come meanwhile, exchange
 * has a part of that to do again when the set is inserted.
 */
struct sampler_set;
must_check int sampler_set_new(const struct sampler *sampler, struct sampler_set **ret);
must_check int sampler_set_fill(
	struct sampler_set *set, const roaring_bitmap_t *remaining);
void sampler_set_free(struct sampler_set **set);
roaring_bitmap_t *sampler_set_ids(const struct sampler_set *set); /* NULL: no memory */
bool sampler_set_contains(const struct sampler_set *set, sample_id sample);

/*
 * sampler_insert and sampler_remove for callers whose lock others wait for. exchange then
 * has its candidates to bring up to date, which sampler_settle does step by step: before
 * the next insertion or removal, which else do it all, and before the stream draws: until
 * then it has less to exchange for, and nothing else is wrong. The set is taken over by
 * insert, and the caller's after remove.
 */
must_check int sampler_insert_set(
	struct sampler *sampler, stream_id stream, job_id job, struct sampler_set *set);
struct sampler_set *sampler_remove_set(struct sampler *sampler, stream_id stream);
/* Goes on by about so many residents; true: there is nothing to do any more. */
bool sampler_settle(struct sampler *sampler, uint32_t n);

/*
 * One round (sampling.md's "round") for n distinct streams, in any order: ret[i] is the
 * sample for streams[i], SAMPLE_NONE where nothing remains. What is given is taken from
 * R.
 */
void sampler_draw(
	struct sampler *sampler, const stream_id *streams, size_t n, sample_id *ret);

/* One draw among what remains with this label; SAMPLE_NONE: nothing does. Labelled only.
 */
sample_id sampler_draw_within(struct sampler *sampler, stream_id stream, uint32_t label);

/*
 * Residency, for exchange: the sample is in the space's cache or on its way there, and no
 * longer is. What a draw gives is resident from then on without being reported; if it
 * never gets into the cache, sampler_evicted says so. Repeating either is no mistake.
 *
 * Orders are uniform only if what makes samples resident treats those of one class alike:
 * not to be reported is what a job in dataset order, or one that is served label by
 * label, has loaded. Whoever has drawn nothing here is best kept out of the space.
 */
void sampler_resident(struct sampler *sampler, uint32_t space, sample_id sample);
void sampler_evicted(struct sampler *sampler, uint32_t space, sample_id sample);

uint32_t sampler_remaining(const struct sampler *sampler, stream_id stream); /* |R_j| */
bool sampler_contains(const struct sampler *sampler, stream_id stream, sample_id sample);

/* A copy of R_j, owned by the caller; NULL when there is no memory. */
roaring_bitmap_t *sampler_copy_remaining(const struct sampler *sampler, stream_id stream);

/* Aborts with the state dumped when an invariant does not hold. For tests. */
void sampler_validate(const struct sampler *sampler);
