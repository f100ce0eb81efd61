// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "place/divide.h"

#include "base/rank_parts.h"
#include "place/locality.h"

#include <stdlib.h>

/* Returns the index of the incarnation in `nodes`. If `nodes` lacks the incarnation, returns
 * n_nodes, the common index of all nodes that are no sample's home. */
static uint32_t find(const uint64_t *nodes, uint32_t n_nodes, uint64_t incarnation)
{
	uint32_t i = 0;
	while (i < n_nodes && nodes[i] != incarnation)
		i++;
	return i;
}

/* Sets the node and the sample count of each rank. Returns false if all ranks are on one node. */
static bool find_ranks(const struct coord_batch *batch, const uint64_t *nodes,
	uint32_t n_nodes, uint32_t *ret_node, uint32_t *ret_count)
{
	bool differ = false;
	for (uint32_t r = 0; r < batch->ranks; r++) {
		ret_node[r] = find(nodes, n_nodes, batch->rank_node[r]);
		ret_count[r] = ranks_share(batch->n, batch->ranks, r);
		differ |= ret_node[r] != ret_node[0];
	}
	return differ;
}

static bool is_lacked(const struct coord_batch *batch, uint32_t i)
{
	return batch->lacked && roaring_bitmap_contains(batch->lacked, batch->ids[i]);
}

/* Sets ret[i] to the node that should read sample i: the sample's home, or LOCALITY_NOWHERE, which
 * means any node. A home that has the sample in its cache should read the sample. Otherwise some
 * node has to prepare the sample in any case, so the home should read the sample only if ranks on
 * the home have room. Returns false if there is no memory. */
static bool find_holders(const struct coord_batch *batch, const uint32_t *home,
	uint32_t n_nodes, const uint32_t *rank_node, const uint32_t *rank_count,
	uint32_t *ret)
{
	auto_free uint32_t *room = calloc(n_nodes + 1, sizeof(*room));
	if (!room)
		return false;
	for (uint32_t r = 0; r < batch->ranks; r++)
		room[rank_node[r]] += rank_count[r];
	for (uint32_t i = 0; i < batch->n; i++) {
		ret[i] = home[i] < n_nodes && !is_lacked(batch, i) ? home[i]
								   : LOCALITY_NOWHERE;
		if (ret[i] != LOCALITY_NOWHERE && room[home[i]] > 0)
			room[home[i]]--;
	}
	for (uint32_t i = 0; i < batch->n; i++)
		if (ret[i] == LOCALITY_NOWHERE && home[i] < n_nodes &&
			room[home[i]] > 0) {
			ret[i] = home[i];
			room[home[i]]--;
		}
	return true;
}

bool divide(const struct coord_batch *batch, const uint32_t *home, const uint64_t *nodes,
	uint32_t n_nodes, uint32_t *ret_rank)
{
	auto_free uint32_t *node = calloc(batch->ranks, sizeof(*node));
	auto_free uint32_t *count = calloc(batch->ranks, sizeof(*count));
	auto_free uint32_t *sample_node = calloc(batch->n, sizeof(*sample_node));
	if (!node || !count || !sample_node ||
		!find_ranks(batch, nodes, n_nodes, node, count) ||
		!find_holders(batch, home, n_nodes, node, count, sample_node))
		return false;
	const struct locality_batch asked = {.sample_node = sample_node,
		.n_samples = batch->n,
		.rank_node = node,
		.rank_count = count,
		.n_ranks = batch->ranks,
		.n_nodes = n_nodes + 1};
	return locality_assign(&asked, ret_rank) == 0;
}
