// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "coord/coord.h"

/*
 * Divides a global mini-batch among the ranks so that they read samples whose home is their own
 * node (locality.h). Each rank gets as many of the drawn samples as ranks_share says.
 *
 *   Flow: serves coord_calls.place.
 *   Threads: any.   Locks, clock, files, random numbers: none.
 */

/*
 * Sets ret_rank[i] to the rank that reads batch->ids[i]. home[i]: the sample's home, an index of
 * `nodes`, which are incarnations; any other number: it has none. False: the division makes no
 * difference, because all ranks are on one node, or on nodes that are not among `nodes`; or there
 * is no memory.
 */
bool divide(const struct coord_batch *batch, const uint32_t *home, const uint64_t *nodes,
	uint32_t n_nodes, uint32_t *ret_rank);
