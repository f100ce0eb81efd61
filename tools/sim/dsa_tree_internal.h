// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/ensure.h"
#include "base/rng.h"
#include "dsa_tree.h"

/*
 * The tree is stored as an array of levels, because each left child is a leaf:
 *
 *     levels[0]   vertex A   leaf C       of D_1
 *     levels[1]   vertex B   leaf E       of D_2
 *     levels[2]   vertex F   leaf empty   of D_3
 *
 * The vertex of a level has the elements that its stream and all larger streams share, except those
 * of the vertices above. The leaf has the other elements that the stream needs. The last vertex is
 * the last leaf of the paper; by the rule for vertices it has the elements of the last stream that
 * no vertex above has. The path of a stream consists of the vertices down to its level, and of its
 * leaf.
 */
struct level {
	stream_id stream;
	uint32_t remaining; /* |R|: the stream's remaining samples */
	roaring_bitmap_t *vertex;
	roaring_bitmap_t *leaf;
	/* place for the stream's sample; NULL: the stream does not draw in this round */
	sample_id *ret;
	/* part of the leaf that all larger streams of the round need; NULL: none */
	roaring_bitmap_t *lifted;
};

/* A decision (Algorithm 2) for several streams of a round, which get the same sample. */
struct decision {
	sample_id sample;
	size_t first; /* the decision is for the streams round[first .. end) */
	size_t end;
	size_t top; /* no vertex above this level has the sample */
};

struct dsa_tree {
	struct rng rng;
	struct level *levels; /* sorted by |R|, then by id */
	size_t n;
	size_t capacity;
	size_t *round; /* levels of the streams that draw in this round */
	struct decision *decisions;
};

/* Returns the index of the stream's level. The stream must be in the tree. */
size_t dsa_tree_level(const struct dsa_tree *tree, stream_id stream);

/* Sorts the levels again after a round. The order changes only by a partial round, in which some
 * streams draw nothing (appendix C). */
void dsa_tree_reorder(struct dsa_tree *tree);

static inline uint32_t set_size(const roaring_bitmap_t *set)
{
	return (uint32_t)roaring_bitmap_get_cardinality(set);
}

static inline roaring_bitmap_t *set_made(roaring_bitmap_t *set)
{
	ensure(set);
	return set;
}

static inline roaring_bitmap_t *set_and(
	const roaring_bitmap_t *a, const roaring_bitmap_t *b)
{
	return set_made(roaring_bitmap_and(a, b));
}
