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

/* From now on it draws other random numbers, which depend on those before and on this
 * one. */
void sampler_stir(struct sampler *sampler, uint64_t number);

/*
 * A job comes. Its selection (D_j, copied as far as it is needed) divides ids into
 * membership classes; space is the number of the cache space that its tensors lie in:
 * jobs of equal preparation have the same. Engines without membership classes ignore
 * both. Classes that a job has divided stay divided after it has left, as long as a
 * stream or a resident sample remembers the job.
 */
must_check int sampler_join(struct sampler *sampler, job_id job, uint32_t space,
	const roaring_bitmap_t *selection);
/*
 * The same for callers whose lock others wait for: _new and _prepared need the lock, and
 * take hardly longer than it takes to copy the bits of the sets; _prepare takes long, and
 * needs neither the lock nor the sampler. The selection stays the caller's. -EAGAIN:
 * another job or stream came in between, and it has to be begun again. _free needs no
 * lock.
 */
struct sampler_joining;
must_check int sampler_joining_new(const struct sampler *sampler, uint32_t space,
	const roaring_bitmap_t *selection, struct sampler_joining **ret);
must_check int sampler_joining_prepare(struct sampler_joining *joining);
must_check int sampler_join_prepared(struct sampler *sampler, job_id job, uint32_t space,
	struct sampler_joining *joining);
void sampler_joining_free(struct sampler_joining **joining);
void sampler_leave(struct sampler *sampler, job_id job); /* its stream was removed */

/*
 * Classes that only jobs that left have divided become one again, which should be done
 * before each first stream: without it, jobs exchange less. _new finds what is to be done,
 * NULL: nothing. Locks as for joining: _prepare takes long and needs none, nor does
 * _free. -EAGAIN: something has come or gone in between, and it has to be begun again.
 */
struct sampler_coarsening;
must_check int sampler_coarsening_new(
	const struct sampler *sampler, struct sampler_coarsening **ret);
must_check int sampler_coarsening_prepare(struct sampler_coarsening *coarsening);
must_check int sampler_coarsen(
	struct sampler *sampler, struct sampler_coarsening *coarsening);
void sampler_coarsening_free(struct sampler_coarsening **coarsening);

/*
 * A stream of a job that has joined. Takes over `remaining` (R_j: what the stream has not
 * been given; a subset of D_j), also on failure. exchange: one stream at a time for each
 * job, -EEXIST otherwise.
 */
must_check int sampler_insert(struct sampler *sampler, stream_id stream, job_id job,
	roaring_bitmap_t *remaining);
void sampler_remove(struct sampler *sampler, stream_id stream);

/*
 * R_j as this sampler keeps it. sampler_set_new makes an empty set and needs the caller's
 * lock; sampler_set_fill takes long and needs no lock, nor the sampler. If a job joins
 * between the two, exchange does a part of the filling again when the set is inserted.
 */
struct sampler_set;
must_check int sampler_set_new(const struct sampler *sampler, struct sampler_set **ret);
must_check int sampler_set_fill(
	struct sampler_set *set, const roaring_bitmap_t *remaining);
void sampler_set_free(struct sampler_set **set);
roaring_bitmap_t *sampler_set_ids(const struct sampler_set *set); /* NULL: no memory */
bool sampler_set_contains(const struct sampler_set *set, sample_id sample);

/*
 * sampler_insert and sampler_remove for callers whose lock others wait for. They leave
 * exchange's candidates out of date; sampler_settle brings them up to date step by step.
 * That should be finished before the stream draws, which has fewer candidates until then
 * (nothing else is wrong), and before the next insertion or removal, which does the rest
 * at once. insert takes the set over; after remove it is the caller's.
 */
must_check int sampler_insert_set(
	struct sampler *sampler, stream_id stream, job_id job, struct sampler_set *set);
struct sampler_set *sampler_remove_set(struct sampler *sampler, stream_id stream);
/* Goes on with about n resident samples; true: all are up to date. */
bool sampler_settle(struct sampler *sampler, uint32_t n);

/*
 * One round for n distinct streams, in any order: ret[i] becomes the sample for
 * streams[i], SAMPLE_NONE where nothing remains. The samples are taken from R.
 */
void sampler_draw(
	struct sampler *sampler, const stream_id *streams, size_t n, sample_id *ret);

/* A labelled sampler's draw among the remaining samples of a label; SAMPLE_NONE: none
 * remains. */
sample_id sampler_draw_within(struct sampler *sampler, stream_id stream, uint32_t label);

/*
 * Residency, for exchange: sampler_resident says that the sample is in the space's cache
 * or on its way there, sampler_evicted that it no longer is. A sample that a draw gives
 * is resident from then on without a report; if it never gets into the cache,
 * sampler_evicted has to say so. Reporting the same twice is no mistake.
 *
 * Orders are uniform only if samples of one class become resident for reasons that treat
 * them alike. So the caller does not report samples that a job in dataset order, or a job
 * served label by label, has loaded.
 */
void sampler_resident(struct sampler *sampler, uint32_t space, sample_id sample);
void sampler_evicted(struct sampler *sampler, uint32_t space, sample_id sample);

uint32_t sampler_remaining(const struct sampler *sampler, stream_id stream); /* |R_j| */
bool sampler_contains(const struct sampler *sampler, stream_id stream, sample_id sample);

/* A copy of R_j, owned by the caller; NULL when there is no memory. */
roaring_bitmap_t *sampler_copy_remaining(const struct sampler *sampler, stream_id stream);

/* Aborts with the state dumped when an invariant does not hold. For tests. */
void sampler_validate(const struct sampler *sampler);
