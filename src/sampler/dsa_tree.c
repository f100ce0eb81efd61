// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sampler/dsa_tree.h"
#include "base/ensure.h"
#include "base/log.h"

#include <errno.h>
#include <stdlib.h>

static void set(struct vertex *vertex, roaring_bitmap_t *ids)
{
	ensure(ids);
	vertex->ids = ids;
	vertex->size = (uint32_t)roaring_bitmap_get_cardinality(ids);
}

static void join(struct vertex *vertex, const roaring_bitmap_t *ids)
{
	if (roaring_bitmap_is_empty(ids))
		return;
	roaring_bitmap_or_inplace(vertex->ids, ids);
	set(vertex, vertex->ids);
}

static void leave(struct vertex *vertex, const roaring_bitmap_t *ids)
{
	if (roaring_bitmap_is_empty(ids))
		return;
	roaring_bitmap_andnot_inplace(vertex->ids, ids);
	set(vertex, vertex->ids);
}

static void exchange(struct vertex *a, struct vertex *b)
{
	struct vertex c = *a;
	*a = *b;
	*b = c;
}

static bool before(const struct stream *a, const struct stream *b)
{
	if (a->remaining != b->remaining)
		return a->remaining < b->remaining;
	return a->id < b->id;
}

static void place(struct tree *tree, size_t at, struct stream *stream)
{
	tree->order[at] = stream;
	stream->place = at;
}

/* A shared vertex, cut by a new stream's set. */
struct cut {
	roaring_bitmap_t *inside;
	roaring_bitmap_t *outside;
};

static void cuts_free(struct cut *cuts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (cuts[i].inside)
			roaring_bitmap_free(cuts[i].inside);
		if (cuts[i].outside)
			roaring_bitmap_free(cuts[i].outside);
	}
	free(cuts);
}

static int cut_path(
	const struct tree *tree, const roaring_bitmap_t *ids, size_t n, struct cut **ret)
{
	struct cut *cuts = calloc(n ? n : 1, sizeof(*cuts));
	if (!cuts)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const roaring_bitmap_t *shared = tree->order[i]->shared.ids;
		cuts[i].inside = roaring_bitmap_and(shared, ids);
		cuts[i].outside = roaring_bitmap_andnot(shared, ids);
		if (!cuts[i].inside || !cuts[i].outside) {
			cuts_free(cuts, n);
			return -ENOMEM;
		}
	}
	*ret = cuts;
	return 0;
}

static void replace(struct vertex *vertex, roaring_bitmap_t **ids)
{
	roaring_bitmap_free(vertex->ids);
	set(vertex, *ids);
	*ids = NULL;
}

/*
 * The vertices above the new stream's place keep what it has too. What it does not have
 * is no longer shared by those before it, so it moves to their leaves; those after it
 * still share it, in the vertex that follows the new one.
 */
static void push_down(struct tree *tree, struct stream *new, size_t at, struct cut *cuts,
	struct vertex *carried)
{
	for (size_t i = 0; i < at; i++) {
		join(carried, cuts[i].outside);
		join(&tree->order[i]->own, carried->ids);
		leave(&new->own, cuts[i].inside);
		replace(&tree->order[i]->shared, &cuts[i].inside);
	}
	if (at == tree->n) {
		exchange(&new->own, &new->shared);
		return;
	}
	join(carried, cuts[at].outside);
	leave(&new->own, cuts[at].inside);
	replace(&new->shared, &cuts[at].inside);
	exchange(&tree->order[at]->shared, carried);
}

int tree_insert(struct tree *tree, struct stream *stream)
{
	size_t at = 0;
	while (at < tree->n && before(tree->order[at], stream))
		at++;
	size_t n_cuts = at < tree->n ? at + 1 : at;
	struct cut *cuts;
	struct vertex carried = {roaring_bitmap_create(), 0};
	stream->shared.ids = roaring_bitmap_create();
	if (!carried.ids || !stream->shared.ids ||
		cut_path(tree, stream->own.ids, n_cuts, &cuts)) {
		if (carried.ids)
			roaring_bitmap_free(carried.ids);
		return -ENOMEM;
	}
	push_down(tree, stream, at, cuts, &carried);
	cuts_free(cuts, n_cuts);
	roaring_bitmap_free(carried.ids);
	for (size_t i = tree->n++; i > at; i--)
		place(tree, i, tree->order[i - 1]);
	place(tree, at, stream);
	return 0;
}

/*
 * The ids `lifted` are now shared by all from `top` on. Those that the streams before it
 * have in their leaves belong further up.
 */
static void lift(struct tree *tree, size_t end, struct vertex *top, struct vertex *lifted)
{
	for (size_t i = end; i-- > 0 && lifted->size;) {
		struct stream *stream = tree->order[i];
		roaring_bitmap_and_inplace(lifted->ids, stream->own.ids);
		set(lifted, lifted->ids);
		leave(top, lifted->ids);
		leave(&stream->own, lifted->ids);
		join(&stream->shared, lifted->ids);
		top = &stream->shared;
	}
}

/* The leaf goes; its parent, the vertex shared from here on, merges with the sibling. */
void tree_remove(struct tree *tree, struct stream *stream)
{
	size_t at = stream->place;
	struct vertex lifted;
	if (at + 1 < tree->n) {
		struct vertex *sibling = &tree->order[at + 1]->shared;
		set(&lifted, roaring_bitmap_copy(sibling->ids));
		join(sibling, stream->shared.ids);
		lift(tree, at, sibling, &lifted);
	} else if (at > 0) {
		struct stream *last = tree->order[at - 1];
		set(&lifted, roaring_bitmap_copy(last->own.ids));
		join(&last->shared, lifted.ids);
		leave(&last->own, lifted.ids);
		lift(tree, at - 1, &last->shared, &lifted);
	} else {
		tree->n = 0;
		return;
	}
	roaring_bitmap_free(lifted.ids);
	tree->n--;
	for (size_t i = at; i < tree->n; i++)
		place(tree, i, tree->order[i + 1]);
}

size_t tree_find(const struct tree *tree, sample_id sample)
{
	size_t at = 0;
	while (at < tree->n && !vertex_contains(&tree->order[at]->shared, sample))
		at++;
	return at;
}

bool tree_needs(const struct stream *stream, size_t at, sample_id sample)
{
	return stream->place >= at || vertex_contains(&stream->own, sample);
}

uint32_t tree_size(const struct tree *tree, size_t end)
{
	uint32_t size = 0;
	for (size_t i = 0; i < end; i++)
		size += tree->order[i]->shared.size;
	return size;
}

sample_id tree_select(
	const struct tree *tree, const struct stream *stream, size_t begin, uint32_t rank)
{
	for (size_t i = begin; i <= stream->place; i++) {
		const struct vertex *vertex = &tree->order[i]->shared;
		if (rank < vertex->size)
			return vertex_select(vertex, rank);
		rank -= vertex->size;
	}
	return vertex_select(&stream->own, rank);
}

roaring_bitmap_t *tree_path(
	const struct tree *tree, const struct stream *stream, size_t begin)
{
	roaring_bitmap_t *ids = roaring_bitmap_copy(stream->own.ids);
	for (size_t i = begin; ids && i <= stream->place; i++)
		roaring_bitmap_or_inplace(ids, tree->order[i]->shared.ids);
	return ids;
}

void tree_give(struct tree *tree, sample_id sample, struct stream *const *to, size_t n)
{
	size_t at = tree_find(tree, sample);
	for (size_t i = 0; i < tree->n; i++)
		tree->needs[i] = tree_needs(tree->order[i], at, sample);
	for (size_t i = 0; i < n; i++) {
		ensure(tree->needs[to[i]->place]);
		tree->needs[to[i]->place] = false;
		to[i]->remaining--;
		if (to[i]->place < at)
			vertex_take(&to[i]->own, sample);
	}
	size_t end = tree->n; /* from here on all need it */
	while (end > at && tree->needs[end - 1])
		end--;
	if (end == at)
		return;
	vertex_take(&tree->order[at]->shared, sample);
	for (size_t i = at; i < end; i++)
		if (tree->needs[i])
			vertex_add(&tree->order[i]->own, sample);
	if (end < tree->n)
		vertex_add(&tree->order[end]->shared, sample);
}

/*
 * Lets the streams at k and k+1 change places. Only the intersection from k+1 on becomes
 * another one: the stream that moves down has shared with those after it what was in its
 * leaf; the one that moves up keeps in its leaf what it has shared with them.
 */
static void swap_down(struct tree *tree, size_t k)
{
	struct stream *down = tree->order[k];
	struct stream *up = tree->order[k + 1];
	struct vertex shared = {NULL, 0};
	if (k + 2 < tree->n) {
		struct vertex *next = &tree->order[k + 2]->shared;
		set(&shared, roaring_bitmap_and(down->own.ids, next->ids));
		leave(&down->own, shared.ids);
		leave(next, shared.ids);
		join(next, up->shared.ids);
		join(&up->own, up->shared.ids);
		roaring_bitmap_free(up->shared.ids);
		up->shared = shared;
	} else { /* the last one's leaf is empty */
		exchange(&up->own, &up->shared);
		exchange(&up->shared, &down->own);
	}
	exchange(&up->shared, &down->shared);
	place(tree, k, up);
	place(tree, k + 1, down);
}

void tree_sort(struct tree *tree)
{
	for (size_t i = 1; i < tree->n; i++)
		for (size_t j = i; j > 0 && before(tree->order[j], tree->order[j - 1]);
			j--)
			swap_down(tree, j - 1);
}

static void dump(const struct tree *tree, const char *broken)
{
	log_error("sampling tree of %zu streams: %s", tree->n, broken);
	for (size_t i = 0; i < tree->n; i++) {
		const struct stream *stream = tree->order[i];
		log_error("  %zu: stream %u, place %zu, remaining %u, shared %u, own %u",
			i, (unsigned)stream->id, stream->place,
			(unsigned)stream->remaining, (unsigned)stream->shared.size,
			(unsigned)stream->own.size);
	}
}

static void check(const struct tree *tree, bool holds, const char *invariant)
{
	if (!holds)
		dump(tree, invariant);
	ensure(holds);
}

static bool sizes_right(const struct stream *stream)
{
	return stream->shared.size ==
		       roaring_bitmap_get_cardinality(stream->shared.ids) &&
	       stream->own.size == roaring_bitmap_get_cardinality(stream->own.ids);
}

/* Together with what tree_path gives, the sizes on a path say that it is disjoint. */
static void check_path(const struct tree *tree, size_t i, const roaring_bitmap_t *path)
{
	const struct stream *stream = tree->order[i];
	uint64_t sizes = tree_size(tree, i + 1) + stream->own.size;
	check(tree, stream->place == i, "each stream knows its place");
	check(tree, i == 0 || before(tree->order[i - 1], stream), "ascending |R|");
	check(tree, sizes_right(stream), "sizes of vertices");
	check(tree, sizes == stream->remaining, "|R| is the sum of the path");
	check(tree, sizes == roaring_bitmap_get_cardinality(path), "paths are disjoint");
}

void tree_validate(const struct tree *tree)
{
	roaring_bitmap_t *all = NULL; /* R_i, R_(i+1), ... intersected */
	for (size_t i = tree->n; i-- > 0;) {
		roaring_bitmap_t *path = tree_path(tree, tree->order[i], 0);
		ensure(path);
		check_path(tree, i, path);
		if (all)
			roaring_bitmap_and_inplace(all, path);
		else
			all = roaring_bitmap_copy(path);
		roaring_bitmap_free(path);
		roaring_bitmap_t *shared = roaring_bitmap_create();
		for (size_t j = 0; j <= i; j++)
			roaring_bitmap_or_inplace(shared, tree->order[j]->shared.ids);
		check(tree, roaring_bitmap_equals(shared, all),
			"vertices hold exactly what their streams share");
		roaring_bitmap_free(shared);
	}
	if (all)
		roaring_bitmap_free(all);
}
