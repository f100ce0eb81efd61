// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdint.h>

/*
 * Assigns the samples of a global mini-batch to ranks so that few tensors go from node to node
 * (Yang and Cong, HiPC 2019). Only the assignment changes, not the samples that were drawn, so
 * synchronous SGD sees the same mini-batch.
 *
 *     1. A node takes the samples that it has, as many as its ranks take together.
 *     2. Samples that no node has go to nodes that still lack some, the smallest lack
 *        first, so that few nodes are left that lack any.
 *     3. The node with the largest surplus gives to the one with the largest lack, as
 *        much as both allow, until no node lacks any (two heaps).
 *     4. The samples of a node go to its ranks in turn.
 *
 * The number of samples that move is the sum of the surpluses, the least possible. The two heaps
 * need few pairs of nodes: 539 for 1,024 nodes that take 32 each, where a sweep in the order of
 * nodes needs 854. They are greedy: with 8 nodes, one case in 80 needs a pair more than the sweep.
 *
 * Several mini-batches at once have less to move, by the square root of their number: the
 * caller concatenates their samples, and gives the counts of all of them together.
 *
 *   Flow: locality_new -> locality_assign for each mini-batch.
 *   Owns: memory that it reuses.
 *   Threads: caller serialises.   Locks, clock, files, random numbers: none. Equal arguments
 *         give equal results on every machine.
 *   Errors: -EINVAL, -ENOMEM.
 */

#define LOCALITY_NOWHERE UINT32_MAX

struct locality;

/* Allocates memory for at most so many nodes, ranks and samples. */
must_check int locality_new(
	uint32_t n_nodes, uint32_t n_ranks, uint32_t n_samples, struct locality **ret);
void locality_free(struct locality **locality);

struct locality_batch {
	/* [n_samples]: the node that has the sample, or LOCALITY_NOWHERE */
	const uint32_t *sample_node;
	uint32_t n_samples;
	const uint32_t *rank_node; /* [n_ranks]: the node where the rank runs */
	/* [n_ranks]: samples that each rank takes; their sum is n_samples */
	const uint32_t *rank_count;
	uint32_t n_ranks;
	uint32_t n_nodes; /* nodes are numbered below this */
};

/* One message: `count` samples go from a node to another. */
struct locality_move {
	uint32_t from, to, count;
};

struct locality_outcome {
	uint32_t own;	  /* samples that stay on their node */
	uint32_t moved;	  /* samples that another node's ranks take */
	uint32_t nowhere; /* samples that no node had */
	/* The moves, in the order in which they were found. Valid until the next call. */
	const struct locality_move *moves;
	uint32_t n_moves;
};

/*
 * Sets ret_rank[i] to the rank that takes sample i. Samples of a rank keep their order.
 * ret_outcome may be NULL. -EINVAL: counts don't add up, or a node or a size is too large; nothing
 * is set then.
 */
must_check int locality_assign(struct locality *locality,
	const struct locality_batch *batch, uint32_t *ret_rank,
	struct locality_outcome *ret_outcome);
