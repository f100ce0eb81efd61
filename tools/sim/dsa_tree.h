// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/bitmap.h"
#include "base/cleanup.h"
#include "base/types.h"

#include <stddef.h>

/*
 * The dependent sampling tree of JOADER (NeurIPS 2022; section 4, appendix C), as the paper
 * describes it. The daemon's dsa (src/sampler/dsa.c) draws from the same distribution without a
 * tree; tests compare dsa with this tree, and benchmarks measure both. Equal seeds and equal events
 * give equal decisions.
 *
 * The tree of three streams. D_1, D_2 and D_3 are their datasets without the samples drawn so far,
 * in ascending order of size (the paper's Figure 4a). & is an intersection, - a difference:
 *
 *               A = D_1 & D_2 & D_3
 *              / \
 *   C = D_1 - A   B = (D_2 - A) & (D_3 - A)
 *                / \
 *   E = D_2-A-B     F = D_3 - A - B
 *
 * The union of the vertices from the root to a leaf is the dataset of that leaf's stream. No two of
 * these vertices have a common element. The vertices on the path to the right, here A, B and F,
 * have the elements that the larger streams share: A has those of all streams, A and B have those
 * of D_2 and D_3.
 *
 *   Flow: insert when an epoch starts, draw, remove.
 *   Threads: caller serialises.
 *   Errors: -ENOMEM from new and insert; an unknown stream is a bug, and so is inserting a
 *           stream twice. Where a bitmap finds no memory, the program aborts.
 *
 * Where the paper's text is silent or contradicts Algorithm 1, this tree follows the algorithm:
 *
 *   deletion (4.2)       The paper merges the parent with its sibling in O(1). Here, elements that
 *                        D_1 and D_3 have, but not the deleted D_2, also move up from C and F to
 *                        the root, because all remaining streams share them.
 *   partial rounds (C)   The paper says "the same as the above". But a vertex of the tree has the
 *                        elements that all streams share, and the streams of a partial round
 *                        share more. Here these are found as if the other streams were deleted.
 *   several vertices (C) The paper chooses one "randomly". Here the probability of a vertex is
 *                        proportional to its size, and all sharing streams get the same choice.
 *   compensation (C)     The paper adds a drawn element to each vertex whose streams all still
 *                        need it. Here only the topmost of these vertices get it; otherwise the
 *                        element would be twice on a path.
 *   Algorithm 1          Line 13 is c = |D| - |S|, as in equation (12). The subset that line 17
 *                        selects does not contain elements of S.
 *   ties                 Streams of equal size are sorted by id. Definition 1 has no rule.
 *   left and right       Definition 1 and section 4.2 contradict each other. Here all leaves except
 *                        the last one (F) are left children.
 *   sizes                Sizes are those at the start of the round. Samples leave the tree after
 *                        all decisions of the round.
 */

struct dsa_tree;

must_check int dsa_tree_new(uint64_t seed, struct dsa_tree **ret);
void dsa_tree_free(struct dsa_tree **tree);

/* Takes over `dataset`, also on failure. */
must_check int dsa_tree_insert(
	struct dsa_tree *tree, stream_id stream, roaring_bitmap_t *dataset);
void dsa_tree_remove(struct dsa_tree *tree, stream_id stream);

/* Draws one round for n different streams in any order. Each stream must have remaining samples. */
void dsa_tree_draw(
	struct dsa_tree *tree, const stream_id *streams, size_t n, sample_id *ret);

/* Returns the stream's remaining samples, the union of its path; the caller frees it. */
roaring_bitmap_t *dsa_tree_copy_remaining(const struct dsa_tree *tree, stream_id stream);

/* Aborts unless order, paths and intersections are as the tree's definition says. */
void dsa_tree_validate(const struct dsa_tree *tree);
