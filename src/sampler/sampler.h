// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/bitmap.h"
#include "base/cleanup.h"
#include "base/types.h"
#include "config/config.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Sampling for several streams together. The sampler has no clock, no threads and no I/O: the same
 * seed and the same events give the same decisions.
 *
 * A *stream* is one epoch of one job. Each stream is given every id of its set once, in an order
 * that by itself is uniformly random (dsa, isa, exchange) or ascending (sequential). A *round*
 * draws one sample for each of several streams.
 *
 *  dsa       JOADER (NeurIPS 2022), Algorithm 1 and 2
 *  isa       each stream draws independently
 *  exchange  if the drawn sample is not *resident* (in the cache, or on its way there), the stream
 *            gets a resident one, if possible. The two samples must be of the same *membership
 *            class*: the same jobs have selected both, and both have the same label, if labels are
 *            given. The streams of a round draw the same class as often as possible.
 *
 *  Flow: a job joins; a stream is inserted when an epoch of the job starts, rounds are drawn, the
 *        stream is removed; the job leaves. The caller reports which samples are resident.
 *  Owns: the sets handed to sampler_insert and sampler_insert_set.
 *  Threads: the caller serialises, under a lock. Exception: a sampler_set that no stream has is
 *        filled, read and freed without the lock, because this takes long.
 *  Errors: -ENOMEM; -EEXIST from join and insert; -EAGAIN where noted. A draw can't fail. An
 *        unknown stream or job is a bug.
 */

struct sampler;

must_check int sampler_new(enum sampler_kind kind, uint64_t seed, struct sampler **ret);
/* Makes an exchange sampler that exchanges only samples of the same label, and supports
 * sampler_draw_within. Copies labels[id] for the ids below n_ids. */
must_check int sampler_new_labelled(
	uint64_t seed, const uint32_t *labels, uint32_t n_ids, struct sampler **ret);
void sampler_free(struct sampler **sampler);

/* Mixes the number into the random state: with different numbers, later draws differ. */
void sampler_stir(struct sampler *sampler, uint64_t number);

/* Adds a job, before its first stream. selection: the ids that the job uses. space: the number of
 * the job's cache space; jobs with equal preparations share a space. Only `exchange` uses these two
 * arguments, and copies the selection. */
must_check int sampler_join(struct sampler *sampler, job_id job, uint32_t space,
	const roaring_bitmap_t *selection);
/* A job joins in three steps, so that the caller need not hold its lock for long. */
struct sampler_joining;
/* First step, under the lock. The caller must not change or free the selection before
 * sampler_joining_prepare returns. */
must_check int sampler_joining_new(const struct sampler *sampler, uint32_t space,
	const roaring_bitmap_t *selection, struct sampler_joining **ret);
/* Second step, which takes long, without the lock. */
must_check int sampler_joining_prepare(struct sampler_joining *joining);
/* Last step, under the lock. -EAGAIN: a job or stream was added meanwhile; repeat all steps. */
must_check int sampler_join_prepared(struct sampler *sampler, job_id job, uint32_t space,
	struct sampler_joining *joining);
void sampler_joining_free(struct sampler_joining **joining); /* needs no lock */
/* Removes a job. The job's stream must be gone. The job's classes stay until sampler_coarsen. */
void sampler_leave(struct sampler *sampler, job_id job);

/* A coarsening merges membership classes that only differ because of jobs that have left. Without a
 * coarsening, jobs exchange fewer samples than they could. A coarsening is possible only while
 * there is no stream and no resident sample. The caller therefore makes a coarsening, in three
 * steps, before it inserts a stream. */
struct sampler_coarsening;
/* First step, under the lock. *ret is NULL if no classes can be merged. */
must_check int sampler_coarsening_new(
	const struct sampler *sampler, struct sampler_coarsening **ret);
/* Second step, which takes long, without the lock. */
must_check int sampler_coarsening_prepare(struct sampler_coarsening *coarsening);
/* Last step, under the lock. -EAGAIN: jobs, streams or residents have changed; repeat all steps. */
must_check int sampler_coarsen(
	struct sampler *sampler, struct sampler_coarsening *coarsening);
void sampler_coarsening_free(struct sampler_coarsening **coarsening); /* needs no lock */
/* Does all three steps of a coarsening. If memory is short, the classes stay as they are. */
void sampler_coarsen_all(struct sampler *sampler);

/* Adds a stream for a job that has joined. remaining: the ids to draw, a subset of the job's
 * selection; taken over, also on failure. -EEXIST: there is a stream with this id or, for
 * `exchange`, another stream of this job. */
must_check int sampler_insert(struct sampler *sampler, stream_id stream, job_id job,
	roaring_bitmap_t *remaining);
void sampler_remove(struct sampler *sampler, stream_id stream);

/* The ids that a stream has yet to draw, as the sampler stores them. */
struct sampler_set;
/* Makes an empty set, under the lock. */
must_check int sampler_set_new(const struct sampler *sampler, struct sampler_set **ret);
/* Fills an empty set, which takes long, without the lock. If a job joins before the set is
 * inserted, sampler_insert_set may have to repeat a part of this work. */
must_check int sampler_set_fill(
	struct sampler_set *set, const roaring_bitmap_t *remaining);
void sampler_set_free(struct sampler_set **set);
/* Returns the set's ids in a bitmap, which the caller frees. NULL: no memory. */
roaring_bitmap_t *sampler_set_ids(const struct sampler_set *set);
bool sampler_set_contains(const struct sampler_set *set, sample_id sample);

/* Inserts a stream in a short time, unlike sampler_insert. Takes over the set, also on failure. The
 * caller then repeats sampler_settle until it returns true. Until then the stream gets fewer
 * samples in exchange, and inserting or removing another stream may take long, because the
 * remaining work is done first. */
must_check int sampler_insert_set(
	struct sampler *sampler, stream_id stream, job_id job, struct sampler_set *set);
/* Removes a stream, and gives its set to the caller, which then calls sampler_settle. */
struct sampler_set *sampler_remove_set(struct sampler *sampler, stream_id stream);
/* Finds out, for about n resident samples, which streams can get them in exchange. Returns true if
 * all resident samples are up to date. */
bool sampler_settle(struct sampler *sampler, uint32_t n);

/* Draws one round for n distinct streams, in any order. ret[i]: the sample for streams[i], which
 * leaves the stream's set; SAMPLE_NONE: the set is empty. */
void sampler_draw(
	struct sampler *sampler, const stream_id *streams, size_t n, sample_id *ret);

/* Returns the sample that the stream will probably draw next; SAMPLE_NONE: it can't be foreseen.
 * The answer is right if the stream draws alone, or only with streams that have the same remaining
 * samples. The call does not influence the draws. */
sample_id sampler_foresee(struct sampler *sampler, stream_id stream);

/* Draws one of the stream's remaining samples with the label; SAMPLE_NONE: none is left. The
 * sampler must come from sampler_new_labelled. */
sample_id sampler_draw_within(struct sampler *sampler, stream_id stream, uint32_t label);

/* Tells the sampler `exchange` that the sample is in the cache of the space, or on its way there.
 * May be repeated; not necessary for a drawn sample. Orders are uniformly random only if all
 * samples of a membership class are equally likely to get into the cache. So the caller must not
 * report samples that a job has loaded in dataset order, or label by label. */
void sampler_resident(struct sampler *sampler, uint32_t space, sample_id sample);
/* Tells the sampler `exchange` that the sample is no longer in the cache of the space, or that a
 * drawn sample will not get there. May be repeated. */
void sampler_evicted(struct sampler *sampler, uint32_t space, sample_id sample);

uint32_t sampler_remaining(const struct sampler *sampler, stream_id stream);
bool sampler_contains(const struct sampler *sampler, stream_id stream, sample_id sample);

/* Aborts if an invariant does not hold; for tests. */
void sampler_validate(const struct sampler *sampler);
