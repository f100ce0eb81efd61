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
 * Sampling for several streams together: events in, decisions out. It has no clock, no threads
 * and no I/O: the same seed and the same events give the same decisions.
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
 * Makes an exchange sampler that exchanges only within a label, and serves sampler_draw_within.
 * labels[id], for ids below n_ids, are copied.
 */
must_check int sampler_new_labelled(
	uint64_t seed, const uint32_t *labels, uint32_t n_ids, struct sampler **ret);
void sampler_free(struct sampler **sampler);

/* Mixes a number into the sampler's random numbers, which are others from now on. */
void sampler_stir(struct sampler *sampler, uint64_t number);

/*
 * Adds a job. Its selection (D_j, copied as far as it is needed) divides ids into membership
 * classes. `space` is the number of the cache space that its tensors lie in: jobs of equal
 * preparation have one space. Engines without membership classes ignore both. Classes that a
 * job has divided stay divided after it has left, as long as a stream or a resident sample
 * remembers the job.
 */
must_check int sampler_join(struct sampler *sampler, job_id job, uint32_t space,
	const roaring_bitmap_t *selection);
/*
 * A job that is joining, in three steps, for callers that must hold their lock for a short time
 * only: sampler_joining_new, sampler_joining_prepare, sampler_join_prepared.
 */
struct sampler_joining;
/* Copies the bits of the streams' sets. Needs the lock. The selection stays the caller's. */
must_check int sampler_joining_new(const struct sampler *sampler, uint32_t space,
	const roaring_bitmap_t *selection, struct sampler_joining **ret);
/* Does all that takes long. Needs neither the lock nor the sampler. */
must_check int sampler_joining_prepare(struct sampler_joining *joining);
/* Adds the job, as sampler_join does. Needs the lock. -EAGAIN: another job or stream came in
 * between, so begin again with sampler_joining_new. */
must_check int sampler_join_prepared(struct sampler *sampler, job_id job, uint32_t space,
	struct sampler_joining *joining);
/* Needs no lock. */
void sampler_joining_free(struct sampler_joining **joining);
/* Removes a job, whose stream must have been removed. */
void sampler_leave(struct sampler *sampler, job_id job);

/*
 * A coarsening merges classes that only jobs that have left had divided. It should be done before
 * each first stream: without it, jobs exchange less. Its steps are sampler_coarsening_new,
 * sampler_coarsening_prepare and sampler_coarsen.
 */
struct sampler_coarsening;
/* Begins a coarsening. Needs the lock. *ret: NULL if there is nothing to merge. */
must_check int sampler_coarsening_new(
	const struct sampler *sampler, struct sampler_coarsening **ret);
/* Does all that takes long. Needs no lock. */
must_check int sampler_coarsening_prepare(struct sampler_coarsening *coarsening);
/* Merges the classes. Needs the lock. -EAGAIN: a job, stream or resident sample came or went in
 * between, so begin again with sampler_coarsening_new. */
must_check int sampler_coarsen(
	struct sampler *sampler, struct sampler_coarsening *coarsening);
/* Needs no lock. */
void sampler_coarsening_free(struct sampler_coarsening **coarsening);
/* Does all steps. Without memory the classes stay as they are. */
void sampler_coarsen_all(struct sampler *sampler);

/*
 * Adds a stream of a job that has joined. Takes over `remaining` (R_j: the ids that the stream
 * has not been given; a subset of D_j), also on failure. -EEXIST: the job has a stream already,
 * and the sampler is exchange, which allows one.
 */
must_check int sampler_insert(struct sampler *sampler, stream_id stream, job_id job,
	roaring_bitmap_t *remaining);
void sampler_remove(struct sampler *sampler, stream_id stream);

/* A set R_j, in the form in which this sampler keeps it. */
struct sampler_set;
/* Makes an empty set. Needs the caller's lock. */
must_check int sampler_set_new(const struct sampler *sampler, struct sampler_set **ret);
/* Fills the set. Takes long, and needs neither a lock nor the sampler. If a job has joined since
 * sampler_set_new, exchange repeats a part of this when the set is inserted. */
must_check int sampler_set_fill(
	struct sampler_set *set, const roaring_bitmap_t *remaining);
void sampler_set_free(struct sampler_set **set);
roaring_bitmap_t *sampler_set_ids(const struct sampler_set *set); /* NULL: no memory */
bool sampler_set_contains(const struct sampler_set *set, sample_id sample);

/*
 * Does what sampler_insert does, for callers that must hold their lock for a short time only.
 * Takes ownership of the set. Leaves exchange's candidates out of date: the caller then calls
 * sampler_settle until it returns true. It should do so before the stream draws, which has fewer
 * candidates until then (nothing else is wrong), and before the next insertion or removal, which
 * does the rest at once.
 */
must_check int sampler_insert_set(
	struct sampler *sampler, stream_id stream, job_id job, struct sampler_set *set);
/* Does what sampler_remove does, but returns the set, which is the caller's from then on, and leaves
 * candidates out of date as sampler_insert_set does. */
struct sampler_set *sampler_remove_set(struct sampler *sampler, stream_id stream);
/* Brings about n resident samples up to date. Returns true if all are. */
bool sampler_settle(struct sampler *sampler, uint32_t n);

/*
 * Draws one round for n distinct streams, in any order: ret[i] becomes the sample for
 * streams[i], or SAMPLE_NONE if nothing remains. The samples are taken from R.
 */
void sampler_draw(
	struct sampler *sampler, const stream_id *streams, size_t n, sample_id *ret);

/* Draws among the remaining samples of a label; SAMPLE_NONE: none remains. The sampler is
 * labelled. */
sample_id sampler_draw_within(struct sampler *sampler, stream_id stream, uint32_t label);

/*
 * Tells exchange that the sample is in the space's cache, or on its way there. A sample that a draw
 * gives is resident without this call. The call may be repeated.
 *
 * Orders are uniform only if samples of one class become resident for reasons that treat them
 * alike. So the caller does not report samples that were loaded by a job in dataset order, or by a
 * job that is served label by label.
 */
void sampler_resident(struct sampler *sampler, uint32_t space, sample_id sample);
/* Tells exchange that the sample is no longer in the space's cache, or that a sample which a draw
 * gave will not get there. The call may be repeated. */
void sampler_evicted(struct sampler *sampler, uint32_t space, sample_id sample);

uint32_t sampler_remaining(const struct sampler *sampler, stream_id stream); /* |R_j| */
bool sampler_contains(const struct sampler *sampler, stream_id stream, sample_id sample);

/* Returns a copy of R_j, which the caller owns; NULL: no memory. */
roaring_bitmap_t *sampler_copy_remaining(const struct sampler *sampler, stream_id stream);

/* Aborts with the state dumped when an invariant does not hold. For tests. */
void sampler_validate(const struct sampler *sampler);
