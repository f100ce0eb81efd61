// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/ensure.h"
#include "dsa_tree.h"
#include "sampler/sampler.h"

/*
 * The sampler of a simulation: one of the daemon's, or the paper's tree. The functions are those
 * of sampler.h; the tree has no membership classes and no labels.
 */

/* A kind of sampler that the daemon does not have. */
#define SAMPLER_DSA_TREE ((enum sampler_kind)(SAMPLER_SEQUENTIAL + 1))

struct sim_sampler {
	struct sampler *daemon; /* one of the two is set */
	struct dsa_tree *tree;
};

must_check static inline int sim_sampler_new(
	enum sampler_kind kind, uint64_t seed, struct sim_sampler *ret)
{
	*ret = (struct sim_sampler){0};
	if (kind == SAMPLER_DSA_TREE)
		return dsa_tree_new(seed, &ret->tree);
	return sampler_new(kind, seed, &ret->daemon);
}

must_check static inline int sim_sampler_new_labelled(
	uint64_t seed, const uint32_t *labels, uint32_t n_ids, struct sim_sampler *ret)
{
	*ret = (struct sim_sampler){0};
	return sampler_new_labelled(seed, labels, n_ids, &ret->daemon);
}

static inline void sim_sampler_free(struct sim_sampler *sampler)
{
	sampler_free(&sampler->daemon);
	dsa_tree_free(&sampler->tree);
}

must_check static inline int sim_sampler_join(struct sim_sampler *sampler, job_id job,
	uint32_t space, const roaring_bitmap_t *selection)
{
	return sampler->tree ? 0 : sampler_join(sampler->daemon, job, space, selection);
}

static inline void sim_sampler_leave(struct sim_sampler *sampler, job_id job)
{
	if (!sampler->tree)
		sampler_leave(sampler->daemon, job);
}

must_check static inline int sim_sampler_insert(struct sim_sampler *sampler,
	stream_id stream, job_id job, roaring_bitmap_t *remaining)
{
	return sampler->tree ? dsa_tree_insert(sampler->tree, stream, remaining)
			     : sampler_insert(sampler->daemon, stream, job, remaining);
}

static inline void sim_sampler_remove(struct sim_sampler *sampler, stream_id stream)
{
	if (sampler->tree)
		dsa_tree_remove(sampler->tree, stream);
	else
		sampler_remove(sampler->daemon, stream);
}

static inline void sim_sampler_draw(
	struct sim_sampler *sampler, const stream_id *streams, size_t n, sample_id *ret)
{
	if (sampler->tree)
		dsa_tree_draw(sampler->tree, streams, n, ret);
	else
		sampler_draw(sampler->daemon, streams, n, ret);
}

static inline sample_id sim_sampler_draw_within(
	struct sim_sampler *sampler, stream_id stream, uint32_t label)
{
	ensure(!sampler->tree);
	return sampler_draw_within(sampler->daemon, stream, label);
}

static inline void sim_sampler_evicted(
	struct sim_sampler *sampler, uint32_t space, sample_id sample)
{
	if (!sampler->tree)
		sampler_evicted(sampler->daemon, space, sample);
}

static inline uint32_t sim_sampler_remaining(
	const struct sim_sampler *sampler, stream_id stream)
{
	return sampler->tree ? dsa_tree_remaining(sampler->tree, stream)
			     : sampler_remaining(sampler->daemon, stream);
}
