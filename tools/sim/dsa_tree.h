// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/types.h"

#include <roaring/roaring.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * The dependent sampling tree of JOADER (NeurIPS 2022; section 4, appendix C), written
 * after its text. The daemon's dsa (src/sampler/dsa.c) draws from the same distribution
 * without a tree; it is checked against this one and measured beside it. The same seed
 * and the same events give the same decisions.
 *
 * D_1, D_2, D_3 in ascending order of size (the paper's Figure 4a):
 *
 *               A = D_1 & D_2 & D_3
 *              / \
 *   C = D_1 - A   B = (D_2 - A) & (D_3 - A)
 *                / \
 *   E = D_2-A-B     F = D_3 - A - B
 *
 * The vertices from the root to a leaf are the dataset of that leaf's stream, and no two
 * of them have an element in common. The vertices on the right path, here A, B and F, together
 * are the elements that all streams of a suffix share: A is shared by all, A and B by D_2 and D_3.
 *
 *   Flow: insert when an epoch starts, draw, remove.
 *   Threads: caller serialises.
 *   Errors: -ENOMEM from new, -ENOMEM and -EEXIST from insert; an unknown stream is a
 *           bug. Where a bitmap finds no memory, the program aborts.
 *
 * Where the text is silent or does not give Algorithm 1, the algorithm is followed:
 *
 *   deletion (4.2)       merges the parent with its sibling and costs O(1). Elements that only
 *                        the deleted stream kept from being shared (in D_1 and D_3, not in
 *                        D_2) have to rise, too, from C and F to the root.
 *   partial rounds (C)   are "the same as the above". But the tree keeps what all streams share,
 *                        also those that sit out; the streams that draw share more. Their
 *                        shared elements are found as if the others were deleted.
 *   several vertices (C) one is chosen "randomly": by its size, once for all that share.
 *   compensation (C)     adds to each vertex of which all streams still need the element:
 *                        only to the topmost ones, or it would be twice on a path.
 *   Algorithm 1          line 13 is c = |D| - |S|, as in equation (12); the subset that
 *                        line 17 selects is without S.
 *   ties                 are broken by id, so that there is one order; Definition 1 has none.
 *   left and right       Definition 1 and section 4.2 contradict each other; here leaves
 *                        are left.
 *   sizes                are those at the start of the round: samples leave the tree when
 *                        all of its decisions are made.
 */

struct dsa_tree;

must_check int dsa_tree_new(uint64_t seed, struct dsa_tree **ret);
void dsa_tree_free(struct dsa_tree **tree);

/* Inserts a stream. Takes over `dataset`, also on failure. */
must_check int dsa_tree_insert(
	struct dsa_tree *tree, stream_id stream, roaring_bitmap_t *dataset);
void dsa_tree_remove(struct dsa_tree *tree, stream_id stream);

/* Draws one round for n distinct streams, in any order. A stream without remaining samples
 * gets SAMPLE_NONE. */
void dsa_tree_draw(
	struct dsa_tree *tree, const stream_id *streams, size_t n, sample_id *ret);

uint32_t dsa_tree_remaining(const struct dsa_tree *tree, stream_id stream);
bool dsa_tree_contains(const struct dsa_tree *tree, stream_id stream, sample_id sample);
/* Returns the union of the vertices on the stream's path; the caller frees it. */
roaring_bitmap_t *dsa_tree_copy_remaining(const struct dsa_tree *tree, stream_id stream);

/* Aborts unless order, paths and intersections are as the tree's definition says. */
void dsa_tree_validate(const struct dsa_tree *tree);
