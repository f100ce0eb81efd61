// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/rng.h"
#include "sampler/sampler.h"
#include "section/section.h"

#include <sys/queue.h>

/*
 * Streams decide which sample a job reads next.
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
	/* the remaining samples while they are not in the sampler: in one of these two,
	 * or in both */
	struct sampler_set *set;
	roaring_bitmap_t *ids;
};

/* A running epoch, as the samplers see it. A stream is removed while its job is parked.
 * Where the position determines the sample, the stream has no sampler and only counts
 * need. */
struct stream {
	/* in sched->streams while it draws, else in sched->counted */
	TAILQ_ENTRY(stream) link;
	struct sched_job *job;
	uint32_t epoch;
	struct edition *edition; /* held */
	stream_id id;		 /* number in all its samplers */
	job_id joined_as;	 /* the job's id, or the stand-in's: stream.c */
	bool ready;  /* may draw: its samplers are up to date, and the engine was told */
	bool leaves; /* streams_let_go still has to remove its need */
	uint32_t filled; /* see `filled` of struct ahead */
	size_t n_strands;
	struct strand *strands; /* one for each part */
	struct strand *next;	/* the strand of its next sample: mixture_strand.c */
	struct rng rng;
};

/* Samples that a rank has received for an epoch, and that are neither drawn nor bound. */
struct feed {
	uint32_t epoch;
	uint32_t next; /* number of samples received, including those drawn or bound */
	uint32_t head, n, room; /* of `ids`: index of the first one, number, capacity */
	sample_id *ids;
	uint32_t consumed; /* number of first bindings known to be consumed */
	uint32_t had; /* number of first samples that were consumed on another daemon */
	bool used;
};
#define FEEDS 2 /* the running epoch, and the one before it, which drains */

/* --- demand.c: samples at home here that a training still asks for in an epoch --- */

/* Finds the ids of the strands of a rank's stream, which then count as need. No lock
 * held. -ENOMEM. */
must_check int demand_find(struct stream *stream);
/* Drops the stream's ids if another stream of the training's epoch has them. The stream draws
 * from now on. */
void demand_enter_locked(struct stream *stream);
/* Drops the training's need of a sample that a rank was given. */
void demand_drawn_locked(const struct stream *stream, sample_id sample);
/* Drops the need of a sample that another daemon has fetched, in the oldest epoch that has it. */
void demand_fetched_locked(const struct space *space, sample_id id);
/* Hands the ids of a stream that ends to another stream of the training's epoch. Returns
 * true if there is none, and the need of these ids has to be removed. */
must_check bool demand_keep_locked(struct stream *stream);

/* --- rounds.c: drawing ahead; stream.c --- */

struct stream *stream_find_locked(const struct sched_job *job, uint32_t epoch);
/* Makes the stream that the engine has asked for. No lock held: with a million samples
 * this takes long, but readers wait only for steps of a few microseconds. Returns 0, even
 * if the stream is not wanted any more; -ENOMEM. */
must_check int stream_make(struct sched_job *job, uint32_t epoch);
/* Removes the stream from its samplers, and frees it if no sample remains to it.
 * Otherwise streams_let_go removes its need after the lock is released. */
void stream_end_locked(struct stream *stream, struct aftermath *aftermath);
/* Removes the need of one stream that has ended. No lock held. */
void streams_let_go(struct sched *sched);
/* Tells whether there is work for streams_let_go. */
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
/* Tells whether the strand needs the sample, an id of its source. The stream must be a
 * counted one, which is in no sampler. */
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
/* Chooses the strand of the stream's next sample, in proportion to the number of samples
 * that remain to each. */
void stream_choose_next_locked(struct stream *stream);

/* --- feed.c: samples of a rank --- */

/* Puts the queue of a stream that ends back at the front of the feed, for the epoch's
 * next stream. If there is no memory, drops the feed: its samples have to be sent
 * again. */
void feed_return_locked(
	struct sched_job *job, uint32_t epoch, const struct drawn_queue *queue);
/* Moves samples from the feed to the look-ahead while it has room, and resumes opens that wait
 * for them. */
void feed_fill_locked(struct stream *stream, struct aftermath *aftermath);
/* Counts a consumed position. Returns true if enough were consumed since the last news to
 * tell the feeder. */
bool feed_has_news_locked(struct sched_job *job);
void feeds_free(struct sched_job *job);
