// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/rng.h"
#include "sampler/idset.h"
#include "sampler/sampler.h"

struct slots;

struct sampler_set {
	struct idset *ids;
	/* exchange: the slots of `ids` in the order `numbering`. numbering is NULL
	 * while a stream has the set: then the order is the sampler's present one. */
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
	/* where to store the drawn sample; NULL: the stream is not in this round */
	sample_id *ret;
};

/* The next draw from `set`, which sampler_foresee has made. The sampler forgets it when
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
	size_t capacity; /* length of the arrays by_id, round, order and sets */
	struct sampler_stream **order;	  /* dsa: all streams, by |R|, then by id */
	const struct idset **sets;	  /* dsa: the sets of the round's streams */
	struct sampler_foreseen foreseen; /* dsa: the next draw */
	/* NULL: the algorithm is not `exchange` */
	struct exchange *exchange;
	/* data of an algorithm that was passed to sampler_new_of; ops->free frees
	 * them */
	void *own;
};

/*
 * A sampling algorithm. All functions except draw may be NULL. R: the ids that a stream
 * has yet to draw.
 *
 *  insert   is called before the stream is in by_id; finds R in stream->set; may fail
 *  remove   is called before the stream is taken out of by_id
 *  draw     sets *stream->ret for the m streams in sampler->round, whose R are not
 *           empty, and removes these samples from R (stream_take); may reorder the round
 */
struct sampler_ops {
	int (*insert)(struct sampler *sampler, struct sampler_stream *stream);
	void (*remove)(struct sampler *sampler, struct sampler_stream *stream);
	void (*draw)(struct sampler *sampler, size_t m);
	sample_id (*foresee)(
		struct sampler *sampler, const struct sampler_stream *stream);
	void (*validate)(const struct sampler *sampler);
	/* The next functions, except `free`, are only for `exchange`. */
	void (*leave)(struct sampler *sampler, job_id job);
	sample_id (*draw_within)(
		struct sampler *sampler, struct sampler_stream *stream, uint32_t label);
	void (*resident)(struct sampler *sampler, uint32_t space, sample_id sample);
	void (*evicted)(struct sampler *sampler, uint32_t space, sample_id sample);
	bool (*refresh)(struct sampler *sampler, uint32_t n);
	void (*free)(struct sampler *sampler);
};

/* Tests and simulations pass algorithms that the daemon lacks. */
must_check int sampler_new_of(
	const struct sampler_ops *ops, uint64_t seed, struct sampler **ret);

void stream_take(struct sampler_stream *stream, sample_id sample);

extern const struct sampler_ops sampler_dsa;
extern const struct sampler_ops sampler_exchange;
extern const struct sampler_ops sampler_isa;
extern const struct sampler_ops sampler_sequential;

/* labels: the label of each id below n_ids; NULL: samples of all labels may be
 * exchanged. */
must_check int exchange_new(
	const uint32_t *labels, uint32_t n_ids, struct exchange **ret);
void exchange_free(struct exchange **exchange);
/* Returns a reference, for slots_put, to the current order of ids by class. */
struct slots *exchange_slots(const struct exchange *exchange);
/* Makes the set of the slots that `ids` have in the order `slots`. Needs no lock. */
must_check int slots_translate(
	const struct slots *slots, const struct idset *ids, struct idset **ret);
void slots_put(struct slots **slots);
