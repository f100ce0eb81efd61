// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "cluster/coord.h"

/*
 * Divides a global mini-batch among the ranks so that they read what is at home on their
 * own node (locality.h). The samples are those that were drawn, and each rank gets as many
 * as ranks_share says.
 *
 *   Flow: for coord_calls.place.
 *   Threads: any.   Locks, clock, files, random numbers: none.
 */

/*
 * home[i]: the node of batch->ids[i], an index of `nodes`, which are incarnations, or
 * another number: no node's. False: it is all the same who reads which, because all ranks
 * are on one node, or on nodes that are not among these; also if there is no memory.
 */
bool divide(const struct coord_batch *batch, const uint32_t *home, const uint64_t *nodes,
	uint32_t n_nodes, uint32_t *ret_rank);
