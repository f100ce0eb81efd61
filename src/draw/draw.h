// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/rng.h"
#include "sampler/sampler.h"
#include "section/section.h"

#include <sys/queue.h>

/*
 * Streams: which sample a job reads next.
 *
 *   rounds.c           drawing, by the rules of lookahead.c; stream.c: how streams come and go
 *   mixture_strand.c   what streams have of each of several datasets
 *   feed.c             samples of a rank, which are drawn elsewhere
 *   demand.c           samples that the ranks of a training, and other daemons, still ask for
 */

struct edition;
struct part;
struct space;

/* What a stream has of a part of its edition. Ids are those of the part's source. */
struct strand {
	const struct part *part;
	struct sampler *sampler; /* NULL: samples are not drawn */
	/* what remains, while it is not in the sampler; one of them or both */
	struct sampler_set *set;
	roaring_bitmap_t *ids;
};

/*
 * An epoch that is not over as samplers see it; gone while the job is parked. Where the
 * position decides about the sample there is no sampler, only need.
 */
struct stream {
	TAILQ_ENTRY(stream) link; /* of those that draw, or that are only counted */
	struct sched_job *job;
	uint32_t epoch;
	struct edition *edition; /* held */
	stream_id id;		 /* in each of its samplers */
	job_id joined_as;	 /* the job's, or the stand-in's */
	bool ready;	 /* to draw: the sampler is up to date, the engine knows */
	bool leaves;	 /* its need is to be given back, by the first who gets to it */
	uint32_t filled; /* for lookahead.h */
	size_t n_strands;
	struct strand *strands; /* one for each part */
	struct strand *next;	/* which gives its next sample: mixture_strand.c */
	struct rng rng;
};

/* What came for an epoch of a rank, and is neither drawn nor bound. */
struct feed {
	uint32_t epoch;
	uint32_t
		next; /* samples of the epoch that came, with those that are drawn or bound */
	uint32_t head, n, room; /* in ids */
	sample_id *ids;
	uint32_t consumed; /* the first bindings that all were, as far as is known */
	uint32_t had;	   /* so many were consumed by another daemon */
	bool used;
};
#define FEEDS 2 /* of the epoch that runs, and of the one before, which drains */

/* --- demand.c: samples at home here that a training still asks for in an epoch --- */

/* The ids of the strands of a rank's stream, before they are counted as need. No lock held.
 * -ENOMEM. */
must_check int demand_find(struct stream *stream);
/* The stream draws from now on; it keeps the ids if no other stream has them. */
void demand_enter_locked(struct stream *stream);
/* A rank was given the sample; or another daemon has asked for it. */
void demand_drawn_locked(const struct stream *stream, sample_id sample);
void demand_fetched_locked(const struct space *space, sample_id id);
/* The stream ends, and draws no more. true: it has ids whose need is to be given back. */
must_check bool demand_keep_locked(struct stream *stream);

/* --- rounds.c: drawing ahead; stream.c --- */

struct stream *stream_find_locked(const struct sched_job *job, uint32_t epoch);
/*
 * Makes the stream that the engine has asked for. No lock held: with a million samples
 * this takes a while, of which readers notice nothing but steps of a few microseconds.
 * 0, also when it is not wanted any more; -ENOMEM.
 */
must_check int stream_make(struct sched_job *job, uint32_t epoch);
/* It leaves; its need is given back when the lock is let go. */
void stream_end_locked(struct stream *stream, struct aftermath *aftermath);
/* The need of streams that have ended is given back. No lock held. */
void streams_let_go(struct sched *sched);
bool streams_leave_locked(const struct sched *sched);
/* A sample for the position, which has to be `fixed` unless that is SAMPLE_NONE. */
void stream_draw_locked(struct stream *stream, uint32_t position, sample_id fixed,
	struct aftermath *aftermath);
/* A sample that was drawn, or has been fed, goes to the engine; there is room. */
void stream_hold_locked(
	struct stream *stream, sample_id sample, struct aftermath *aftermath);
bool stream_has_room(const struct stream *stream);
/* Asks for rounds if the stream is below its low-water mark. */
void stream_refill_locked(const struct stream *stream, struct aftermath *aftermath);
/* Draws them, for all streams with room, until those of the job have none. No lock held. */
void streams_fill(struct sched_job *job);
/* Of one that is only counted. */
bool strand_counts(const struct strand *strand, sample_id sample);
uint32_t stream_remaining(const struct stream *stream);
bool stream_contains(
	const struct stream *stream, const struct strand *strand, sample_id sample);

/* --- mixture_strand.c: streams of several samplers --- */

uint32_t strand_remaining(const struct stream *stream, const struct strand *strand);
/* The one that a sample of the edition is of. */
struct strand *strand_of(const struct stream *stream, sample_id sample);
/* Or NULL. */
const struct strand *strand_in(const struct stream *stream, const struct space *space);
const struct strand *strand_from(
	const struct stream *stream, const struct sampler *sampler);
/* Which one gives the stream's next sample. */
void stream_choose_next_locked(struct stream *stream);

/* --- feed.c: samples of a rank --- */

/* The stream of the epoch ends: what it had drawn comes first, should it begin again. */
void feed_return_locked(
	struct sched_job *job, uint32_t epoch, const struct drawn_queue *queue);
/* As much as the look-ahead has room for; opens that waited for it get it. */
void feed_fill_locked(struct stream *stream, struct aftermath *aftermath);
/* One more position was consumed. Whether so many were that who feeds should know. */
bool feed_has_news_locked(struct sched_job *job);
void feeds_free(struct sched_job *job);
