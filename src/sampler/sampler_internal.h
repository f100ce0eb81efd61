// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/rng.h"
#include "sampler/idset.h"
#include "sampler/sampler.h"

struct slots;

struct sampler_set {
	struct idset *ids;
	/* exchange: the slots of `ids` in the order `numbering` (exchange/exchange_internal.h).
	 * While a stream has the set, `numbering` is NULL: the sampler's present order holds. */
	struct idset *slots;
	struct slots *numbering;
};

struct sampler_stream {
	stream_id id;
	job_id job;
	struct sampler_set *owned; /* R: the ids to draw */
	struct idset *set;	   /* owned->ids */
	uint32_t remaining;	   /* |R| */
	struct member *member;	   /* exchange: the stream's job */
	sample_id *ret; /* where to store the drawn sample; NULL: not in this round */
};

/* A draw made in advance by sampler_foresee, dropped when the set or the random state changes. */
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
	size_t capacity; /* length of the arrays by_id, round, order and sets */
	struct sampler_stream **order;	  /* dsa: all streams, by |R|, then by id */
	const struct idset **sets;	  /* dsa: the sets of the round's streams */
	struct sampler_foreseen foreseen; /* dsa: the next draw */
	struct exchange *exchange;	  /* NULL: the algorithm is not `exchange` */
	/* data of an algorithm given to sampler_new_of; ops->free frees them */
	void *own;
};

/*
 * A sampling algorithm. All functions except draw may be NULL. R: the ids that a stream has yet to
 * draw.
 *
 *  insert   is called before the stream is put into by_id; stream->set has R; may fail
 *  remove   is called before the stream is taken out of by_id
 *  draw     stores a sample in *stream->ret for each of the m streams in sampler->round, whose R
 *           are not empty, and removes the sample from R (stream_take); may reorder the round
 */
struct sampler_ops {
	int (*insert)(struct sampler *sampler, struct sampler_stream *stream);
	void (*remove)(struct sampler *sampler, struct sampler_stream *stream);
	void (*draw)(struct sampler *sampler, size_t m);
	sample_id (*foresee)(
		struct sampler *sampler, const struct sampler_stream *stream);
	void (*validate)(const struct sampler *sampler);
	void (*free)(struct sampler *sampler);
};

/* Makes a sampler with any algorithm: tests and simulations have some that the daemon lacks. */
must_check int sampler_new_of(
	const struct sampler_ops *ops, uint64_t seed, struct sampler **ret);

/* Returns the stream, which must exist. */
struct sampler_stream *stream_get(const struct sampler *sampler, stream_id id);
void stream_take(struct sampler_stream *stream, sample_id sample);

extern const struct sampler_ops sampler_dsa;
extern const struct sampler_ops sampler_exchange;
extern const struct sampler_ops sampler_isa;
extern const struct sampler_ops sampler_sequential;

/* labels: the label of each id below n_ids; NULL: exchanges ignore labels. */
must_check int exchange_new(
	const uint32_t *labels, uint32_t n_ids, struct exchange **ret);
void exchange_free(struct exchange **exchange);
/* Returns a reference to the current slots, which the caller gives back by slots_put. */
struct slots *exchange_slots(const struct exchange *exchange);
/* Makes the set of the slots that `ids` have in `slots`. Needs no lock. */
must_check int slots_translate(
	const struct slots *slots, const struct idset *ids, struct idset **ret);
void slots_put(struct slots **slots);
