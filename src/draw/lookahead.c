// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "draw/lookahead.h"

/*
 * Samples drawn ahead take half of the cache at most; a sample that several streams have drawn
 * counts once. If nothing is left of that half, each stream has its own part of another quarter.
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
 * An open of a batch takes the samples of the whole batch, however little room there is.
 * Jobs of equal speed open their batches shortly after each other. If a round of the
 * first job left out the others for want of room, they would later draw other samples.
 * And a sample that a round gives to several streams is loaded for the drawing stream in
 * any case. So each stream takes part until it has as many samples ahead as its next open
 * takes.
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

/* Streams that a round leaves out have to draw its samples later, and if the cache is
 * small, to load them again. So a stream that is ahead of others draws the second half of
 * its look-ahead only in rounds for all. This keeps streams of equal speed together. */
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
