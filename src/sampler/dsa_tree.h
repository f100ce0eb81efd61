// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "sampler/sampler_internal.h"

/*
 * The dependent sampling tree (JOADER, section 4). For streams 0, 1, ... n-1 in ascending
 * order of |R|, ties by id:
 *
 *     shared 0                     what all of 0 .. n-1 need
 *      |     \
 *     own 0   shared 1             what all of 1 .. n-1 need, and 0 does not
 *              |     \
 *             own 1   shared 2     what all of 2 .. n-1 need, and 1 does not
 *                      :     \
 *
 * The vertices on the path of stream k are shared 0 .. shared k and own k: they are
 * disjoint, and R_k is their union. shared 0 .. shared i together are the intersection
 * of R_i .. R_(n-1), always exactly: also after a deletion, which in the paper only
 * merges two vertices, and after which more may be shared than they hold. own n-1 is
 * empty.
 *
 * An id that only streams without the last one share is in their leaves, so what an
 * arbitrary set of streams shares is known by membership, not as a vertex.
 */

/*
 * Takes stream->own = R into the tree; there is room in order and needs. -ENOMEM, and
 * nothing has changed. The other operations are not asked to survive without memory:
 * most of CRoaring's own in-place operations do not.
 */
must_check int tree_insert(struct tree *tree, struct stream *stream);
void tree_remove(struct tree *tree, struct stream *stream);

/* The index of the shared vertex that holds the id; n when none does. */
size_t tree_find(const struct tree *tree, sample_id sample);

/* Whether the id is in the stream's R; at is what tree_find returned for it. */
bool tree_needs(const struct stream *stream, size_t at, sample_id sample);

/* |shared 0 .. shared (end-1)| */
uint32_t tree_size(const struct tree *tree, size_t end);

/*
 * The element of the given rank in the stream's path without shared 0 .. begin-1. With a
 * uniform rank this is a vertex with probability proportional to its size, then a
 * uniform element of it.
 */
sample_id tree_select(const struct tree *tree, const struct stream *stream, size_t begin,
	uint32_t rank);

/* A new bitmap with the ids that tree_select selects from. */
roaring_bitmap_t *tree_path(
	const struct tree *tree, const struct stream *stream, size_t begin);

/*
 * Takes the id from R of the streams it is given to, and moves it down to the vertices
 * of those that still need it (the paper's compensation). Does not reorder.
 */
void tree_give(struct tree *tree, sample_id sample, struct stream *const *to, size_t n);

/* Restores the order when |R| of some streams crossed. */
void tree_sort(struct tree *tree);

void tree_validate(const struct tree *tree);
