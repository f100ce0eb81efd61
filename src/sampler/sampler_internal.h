// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/rng.h"
#include "sampler/sampler.h"

/* A set of ids and its size, which CRoaring would have to add up each time. */
struct vertex {
	roaring_bitmap_t *ids;
	uint32_t size;
};

struct stream {
	stream_id id;
	job_id job;
	uint32_t remaining;   /* |R| */
	struct vertex own;    /* R; dsa: its leaf */
	struct vertex shared; /* dsa: the vertex of the suffix that starts here */
	size_t place;	      /* dsa: index in the tree's order */
	struct idset *set;
	struct member *member; /* exchange: its job */
	sample_id *ret;	      /* where the decision goes; NULL: not in this round */
};

/* The dependent sampling tree; dsa_tree.h has the picture. */
struct tree {
	struct stream **order; /* ascending |R|, ties by id */
	size_t n;
	bool *needs; /* room for tree_give, one for each stream */
};

struct sampler {
	const struct sampler_ops *ops;
	struct rng rng;
	struct stream **by_id; /* ascending id */
	struct stream **round; /* those that the current draw serves */
	size_t n;
	size_t capacity; /* of all arrays, also the tree's */
	struct tree tree;
	struct exchange *exchange; /* exchange's own; NULL otherwise */
};

/*
 * An engine. insert finds R in stream->own and may fail; draw sets *ret of the m streams
 * of sampler->round, none of which is exhausted, and takes what it gives from R; it may
 * change their order there.
 */
struct sampler_ops {
	int (*insert)(struct sampler *sampler, struct stream *stream);
	void (*remove)(struct sampler *sampler, struct stream *stream);
	void (*draw)(struct sampler *sampler, size_t m);
	bool (*contains)(const struct sampler *sampler, const struct stream *stream,
		sample_id sample);
	roaring_bitmap_t *(*copy)(
		const struct sampler *sampler, const struct stream *stream);
	void (*validate)(const struct sampler *sampler);
	/* For engines with membership classes; NULL: they do not matter. */
	int (*join)(struct sampler *sampler, job_id job, uint32_t space,
		const roaring_bitmap_t *selection);
	void (*leave)(struct sampler *sampler, job_id job);
	sample_id (*draw_within)(
		struct sampler *sampler, struct stream *stream, uint32_t label);
	void (*resident)(struct sampler *sampler, uint32_t space, sample_id sample);
	void (*evicted)(struct sampler *sampler, uint32_t space, sample_id sample);
};

extern const struct sampler_ops sampler_dsa;
extern const struct sampler_ops sampler_exchange;
extern const struct sampler_ops sampler_isa;
extern const struct sampler_ops sampler_sequential;

/* exchange's own part of a sampler; labels may be NULL. */
must_check int exchange_new(
	const uint32_t *labels, uint32_t n_ids, struct exchange **ret);
void exchange_free(struct exchange **exchange);

/* For engines whose streams know nothing of each other: R is stream->own. */
int plain_insert(struct sampler *sampler, struct stream *stream);
void plain_remove(struct sampler *sampler, struct stream *stream);
bool plain_contains(
	const struct sampler *sampler, const struct stream *stream, sample_id sample);
roaring_bitmap_t *plain_copy(const struct sampler *sampler, const struct stream *stream);
void plain_validate(const struct sampler *sampler);

/* The element of the given rank: with a uniform rank, a uniform element. */
sample_id vertex_select(const struct vertex *vertex, uint32_t rank);
bool vertex_contains(const struct vertex *vertex, sample_id sample);
void vertex_add(struct vertex *vertex, sample_id sample);
void vertex_take(struct vertex *vertex, sample_id sample);
