// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/rng.h"
#include "sampler/sampler.h"

#include <sys/queue.h>

/*
 * The draw engine decides which sample each job reads next: which streams draw together, how far
 * ahead, and which samples are still needed. Events in, effects out: the engine has no clock,
 * locks, threads or files, and calls only its samplers. The same events give the same effects.
 *
 *   draw.c             streams begin and end
 *   rounds.c           draws ahead, as far as the cache has room
 *   mixture_strand.c   divides the streams of a mixture by dataset
 *   needed.c           counts samples that ranks of a training, and other daemons, still ask for
 *   feed.c             keeps the samples of a rank, which are drawn elsewhere
 *   validate.c         checks all of it, for tests
 *
 *   Flow: the need of a stream's samples is counted; the stream enters, is made ready, draws, and
 *         ends; its remaining need is removed. After each event the caller executes the effects, in
 *         their order.
 *   Owns: the streams' ids and sets. The caller owns samplers, selections and streams.
 *   Threads: caller serialises.
 *   Errors: -ENOMEM from draw_enter; the other events can't fail.
 */

struct edition; /* defined by the caller: the samples of an epoch */
struct space;	/* defined by the caller: the tensors of a dataset */

/* The part of a stream's samples that comes from one dataset. Ids are those of the strand's
 * sampler. */
struct strand {
	struct space *space;
	struct sampler *sampler;	   /* NULL: samples are not drawn */
	uint32_t number;		   /* number of the space in the sampler */
	const roaring_bitmap_t *selection; /* the job's samples */
	sample_id first; /* the stream's id for the sampler's sample 0 */
	/* The number of positions that one open binds, for dsa. Other samplers have 1: exchange
	 * draws as late as possible, because it gives cached samples, and isa shares no draws. */
	uint32_t at_once;
	/* Most samples drawn ahead. The caller may change it before each event. */
	uint32_t lookahead;
	/* The remaining samples while they are not in a sampler. They may be in one of these two
	 * members, or in both. */
	struct sampler_set *set;
	roaring_bitmap_t *ids;
};

/* A running epoch. The caller fills in the fields up to `strands`, and ends the stream while its
 * job is parked. If each position has a fixed sample, the stream has no sampler, and only counts
 * need. */
struct stream {
	job_id job;
	uint32_t epoch;
	struct edition *edition;
	/* training that this rank belongs to, if its samples are drawn elsewhere; NULL: none */
	const char *training;
	bool at_open;	       /* a sample is drawn only when its position is opened */
	uint64_t tensor_bytes; /* size of a large tensor of the job; at least 1 */
	size_t n_strands;
	struct strand *strands; /* one for each dataset */

	TAILQ_ENTRY(stream)
	link;	      /* in draw->streams while it draws, otherwise in draw->counted */
	stream_id id; /* number in all its samplers */
	job_id joined_as; /* the job's id, or the stand-in's: draw.c */
	bool ready;	  /* may draw */
	bool leaves;	  /* its need has yet to be removed */
	uint32_t ahead;	  /* samples drawn and not bound */
	uint32_t unbound; /* positions without a sample, bound or drawn */
	/* value of `ahead` after the last draw or refill; half of it counts as low */
	uint32_t filled;
	struct strand *next; /* the strand of its next sample: mixture_strand.c */
	struct rng rng;
};

enum draw_effect_kind {
	/* space, id: the number of epochs that need the sample is reduced by one */
	DRAW_DROP,
	/* stream, strand, space, id, sample: pin and request the sample; it is the next to be
	 * bound */
	DRAW_DRAWN,
	DRAW_LOW, /* stream: at most half of its look-ahead is left; refill it soon */
	/* stream: it has ended; remove the need of its remaining samples in steps */
	DRAW_LEAVE,
	DRAW_GONE, /* stream: it has ended and has no samples left; free it */
	DRAW_EFFECT_KINDS
};

struct draw_effect {
	enum draw_effect_kind kind;
	struct stream *stream;
	const struct strand *strand;
	struct space *space;
	sample_id id;	  /* id in the strand's sampler */
	sample_id sample; /* id in the stream */
};

TAILQ_HEAD(draw_streams, stream);

/* The facts of the cache. */
struct ahead_cache {
	uint64_t capacity;     /* bytes */
	uint64_t pinned_bytes; /* bytes of pinned tensors */
	uint64_t awaited;      /* pinned samples that are not in the cache yet */
};

struct draw {
	struct draw_streams streams; /* streams that draw, the oldest first */
	struct draw_streams counted; /* streams whose need counts, but that do not draw */
	uint32_t n_streams;	     /* of `streams` */
	uint64_t seed;		     /* chooses the datasets of mixtures */
	stream_id next_id;
	/* The effects of the latest event. There is always room for the effects of one event. */
	struct draw_effect *effects;
	size_t n_effects;
	/* Arrays for a round, with room for n_streams. */
	stream_id *round_ids;
	struct stream **round_streams;
	sample_id *round_samples;
};

void draw_init(struct draw *draw);
void draw_free(struct draw *draw);
/* Frees the ids and sets of a stream. The stream must be in no list. */
void draw_drop_samples(struct stream *stream);

/* --- events: streams begin and end -------------------------------------------------------- */

/* Event: from now on the need of the stream's remaining samples is counted. */
void draw_count(struct draw *draw, struct stream *stream);
/* Event: the epoch begins to draw. Inserts the stream into its samplers; it is not ready yet.
 * ahead, unbound: as for draw_bound. After -ENOMEM the stream is still only counted. */
must_check int draw_enter(
	struct draw *draw, struct stream *stream, uint32_t ahead, uint32_t unbound);
/* Event: the stream may draw, or may not. */
void draw_ready(struct stream *stream, bool ready);
/* Event: the epoch draws no more. Effects: LEAVE or GONE. */
void draw_end(struct draw *draw, struct stream *stream);
/* Event: a counted stream will never draw. draw_take_leaving then returns it. */
void draw_give_up(struct stream *stream);
/* Returns a stream that leaves, whose need the caller alone must remove. NULL: there is none. */
struct stream *draw_take_leaving(struct draw *draw);
/* Event: the caller is removing the need of a counted stream. */
void draw_left(struct draw *draw, struct stream *stream);

/* --- events: drawing ---------------------------------------------------------------------- */

/* Event: an open needs a sample, and none is drawn. Draws one round. If the stream draws at opens,
 * draws only one sample: `fixed`, the position's own sample, or if it is SAMPLE_NONE a sample with
 * the label. Effects: DRAWN, for this stream and for those that join the round. */
void draw_asked(struct draw *draw, struct stream *stream, uint32_t label, sample_id fixed,
	const struct ahead_cache *cache);
/* Event: the stream may draw ahead. Draws one round. false: the stream wants no further round. */
must_check bool draw_go_on(
	struct draw *draw, struct stream *stream, const struct ahead_cache *cache);
struct feed;
/* Moves a sample from the rank's feed to the look-ahead. Effects: DROP, DRAWN. false: the feed is
 * empty, or there is no room. */
must_check bool draw_fed(struct draw *draw, struct stream *stream, struct feed *feed,
	const struct ahead_cache *cache);
/* Event: positions were bound. ahead: number of samples that are drawn and not bound; unbound:
 * number of positions that are not bound and have no drawn sample. Effect: LOW. */
void draw_bound(
	struct draw *draw, struct stream *stream, uint32_t ahead, uint32_t unbound);
/* Event: another daemon asks for the sample. Effect: DROP, in the oldest epoch of a training that
 * needs the sample. false: no training needs it. */
bool draw_fetched(struct draw *draw, const struct space *space, sample_id id);

/* --- questions ---------------------------------------------------------------------------- */

/* Returns the stream that draws for the job's epoch, or NULL. */
struct stream *draw_find(const struct draw *draw, job_id job, uint32_t epoch);
/* Tells whether a stream draws for the job. */
bool draw_draws_for(const struct draw *draw, job_id job);
/* Tells whether draw_take_leaving would return a stream. */
bool draw_any_leaves(const struct draw *draw);
/* Tells whether another stream already counts the remaining samples of this rank. */
bool draw_is_borne(const struct draw *draw, const struct stream *stream);
uint32_t stream_remaining(const struct stream *stream);
/* Returns the strand that the stream's sample comes from. */
struct strand *strand_of(const struct stream *stream, sample_id sample);
/* Returns the strand whose tensors are in the space, or NULL. */
const struct strand *strand_in(const struct stream *stream, const struct space *space);
/* Tells whether the strand still needs the sample. */
bool strand_needs(const struct stream *stream, const struct strand *strand, sample_id id);

/* Aborts if an invariant does not hold. For tests; takes long. */
void draw_validate(const struct draw *draw);

/* --- feed.c: samples of a rank ------------------------------------------------------------ */

/* Samples that a rank has received for an epoch and that are neither drawn nor bound. */
struct feed {
	uint32_t epoch;
	uint32_t next; /* number of samples received, including drawn and bound ones */
	/* in `ids`: index of the first sample, number of samples, capacity */
	uint32_t head, n, room;
	sample_id *ids;
	/* number of consumed bindings, counted without gaps from the first one */
	uint32_t consumed;
	/* number of samples at the start that were consumed on another daemon */
	uint32_t had;
	bool used;
};

struct feeds {
	struct feed feed[2]; /* the running epoch, and the previous one while it drains */
	uint32_t consumed_since; /* positions consumed since the last report */
};

/* Returns the feed of the epoch, or NULL. */
struct feed *feed_find(struct feeds *feeds, uint32_t epoch);
/* Begins a feed. next: number of samples that are already drawn or bound. */
struct feed *feed_begin(struct feeds *feeds, uint32_t epoch, uint32_t next);
/* Appends n samples; the first one is sample number `base` of the epoch. Skips those that the feed
 * already has. -ENOMEM */
must_check int feed_append(
	struct feed *feed, uint32_t base, const sample_id *ids, uint32_t n);
/* Makes room at the front of the feed for n samples that were drawn and not bound; the caller
 * writes them there. NULL: the epoch has no feed, or there is no memory. In the latter case the
 * feed is dropped, and its samples must be sent again. */
sample_id *feed_return(struct feeds *feeds, uint32_t epoch, uint32_t n);
/* Removes the next sample from the feed and returns it. The feed must not be empty. */
sample_id feed_take(struct feed *feed);
/* Returns sample number k of the epoch, if it was received and is not drawn; otherwise
 * SAMPLE_NONE. */
sample_id feed_at(const struct feed *feed, uint32_t k);
/* Counts a consumed position. Returns true if enough positions were consumed for a new report to
 * the coordinator. */
bool feed_has_news(struct feeds *feeds);
void feeds_free(struct feeds *feeds);
