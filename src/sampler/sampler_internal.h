// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/rng.h"
#include "sampler/idset.h"
#include "sampler/sampler.h"

struct slots;

struct sampler_set {
	struct idset *ids;
	struct idset *slots; /* for exchange: the slots of `ids` */
	/* for exchange: the numbering of `slots`; NULL after the set is inserted */
	struct slots *numbering;
};

struct sampler_stream {
	stream_id id;
	job_id job;
	struct sampler_set *owned; /* the set R, in the sampler's form */
	struct idset *set;	   /* owned->ids */
	uint32_t remaining;	   /* |R|, the number of remaining samples */
	struct member *member;	   /* for exchange: the stream's job */
	/* where to store the drawn sample; NULL: the stream is not in this round */
	sample_id *ret;
};

/* The sampler's next draw, if it is from this set. It is forgotten when the set or the random state
 * changes. */
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
	struct sampler_foreseen foreseen; /* for dsa */
	/* data of the engine `exchange`; NULL: the sampler has another engine */
	struct exchange *exchange;
	void *own; /* data of an engine from sampler_new_of, which its `free` frees */
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
	/* The following functions, except `free`, are only for engines with membership classes. */
	void (*leave)(struct sampler *sampler, job_id job);
	sample_id (*draw_within)(
		struct sampler *sampler, struct sampler_stream *stream, uint32_t label);
	void (*resident)(struct sampler *sampler, uint32_t space, sample_id sample);
	void (*evicted)(struct sampler *sampler, uint32_t space, sample_id sample);
	bool (*refresh)(struct sampler *sampler, uint32_t n);
	void (*free)(struct sampler *sampler); /* frees the data in sampler->own */
};

/* Makes a sampler with any engine, also one that is not part of the daemon, for tests and
 * simulations. */
must_check int sampler_new_of(
	const struct sampler_ops *ops, uint64_t seed, struct sampler **ret);

/* Removes the sample from the stream's R. */
void stream_take(struct sampler_stream *stream, sample_id sample);

extern const struct sampler_ops sampler_dsa;
extern const struct sampler_ops sampler_exchange;
extern const struct sampler_ops sampler_isa;
extern const struct sampler_ops sampler_sequential;

/* Makes the data of the engine `exchange`. labels: the label of each id, or NULL. */
must_check int exchange_new(
	const uint32_t *labels, uint32_t n_ids, struct exchange **ret);
void exchange_free(struct exchange **exchange);
/* Returns a reference to the current slots, which the caller drops by slots_put. */
struct slots *exchange_slots(const struct exchange *exchange);
/* Makes the set of the slots of all ids in `ids`. Needs no lock. */
must_check int slots_translate(
	const struct slots *slots, const struct idset *ids, struct idset **ret);
void slots_put(struct slots **slots);
