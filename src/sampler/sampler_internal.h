// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/rng.h"
#include "sampler/idset.h"
#include "sampler/sampler.h"

struct slots;

struct sampler_set {
	struct idset *ids;
	struct idset *slots; /* exchange: the slots of `ids` */
	/* the slots by which `slots` is numbered, until the set is inserted */
	struct slots *numbering;
};

struct sampler_stream {
	stream_id id;
	job_id job;
	struct sampler_set *owned; /* R */
	struct idset *set;	   /* owned->ids */
	uint32_t remaining;	   /* |R| */
	struct member *member;	   /* exchange: the stream's job */
	/* receives the drawn sample; NULL: the stream is not in this round */
	sample_id *ret;
};

/* The sample that is at the rank in a set. Forgotten when the set changes. */
struct sampler_foreseen {
	const struct idset *set; /* NULL: none */
	uint32_t rank;
	sample_id sample;
};

struct sampler {
	const struct sampler_ops *ops;
	struct rng rng;
	struct sampler_stream **by_id; /* ascending id */
	struct sampler_stream **round; /* the streams of the current draw */
	size_t n;
	size_t capacity;		  /* length of all arrays */
	struct sampler_stream **order;	  /* dsa: sorted by |R|, then by id */
	const struct idset **sets;	  /* dsa: the sets of the round's streams */
	struct sampler_foreseen foreseen; /* dsa */
	/* the data of the engine `exchange`; NULL: the sampler has another engine */
	struct exchange *exchange;
	void *own; /* the data of another engine; its `free` frees them */
};

/*
 * An engine; all functions but draw may be NULL.
 *
 *   insert   is called before the stream is in by_id, finds R in stream->set, may fail
 *   remove   is called before the stream is taken out of by_id
 *   draw     sets *ret of the m streams of sampler->round, none of which is exhausted,
 *            and takes the samples from R (stream_take); it may reorder sampler->round
 */
struct sampler_ops {
	int (*insert)(struct sampler *sampler, struct sampler_stream *stream);
	void (*remove)(struct sampler *sampler, struct sampler_stream *stream);
	void (*draw)(struct sampler *sampler, size_t m);
	sample_id (*foresee)(
		struct sampler *sampler, const struct sampler_stream *stream);
	void (*validate)(const struct sampler *sampler);
	/* The functions from here on are for engines with membership classes. */
	void (*leave)(struct sampler *sampler, job_id job);
	sample_id (*draw_within)(
		struct sampler *sampler, struct sampler_stream *stream, uint32_t label);
	void (*resident)(struct sampler *sampler, uint32_t space, sample_id sample);
	void (*evicted)(struct sampler *sampler, uint32_t space, sample_id sample);
	bool (*refresh)(struct sampler *sampler, uint32_t n);
	void (*free)(struct sampler *sampler); /* frees sampler->own */
};

/* Makes a sampler with an engine that the daemon does not have, for tests and simulations. */
must_check int sampler_new_of(
	const struct sampler_ops *ops, uint64_t seed, struct sampler **ret);

/* Removes the sample from the stream's R. */
void stream_take(struct sampler_stream *stream, sample_id sample);

extern const struct sampler_ops sampler_dsa;
extern const struct sampler_ops sampler_exchange;
extern const struct sampler_ops sampler_isa;
extern const struct sampler_ops sampler_sequential;

/* Makes the data of the engine exchange. labels may be NULL. */
must_check int exchange_new(
	const uint32_t *labels, uint32_t n_ids, struct exchange **ret);
void exchange_free(struct exchange **exchange);
/* Returns a reference to the present slots. */
struct slots *exchange_slots(const struct exchange *exchange);
/* Converts ids to slots. slots_translate and slots_put need no lock. */
must_check int slots_translate(
	const struct slots *slots, const struct idset *ids, struct idset **ret);
void slots_put(struct slots **slots);
