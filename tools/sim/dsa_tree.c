// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dsa_tree_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int dsa_tree_new(uint64_t seed, struct dsa_tree **ret)
{
	struct dsa_tree *tree = calloc(1, sizeof(*tree));
	if (!tree)
		return -ENOMEM;
	rng_seed(&tree->rng, seed);
	*ret = tree;
	return 0;
}

void dsa_tree_free(struct dsa_tree **tree)
{
	struct dsa_tree *t = *tree;
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++) {
		bitmap_free(&t->levels[i].vertex);
		bitmap_free(&t->levels[i].leaf);
	}
	free(t->levels);
	free(t->round);
	free(t->decisions);
	free(t);
	*tree = NULL;
}

size_t dsa_tree_level(const struct dsa_tree *tree, stream_id stream)
{
	size_t at = 0;
	while (at < tree->n && tree->levels[at].stream != stream)
		at++;
	ensure(at < tree->n);
	return at;
}

static bool before(const struct level *a, const struct level *b)
{
	if (a->remaining != b->remaining)
		return a->remaining < b->remaining;
	return a->stream < b->stream;
}

static int reserve(struct dsa_tree *tree)
{
	if (tree->n < tree->capacity)
		return 0;
	size_t n = tree->capacity ? 2 * tree->capacity : 8;
	struct level *levels = reallocarray(tree->levels, n, sizeof(*levels));
	tree->levels = levels ? levels : tree->levels;
	size_t *round = reallocarray(tree->round, n, sizeof(*round));
	tree->round = round ? round : tree->round;
	struct decision *decisions = reallocarray(tree->decisions, n, sizeof(*decisions));
	tree->decisions = decisions ? decisions : tree->decisions;
	if (!levels || !round || !decisions)
		return -ENOMEM;
	tree->capacity = n;
	return 0;
}

/* Inserts D, the set of a new stream, below a level whose stream has a smaller set (section 4.2,
 * Figure 4d). The level's vertex becomes the intersection of D and the old vertex. The other
 * elements of the old vertex go to both children: to the level's leaf and, by `pushed`, to the next
 * level. `pushed` also has the elements that have left the vertices of the levels above. D has none
 * of these elements, so they go to this leaf, too. Removes the elements of the new vertex from
 * `dataset`, which is D without the elements of the vertices so far. */
static void pass(struct level *level, roaring_bitmap_t *dataset, roaring_bitmap_t *pushed)
{
	auto_bitmap roaring_bitmap_t *shared = set_and(level->vertex, dataset);
	roaring_bitmap_andnot_inplace(level->vertex, shared);
	roaring_bitmap_or_inplace(pushed, level->vertex);
	roaring_bitmap_or_inplace(level->leaf, pushed);
	roaring_bitmap_andnot_inplace(dataset, shared);
	bitmap_free(&level->vertex);
	level->vertex = shared;
	shared = NULL;
}

/* Inserts a new level above the level `root`, whose stream has the next larger set (Figure 4c). The
 * new leaf is at first `dataset` as `pass` has left it. The intersection of this leaf and the
 * root's vertex becomes the new vertex. The two differences become its children: the new leaf, and
 * the new vertex of `root`. That vertex also gets the elements of `pushed` (see `pass`). */
static void become_root(
	struct level *level, struct level *root, const roaring_bitmap_t *pushed)
{
	level->vertex = set_and(level->leaf, root->vertex);
	roaring_bitmap_andnot_inplace(level->leaf, level->vertex);
	roaring_bitmap_andnot_inplace(root->vertex, level->vertex);
	roaring_bitmap_or_inplace(root->vertex, pushed);
}

int dsa_tree_insert(struct dsa_tree *tree, stream_id stream, roaring_bitmap_t *dataset)
{
	if (reserve(tree)) {
		roaring_bitmap_free(dataset);
		return -ENOMEM;
	}
	struct level level = {
		.stream = stream, .remaining = set_size(dataset), .leaf = dataset};
	auto_bitmap roaring_bitmap_t *pushed = set_made(roaring_bitmap_create());
	size_t at = 0;
	while (at < tree->n && before(&tree->levels[at], &level))
		pass(&tree->levels[at++], dataset, pushed);
	if (at < tree->n) {
		become_root(&level, &tree->levels[at], pushed);
	} else {
		level.vertex = dataset;
		level.leaf = set_made(roaring_bitmap_create());
	}
	memmove(&tree->levels[at + 1], &tree->levels[at],
		(tree->n++ - at) * sizeof(level));
	tree->levels[at] = level;
	return 0;
}

/* Compares the vertex of level `at` with the leaf of the next higher level, at - 1. Moves their
 * common elements to the vertex of level at - 1, because the stream of level at - 1 needs these
 * elements, too. Then compares the vertex of level at - 1 with the leaf of level at - 2, and so on.
 * Stops when nothing was moved, because the vertices further up have not changed. */
static void lift(struct dsa_tree *tree, size_t at)
{
	for (bool any = true; any && at > 0; at--) {
		struct level *upper = &tree->levels[at - 1];
		auto_bitmap roaring_bitmap_t *shared =
			set_and(upper->leaf, tree->levels[at].vertex);
		any = !roaring_bitmap_is_empty(shared);
		if (!any)
			continue;
		roaring_bitmap_andnot_inplace(upper->leaf, shared);
		roaring_bitmap_andnot_inplace(tree->levels[at].vertex, shared);
		roaring_bitmap_or_inplace(upper->vertex, shared);
	}
}

/*
 * Deletes a stream (section 4.2, Figure 4b): removes its leaf, and merges the leaf's parent with
 * the leaf's sibling. The sibling of the largest stream's leaf is the leaf of the level before.
 *
 * The paper stops here. But all remaining streams may share an element that only the deleted stream
 * did not have. Such an element is in the merged vertex and in leaves above it, and is moved up.
 */
void dsa_tree_remove(struct dsa_tree *tree, stream_id stream)
{
	size_t at = dsa_tree_level(tree, stream);
	struct level gone = tree->levels[at];
	memmove(&tree->levels[at], &tree->levels[at + 1],
		(--tree->n - at) * sizeof(gone));
	if (at < tree->n) {
		roaring_bitmap_or_inplace(tree->levels[at].vertex, gone.vertex);
	} else if (at > 0) {
		struct level *last = &tree->levels[--at];
		roaring_bitmap_or_inplace(last->vertex, last->leaf);
		roaring_bitmap_clear(last->leaf);
	}
	lift(tree, at);
	bitmap_free(&gone.vertex);
	bitmap_free(&gone.leaf);
}

/*
 * Swaps two neighbouring streams. a and b are the leaves of these streams, c is the leaf of the
 * next stream, and V, W and X are the vertices of the three levels. + is a union, - a difference,
 * & an intersection:
 *
 *        V                         V
 *       / \                       / \
 *      a   W                     W+b W'            W' = a & X
 *         / \        becomes        / \
 *        b   X                  a-W'   (X-W') + W
 *           / \                           / \
 *          c   ..                        c   ..
 *
 * V does not change: its elements are those that both streams and all larger streams need. The
 * elements that the first stream shares with all streams after the second one are in a and in X.
 * None of them is in W, because an element of W that the first stream needs would be in V.
 * Appendix C inserts the stream again ("just like the intersection procedure"), which gives the
 * same tree.
 */
static void swap(struct dsa_tree *tree, size_t at)
{
	struct level a = tree->levels[at], b = tree->levels[at + 1];
	roaring_bitmap_t *v = a.vertex, *w = b.vertex;
	roaring_bitmap_or_inplace(b.leaf, w);
	b.vertex = v;
	if (at + 2 < tree->n) {
		roaring_bitmap_t *x = tree->levels[at + 2].vertex;
		a.vertex = set_and(a.leaf, x);
		roaring_bitmap_andnot_inplace(a.leaf, a.vertex);
		roaring_bitmap_andnot_inplace(x, a.vertex);
		roaring_bitmap_or_inplace(x, w);
	} else {
		a.vertex = a.leaf;
		a.leaf = set_made(roaring_bitmap_create());
	}
	bitmap_free(&w);
	tree->levels[at] = b;
	tree->levels[at + 1] = a;
}

/* A round changes each size by at most one, so sorting by insertion is fast. */
void dsa_tree_reorder(struct dsa_tree *tree)
{
	for (size_t i = 1; i < tree->n; i++)
		for (size_t at = i;
			at > 0 && before(&tree->levels[at], &tree->levels[at - 1]); at--)
			swap(tree, at - 1);
}

static roaring_bitmap_t *path(const struct dsa_tree *tree, size_t at)
{
	roaring_bitmap_t *set = set_made(roaring_bitmap_copy(tree->levels[at].leaf));
	for (size_t i = 0; i <= at; i++)
		roaring_bitmap_or_inplace(set, tree->levels[i].vertex);
	return set;
}

roaring_bitmap_t *dsa_tree_copy_remaining(const struct dsa_tree *tree, stream_id stream)
{
	return path(tree, dsa_tree_level(tree, stream));
}

/* Checks three properties. The sizes ascend. No two vertices of a path have a common element: the
 * size of their union is the sum of their sizes. The union of the vertices down to a level is the
 * intersection of the sets of the level's stream and of all larger streams. */
void dsa_tree_validate(const struct dsa_tree *tree)
{
	uint32_t above = 0;
	for (size_t i = 0; i < tree->n; i++) {
		const struct level *level = &tree->levels[i];
		auto_bitmap roaring_bitmap_t *set = path(tree, i);
		above += set_size(level->vertex);
		ensure(i == 0 || before(level - 1, level));
		ensure(!level->ret && !level->lifted);
		ensure(set_size(set) == level->remaining);
		ensure(above + set_size(level->leaf) == level->remaining);
	}
	auto_bitmap roaring_bitmap_t *shared = tree->n ? path(tree, tree->n - 1) : NULL;
	for (size_t i = tree->n; i-- > 0;) {
		auto_bitmap roaring_bitmap_t *set = path(tree, i);
		roaring_bitmap_and_inplace(shared, set);
		ensure(set_size(shared) == above);
		above -= set_size(tree->levels[i].vertex);
	}
}
