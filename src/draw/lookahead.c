// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "draw/lookahead.h"

/*
 * Tells whether the cache has room for one more sample. Samples drawn ahead take at most half of
 * the cache; a sample drawn by several streams counts once. If that half is full, each stream may
 * use its part of another quarter.
 */
static bool cache_has_room(const struct ahead *ahead)
{
	const struct ahead_cache *cache = &ahead->cache;
	uint64_t held = cache->pinned_bytes + cache->awaited * ahead->tensor_bytes;
	return held + ahead->tensor_bytes <= cache->capacity / 2;
}

static uint64_t own_share(const struct ahead *ahead)
{
	uint64_t fit = ahead->cache.capacity / 4 / ahead->streams / ahead->tensor_bytes;
	return fit > 0 ? fit : 1;
}

static bool may_draw_more(const struct ahead *ahead)
{
	return ahead->may_draw && ahead->length < ahead->lookahead &&
	       ahead->remaining > 0;
}

bool ahead_has_room(const struct ahead *ahead)
{
	return may_draw_more(ahead) &&
	       (ahead->length < own_share(ahead) || cache_has_room(ahead));
}

/*
 * Tells whether the stream may join a round. An open of a batch takes the samples of the whole
 * batch, however little room there is. Jobs of equal speed open their batches at nearly the same
 * time. If a round left out a stream for lack of room, that stream would later draw other samples.
 * And a sample of the round is loaded in any case, for the stream that draws it. So each stream
 * takes part until it has as many samples ahead as its next open needs.
 */
bool ahead_may_join(const struct ahead *ahead)
{
	return ahead_has_room(ahead) ||
	       (may_draw_more(ahead) && ahead->length < ahead->at_once);
}

bool ahead_is_full(const struct ahead *ahead)
{
	return ahead->length >= ahead->lookahead;
}

/* Tells whether the stream may draw a round that leaves out others. Streams that are left out must
 * draw the samples later, and with a small cache load them again. So a stream that is ahead of
 * others draws the second half of its look-ahead only in rounds with all streams. This keeps
 * streams of equal speed together. */
static bool may_leave_others_out(const struct ahead *ahead)
{
	return ahead->length < (ahead->lookahead + 1) / 2;
}

bool ahead_wants_round(const struct ahead *ahead, bool other_is_full)
{
	return ahead_has_room(ahead) && (may_leave_others_out(ahead) || !other_is_full);
}

bool ahead_is_low(const struct ahead *ahead)
{
	return ahead->length * 2 <= ahead->filled;
}

uint32_t ahead_refilled(const struct ahead *ahead)
{
	return ahead_has_room(ahead) ? ahead->lookahead : ahead->length;
}
