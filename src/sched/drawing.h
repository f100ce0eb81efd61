// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "sched/sched_internal.h"

/*
 * Functions that drive the draw engine: its events and effects, its streams, and the samples of
 * ranks.
 *
 *   Locks: the caller of a function whose name ends in _locked holds the scheduler's lock. The
 *          caller of another function holds no lock, unless its comment says otherwise.
 */

/* --- draw_effects.c --- */

/* Draws a sample for a request (EFFECT_DRAW). */
void draw_asked_locked(
	struct sched_job *job, const struct effect *effect, struct aftermath *aftermath);
/* Tells the draw engine that a position of the epoch was bound. */
void draw_bound_locked(
	struct sched_job *job, uint32_t epoch, struct aftermath *aftermath);
/* Moves a sample from the feed to the look-ahead. false: there is none, or no room. */
must_check bool draw_fed_locked(
	struct stream *stream, struct feed *feed, struct aftermath *aftermath);
/* Drops the need of a sample that another daemon asks for. false: no training needs it. */
bool draw_fetched_locked(
	const struct space *space, sample_id id, struct aftermath *aftermath);
/* Draws a round of the stream. false: the stream has no room for one. */
must_check bool draw_go_on_locked(struct stream *stream, struct aftermath *aftermath);
/* Ends the epoch's stream, if there is one. Its need is removed later, in steps. */
void draw_end_locked(struct sched_job *job, uint32_t epoch, struct aftermath *aftermath);
/* Returns how many positions of the epoch have no sample, bound or drawn. */
uint32_t unbound_locked(const struct sched_job *job, uint32_t epoch);
/* Returns the configured look-ahead in samples; by default at least twice the reads in flight,
 * which keeps the storage busy while samples are decoded. */
uint32_t lookahead_of(const struct job *job, const struct space *space);
/* Tells the draw engine how far ahead each stream may draw now. */
void streams_tell_lookahead_locked(struct sched *sched);
/* Frees a stream that the draw engine does not have. */
void stream_free(struct stream *stream);

/* --- streams.c --- */

/* Makes the stream that the engine has asked for. No lock held: with a million samples
 * this takes long, but readers wait only for steps of a few microseconds. Returns 0, even
 * if the stream is not wanted any more; -ENOMEM. */
must_check int stream_make(struct sched_job *job, uint32_t epoch);
/* Draws rounds until the job's streams have no room. Streams of other jobs that share the
 * sampler join them. No lock held. */
void streams_fill(struct sched_job *job);
/* Removes the need of one stream that has ended. No lock held. */
void streams_let_go(struct sched *sched);

/* --- feeds.c --- */

/* Moves samples from the feed to the look-ahead while it has room, and resumes opens that wait
 * for them. */
void feed_fill_locked(struct stream *stream, struct aftermath *aftermath);
