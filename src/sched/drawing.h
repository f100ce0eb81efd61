// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "sched/sched_internal.h"

/* Locks: the caller of a function whose name ends in _locked holds the scheduler's lock; the caller
 * of another function holds no lock, unless its comment says otherwise. */

/* Draws a sample for an open that waits (EFFECT_DRAW). */
void draw_asked_locked(
	struct sched_job *job, const struct effect *effect, struct aftermath *aftermath);
void draw_bound_locked(
	struct sched_job *job, uint32_t epoch, struct aftermath *aftermath);
/* Moves the next sample of a rank's feed to the drawn samples of the rank's stream. Returns false
 * if the feed is empty, or if there is no room. */
must_check bool draw_fed_locked(
	struct stream *stream, struct feed *feed, struct aftermath *aftermath);
/* Event draw_fetched: another daemon asks for a sample. Returns false if no training needs it. */
bool draw_fetched_locked(
	const struct space *space, sample_id id, struct aftermath *aftermath);
/* Draws a round. Returns false if none was drawn, because the stream wants no sample ahead now. */
must_check bool draw_go_on_locked(struct stream *stream, struct aftermath *aftermath);
/* Ends the epoch's stream, if any. Its samples count as needed until streams_let_go. */
void draw_end_locked(struct sched_job *job, uint32_t epoch, struct aftermath *aftermath);
/* Returns how many samples to draw ahead. The default is at least twice the number of reads that
 * may be in flight: this keeps the storage busy while samples are decoded. */
uint32_t lookahead_of(const struct job *job, const struct space *space);
void streams_tell_lookahead_locked(struct sched *sched);
/* The stream must not be in the draw engine. */
void stream_free(struct stream *stream);

/* Makes the stream that the engine has asked for. Takes long with a million samples, but holds the
 * lock only for microseconds at a time. 0: made, or no longer wanted; otherwise -errno. */
must_check int stream_make(struct sched_job *job, uint32_t epoch);
/* Draws samples until the job's streams have no room for more. Other jobs' streams with the same
 * sampler take part. */
void streams_fill(struct sched_job *job);
/* Tells the cache that one ended stream needs its remaining samples no more. */
void streams_let_go(struct sched *sched);

/* Moves samples from a rank's feed to its stream's drawn samples, and resumes opens that wait. */
void feed_fill_locked(struct stream *stream, struct aftermath *aftermath);
