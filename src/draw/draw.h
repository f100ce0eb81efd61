// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/rng.h"
#include "sampler/sampler.h"

#include <sys/queue.h>

/*
 * The draw engine decides which sample each job reads next: which streams draw together, how
 * far ahead, and which samples are still needed. Events in, effects out: it has no clock, no
 * locks, no threads and no files, and calls nobody but its samplers. The same events give the
 * same effects.
 *
 *   draw.c             streams begin and end
 *   rounds.c           draws ahead, as far as the cache has room
 *   mixture_strand.c   divides the streams of a mixture by dataset
 *   demand.c           counts samples that ranks of a training, and other daemons, still ask for
 *   feed.c             keeps the samples of a rank, which are drawn elsewhere
 *   validate.c         checks all of it, for tests
 *
 *   Flow: a stream is counted as need, enters, is made ready; it draws; it ends; its remaining
 *         need is given back. After each event the caller executes the effects, in their order.
 *   Owns: the streams' ids and sets. Samplers, selections and streams are the caller's.
 *   Threads: caller serialises.
 *   Errors: -ENOMEM from draw_enter; the other events can't fail.
 */

struct edition; /* the caller's: the samples of an epoch */
struct space;	/* the caller's: the place of a dataset's tensors */

/* The samples of a stream that come from one dataset. Ids are those of its sampler. */
struct strand {
	struct space *space;
	struct sampler *sampler; /* NULL: samples are not drawn */
	uint32_t number;	 /* number by which the sampler knows the space */
	const roaring_bitmap_t *selection; /* the job's samples */
	sample_id first;		   /* the stream's id of the sampler's sample 0 */
	/* Positions that one open binds, for dsa. exchange draws late, since it gives what is
	 * cached at the time, and isa shares no draws: 1. */
	uint32_t at_once;
	/* The most samples ahead; the caller may change it before each event. */
	uint32_t lookahead;
	/* the remaining samples while they are not in a sampler: in one of these two,
	 * or in both */
	struct sampler_set *set;
	roaring_bitmap_t *ids;
};

/* A running epoch, as the samplers see it. The caller fills the fields up to `strands`, and
 * ends the stream while its job is parked. Where the position determines the sample, the
 * stream has no sampler and only counts need. */
struct stream {
	job_id job;
	uint32_t epoch;
	struct edition *edition;
	const char *training;  /* name of the training whose rank is fed; NULL: none */
	bool at_open;	       /* samples are drawn only when a position is opened */
	uint64_t tensor_bytes; /* size of the job's larger tensors; at least 1 */
	size_t n_strands;
	struct strand *strands; /* one for each dataset */

	TAILQ_ENTRY(stream)
	link;		  /* in draw->streams while it draws, else in draw->counted */
	stream_id id;	  /* number in all its samplers */
	job_id joined_as; /* the job's id, or the stand-in's: draw.c */
	bool ready;	  /* may draw */
	bool leaves;	  /* its need has yet to be removed */
	uint32_t ahead;	  /* samples drawn and not bound */
	uint32_t unbound; /* positions without a sample, bound or drawn */
	uint32_t filled;  /* `ahead` after the last draw or refill; half of it is low */
	struct strand *next; /* the strand of its next sample: mixture_strand.c */
	struct rng rng;
};

enum draw_effect_kind {
	DRAW_DROP, /* space, id: one epoch less needs the sample */
	DRAW_DRAWN, /* stream, strand, space, id, sample: pin and request it; it is bound next */
	DRAW_LOW, /* stream: half of its look-ahead is left: fill it soon */
	DRAW_LEAVE, /* stream: has ended; remove the need of its remaining samples in steps */
	DRAW_GONE, /* stream: has ended, and nothing remains to it: free it */
	DRAW_EFFECT_KINDS
};

struct draw_effect {
	enum draw_effect_kind kind;
	struct stream *stream;
	const struct strand *strand;
	struct space *space;
	sample_id id;	  /* of the strand's sampler */
	sample_id sample; /* of the stream */
};

TAILQ_HEAD(draw_streams, stream);

/* The facts of the cache. */
struct ahead_cache {
	uint64_t capacity;     /* bytes */
	uint64_t pinned_bytes; /* bytes of pinned tensors */
	uint64_t awaited;      /* pinned samples that are not in the cache yet */
};

struct draw {
	struct draw_streams streams; /* those that draw, the oldest first */
	struct draw_streams counted; /* those that count as need, but do not draw */
	uint32_t n_streams;	     /* of `streams` */
	uint64_t seed;		     /* chooses the datasets of mixtures */
	stream_id next_id;
	/* the effects of the latest event, with room for those of any event */
	struct draw_effect *effects;
	size_t n_effects;
	/* scratch of a round, with room for n_streams */
	stream_id *round_ids;
	struct stream **round_streams;
	sample_id *round_samples;
};

void draw_init(struct draw *draw);
void draw_free(struct draw *draw);
/* Frees the ids and sets of a stream that is in no list. */
void draw_drop_samples(struct stream *stream);

/* --- events: streams begin and end -------------------------------------------------------- */

/* Tells that the need of the stream's remaining samples is counted from now on. */
void draw_count(struct draw *draw, struct stream *stream);
/* Tells that the epoch begins to draw: inserts the stream into its samplers, as a stream that
 * is not ready. ahead, unbound: as in draw_bound. On -ENOMEM the stream stays counted. */
must_check int draw_enter(
	struct draw *draw, struct stream *stream, uint32_t ahead, uint32_t unbound);
/* Tells whether the stream may draw. */
void draw_ready(struct stream *stream, bool ready);
/* Tells that the epoch draws no more: LEAVE or GONE. */
void draw_end(struct draw *draw, struct stream *stream);
/* Tells that a counted stream will not draw: draw_take_leaving returns it. */
void draw_give_up(struct stream *stream);
/* Makes the caller the only one to remove the need of a stream that leaves. NULL: none does. */
struct stream *draw_take_leaving(struct draw *draw);
/* Tells that the need of a counted stream is being removed. */
void draw_left(struct draw *draw, struct stream *stream);

/* --- events: drawing ---------------------------------------------------------------------- */

/* Tells that a request for a position found nothing drawn: one round, or for a stream that
 * draws at opens, one sample: the position's own one (`fixed`), or if that is SAMPLE_NONE, one
 * with the label. DRAWN, for this stream and for those that join the round. */
void draw_asked(struct draw *draw, struct stream *stream, uint32_t label, sample_id fixed,
	const struct ahead_cache *cache);
/* Tells that the stream may go on drawing ahead: one round. false: it wants no further one. */
must_check bool draw_go_on(
	struct draw *draw, struct stream *stream, const struct ahead_cache *cache);
struct feed;
/* Moves a sample from the rank's feed to the look-ahead: DROP, DRAWN. false: the feed is empty,
 * or there is no room. */
must_check bool draw_fed(struct draw *draw, struct stream *stream, struct feed *feed,
	const struct ahead_cache *cache);
/* Tells that positions were bound: so many samples are ahead now, and so many positions have no
 * sample, bound or drawn. LOW. */
void draw_bound(
	struct draw *draw, struct stream *stream, uint32_t ahead, uint32_t unbound);
/* Tells that another daemon has fetched the sample: DROP, in the oldest epoch that has it. */
void draw_fetched(struct draw *draw, const struct space *space, sample_id id);

/* --- questions ---------------------------------------------------------------------------- */

/* Returns the stream that draws for the job's epoch, or NULL. */
struct stream *draw_find(const struct draw *draw, job_id job, uint32_t epoch);
/* Tells whether a stream draws for the job. */
bool draw_draws_for(const struct draw *draw, job_id job);
/* Tells whether draw_take_leaving would return a stream. */
bool draw_any_leaves(const struct draw *draw);
/* Tells whether a rank's remaining samples are counted by another stream already. */
bool draw_is_borne(const struct draw *draw, const struct stream *stream);
uint32_t stream_remaining(const struct stream *stream);
/* Returns the strand of a sample of the stream. */
struct strand *strand_of(const struct stream *stream, sample_id sample);
/* Returns the strand whose samples lie in the space, or NULL. */
const struct strand *strand_in(const struct stream *stream, const struct space *space);
/* Tells whether the strand needs the sample. */
bool strand_needs(const struct stream *stream, const struct strand *strand, sample_id id);

/* Aborts if an invariant does not hold. For tests; takes long. */
void draw_validate(const struct draw *draw);

/* --- feed.c: samples of a rank ------------------------------------------------------------ */

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

struct feeds {
	struct feed feed[2]; /* the running epoch, and the one before it, which drains */
	uint32_t consumed_since; /* positions consumed since the last news */
};

/* Returns the feed of the epoch, or NULL. */
struct feed *feed_find(struct feeds *feeds, uint32_t epoch);
/* Begins a feed of which `next` samples are drawn or bound already. */
struct feed *feed_begin(struct feeds *feeds, uint32_t epoch, uint32_t next);
/* Appends n samples, which begin at the epoch's sample `base`: those that are new. -ENOMEM */
must_check int feed_append(
	struct feed *feed, uint32_t base, const sample_id *ids, uint32_t n);
/* Makes room at the front for n samples that were drawn and not bound, which the caller writes
 * there. Without memory, drops the feed, whose samples have to be sent again, and returns NULL;
 * also if the epoch has no feed. */
sample_id *feed_return(struct feeds *feeds, uint32_t epoch, uint32_t n);
/* Removes the next sample from the feed and returns it. The feed must not be empty. */
sample_id feed_take(struct feed *feed);
/* Returns the epoch's k-th sample, if it is received and not drawn; else SAMPLE_NONE. */
sample_id feed_at(const struct feed *feed, uint32_t k);
/* Counts a consumed position. Returns true if enough were consumed since the last news to
 * tell the feeder. */
bool feed_has_news(struct feeds *feeds);
void feeds_free(struct feeds *feeds);
