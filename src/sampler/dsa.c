// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "base/log.h"
#include "sampler/sampler_internal.h"

#include <string.h>

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
 * The paper keeps these intersections and their sizes in a dependent sampling tree
 * (section 4), which every epoch that starts or ends, every sample given to some of its
 * streams only and every crossing of two |R| has to rebuild in part. There is no tree
 * here (tools/sim/dsa_tree.h has it, for comparison), because neither the intersections
 * nor their sizes are needed, only draws with the right probabilities, and those can be
 * had from R and membership:
 *
 * An element drawn uniformly from R_first - S is in I just with the probability
 * |I| / (|R_first| - |S|) with which first(K) has to choose I, and if it is, it is a
 * uniform element of I; if not, of R_first - S - I. So it is drawn first, and whether all
 * of K have it decides: a bit test for each, up to the first that does not.
 *
 * S is what all of a suffix of the round have: that of the step before, since each I only
 * adds to it what its smaller suffix shares. A uniform element of R - S is one of R,
 * redrawn while it is in S; again bit tests. (|R_a| - |S|) / (|R_b| - |S|) is the chance
 * that a place among |R_b|, of which the elements of R_a take the first |R_a|, is one of
 * those, when places of elements of S do not count.
 *
 * A redraw is cheap on average, whatever the sets are: stream k is given each element of
 * R_k with the same probability 1 / |R_k|, so that the step after S is reached without k
 * being served with probability 1 - |S| / |R_k| at most. If k is first(K) there, finding
 * an element of R_k - S takes |R_k| / (|R_k| - |S|) draws on average, and less for larger
 * sets. The product is 1. A rare case can still take long (sets that differ in one
 * element); there S is counted in the end.
 */

struct walk {
	struct rng *rng;
	struct stream **round; /* ascending |R| */
	const struct idset **sets;
	size_t m;
	size_t first;  /* of K: round[first .. m) */
	size_t suffix; /* S: what all of round[suffix .. m) have; {} as long as it is K */
	uint32_t size; /* of S, if counted */
	bool counted;
};

static bool offered(const struct walk *walk, sample_id sample)
{
	return walk->suffix < walk->first && idset_all_contain(&walk->sets[walk->suffix],
						     walk->m - walk->suffix, sample);
}

/*
 * How often to redraw before S is counted: so that both cost about the same. Counting
 * reads the words of all sets, as far as the smallest has anything. A redraw takes as
 * long as reading REDRAW_WORDS words in a row, and TEST_WORDS for each set.
 */
#define REDRAW_WORDS 150
#define TEST_WORDS 15

static size_t redraws(const struct walk *walk)
{
	const struct idset *smallest = walk->sets[walk->suffix];
	size_t n = walk->m - walk->suffix;
	size_t words = idset_bound(smallest) / 64;
	if (words > idset_size(smallest))
		words = idset_size(smallest);
	return 16 + words * n / (REDRAW_WORDS + TEST_WORDS * n);
}

static uint32_t count_offered(struct walk *walk)
{
	if (!walk->counted)
		walk->size = idset_count_shared(
			&walk->sets[walk->suffix], walk->m - walk->suffix);
	walk->counted = true;
	return walk->size;
}

/* A uniform element of R_first - S. */
static sample_id draw_one(struct walk *walk)
{
	const struct idset *set = walk->sets[walk->first];
	uint32_t size = idset_size(set);
	for (size_t i = redraws(walk); i && !walk->counted; i--) {
		uint32_t rank = (uint32_t)rng_below(walk->rng, size);
		sample_id sample = idset_select(set, rank);
		if (!offered(walk, sample))
			return sample;
	}
	uint32_t rank = (uint32_t)rng_below(walk->rng, size - count_offered(walk));
	return idset_select_unshared(
		set, &walk->sets[walk->suffix], walk->m - walk->suffix, rank);
}

/* True with probability (|R_a| - |S|) / (|R_b| - |S|), where b comes after a. */
static bool joins(struct walk *walk, size_t a, size_t b)
{
	const struct idset *set = walk->sets[a];
	uint32_t n_a = idset_size(set);
	uint32_t n_b = idset_size(walk->sets[b]);
	if (n_a == n_b)
		return true;
	for (size_t i = redraws(walk); i && !walk->counted; i--) {
		uint32_t rank = (uint32_t)rng_below(walk->rng, n_b);
		if (rank >= n_a)
			return false;
		if (walk->suffix == walk->first ||
			!offered(walk, idset_select(set, rank)))
			return true;
	}
	uint32_t n_s = count_offered(walk);
	return rng_below(walk->rng, n_b - n_s) < n_a - n_s;
}

/*
 * The first of K that does not choose what first(K) chose; m: all do. The probabilities
 * of neighbours multiply to those of any two, so that one decision answers whether all
 * up to the last choose it. If not, one of a+1 .. b does not, and the first such is
 * beyond `middle` if those up to there choose it and one beyond does not, of which the
 * probability, given that there is one, is
 *
 *     (|R_a| - |S|) / (|R_middle| - |S|) * (|R_b| - |R_middle|) / (|R_b| - |R_a|)
 */
static size_t first_to_refuse(struct walk *walk)
{
	size_t a = walk->first;
	size_t b = walk->m - 1;
	if (joins(walk, a, b))
		return walk->m;
	while (b - a > 1) {
		size_t middle = a + (b - a) / 2;
		uint32_t n_a = idset_size(walk->sets[a]);
		uint32_t n_middle = idset_size(walk->sets[middle]);
		uint32_t n_b = idset_size(walk->sets[b]);
		if (rng_below(walk->rng, n_b - n_a) < n_b - n_middle &&
			joins(walk, a, middle))
			a = middle;
		else
			b = middle;
	}
	return b;
}

/* Serves the first streams of K; where the rest of K begins. */
static size_t serve(struct walk *walk)
{
	size_t first = walk->first;
	size_t end = first + 1;
	sample_id sample = draw_one(walk);
	if (idset_all_contain(&walk->sets[end], walk->m - end, sample))
		end = first_to_refuse(walk);
	for (size_t i = first; i < end; i++)
		*walk->round[i]->ret = sample;
	return end;
}

static bool before(const struct stream *a, const struct stream *b)
{
	if (a->remaining != b->remaining)
		return a->remaining < b->remaining;
	return a->id < b->id;
}

/* By insertion: a round changes little. */
static void sort(struct sampler *sampler)
{
	struct stream **order = sampler->order;
	for (size_t i = 1; i < sampler->n; i++) {
		struct stream *stream = order[i];
		size_t at = i;
		for (; at > 0 && before(stream, order[at - 1]); at--)
			order[at] = order[at - 1];
		order[at] = stream;
	}
}

/* The sizes are those at the start of the round: samples are taken from R at its end. */
static void draw(struct sampler *sampler, size_t m)
{
	struct walk walk = {
		&sampler->rng, sampler->round, sampler->sets, m, 0, 0, 0, false};
	for (size_t i = 0, n = 0; i < sampler->n; i++)
		if (sampler->order[i]->ret) {
			walk.sets[n] = sampler->order[i]->set;
			walk.round[n++] = sampler->order[i];
		}
	while (walk.first < m) {
		size_t end = serve(&walk);
		walk.suffix = walk.first;
		walk.first = end;
		walk.counted = false;
	}
	for (size_t i = 0; i < m; i++)
		stream_take(walk.round[i], *walk.round[i]->ret);
	sort(sampler);
}

static int insert(struct sampler *sampler, struct stream *stream)
{
	size_t at = sampler->n;
	for (; at > 0 && before(stream, sampler->order[at - 1]); at--)
		sampler->order[at] = sampler->order[at - 1];
	sampler->order[at] = stream;
	return 0;
}

static void remove_stream(struct sampler *sampler, struct stream *stream)
{
	size_t at = 0;
	while (sampler->order[at] != stream)
		at++;
	memmove(&sampler->order[at], &sampler->order[at + 1],
		(sampler->n - at - 1) * sizeof(sampler->order[0]));
}

static void validate(const struct sampler *sampler)
{
	for (size_t i = 1; i < sampler->n; i++)
		ensure(before(sampler->order[i - 1], sampler->order[i]));
}

const struct sampler_ops sampler_dsa = {
	.insert = insert,
	.remove = remove_stream,
	.draw = draw,
	.validate = validate,
};
