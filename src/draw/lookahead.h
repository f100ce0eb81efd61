// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "cache/cache.h"

/*
 * How far ahead a stream draws, and when: rules over facts. The scheduler and joader-sim
 * gather the facts, each from what it has, and both ask here.
 *
 *   Flow: a position is bound -> ahead_is_low -> rounds, as long as ahead_wants_round; a
 *         round is for all streams of the sampler that may join it -> ahead_refilled.
 *   Threads: any: nothing is kept.
 */

/* Of one stream. */
struct ahead {
	bool may_draw;
	uint32_t lookahead; /* so many samples may be ahead; at least 1 */
	uint32_t at_once;   /* positions that one open binds: those of a batch, else 1 */
	uint32_t length;    /* so many are: drawn and not bound */
	uint32_t filled;    /* that, after the last draw or refill: ahead_refilled */
	uint32_t remaining; /* samples that it has not been given */
	uint64_t tensor_bytes; /* of the job's larger ones; at least 1 */
	uint32_t streams;      /* of all jobs, this one too */
	struct cache_held cache;
};

bool ahead_has_room(const struct ahead *ahead);

/* It takes part in a round that another stream draws, or an open that found nothing. */
bool ahead_may_join(const struct ahead *ahead);

/* It has drawn all that it may. */
bool ahead_is_full(const struct ahead *ahead);

/* other_is_full: a stream of its sampler, which a round would leave out. */
bool ahead_wants_round(const struct ahead *ahead, bool other_is_full);

/* Less than half is left of what the last refill came to: it is time for the next. */
bool ahead_is_low(const struct ahead *ahead);

/* What `filled` is after a refill: what it came to, or could have come to if rounds had
 * not left others out. */
uint32_t ahead_refilled(const struct ahead *ahead);
