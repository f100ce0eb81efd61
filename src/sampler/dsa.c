// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "sampler/dsa_tree.h"

/*
 * The dependent sampling algorithm (JOADER, Algorithm 1 and 2), one round:
 *
 *     S := {} ; K := the round's streams, ascending |R|
 *     while K is not empty:
 *         I := what all of K need, without S
 *         first(K) chooses I with probability |I| / (|R_first| - |S|), each next one with
 *         (|R_before| - |S|) / (|R_k| - |S|), until one does not
 *         one element of I is given to those that chose it; if there are none,
 *         first(K) gets one of R_first - S - I
 *         K := K without those served ; S := S + I
 *
 * Here |I| is never counted. An element drawn uniformly from R_first - S is in I just
 * with the probability with which first(K) has to choose I, and then it is a uniform
 * element of I. So it is drawn first, and whether all of K need it decides.
 *
 * S is what all streams of the suffix before K need. As long as that suffix is one of
 * the tree's, it is a number of vertices. If a larger stream sits out the round, S has
 * ids beyond those, in leaves; they are recognised by membership, drawn again, and
 * counted only when drawing again does not lead anywhere.
 */

/* Redraws before S is counted: a stream gets here with the probability with which a
 * redraw is unnecessary, so that on average there is less than one. */
#define REDRAWS 64

struct walk {
	struct sampler *sampler;
	struct stream **round; /* in the tree's order */
	size_t m;
	/* S, and the suffix of the round of which it is what all need: */
	size_t suffix;
	size_t begin;		/* S contains shared 0 .. shared (begin-1) of the tree */
	uint32_t size;		/* of these */
	bool beyond;		/* S contains more */
	roaring_bitmap_t *more; /* which; NULL unless counted */
};

/* Whether the streams from round[from] on are all that the tree has from there on. */
static bool is_suffix(const struct walk *walk, size_t from)
{
	return walk->m - from == walk->sampler->tree.n - walk->round[from]->place;
}

static bool all_need(const struct walk *walk, size_t from, sample_id sample)
{
	size_t at = tree_find(&walk->sampler->tree, sample);
	if (at > walk->round[from]->place && is_suffix(walk, from))
		return false;
	for (size_t i = from; i < walk->m; i++)
		if (!tree_needs(walk->round[i], at, sample))
			return false;
	return true;
}

static bool offered(const struct walk *walk, sample_id sample)
{
	return walk->beyond && all_need(walk, walk->suffix, sample);
}

/* A uniform element of R - S, or an offered one. */
static sample_id candidate(struct walk *walk, const struct stream *stream)
{
	uint32_t left = stream->remaining - walk->size;
	uint32_t rank = (uint32_t)rng_below(&walk->sampler->rng, left);
	return tree_select(&walk->sampler->tree, stream, walk->begin, rank);
}

static const roaring_bitmap_t *count_more(struct walk *walk)
{
	if (walk->more)
		return walk->more;
	const struct tree *tree = &walk->sampler->tree;
	for (size_t i = walk->suffix; i < walk->m; i++) {
		roaring_bitmap_t *path = tree_path(tree, walk->round[i], walk->begin);
		ensure(path);
		if (walk->more) {
			roaring_bitmap_and_inplace(walk->more, path);
			roaring_bitmap_free(path);
		} else {
			walk->more = path;
		}
	}
	return walk->more;
}

static sample_id draw_counted(struct walk *walk, const struct stream *stream)
{
	struct vertex rest;
	rest.ids = tree_path(&walk->sampler->tree, stream, walk->begin);
	ensure(rest.ids);
	roaring_bitmap_andnot_inplace(rest.ids, count_more(walk));
	rest.size = (uint32_t)roaring_bitmap_get_cardinality(rest.ids);
	uint32_t rank = (uint32_t)rng_below(&walk->sampler->rng, rest.size);
	sample_id sample = vertex_select(&rest, rank);
	roaring_bitmap_free(rest.ids);
	return sample;
}

/* A uniform element of R - S. */
static sample_id draw_one(struct walk *walk, const struct stream *stream)
{
	for (int i = 0; i < REDRAWS; i++) {
		sample_id sample = candidate(walk, stream);
		if (!offered(walk, sample))
			return sample;
	}
	return draw_counted(walk, stream);
}

/*
 * True with probability (|R_a| - |S|) / (|R_b| - |S|): of as many places as |R_b|, as
 * many as |R_a| are taken by its elements, and those of S do not count.
 */
static bool joins(struct walk *walk, const struct stream *a, const struct stream *b)
{
	struct rng *rng = &walk->sampler->rng;
	uint32_t n_a = a->remaining - walk->size;
	uint32_t n_b = b->remaining - walk->size;
	for (int i = 0; i < REDRAWS; i++) {
		uint32_t rank = (uint32_t)rng_below(rng, n_b);
		if (rank >= n_a || !walk->beyond)
			return rank < n_a;
		if (!offered(walk,
			    tree_select(&walk->sampler->tree, a, walk->begin, rank)))
			return true;
	}
	uint32_t more = (uint32_t)roaring_bitmap_get_cardinality(count_more(walk));
	return rng_below(rng, n_b - more) < n_a - more;
}

/* Serves the first streams of round[first..m); their number. */
static size_t serve(struct walk *walk, size_t first)
{
	struct stream **round = walk->round;
	sample_id sample = draw_one(walk, round[first]);
	size_t end = first + 1;
	if (all_need(walk, first, sample))
		while (end < walk->m && joins(walk, round[end - 1], round[end]))
			end++;
	for (size_t i = first; i < end; i++)
		*round[i]->ret = sample;
	return end - first;
}

/* S becomes what round[first..m) all need. */
static void offer(struct walk *walk, size_t first)
{
	walk->suffix = first;
	walk->begin = walk->round[first]->place + 1;
	walk->size = tree_size(&walk->sampler->tree, walk->begin);
	walk->beyond = !is_suffix(walk, first);
	if (walk->more)
		roaring_bitmap_free(walk->more);
	walk->more = NULL;
}

/* One removal for all streams that chose together. */
static void give(struct walk *walk)
{
	struct stream **round = walk->round;
	for (size_t i = 0, end; i < walk->m; i = end) {
		sample_id sample = *round[i]->ret;
		for (end = i + 1; end < walk->m && *round[end]->ret == sample;)
			end++;
		tree_give(&walk->sampler->tree, sample, &round[i], end - i);
	}
}

static void draw(struct sampler *sampler, size_t m)
{
	struct tree *tree = &sampler->tree;
	struct walk walk = {.sampler = sampler, .round = sampler->round, .m = m};
	for (size_t i = 0, n = 0; i < tree->n; i++)
		if (tree->order[i]->ret)
			walk.round[n++] = tree->order[i];
	for (size_t first = 0, n; first < m; first += n) {
		n = serve(&walk, first);
		offer(&walk, first);
	}
	if (walk.more)
		roaring_bitmap_free(walk.more);
	give(&walk);
	tree_sort(tree);
}

static int insert(struct sampler *sampler, struct stream *stream)
{
	return tree_insert(&sampler->tree, stream);
}

static void remove_stream(struct sampler *sampler, struct stream *stream)
{
	tree_remove(&sampler->tree, stream);
}

static bool contains(
	const struct sampler *sampler, const struct stream *stream, sample_id sample)
{
	return tree_needs(stream, tree_find(&sampler->tree, sample), sample);
}

static roaring_bitmap_t *copy(const struct sampler *sampler, const struct stream *stream)
{
	return tree_path(&sampler->tree, stream, 0);
}

static void validate(const struct sampler *sampler)
{
	ensure(sampler->tree.n == sampler->n);
	tree_validate(&sampler->tree);
}

const struct sampler_ops sampler_dsa = {
	.insert = insert,
	.remove = remove_stream,
	.draw = draw,
	.contains = contains,
	.copy = copy,
	.validate = validate,
};
