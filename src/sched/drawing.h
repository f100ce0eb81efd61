// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "sched/sched_internal.h"

/*
 * Functions for the draw engine: its events and effects, its streams, and the samples of ranks.
 *
 *   Locks: the caller of a function whose name ends in _locked holds the scheduler's lock. The
 *         caller of another function holds no lock, unless its comment says otherwise.
 */

/* --- draw_effects.c --- */

/* Draws a sample for a request that waits (EFFECT_DRAW). */
void draw_asked_locked(
	struct sched_job *job, const struct effect *effect, struct aftermath *aftermath);
/* Tells the draw engine that a position of the epoch was bound. */
void draw_bound_locked(
	struct sched_job *job, uint32_t epoch, struct aftermath *aftermath);
/* Moves the next sample of a rank's feed to the samples that the stream has drawn ahead. Returns
 * false if the feed is empty, or if there is no room for another sample ahead. */
must_check bool draw_fed_locked(
	struct stream *stream, struct feed *feed, struct aftermath *aftermath);
/* Notes that another daemon asks for a sample. The training for which it asks then no longer needs
 * the sample here. Returns false if no training needs the sample. */
bool draw_fetched_locked(
	const struct space *space, sample_id id, struct aftermath *aftermath);
/* Draws a round for the stream. Returns false if the stream wants no further sample ahead. */
must_check bool draw_go_on_locked(struct stream *stream, struct aftermath *aftermath);
/* Ends the epoch's stream, if there is one. streams_let_go later tells the cache that the epoch
 * needs no samples any more. */
void draw_end_locked(struct sched_job *job, uint32_t epoch, struct aftermath *aftermath);
/* Returns the configured look-ahead in samples. The default is at least twice the number of reads
 * that may be in flight, which keeps the storage busy while samples are decoded. */
uint32_t lookahead_of(const struct job *job, const struct space *space);
/* Tells the draw engine how far ahead each stream may draw now. */
void streams_tell_lookahead_locked(struct sched *sched);
/* Frees a stream. The stream must not be in the draw engine. */
void stream_free(struct stream *stream);

/* --- streams.c --- */

/* Makes the stream that the engine has asked for. With a million samples this takes long, but
 * readers wait only for steps of a few microseconds. Returns 0 or -errno; also 0 if the stream is
 * no longer wanted. */
must_check int stream_make(struct sched_job *job, uint32_t epoch);
/* Draws rounds until the job's streams have no room for further samples ahead. Streams of other
 * jobs with the same sampler take part in the rounds. */
void streams_fill(struct sched_job *job);
/* Takes one stream that has ended, and tells the cache that its epoch does not need the remaining
 * samples. */
void streams_let_go(struct sched *sched);

/* --- feeds.c --- */

/* Moves samples from a rank's feed to the samples that the stream has drawn ahead, as long as there
 * is room, and resumes opens that wait for these samples. */
void feed_fill_locked(struct stream *stream, struct aftermath *aftermath);
