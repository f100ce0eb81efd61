// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/rng.h"
#include "sampler/sampler.h"

#include <sys/queue.h>

/*
 * The draw engine decides which sample each job reads next: which streams (running epochs) draw
 * the same samples together, how far ahead, and which samples are still needed. A call reports an
 * event, and returns effects. The engine has no clock, locks, threads or files.
 *
 *   Flow: for each stream draw_count -> draw_enter -> draw_ready -> draws -> draw_end -> draw_left.
 *         After each event the caller executes draw->effects, in their order.
 *   Owns: `set` and `ids` of each strand, which the caller fills. The caller owns samplers,
 *         selections and streams.
 *   Threads: the caller serialises the calls.
 *   Errors: -ENOMEM from draw_enter; the other events can't fail.
 */

struct edition; /* opaque: the samples of an epoch */
struct space;	/* opaque: the tensors of a dataset with one preparation */

/* The samples of a stream from one dataset. A sample has one id in the stream, and another in the
 * dataset's sampler: see `first`. */
struct strand {
	struct space *space;
	/* the dataset's sampler; NULL: the coordinator (src/coord) draws the samples, or all
	 * positions have fixed samples */
	struct sampler *sampler;
	uint32_t number; /* the space's number in the sampler */
	/* the job's samples, by their ids in the sampler */
	const roaring_bitmap_t *selection;
	sample_id first; /* id in the stream = first + id in the sampler */
	/* The number of samples ahead up to which the stream takes part in rounds of other streams,
	 * even if the cache has no room. With the sampler dsa this is the number of positions that
	 * one open binds. Otherwise it is 1: `isa` shares no draws, and `exchange` prefers samples
	 * that are cached, so a later draw is a better draw. */
	uint32_t at_once;
	/* The most samples that the stream may have ahead when it draws from this strand. The
	 * caller may change this number before each event. */
	uint32_t lookahead;
	/* The samples that the strand has yet to draw, in the sampler's form (`set`) or as `ids`.
	 * Both are NULL while the sampler has these samples. The streams of a training's epoch have
	 * one list together: `ids` of one stream, the bearer, are the samples that the training
	 * still needs (needed.c). */
	struct sampler_set *set;
	roaring_bitmap_t *ids;
};

/* A running epoch, for which samples are drawn. The caller sets the fields up to `strands`, and
 * ends the stream when the job is idle. */
struct stream {
	job_id job;
	uint32_t epoch;
	struct edition *edition;
	/* name of the training, if the job is a rank for which the coordinator draws; or NULL */
	const char *training;
	bool at_open; /* a sample is drawn only when its position is opened */
	/* A size in bytes that three quarters of the job's tensors do not exceed; at least 1. */
	uint64_t tensor_bytes;
	size_t n_strands;
	struct strand *strands; /* one for each dataset */

	/* The stream is in draw->streams while it draws, otherwise in draw->counted. */
	TAILQ_ENTRY(stream) link;
	stream_id id;	  /* the stream's number in all its samplers */
	job_id joined_as; /* the job's id, or the id of its stand-in (draw.c) */
	bool ready;
	/* The stream has ended, or will never draw (draw_give_up), but the cache still counts its
	 * samples as needed. */
	bool leaves;
	uint32_t ahead;	  /* number of drawn samples, not bound yet */
	uint32_t unbound; /* number of positions without a bound or drawn sample */
	/* DRAW_LOW follows when `ahead` has fallen to half of this value. draw_go_on sets the value,
	 * and a larger `ahead` raises it. */
	uint32_t filled;
	struct strand *next; /* strand of the next sample */
	struct rng rng;
};

enum draw_effect_kind {
	/* Tell the cache that one epoch less needs the sample `id` of `strand`. */
	DRAW_DROP,
	/* Pin the sample in the cache, and have it prepared. The stream binds it after the samples
	 * drawn earlier. `drops`: tell the cache that one epoch less needs the sample. */
	DRAW_DRAWN,
	DRAW_LOW, /* `stream` has few drawn samples left: draw more for it soon */
	/* `stream` has ended: tell the cache that the epoch does not need the remaining samples. */
	DRAW_LEAVE,
	DRAW_GONE, /* `stream` has ended and has no samples left: free it. */
	DRAW_EFFECT_KINDS
};

struct draw_effect {
	enum draw_effect_kind kind;
	bool drops;
	struct stream *stream;
	const struct strand *strand;
	sample_id id;	  /* the sample's id in the strand's sampler */
	sample_id sample; /* the sample's id in the stream */
};

TAILQ_HEAD(draw_streams, stream);

struct ahead_cache {
	uint64_t capacity; /* bytes */
	uint64_t pinned_bytes;
	uint64_t awaited; /* number of pinned samples that are not in the cache yet */
};

struct draw {
	struct draw_streams streams; /* the oldest first */
	/* streams that do not draw, but whose samples count as needed */
	struct draw_streams counted;
	uint32_t n_streams; /* number of streams in `streams` */
	uint64_t seed;	    /* seed of the random choice of datasets in mixtures */
	stream_id next_id;
	/* effects of the last event; always has room for the effects of one event */
	struct draw_effect *effects;
	size_t n_effects;
	/* Three arrays, with room for n_streams, about the streams that take part in one round. */
	stream_id *round_ids;	       /* the id of each stream */
	struct stream **round_streams; /* the streams */
	sample_id *round_samples;      /* the sample that each stream has drawn */
};

void draw_init(struct draw *draw);
void draw_free(struct draw *draw);
/* Frees `set` and `ids` of each strand. The stream must be in no list. */
void draw_drop_samples(struct stream *stream);

/* Event: the cache begins to count the stream's remaining samples as needed. */
void draw_count(struct draw *draw, struct stream *stream);
/* Event: the stream moves to draw->streams and joins its samplers. The stream draws only while
 * `ready` is set (draw_ready). ahead, unbound: the stream's counts. After -ENOMEM the stream is as
 * it was after draw_count. */
must_check int draw_enter(
	struct draw *draw, struct stream *stream, uint32_t ahead, uint32_t unbound);
/* Event: from now on the stream may draw (`ready` is true), or may not. */
void draw_ready(struct stream *stream, bool ready);
/* Event: the epoch draws no more. Effect: DRAW_LEAVE or DRAW_GONE. */
void draw_end(struct draw *draw, struct stream *stream);
/* Event: the stream will never draw; draw_take_leaving will return it. */
void draw_give_up(struct stream *stream);
/* Returns a stream (each once) that has ended or will never draw, but whose samples the cache still
 * counts as needed; NULL: none. The caller tells the cache that the stream needs no samples. */
struct stream *draw_take_leaving(struct draw *draw);
/* Event: the cache is being told that the stream needs no samples. Forgets the stream. */
void draw_left(struct draw *draw, struct stream *stream);

/* Event: an open needs a sample, and none is drawn ahead. Draws a round. But a stream with at_open
 * draws alone: the sample `fixed` or, if `fixed` is SAMPLE_NONE, a sample with the label. Effects:
 * DRAW_DRAWN. */
void draw_asked(struct draw *draw, struct stream *stream, uint32_t label, sample_id fixed,
	const struct ahead_cache *cache);
/* Event: the cache may have room. If the stream wants samples, draws one round, with all streams
 * that may take part. Returns false if nothing was drawn; otherwise the caller calls again. */
must_check bool draw_go_on(
	struct draw *draw, struct stream *stream, const struct ahead_cache *cache);
struct feed;
/* Event: the cache may have room. Moves the feed's first sample to the stream's drawn samples.
 * Effect: DRAW_DRAWN. Returns false if the feed is empty, or there is no room. */
must_check bool draw_fed(struct draw *draw, struct stream *stream, struct feed *feed,
	const struct ahead_cache *cache);
/* Event: positions were bound. ahead, unbound: the stream's new counts. Effect: DRAW_LOW if few
 * drawn samples are left. */
void draw_bound(
	struct draw *draw, struct stream *stream, uint32_t ahead, uint32_t unbound);
/* Event: another daemon fetches the sample, and does not tell for which training. The sample counts
 * as fetched for the oldest training here that needs it: this training's epoch no longer needs the
 * sample. Effect: DRAW_DROP. Returns false if no training needs the sample. */
bool draw_fetched(struct draw *draw, const struct space *space, sample_id id);

/* Returns the stream that draws for the job's epoch, or NULL. */
struct stream *draw_find(const struct draw *draw, job_id job, uint32_t epoch);
bool draw_draws_for(const struct draw *draw, job_id job);
bool draw_any_leaves(const struct draw *draw);
/* Tells whether a stream of this training and epoch is the bearer, which lists the samples that the
 * training's epoch still needs (needed.c). */
bool draw_is_borne(const struct draw *draw, const struct stream *stream);
/* Returns the number of samples that the stream has yet to draw, as its samplers count them. The
 * number equals stream->unbound. For tests. */
uint32_t stream_remaining(const struct stream *stream);
/* Returns the strand of the sample. sample: its id in the stream. */
struct strand *strand_of(const struct stream *stream, sample_id sample);
/* Returns the stream's strand for the space, or NULL. */
const struct strand *strand_in(const struct stream *stream, const struct space *space);
/* Tells whether the stream still needs a sample. id: its id in the strand's sampler. */
bool strand_needs(const struct stream *stream, const struct strand *strand, sample_id id);

/* Checks invariants; takes long. For tests. */
void draw_validate(const struct draw *draw);

/* --- feed.c: samples of a rank ------------------------------------------------------------ */

/* The samples that a rank has received from the coordinator for an epoch, except those that are
 * already bound or moved to the rank's stream. */
struct feed {
	uint32_t epoch;
	/* number of samples received so far, including bound and moved ones */
	uint32_t next;
	/* `ids` has the n samples from index `head` on; its capacity is `room` */
	uint32_t head, n, room;
	sample_id *ids;
	/* The epoch's first `consumed` bindings are consumed; the next binding is not. */
	uint32_t consumed;
	/* Readers have got the epoch's first `had` samples from another daemon. */
	uint32_t had;
	bool used;
};

struct feeds {
	/* feeds of the running epoch, and of the previous one while readers read it */
	struct feed feed[2];
	uint32_t consumed_since; /* positions consumed since the last report */
};

struct feed *feed_find(struct feeds *feeds, uint32_t epoch);
/* Begins a feed for the epoch, in feeds->feed[epoch % 2]. Drops the feed of an earlier epoch that
 * was there. next: number of the epoch's samples that are already drawn or bound. */
struct feed *feed_begin(struct feeds *feeds, uint32_t epoch, uint32_t next);
/* Appends n samples, the first of which is number `base` of the epoch. Skips samples that the feed
 * has already received. -ENOMEM */
must_check int feed_append(
	struct feed *feed, uint32_t base, const sample_id *ids, uint32_t n);
/* Makes room at the front of the feed for n samples: the stream has taken them from the feed, and
 * has ended before they were bound. Returns the array to which the caller writes them. Returns NULL
 * if n is 0, the epoch has no feed, or memory is short. If memory is short, the feed is dropped,
 * and its samples must be sent again. */
sample_id *feed_return(struct feeds *feeds, uint32_t epoch, uint32_t n);
/* Removes and returns the first sample. The feed must not be empty. */
sample_id feed_take(struct feed *feed);
/* Returns sample number k of the epoch; SAMPLE_NONE: not received, or already drawn. */
sample_id feed_at(const struct feed *feed, uint32_t k);
/* Counts a consumed position. Returns true when the coordinator should get a report. */
bool feed_has_news(struct feeds *feeds);
void feeds_free(struct feeds *feeds);
