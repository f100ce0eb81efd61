// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "coord/coord.h"

/*
 * Divides a global mini-batch among the ranks, so that as many samples as possible are read on the
 * node that is their home (place.h). ranks_share determines how many samples each rank reads.
 *
 *   Threads: any.   Locks, clock, files, random numbers: none.
 */

/*
 * Sets ret_rank[i] to the rank that reads batch->ids[i]. nodes: the incarnations (coord.h) of the
 * possible homes. Ranks on other nodes count as ranks on one more node, which is no home. home[i]:
 * the home of batch->ids[i], as an index in `nodes`; n_nodes or more: the sample has no home. A
 * sample in batch->lacked goes to a rank at its home only if such a rank has room.
 * Returns false if there is no memory, or if all ranks are on one node, so that the division makes
 * no difference.
 */
bool divide(const struct coord_batch *batch, const uint32_t *home, const uint64_t *nodes,
	uint32_t n_nodes, uint32_t *ret_rank);
