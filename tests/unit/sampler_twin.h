// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/rng.h"
#include "sampler/sampler.h"

#include <math.h>
#include <string.h>

/*
 * A twin of dsa that is too simple to be wrong: sets are bit masks of up to 64 elements,
 * the walk is word for word the one at the head of dsa.c, with all intersections
 * computed anew. It decides (twin_draw) or gives the exact probability of each joint
 * decision (twin_enumerate). Its mutants prove that a test would notice.
 */

#define TWIN_STREAMS 8
#define TWIN_ALL ((1U << TWIN_STREAMS) - 1)

enum mutant {
	HONEST,
	SEES_REMOVALS, /* a decision changes the sizes that later ones use */
	BLOCK_FIRST,   /* a random block of ids, then a random element of it */
	ALL_JOIN,      /* whoever can share does: no conditional probability */
	/* Misreadings of the paper's tree, of which all streams are the vertices: */
	VERTEX_FIRST, /* a random vertex, whatever its size, then a random element of it
		       */
	TREE_ONLY,    /* a round shares only what those who sit out share, too */
};

typedef uint64_t mask;

struct twin {
	mask r[TWIN_STREAMS]; /* index = stream id */
	enum mutant mutant;
};

/* Element b of a mask as a sample id: two or three of them to each block of an idset. */
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

/* Those of `who` (a mask of streams) that have something left, ascending |R|, then id. */
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
 * A random one of the vertices of the tree of all streams that have a part of `from`
 * (what is in none of those on the right path is in a leaf), then an element of it.
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

/* What stream j and all larger ones share, whether they draw or not. */
static inline mask twin_shared_by_all(const struct twin *twin, int j)
{
	int order[TWIN_STREAMS];
	size_t n = twin_order(twin, TWIN_ALL, order);
	size_t at = 0;
	while (order[at] != j)
		at++;
	return twin_shared(twin, order + at, n - at);
}

/* One round. ret[j] becomes the element given to stream j, -1 where there is none. */
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
		if (!from) /* only a mutant gets here */
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

/* Gets each joint decision of a round that is possible; may get one several times. */
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

/* The streams of a round as a sampler wants them. */
static inline size_t twin_streams(unsigned who, stream_id *ret)
{
	size_t n = 0;
	for (int j = 0; j < TWIN_STREAMS; j++)
		if (who >> j & 1)
			ret[n++] = (stream_id)j;
	return n;
}

/* What it has given to them, in the twin's terms. */
static inline void twin_given(
	const stream_id *streams, const sample_id *samples, size_t n, int *ret)
{
	for (int j = 0; j < TWIN_STREAMS; j++)
		ret[j] = -1;
	for (size_t i = 0; i < n; i++)
		if (samples[i] != SAMPLE_NONE)
			ret[streams[i]] = twin_element(samples[i]);
}

/* One round of the sampler, in the twin's terms. */
static inline void twin_sampler_draw(struct sampler *sampler, unsigned who, int *ret)
{
	stream_id streams[TWIN_STREAMS];
	sample_id samples[TWIN_STREAMS];
	size_t n = twin_streams(who, streams);
	sampler_draw(sampler, streams, n, samples);
	twin_given(streams, samples, n, ret);
}

/*
 * How far a chi-square of the given degrees of freedom is from what it should be, in
 * standard deviations of the normal distribution (Wilson and Hilferty, 1931).
 */
static inline double chi_square_z(double chi_square, double degrees)
{
	double spread = 2 / (9 * degrees);
	return (cbrt(chi_square / degrees) - (1 - spread)) / sqrt(spread);
}

/* One-sided confidence of 99.99%: a test with a fixed seed that passes goes on passing;
 * one of 10,000 seeds would not have been accepted. */
#define Z_LIMIT 3.72
