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
 *   stream.c           makes and ends streams
 *   rounds.c           draws ahead, by the rules of lookahead.c
 *   mixture_strand.c   divides the streams of a mixture by dataset
 *   feed.c             receives the samples of a rank, which are drawn elsewhere
 *   demand.c           counts samples that ranks of a training, and other daemons, still ask for
 */

struct edition;
struct part;
struct space;

/* A stream's samples of one part of its edition. Ids are those of the part's source. */
struct strand {
	const struct part *part;
	struct sampler *sampler; /* NULL: samples are not drawn */
	/* the remaining samples while they are not in the sampler: one of the two, or both */
	struct sampler_set *set;
	roaring_bitmap_t *ids;
};

/*
 * The samplers' view of an epoch that is not over; removed while the job is parked. Where the
 * position determines the sample, the stream has no sampler and only counts need.
 */
struct stream {
	TAILQ_ENTRY(stream) link; /* sched->streams: it draws; or sched->counted */
	struct sched_job *job;
	uint32_t epoch;
	struct edition *edition; /* held */
	stream_id id;		 /* number in all its samplers */
	job_id joined_as;	 /* the job's id, or the stand-in's: stream.c */
	bool ready;	 /* may draw: the sampler is up to date, the engine knows */
	bool leaves;	 /* streams_let_go has still to give its need back */
	uint32_t filled; /* struct ahead has the same field */
	size_t n_strands;
	struct strand *strands; /* one for each part */
	struct strand *next;	/* the strand of its next sample: mixture_strand.c */
	struct rng rng;
};

/* Samples that a rank has received for an epoch, and that are neither drawn nor bound. */
struct feed {
	uint32_t epoch;
	uint32_t next;		/* samples received, with those drawn or bound */
	uint32_t head, n, room; /* ids: index of the first one, number, capacity */
	sample_id *ids;
	uint32_t consumed; /* number of first bindings known to be consumed */
	uint32_t had;	   /* another daemon consumed so many of the first samples */
	bool used;
};
#define FEEDS 2 /* the epoch that runs, and the one before, which drains */

/* --- demand.c: samples at home here that a training still asks for in an epoch --- */

/* Finds the ids of the strands of a rank's stream, before they are counted as need. No lock
 * held. -ENOMEM. */
must_check int demand_find(struct stream *stream);
/* Drops the stream's ids if another stream of the training's epoch has them. The stream draws
 * from now on. */
void demand_enter_locked(struct stream *stream);
/* Drops the training's need of a sample that a rank was given. */
void demand_drawn_locked(const struct stream *stream, sample_id sample);
/* Drops the need of a sample that another daemon has fetched, in the oldest epoch that has it. */
void demand_fetched_locked(const struct space *space, sample_id id);
/* Hands the ids of a stream that ends to another one of the training's epoch. true: there is
 * none, and their need has to be given back. */
must_check bool demand_keep_locked(struct stream *stream);

/* --- rounds.c: drawing ahead; stream.c --- */

struct stream *stream_find_locked(const struct sched_job *job, uint32_t epoch);
/*
 * Makes the stream that the engine has asked for. No lock held: with a million samples this
 * takes long, but readers wait only for steps of a few microseconds. Returns 0, also when the
 * stream is not wanted any more; -ENOMEM.
 */
must_check int stream_make(struct sched_job *job, uint32_t epoch);
/* Removes the stream from its samplers, and frees it if nothing remains. Else streams_let_go
 * gives its need back after the lock is released. */
void stream_end_locked(struct stream *stream, struct aftermath *aftermath);
/* Gives back the need of one stream that has ended. No lock held. */
void streams_let_go(struct sched *sched);
/* Tells whether streams_let_go has a stream to do. */
bool streams_leave_locked(const struct sched *sched);
/* Draws a sample for the position. `fixed`: the position's own sample, or SAMPLE_NONE. */
void stream_draw_locked(struct stream *stream, uint32_t position, sample_id fixed,
	struct aftermath *aftermath);
/* Pins and requests a sample that was drawn or fed, and passes it to the engine, which must
 * have room. */
void stream_hold_locked(
	struct stream *stream, sample_id sample, struct aftermath *aftermath);
bool stream_has_room(const struct stream *stream);
/* Requests streams_fill, after the lock is released, if the stream's look-ahead is low. */
void stream_refill_locked(const struct stream *stream, struct aftermath *aftermath);
/* Draws rounds until the job's streams have no room. Streams of other jobs that share the
 * sampler join them. No lock held. */
void streams_fill(struct sched_job *job);
/* Tells whether the strand needs the sample, an id of its source. Its stream is counted, and is
 * in no sampler. */
bool strand_counts(const struct strand *strand, sample_id sample);
uint32_t stream_remaining(const struct stream *stream);
bool stream_contains(
	const struct stream *stream, const struct strand *strand, sample_id sample);

/* --- mixture_strand.c: streams of several samplers --- */

uint32_t strand_remaining(const struct stream *stream, const struct strand *strand);
/* Returns the strand of a sample of the edition. */
struct strand *strand_of(const struct stream *stream, sample_id sample);
/* Returns the strand whose samples lie in the space, or NULL. */
const struct strand *strand_in(const struct stream *stream, const struct space *space);
/* Returns the strand that draws from the sampler, or NULL. */
const struct strand *strand_from(
	const struct stream *stream, const struct sampler *sampler);
/* Chooses the strand of the stream's next sample, in proportion to what remains of each. */
void stream_choose_next_locked(struct stream *stream);

/* --- feed.c: samples of a rank --- */

/* Puts the queue of a stream that ends back at the front of the feed, for the epoch's next
 * stream. Without memory the feed is dropped, and has to be sent again. */
void feed_return_locked(
	struct sched_job *job, uint32_t epoch, const struct drawn_queue *queue);
/* Moves samples from the feed to the look-ahead while it has room, and resumes opens that wait
 * for them. */
void feed_fill_locked(struct stream *stream, struct aftermath *aftermath);
/* Counts a consumed position. true: enough were consumed since the last time to tell the
 * feeder. */
bool feed_has_news_locked(struct sched_job *job);
void feeds_free(struct sched_job *job);
