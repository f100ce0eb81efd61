// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdint.h>

/*
 * Which rank takes which sample of a global mini-batch, so that few tensors go from node
 * to node (Yang and Cong, HiPC 2019). The samples are those that were drawn: only who
 * reads which is decided here, so synchronous SGD sees the same mini-batch.
 *
 *     1. A node takes the samples that it has, as many as its ranks take together.
 *     2. Samples that no node has go to nodes that still lack some, the smallest lack
 *        first, so that few nodes are left that lack any.
 *     3. The rest: the node with the largest surplus gives to the one with the largest
 *        lack, as much as both allow, again and again (two heaps).
 *     4. The samples of a node go to its ranks in turn.
 *
 * What moves is the sum of the surpluses, which is the least that is possible. The two
 * heaps make it few pairs of nodes: 539 for 1,024 nodes that take 32 each, where a sweep
 * in the order of nodes has 854. They are greedy: of 8 nodes one case in 80 has a pair
 * more than the sweep.
 *
 * Several mini-batches at once have less to move, by the square root of their number: the
 * caller puts their samples one behind the other, and the counts are those of all of them.
 *
 *   Flow: locality_new -> locality_assign for each mini-batch.
 *   Owns: memory that it uses again.
 *   Threads: caller serialises.   Locks, clock, files, random numbers: none. The same
 *         question has the same answer on every machine.
 *   Errors: -EINVAL, -ENOMEM.
 */

#define LOCALITY_NOWHERE UINT32_MAX

struct locality;

/* For up to so many nodes, ranks and samples. */
must_check int locality_new(
	uint32_t n_nodes, uint32_t n_ranks, uint32_t n_samples, struct locality **ret);
void locality_free(struct locality **locality);

struct locality_batch {
	const uint32_t
		*sample_node; /* [n_samples]: which node has it, LOCALITY_NOWHERE */
	uint32_t n_samples;
	const uint32_t *rank_node; /* [n_ranks]: where the rank runs */
	const uint32_t
		*rank_count; /* [n_ranks]: samples that it takes; the sum is n_samples */
	uint32_t n_ranks;
	uint32_t n_nodes; /* nodes are numbered below this */
};

/* So many samples go from a node to another: one message. */
struct locality_move {
	uint32_t from, to, count;
};

struct locality_outcome {
	uint32_t own;	  /* samples that stay on their node */
	uint32_t moved;	  /* that another node's ranks take */
	uint32_t nowhere; /* that no node had */
	const struct locality_move
		*moves;	  /* in the order in which they were found; valid */
	uint32_t n_moves; /* until the next call */
};

/*
 * Sets ret_rank[i] to the rank that takes sample i. Samples of a rank keep their order.
 * ret_outcome may be NULL. -EINVAL: counts that don't add up, a node or a size above what
 * there is; nothing is set then.
 */
must_check int locality_assign(struct locality *locality,
	const struct locality_batch *batch, uint32_t *ret_rank,
	struct locality_outcome *ret_outcome);
