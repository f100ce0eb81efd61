// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/rng.h"
#include "sampler/idset.h"
#include "sampler/sampler.h"

struct slots;

struct sampler_set {
	struct idset *ids;
	/* for exchange: the slots of `ids` in `numbering` */
	struct idset *slots;
	/* for exchange: the order of ids by class to which `slots` belongs. NULL once a stream has
	 * the set: then `slots` belongs to the sampler's present order. */
	struct slots *numbering;
};

struct sampler_stream {
	stream_id id;
	job_id job;
	/* the set R: samples that the stream has still to draw */
	struct sampler_set *owned;
	struct idset *set;     /* owned->ids */
	uint32_t remaining;    /* |R|, the number of remaining samples */
	struct member *member; /* for exchange: the stream's job */
	/* where to store the drawn sample; NULL: the stream is not in this round */
	sample_id *ret;
};

/* The sampler's next draw, which sampler_foresee has made, if it is from `set`. It is forgotten when
 * the set or the random state changes. */
struct sampler_foreseen {
	const struct idset *set; /* NULL: no draw is foreseen */
	sample_id sample;
	struct rng after; /* the random state after the draw */
};

struct sampler {
	const struct sampler_ops *ops;
	struct rng rng;
	struct sampler_stream **by_id; /* all streams, by ascending id */
	struct sampler_stream **round; /* the streams of the current draw */
	size_t n;
	/* number of streams for which all arrays have room */
	size_t capacity;
	/* for dsa: all streams, sorted by |R|, then by id */
	struct sampler_stream **order;
	const struct idset **sets;	  /* for dsa: the sets of the round's streams */
	struct sampler_foreseen foreseen; /* for dsa: the next draw */
	/* data of the algorithm `exchange`; NULL: the sampler uses another algorithm */
	struct exchange *exchange;
	/* Data of an algorithm that was given to sampler_new_of. The algorithm's function `free`
	 * frees this data. */
	void *own;
};

/*
 * The algorithm of a sampler, as functions. All functions except draw may be NULL. R is the set of
 * samples that a stream has still to draw.
 *
 *   insert   is called before the stream is in by_id; finds R in stream->set; may fail
 *   remove   is called before the stream is taken out of by_id
 *   draw     sets *stream->ret for the m streams in sampler->round, whose R are not empty,
 *            and removes these samples from R (stream_take); may reorder sampler->round
 */
struct sampler_ops {
	int (*insert)(struct sampler *sampler, struct sampler_stream *stream);
	void (*remove)(struct sampler *sampler, struct sampler_stream *stream);
	void (*draw)(struct sampler *sampler, size_t m);
	sample_id (*foresee)(
		struct sampler *sampler, const struct sampler_stream *stream);
	void (*validate)(const struct sampler *sampler);
	/* The following functions, except `free`, are only for the algorithm `exchange`. */
	void (*leave)(struct sampler *sampler, job_id job);
	sample_id (*draw_within)(
		struct sampler *sampler, struct sampler_stream *stream, uint32_t label);
	void (*resident)(struct sampler *sampler, uint32_t space, sample_id sample);
	void (*evicted)(struct sampler *sampler, uint32_t space, sample_id sample);
	bool (*refresh)(struct sampler *sampler, uint32_t n);
	void (*free)(struct sampler *sampler); /* frees the data in sampler->own */
};

/* Makes a sampler with any algorithm. Tests and simulations have algorithms that the daemon
 * lacks. */
must_check int sampler_new_of(
	const struct sampler_ops *ops, uint64_t seed, struct sampler **ret);

/* Removes the sample from the samples that the stream has still to draw. */
void stream_take(struct sampler_stream *stream, sample_id sample);

extern const struct sampler_ops sampler_dsa;
extern const struct sampler_ops sampler_exchange;
extern const struct sampler_ops sampler_isa;
extern const struct sampler_ops sampler_sequential;

/* Makes the data of the algorithm `exchange`. labels: the label of each id, or NULL. */
must_check int exchange_new(
	const uint32_t *labels, uint32_t n_ids, struct exchange **ret);
void exchange_free(struct exchange **exchange);
/* Returns a reference to the current slots, the order of ids by class. The caller drops the
 * reference by slots_put. */
struct slots *exchange_slots(const struct exchange *exchange);
/* Makes a set of slots: the places of `ids` in the order `slots`. Needs no lock. */
must_check int slots_translate(
	const struct slots *slots, const struct idset *ids, struct idset **ret);
void slots_put(struct slots **slots);
