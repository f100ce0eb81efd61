// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/rng.h"
#include "sampler/sampler.h"

#include <sys/queue.h>

/*
 * The draw engine decides which sample each job reads next: which streams draw together, how far
 * ahead, and which samples are still needed. A call reports an event, and returns effects: the
 * engine has no clock, locks, threads or files, and calls only its samplers. The same events give
 * the same effects.
 *
 *   stream       the samples that a job draws for one epoch
 *   strand       the part of a stream that comes from one dataset
 *   round        one draw of a sampler for several streams, which share samples as far as possible
 *   look-ahead   the samples of a stream that are drawn and not bound yet
 *   need         the number of epochs that have yet to draw a sample; the cache counts it
 *
 *   draw.c             streams begin and end
 *   rounds.c           draws ahead, as far as the cache has room
 *   mixture_strand.c   divides the streams of a mixture by dataset
 *   needed.c           counts samples for which ranks of a training, or other daemons, still ask
 *   feed.c             keeps the samples of a rank, which are drawn elsewhere
 *   validate.c         checks the engine, for tests
 *
 *   Flow: for each stream draw_count -> draw_enter -> draw_ready -> draws -> draw_end -> draw_left.
 *         After each event the caller executes the effects, in their order.
 *   Owns: the streams' ids and sets. The caller owns samplers, selections and streams.
 *   Threads: the caller serialises the calls.
 *   Errors: -ENOMEM from draw_enter; the other events can't fail.
 */

struct edition; /* opaque here: the samples of an epoch */
struct space;	/* opaque here: the tensors of a dataset with one preparation */

/* The part of a stream's samples that comes from one dataset. The samples are numbered as in the
 * dataset's sampler. */
struct strand {
	struct space *space;
	struct sampler *sampler; /* NULL: the samples are not drawn here */
	uint32_t number;	 /* the number by which the sampler knows the space */
	const roaring_bitmap_t *selection; /* ids of the job's samples */
	/* id, in the stream, of the sample that has id 0 in the sampler */
	sample_id first;
	/* The number of positions that one open binds, if the sampler is dsa; 1 for other samplers.
	 * `exchange` should draw late, because it prefers samples that are cached at the time of
	 * the draw. `isa` shares no draws. */
	uint32_t at_once;
	/* The most samples to draw ahead. The caller may change this number before each event. */
	uint32_t lookahead;
	/* The samples that the strand has yet to draw: `set` in the form that a sampler takes over,
	 * `ids` as a bitmap. One of them or both are set while the strand is in no sampler; both
	 * are NULL while the sampler has the samples. */
	struct sampler_set *set;
	roaring_bitmap_t *ids;
};

/* A running epoch, for which samples are drawn. The caller sets the fields up to `strands`. It ends
 * the stream when the job is parked. The strands have no sampler if each position has a fixed
 * sample; the stream then only counts need. */
struct stream {
	job_id job;
	uint32_t epoch;
	struct edition *edition;
	/* The name of the training, if the job is a rank whose samples the coordinator draws;
	 * otherwise NULL. */
	const char *training;
	bool at_open; /* a sample is drawn only when its position is opened */
	/* a size that three quarters of the job's tensors do not exceed; at least 1 */
	uint64_t tensor_bytes;
	size_t n_strands;
	struct strand *strands; /* one strand for each dataset */

	/* in draw->streams while the stream draws, otherwise in draw->counted */
	TAILQ_ENTRY(stream) link;
	stream_id id;	  /* the stream's number in all its samplers */
	job_id joined_as; /* the job's id, or the id of its stand-in (draw.c) */
	bool ready;	  /* the stream may draw */
	bool leaves; /* the caller still has to tell the cache that the stream needs no samples */
	uint32_t ahead; /* number of samples drawn and not bound */
	/* number of positions that are not bound, and have no drawn sample */
	uint32_t unbound;
	/* value of `ahead` after the last draw or refill; if half of it is left, the effect is
	 * LOW */
	uint32_t filled;
	struct strand *next; /* the strand from which the next sample will come */
	struct rng rng;
};

/* Kinds of effects: each one is a task for the caller. */
enum draw_effect_kind {
	/* Reduce the number of epochs that need the sample `id` of `space` by one. */
	DRAW_DROP,
	/* Pin and request the sample, which has the id `sample` in `stream`, and `id` in `space`.
	 * The stream will bind it after all samples that were drawn earlier. If `drops` is true,
	 * also reduce the need of the sample by one. */
	DRAW_DRAWN,
	/* Refill the look-ahead of `stream` soon, because at most half of it is left. */
	DRAW_LOW,
	/* `stream` has ended: reduce the need of each of its remaining samples by one, in steps. */
	DRAW_LEAVE,
	DRAW_GONE, /* `stream` has ended and has no samples left: free it. */
	DRAW_EFFECT_KINDS
};

struct draw_effect {
	enum draw_effect_kind kind;
	bool drops;
	struct stream *stream;
	const struct strand *strand;
	struct space *space;
	sample_id id;	  /* id of the sample in the strand's sampler */
	sample_id sample; /* id of the sample in the stream */
};

TAILQ_HEAD(draw_streams, stream);

/* Facts about the cache that limit the look-ahead. */
struct ahead_cache {
	uint64_t capacity;     /* size in bytes */
	uint64_t pinned_bytes; /* bytes of pinned tensors */
	/* number of pinned samples that are not in the cache yet */
	uint64_t awaited;
};

struct draw {
	struct draw_streams streams; /* streams that draw, the oldest first */
	/* streams that do not draw, but whose samples count as needed */
	struct draw_streams counted;
	uint32_t n_streams; /* number of streams in `streams` */
	uint64_t seed;	    /* seed for choosing the datasets of mixtures */
	stream_id next_id;
	/* The effects of the last event. The array always has room for the effects of one event. */
	struct draw_effect *effects;
	size_t n_effects;
	/* Arrays for the streams and samples of one round, with room for n_streams. */
	stream_id *round_ids;
	struct stream **round_streams;
	sample_id *round_samples;
};

void draw_init(struct draw *draw);
void draw_free(struct draw *draw);
/* Frees the remaining samples (ids and sets) of a stream. The stream must be in no list. */
void draw_drop_samples(struct stream *stream);

/* --- events: streams begin and end -------------------------------------------------------- */

/* Event: the cache begins to count the stream's remaining samples as needed. */
void draw_count(struct draw *draw, struct stream *stream);
/* Event: the epoch begins to draw. Inserts the stream into its samplers, but does not make it
 * ready. ahead, unbound: as for draw_bound. After -ENOMEM the stream is as it was after
 * draw_count. */
must_check int draw_enter(
	struct draw *draw, struct stream *stream, uint32_t ahead, uint32_t unbound);
/* Event: from now on the stream may draw (true), or may not (false). */
void draw_ready(struct stream *stream, bool ready);
/* Event: the epoch draws no more. Effect: LEAVE or GONE. */
void draw_end(struct draw *draw, struct stream *stream);
/* Event: the stream will never draw, so its samples are no longer needed. The caller gets the
 * stream back from draw_take_leaving. */
void draw_give_up(struct stream *stream);
/* Returns a stream that will not draw, but whose samples still count as needed; NULL: there is
 * none. Returns each such stream only once. The caller then tells the cache that the stream needs
 * no samples. */
struct stream *draw_take_leaving(struct draw *draw);
/* Event: the caller has begun to tell the cache that the stream needs no samples. The engine
 * forgets the stream. */
void draw_left(struct draw *draw, struct stream *stream);

/* --- events: drawing ---------------------------------------------------------------------- */

/* Event: an open needs a sample, and no sample is drawn. Draws one round for all streams that may
 * join. But if the stream draws at opens (at_open), draws one sample for this stream alone:
 * `fixed`, or, if `fixed` is SAMPLE_NONE, any sample with the label. Effects: DRAWN. */
void draw_asked(struct draw *draw, struct stream *stream, uint32_t label, sample_id fixed,
	const struct ahead_cache *cache);
/* Event: there may be room to draw ahead. Draws one round. Returns false if the stream wants no
 * further round. */
must_check bool draw_go_on(
	struct draw *draw, struct stream *stream, const struct ahead_cache *cache);
struct feed;
/* Event: there may be room for a sample of the rank's feed. Moves the sample to the look-ahead.
 * Effect: DRAWN. Returns false if the feed is empty or the cache has no room. */
must_check bool draw_fed(struct draw *draw, struct stream *stream, struct feed *feed,
	const struct ahead_cache *cache);
/* Event: positions were bound. ahead: number of samples that are drawn and not bound; unbound:
 * number of positions that are not bound and have no drawn sample. Effect: LOW. */
void draw_bound(
	struct draw *draw, struct stream *stream, uint32_t ahead, uint32_t unbound);
/* Event: another daemon asks for the sample. If a training needs the sample, its oldest epoch that
 * does so needs the sample no more (effect: DROP). Returns false if no training needs the
 * sample. */
bool draw_fetched(struct draw *draw, const struct space *space, sample_id id);

/* --- questions ---------------------------------------------------------------------------- */

/* Returns the stream that draws for the job's epoch, or NULL. */
struct stream *draw_find(const struct draw *draw, job_id job, uint32_t epoch);
/* Tells whether a stream draws for the job. */
bool draw_draws_for(const struct draw *draw, job_id job);
/* Tells whether draw_take_leaving would return a stream now. */
bool draw_any_leaves(const struct draw *draw);
/* Tells whether any stream of this rank's training and epoch has the ids of the samples that the
 * training still needs. */
bool draw_is_borne(const struct draw *draw, const struct stream *stream);
/* Counts the samples that the stream has yet to draw: stream->unbound. For tests. */
uint32_t stream_remaining(const struct stream *stream);
/* Returns the strand from which the stream's sample comes. */
struct strand *strand_of(const struct stream *stream, sample_id sample);
/* Returns the strand whose tensors are in the space (which has a dataset and a preparation), or
 * NULL. */
const struct strand *strand_in(const struct stream *stream, const struct space *space);
/* Tells whether the strand still has to draw the sample. */
bool strand_needs(const struct stream *stream, const struct strand *strand, sample_id id);

/* Aborts if an invariant does not hold. For tests; takes long. */
void draw_validate(const struct draw *draw);

/* --- feed.c: samples of a rank ------------------------------------------------------------ */

/* The samples that a rank has received for an epoch, without those that are drawn or bound. */
struct feed {
	uint32_t epoch;
	/* number of samples received so far, including drawn and bound ones */
	uint32_t next;
	/* index of the first sample in `ids`, number of samples, and capacity of `ids` */
	uint32_t head, n, room;
	sample_id *ids;
	/* The first `consumed` bindings of the epoch are all consumed, but the next one is not. */
	uint32_t consumed;
	/* number of samples at the beginning of the epoch that were consumed on another daemon */
	uint32_t had;
	bool used;
};

struct feeds {
	struct feed feed[2]; /* the running epoch, and the previous one while it drains */
	uint32_t consumed_since; /* number of positions consumed since the last report */
};

/* Returns the feed of the epoch, or NULL. */
struct feed *feed_find(struct feeds *feeds, uint32_t epoch);
/* Begins a feed, in place of an older one. next: number of samples of the epoch that are already
 * drawn or bound. */
struct feed *feed_begin(struct feeds *feeds, uint32_t epoch, uint32_t next);
/* Appends n samples, of which the first one is sample number `base` of the epoch. Skips samples
 * that the feed has already received. -ENOMEM */
must_check int feed_append(
	struct feed *feed, uint32_t base, const sample_id *ids, uint32_t n);
/* Makes room at the front of the feed for n samples that were drawn and not bound. The caller
 * writes them to the returned array. NULL: the epoch has no feed, or there is no memory; without
 * memory the feed is dropped, and its samples must be sent again. */
sample_id *feed_return(struct feeds *feeds, uint32_t epoch, uint32_t n);
/* Removes the next sample from the feed and returns it. The feed must not be empty. */
sample_id feed_take(struct feed *feed);
/* Returns sample number k of the epoch; SAMPLE_NONE: it was not received, or is already drawn. */
sample_id feed_at(const struct feed *feed, uint32_t k);
/* Counts a consumed position. Returns true if enough positions were consumed for a new report to
 * the coordinator. */
bool feed_has_news(struct feeds *feeds);
void feeds_free(struct feeds *feeds);
