// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dsa_tree_internal.h"

/*
 * Runs a round on the tree, by the algorithms of the JOADER paper (dsa_tree.h): Algorithm 1
 * (selecting), Algorithm 2 (sampling) and the compensation of appendix C. The names of the paper
 * stand for:
 *
 *   JOB, DS  the streams without a sample in this round so far, round[first .. m), and their sets
 *   S        the union of the vertices above the level `top`, and of round_walk.lifted
 *   I        the elements that are not in S, but in the vertices from `top` to the level of the
 *            first stream of JOB, or in level.lifted of that level
 *
 * level.lifted is empty if all larger streams draw in this round. round_walk.lifted is level.lifted
 * of the first stream of the previous decision.
 */
struct round_walk {
	struct dsa_tree *tree;
	const size_t *round; /* levels of the streams that draw, ascending */
	size_t m;
	size_t first;
	size_t top;
	const roaring_bitmap_t *lifted; /* NULL: nothing */
	uint32_t offered;		/* |S| */
};

static const struct level *nth(const struct round_walk *walk, size_t i)
{
	return &walk->tree->levels[walk->round[i]];
}

/* Returns the elements of the leaf of round[i] that all larger streams of the round need. If the
 * streams outside of the round were deleted, these elements would move up. The function looks for
 * the elements where round[i + 1] has them: in its lifted set, in its vertex, and in the vertices
 * between round[i] and round[i + 1]. The vertex of the level after round[i] is skipped, because it
 * has no element of this leaf. */
static roaring_bitmap_t *lift(const struct round_walk *walk, size_t i)
{
	const struct level *levels = walk->tree->levels;
	size_t at = walk->round[i];
	const roaring_bitmap_t *leaf = levels[at].leaf;
	if (i + 1 == walk->m)
		return set_made(roaring_bitmap_copy(leaf));
	size_t next = walk->round[i + 1];
	roaring_bitmap_t *lifted = set_made(
		levels[next].lifted ? roaring_bitmap_and(leaf, levels[next].lifted)
				    : roaring_bitmap_create());
	for (size_t j = at + 2; j <= next; j++) {
		auto_bitmap roaring_bitmap_t *shared = set_and(leaf, levels[j].vertex);
		roaring_bitmap_or_inplace(lifted, shared);
	}
	if (roaring_bitmap_is_empty(lifted))
		bitmap_free(&lifted);
	return lifted;
}

/* Sets `lifted` of each stream of the round. Begins with the largest stream, because `lifted` of a
 * stream depends on `lifted` of the next larger one. If all larger streams are in the round,
 * `lifted` of a stream stays NULL. */
static void lift_all(const struct round_walk *walk)
{
	for (size_t i = walk->m; i-- > 0;) {
		bool all_draw = walk->tree->n - walk->round[i] == walk->m - i;
		if (!all_draw)
			walk->tree->levels[walk->round[i]].lifted = lift(walk, i);
	}
}

static uint32_t lifted_size(const roaring_bitmap_t *lifted)
{
	return lifted ? set_size(lifted) : 0;
}

/* Runs lines 5 and 6 of Algorithm 1. Returns the number of elements in S and I together. Each
 * stream that has no sample in this round so far (JOB in the paper) needs all of these elements. */
static uint32_t count_shared(const struct round_walk *walk)
{
	uint32_t size = walk->offered - lifted_size(walk->lifted);
	for (size_t i = walk->top; i <= walk->round[walk->first]; i++)
		size += set_size(walk->tree->levels[i].vertex);
	return size + lifted_size(nth(walk, walk->first)->lifted);
}

/* Runs lines 7 to 15 of Algorithm 1. Returns the index after the last stream that selects I; if no
 * stream does, returns walk->first. c: |I|. The first stream selects I with the probability
 * |I| / (|D| - |S|), where D is the stream's set (equation (9)). Each next stream, if the one
 * before it has selected I, selects I with the probability (|D_before| - |S|) / (|D| - |S|), where
 * D_before is the set of the stream before it. */
static size_t select_shared(const struct round_walk *walk, uint32_t c)
{
	size_t end = walk->first;
	for (; end < walk->m; end++) {
		uint32_t size = nth(walk, end)->remaining - walk->offered;
		if (rng_below(&walk->tree->rng, size) >= c)
			break;
		c = size;
	}
	return end;
}

/* Finds element number *rank of the set `vertex` minus the set `without` (NULL: an empty set). If
 * this difference has too few elements, subtracts their number from *rank, and returns false. */
static bool pick(const roaring_bitmap_t *vertex, const roaring_bitmap_t *without,
	uint32_t *rank, sample_id *ret)
{
	uint32_t size = set_size(vertex);
	if (without)
		size -= (uint32_t)roaring_bitmap_and_cardinality(vertex, without);
	if (*rank >= size) {
		*rank -= size;
		return false;
	}
	if (!without)
		return roaring_bitmap_select(vertex, *rank, ret);
	auto_bitmap roaring_bitmap_t *rest =
		set_made(roaring_bitmap_andnot(vertex, without));
	return roaring_bitmap_select(rest, *rank, ret);
}

/* Returns a random element of I; size: |I|. I may consist of "multiple vertices" (appendix C).
 * Because all elements of I are equally probable, each vertex is chosen with a probability
 * proportional to its size. */
static sample_id sample_shared(const struct round_walk *walk, uint32_t size)
{
	uint32_t rank = (uint32_t)rng_below(&walk->tree->rng, size);
	size_t last = walk->round[walk->first];
	const roaring_bitmap_t *lifted = nth(walk, walk->first)->lifted;
	sample_id sample = SAMPLE_NONE;
	bool found = false;
	for (size_t i = walk->top; i <= last && !found; i++)
		found = pick(walk->tree->levels[i].vertex, walk->lifted, &rank, &sample);
	if (!found)
		found = lifted && pick(lifted, walk->lifted, &rank, &sample);
	ensure(found);
	return sample;
}

/* Runs lines 16 to 19 of Algorithm 1. Returns a random one of the samples that are in the set of
 * the first stream of JOB, but neither in S nor in I: the elements of the stream's leaf that are
 * not in `lifted`. size: the number of these samples. */
static sample_id sample_own(const struct round_walk *walk, uint32_t size)
{
	const struct level *level = nth(walk, walk->first);
	uint32_t rank = (uint32_t)rng_below(&walk->tree->rng, size);
	sample_id sample = SAMPLE_NONE;
	ensure(pick(level->leaf, level->lifted, &rank, &sample));
	return sample;
}

/* Runs the body of the loop in line 4 of Algorithm 1 once. */
static struct decision decide(struct round_walk *walk)
{
	struct decision decision = {.first = walk->first, .top = walk->top};
	const struct level *first = nth(walk, walk->first);
	uint32_t shared = count_shared(walk);
	uint32_t c = shared - walk->offered;
	decision.end = select_shared(walk, c);
	if (decision.end > walk->first) {
		decision.sample = sample_shared(walk, c);
	} else {
		decision.sample = sample_own(walk, first->remaining - shared);
		decision.end = walk->first + 1;
	}
	walk->top = walk->round[walk->first] + 1; /* line 20: S = S + I */
	walk->lifted = first->lifted;
	walk->offered = shared;
	walk->first = decision.end;
	return decision;
}

/*
 * Removes a drawn sample from the sets of the streams that got it, and keeps it in the sets of all
 * other streams. The set of a stream is the union of its leaf, of the vertex of its level, and of
 * the vertices of all levels above (dsa_tree_internal.h). So if the sample is removed from a
 * vertex, the streams of this level and of all levels below lose it. Those that did not get the
 * sample need it again:
 *
 *           A            Example: the sample was in A, and D_1 and D_3 got it. It is removed from
 *          / \           A, and added to E, the leaf of D_2. (In the paper, E is the topmost
 *         C   B          vertex of the "compensation set": all streams of its "job set", here
 *            / \         D_2, still need the sample.)
 *           E   F
 *
 * `last` is the last level whose stream got the sample. The sample is added to the leaf of each
 * stream that did not get it, from the level of the vertex to `last`. All streams of the levels
 * below `last` need the sample, so it is added to the vertex of the level just below `last`.
 *
 * If a stream got the sample and had it in its leaf, the sample is only removed from this leaf.
 */
static void compensate(struct dsa_tree *tree, const struct decision *decision)
{
	sample_id sample = decision->sample;
	size_t last = tree->round[decision->end - 1];
	/* level whose vertex has the sample; last + 1: none */
	size_t held = decision->top;
	size_t taker = decision->first;
	while (held <= last &&
		!roaring_bitmap_remove_checked(tree->levels[held].vertex, sample))
		held++;
	if (held <= last && last + 1 < tree->n)
		roaring_bitmap_add(tree->levels[last + 1].vertex, sample);
	for (size_t i = decision->top; i <= last; i++) {
		bool takes = i == tree->round[taker];
		taker += takes;
		if (takes && i < held)
			roaring_bitmap_remove(tree->levels[i].leaf, sample);
		else if (!takes && i >= held)
			roaring_bitmap_add(tree->levels[i].leaf, sample);
	}
}

static void gather(
	struct dsa_tree *tree, const stream_id *streams, size_t n, sample_id *ret)
{
	size_t m = 0;
	for (size_t i = 0; i < n; i++) {
		struct level *level = &tree->levels[dsa_tree_level(tree, streams[i])];
		ensure(!level->ret && level->remaining);
		level->ret = &ret[i];
	}
	for (size_t at = 0; at < tree->n; at++)
		if (tree->levels[at].ret)
			tree->round[m++] = at;
}

static void give(struct dsa_tree *tree, const struct decision *decision)
{
	compensate(tree, decision);
	for (size_t i = decision->first; i < decision->end; i++) {
		struct level *level = &tree->levels[tree->round[i]];
		*level->ret = decision->sample;
		level->ret = NULL;
		level->remaining--;
		bitmap_free(&level->lifted);
	}
}

void dsa_tree_draw(
	struct dsa_tree *tree, const stream_id *streams, size_t n, sample_id *ret)
{
	struct round_walk walk = {.tree = tree, .round = tree->round, .m = n};
	size_t decisions = 0;
	gather(tree, streams, n, ret);
	lift_all(&walk);
	while (walk.first < walk.m)
		tree->decisions[decisions++] = decide(&walk);
	for (size_t i = 0; i < decisions; i++)
		give(tree, &tree->decisions[i]);
	dsa_tree_reorder(tree);
}
