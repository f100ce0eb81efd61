// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdint.h>

/* Divides an epoch among the ranks of a job that several nodes run. An epoch is a sequence of
 * global mini-batches of `batch` samples; the last mini-batch may be smaller. Rank r gets n / ranks
 * samples of a mini-batch of n samples, and one more if r < n % ranks. */

static inline uint32_t ranks_share(uint32_t n, uint32_t ranks, uint32_t rank)
{
	return n / ranks + (rank < n % ranks);
}

/* Returns how many of an epoch's first n samples belong to the rank. */
static inline uint32_t ranks_position(
	uint32_t n, uint32_t batch, uint32_t ranks, uint32_t rank)
{
	return n / batch * ranks_share(batch, ranks, rank) +
	       ranks_share(n % batch, ranks, rank);
}
