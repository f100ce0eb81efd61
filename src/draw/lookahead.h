// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Rules for how far ahead a stream draws, and when.
 *
 *   Flow: a position is bound -> ahead_is_low -> rounds, as long as ahead_wants_round; all
 *         streams of the sampler that may join a round take part -> ahead_refilled.
 *   Threads: any; the functions keep no state.
 */

/* Figures about the cache. */
struct ahead_cache {
	uint64_t capacity;     /* bytes */
	uint64_t pinned_bytes; /* bytes of pinned tensors */
	uint64_t awaited; /* number of pinned samples that are not in the cache yet */
};

/* Figures about one stream. */
struct ahead {
	bool may_draw;
	uint32_t lookahead; /* most samples ahead; at least 1 */
	/* positions that one open binds: those of a batch; otherwise 1 */
	uint32_t at_once;
	uint32_t length; /* number of samples that are drawn and not bound */
	/* `length` after the last draw, or the result of ahead_refilled */
	uint32_t filled;
	uint32_t remaining; /* samples of the epoch that the stream has not been given */
	uint64_t tensor_bytes; /* size of a large tensor of the job; at least 1 */
	uint32_t streams;      /* number of streams of all jobs, including this one */
	struct ahead_cache cache;
};

bool ahead_has_room(const struct ahead *ahead);

/* Tells whether the stream may take part in a round. The round is another stream's, or that of an
 * open that found nothing drawn. */
bool ahead_may_join(const struct ahead *ahead);

/* Tells whether the look-ahead is full, whatever room the cache has. */
bool ahead_is_full(const struct ahead *ahead);

/* Tells whether to draw another round. other_is_full: the round would leave out a stream of the
 * sampler. */
bool ahead_wants_round(const struct ahead *ahead, bool other_is_full);

/* Tells whether it is time for a refill, because at most half of the last one is left. */
bool ahead_is_low(const struct ahead *ahead);

/* Returns the new `filled` after a refill: `length`, or `lookahead` if the stream only stopped in
 * order not to leave others out. */
uint32_t ahead_refilled(const struct ahead *ahead);
