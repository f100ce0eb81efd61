// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdint.h>

/*
 * How the ranks of a job that several nodes run divide an epoch: it is a row of global
 * mini-batches of `batch` samples, of which the last may be smaller. Of n samples in one,
 * rank r has n / ranks, and one more if r < n % ranks.
 */

static inline uint32_t ranks_share(uint32_t n, uint32_t ranks, uint32_t rank)
{
	return n / ranks + (rank < n % ranks);
}

/* Samples of the rank among the first n of an epoch. */
static inline uint32_t ranks_position(
	uint32_t n, uint32_t batch, uint32_t ranks, uint32_t rank)
{
	return n / batch * ranks_share(batch, ranks, rank) +
	       ranks_share(n % batch, ranks, rank);
}
