// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/rng.h"
#include "sampler/sampler.h"

#include <math.h>
#include <string.h>

/*
 * A twin of dsa that is too simple to be wrong. Sets are bit masks of up to 64 elements. The walk
 * is word for word the one at the head of dsa.c, and all intersections are computed anew. The twin
 * decides (twin_draw), or gives the exact probability of each joint decision (twin_enumerate). Its
 * mutants prove that a test notices errors.
 */

#define TWIN_STREAMS 8
#define TWIN_ALL ((1U << TWIN_STREAMS) - 1)

enum mutant {
	HONEST,
	SEES_REMOVALS, /* a decision changes the sizes that later decisions use */
	BLOCK_FIRST,   /* draws a random block of ids, then a random element of it */
	/* each stream that can share does so: no conditional probability */
	ALL_JOIN,
	/* Misreadings of the paper's tree, whose vertices are all streams: */
	/* draws a random vertex, whatever its size, then an element of it */
	VERTEX_FIRST,
	/* a round shares only what streams outside of the round share, too */
	TREE_ONLY,
};

typedef uint64_t mask;

struct twin {
	mask r[TWIN_STREAMS]; /* by stream id */
	enum mutant mutant;
};

/* The sample id of element b of a mask. Each block of an idset has two or three elements. */
#define TWIN_BLOCK 4096

static inline sample_id twin_sample(int b)
{
	return (sample_id)b * 1877;
}

static inline int twin_element(sample_id sample)
{
	return (int)(sample / 1877);
}

static inline roaring_bitmap_t *twin_bitmap(mask set)
{
	roaring_bitmap_t *ids = roaring_bitmap_create();
	for (int b = 0; b < 64; b++)
		if (set >> b & 1)
			roaring_bitmap_add(ids, twin_sample(b));
	return ids;
}

static inline uint32_t twin_size(mask set)
{
	return (uint32_t)__builtin_popcountll(set);
}

static inline mask twin_nth(mask set, uint64_t rank)
{
	while (rank--)
		set &= set - 1;
	return set & -set;
}

static inline mask twin_pick(struct rng *rng, mask set, enum mutant mutant)
{
	if (mutant != BLOCK_FIRST)
		return twin_nth(set, rng_below(rng, twin_size(set)));
	for (;;) {
		uint64_t block = rng_below(rng, twin_sample(63) / TWIN_BLOCK + 1);
		mask inside = 0;
		for (int b = 0; b < 64; b++)
			if (twin_sample(b) / TWIN_BLOCK == block)
				inside |= set & (mask)1 << b;
		if (inside)
			return twin_nth(inside, rng_below(rng, twin_size(inside)));
	}
}

/* Returns the streams of `who` (a mask) that have elements left, by |R|, then by id. */
static inline size_t twin_order(const struct twin *twin, unsigned who, int *order)
{
	size_t m = 0;
	for (int j = 0; j < TWIN_STREAMS; j++) {
		if (!(who >> j & 1) || !twin->r[j])
			continue;
		size_t at = m++;
		for (; at > 0 &&
			twin_size(twin->r[order[at - 1]]) > twin_size(twin->r[j]);
			at--)
			order[at] = order[at - 1];
		order[at] = j;
	}
	return m;
}

static inline mask twin_shared(const struct twin *twin, const int *order, size_t n)
{
	mask shared = ~(mask)0;
	for (size_t i = 0; i < n; i++)
		shared &= twin->r[order[i]];
	return shared;
}

/*
 * Draws a random vertex of the tree of all streams that has a part of `from`, then an element of
 * it. Elements that are in no vertex of the right path are in a leaf.
 */
static inline mask twin_pick_vertex(const struct twin *twin, struct rng *rng, mask from)
{
	int order[TWIN_STREAMS];
	mask parts[TWIN_STREAMS + 1];
	mask above = 0;
	size_t parts_n = 0;
	size_t n = twin_order(twin, TWIN_ALL, order);
	for (size_t i = 0; i <= n; i++) {
		mask vertex = i < n ? twin_shared(twin, order + i, n - i) : ~(mask)0;
		if (from & vertex & ~above)
			parts[parts_n++] = from & vertex & ~above;
		above |= vertex;
	}
	return twin_pick(rng, parts[rng_below(rng, parts_n)], HONEST);
}

/* Returns the elements that stream j and all larger streams share, whether they draw or not. */
static inline mask twin_shared_by_all(const struct twin *twin, int j)
{
	int order[TWIN_STREAMS];
	size_t n = twin_order(twin, TWIN_ALL, order);
	size_t at = 0;
	while (order[at] != j)
		at++;
	return twin_shared(twin, order + at, n - at);
}

/* Draws a round. ret[j]: the element given to stream j; -1: none. */
static inline void twin_draw(struct twin *twin, unsigned who, struct rng *rng, int *ret)
{
	int order[TWIN_STREAMS];
	size_t m = twin_order(twin, who, order);
	mask offered = 0;
	for (int j = 0; j < TWIN_STREAMS; j++)
		ret[j] = -1;
	for (size_t first = 0; first < m;) {
		mask shared = twin_shared(twin, order + first, m - first) & ~offered;
		if (twin->mutant == TREE_ONLY)
			shared &= twin_shared_by_all(twin, order[first]);
		uint32_t taken = twin->mutant == SEES_REMOVALS ? (uint32_t)first : 0;
		uint32_t c = twin_size(shared);
		size_t k = first;
		while (k < m) {
			uint32_t n = twin_size(twin->r[order[k]] & ~offered);
			n = n > taken ? n - taken : 1;
			if (rng_below(rng, n) >= c)
				break;
			c = twin->mutant == SEES_REMOVALS ? n - 1
			    : twin->mutant == ALL_JOIN	  ? UINT32_MAX
							  : n;
			k++;
		}
		mask own = twin->r[order[first]] & ~offered & ~shared;
		mask from = k > first ? shared : own;
		if (!from) /* possible only with a mutant */
			from = twin->r[order[first]];
		mask picked = twin->mutant == VERTEX_FIRST
				      ? twin_pick_vertex(twin, rng, from)
				      : twin_pick(rng, from, twin->mutant);
		k = k > first ? k : first + 1;
		for (; first < k; first++)
			ret[order[first]] = __builtin_ctzll(picked);
		offered |= shared;
	}
	for (int j = 0; j < TWIN_STREAMS; j++)
		if (ret[j] >= 0)
			twin->r[j] &= ~((mask)1 << ret[j]);
}

/* Called with each possible joint decision of a round, some of them several times. */
typedef void twin_visit(void *context, const int *ret, double probability);

struct twin_paths {
	const struct twin *twin;
	int order[TWIN_STREAMS];
	size_t m;
	int ret[TWIN_STREAMS];
	twin_visit *visit;
	void *context;
};

static inline void twin_enumerate_from(
	struct twin_paths *paths, size_t first, mask offered, double probability)
{
	if (first == paths->m) {
		paths->visit(paths->context, paths->ret, probability);
		return;
	}
	const mask *r = paths->twin->r;
	const int *order = paths->order;
	mask shared =
		twin_shared(paths->twin, order + first, paths->m - first) & ~offered;
	mask own = r[order[first]] & ~offered;
	for (mask left = own; left; left &= left - 1) {
		double p = probability / twin_size(own);
		paths->ret[order[first]] = __builtin_ctzll(left);
		if (!(shared & left & -left)) {
			twin_enumerate_from(paths, first + 1, offered | shared, p);
			continue;
		}
		double before = twin_size(own);
		for (size_t k = first + 1; k <= paths->m; k++) {
			double n = k < paths->m ? twin_size(r[order[k]] & ~offered) : 0;
			double stop = k < paths->m ? 1 - before / n : 1;
			if (stop > 0)
				twin_enumerate_from(paths, k, offered | shared, p * stop);
			if (k == paths->m)
				break;
			p *= before / n;
			before = n;
			paths->ret[order[k]] = __builtin_ctzll(left);
		}
	}
}

static inline void twin_enumerate(
	const struct twin *twin, unsigned who, twin_visit *visit, void *context)
{
	struct twin_paths paths = {.twin = twin, .visit = visit, .context = context};
	paths.m = twin_order(twin, who, paths.order);
	memset(paths.ret, -1, sizeof(paths.ret));
	twin_enumerate_from(&paths, 0, 0, 1);
}

/* Returns the streams of a round in the form that a sampler takes. */
static inline size_t twin_streams(unsigned who, stream_id *ret)
{
	size_t n = 0;
	for (int j = 0; j < TWIN_STREAMS; j++)
		if (who >> j & 1)
			ret[n++] = (stream_id)j;
	return n;
}

/* Converts the samples that the streams were given into elements. */
static inline void twin_given(
	const stream_id *streams, const sample_id *samples, size_t n, int *ret)
{
	for (int j = 0; j < TWIN_STREAMS; j++)
		ret[j] = -1;
	for (size_t i = 0; i < n; i++)
		if (samples[i] != SAMPLE_NONE)
			ret[streams[i]] = twin_element(samples[i]);
}

/* Draws a round by the sampler, with elements as the result. */
static inline void twin_sampler_draw(struct sampler *sampler, unsigned who, int *ret)
{
	stream_id streams[TWIN_STREAMS];
	sample_id samples[TWIN_STREAMS];
	size_t n = twin_streams(who, streams);
	sampler_draw(sampler, streams, n, samples);
	twin_given(streams, samples, n, ret);
}

/*
 * Returns how far a chi-square is from its expectation, in standard deviations of the normal
 * distribution (Wilson and Hilferty, 1931).
 */
static inline double chi_square_z(double chi_square, double degrees)
{
	double spread = 2 / (9 * degrees);
	return (cbrt(chi_square / degrees) - (1 - spread)) / sqrt(spread);
}

/* One-sided confidence of 99.99 %: one of 10,000 seeds would be rejected. A test with a fixed seed
 * that passes once passes always. */
#define Z_LIMIT 3.72
