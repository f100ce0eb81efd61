// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "sampler/sampler_internal.h"

#include <string.h>

/*
 * The dependent sampling algorithm (JOADER, Algorithm 1 and 2), one round:
 *
 *     S := {} ; K := the round's streams, ascending |R|
 *     while K is not empty:
 *         I := elements that all of K need, without S
 *         first(K) chooses I with probability |I| / (|R_first| - |S|), each next one with
 *         (|R_before| - |S|) / (|R_k| - |S|), until one does not
 *         the streams that chose I are given one element of it; if there are none,
 *         first(K) gets one of R_first - S - I
 *         K := K without the streams served ; S := S + I
 *
 * The paper keeps these intersections and their sizes in a dependent sampling tree (section 4). A
 * part of that tree is rebuilt when an epoch starts or ends, when a sample is given to only some
 * streams, and when two sizes |R| change their order. There is no tree here, because only draws
 * with the right probabilities are needed, and neither the intersections nor their sizes. R and
 * tests of membership are enough. (tools/sim/dsa_tree.h has the tree, for comparison.)
 *
 * An element drawn uniformly from R_first - S is in I with the probability |I| / (|R_first| - |S|),
 * which is the one with which first(K) has to choose I. If the element is in I, it is a uniform
 * element of I; if not, of R_first - S - I. So the element is drawn first. Then it is tested
 * whether every R of K contains it: one bit test per stream, up to the first stream that lacks the
 * element.
 *
 * S consists of elements that all streams of a suffix of the round share. It is the suffix of the
 * previous step, because each step adds only elements of I, which a smaller suffix shares. A
 * uniform element of R - S is an element of R, redrawn while it is in S: bit tests again. The
 * chance (|R_a| - |S|) / (|R_b| - |S|) is drawn as follows. Imagine |R_b| places, of which the
 * elements of R_a take the first |R_a|. Leave out the places of elements of S. The chance is then
 * the probability that a uniform place belongs to R_a.
 *
 * A redraw is cheap on average, whatever the sets are: stream k is given each element of
 * R_k with the same probability 1 / |R_k|, so that the step after S is reached without k
 * being served with probability 1 - |S| / |R_k| at most. If k is first(K) there, finding
 * an element of R_k - S takes |R_k| / (|R_k| - |S|) draws on average, and less for larger
 * sets. The product is 1. A rare case can still take long (sets that differ in one
 * element); there S is counted in the end.
 */

struct round {
	struct sampler_foreseen *foreseen;
	struct rng *rng;
	struct sampler_stream **streams; /* the round's streams, by ascending |R| */
	const struct idset **sets;
	size_t m;
	size_t first; /* K of the paper consists of streams[first .. m) */
	/* streams[suffix .. m) are the streams that share the elements of S; suffix = first: S is
	 * empty. */
	size_t suffix;
	uint32_t size; /* |S|, if `counted` */
	bool counted;
};

static bool offered(const struct round *round, sample_id sample)
{
	return round->suffix < round->first &&
	       idset_all_contain(
		       &round->sets[round->suffix], round->m - round->suffix, sample);
}

/* The function `redraws` returns the number of draws to try before S is counted. This number is
 * chosen so that counting costs about as much as all these draws. Counting reads the words of all
 * sets, up to the end of the smallest set. A draw takes as long as reading REDRAW_WORDS consecutive
 * words, plus TEST_WORDS for each set. */
#define REDRAW_WORDS 150
#define TEST_WORDS 15
#define LEAST_REDRAWS 16

static size_t redraws(const struct round *round)
{
	const struct idset *smallest = round->sets[round->suffix];
	size_t n = round->m - round->suffix;
	size_t words = idset_bound(smallest) / 64;
	if (words > idset_size(smallest))
		words = idset_size(smallest);
	return LEAST_REDRAWS + words * n / (REDRAW_WORDS + TEST_WORDS * n);
}

/* Tells whether to try another draw after `tried` draws, instead of counting S. */
static bool may_redraw(const struct round *round, size_t tried)
{
	return !round->counted && (tried < LEAST_REDRAWS || tried < redraws(round));
}

static uint32_t count_offered(struct round *round)
{
	if (!round->counted)
		round->size = idset_count_shared(
			&round->sets[round->suffix], round->m - round->suffix);
	round->counted = true;
	return round->size;
}

/* Draws a uniform element of R_first. */
static sample_id draw_any(struct round *round)
{
	const struct idset *set = round->sets[round->first];
	bool foreseen = set == round->foreseen->set;
	round->foreseen->set = NULL;
	if (!foreseen)
		return idset_select(
			set, (uint32_t)rng_below(round->rng, idset_size(set)));
	*round->rng = round->foreseen->after;
	return round->foreseen->sample;
}

/* Draws a uniform element of R_first - S. */
static sample_id draw_one(struct round *round)
{
	for (size_t i = 0; may_redraw(round, i); i++) {
		sample_id sample = draw_any(round);
		if (!offered(round, sample))
			return sample;
	}
	const struct idset *set = round->sets[round->first];
	uint32_t rank =
		(uint32_t)rng_below(round->rng, idset_size(set) - count_offered(round));
	return idset_select_unshared(
		set, &round->sets[round->suffix], round->m - round->suffix, rank);
}

/* Returns true with probability (|R_a| - |S|) / (|R_b| - |S|), where b comes after a. */
static bool joins(struct round *round, size_t a, size_t b)
{
	const struct idset *set = round->sets[a];
	uint32_t n_a = idset_size(set);
	uint32_t n_b = idset_size(round->sets[b]);
	if (n_a == n_b)
		return true;
	for (size_t i = 0; may_redraw(round, i); i++) {
		uint32_t rank = (uint32_t)rng_below(round->rng, n_b);
		if (rank >= n_a)
			return false;
		if (round->suffix == round->first ||
			!offered(round, idset_select(set, rank)))
			return true;
	}
	uint32_t n_s = count_offered(round);
	return rng_below(round->rng, n_b - n_s) < n_a - n_s;
}

/*
 * Returns the index of the first stream of K that does not choose the element that first(K) chose;
 * m: all streams choose it. The probability for two distant streams is the product of the
 * probabilities of all neighbours between them. So a single decision tells whether all streams
 * choose the element. If not, one of a+1 .. b refuses, and a bisection finds the first one that
 * refuses. It lies beyond `middle` if all streams up to `middle` choose the element. Given that one
 * of a+1 .. b refuses, the probability of this is
 *
 *     (|R_a| - |S|) / (|R_middle| - |S|) * (|R_b| - |R_middle|) / (|R_b| - |R_a|)
 */
static size_t first_to_refuse(struct round *round)
{
	size_t a = round->first;
	size_t b = round->m - 1;
	if (a == b || joins(round, a, b))
		return round->m;
	while (b - a > 1) {
		size_t middle = a + (b - a) / 2;
		uint32_t n_a = idset_size(round->sets[a]);
		uint32_t n_middle = idset_size(round->sets[middle]);
		uint32_t n_b = idset_size(round->sets[b]);
		if (rng_below(round->rng, n_b - n_a) < n_b - n_middle &&
			joins(round, a, middle))
			a = middle;
		else
			b = middle;
	}
	return b;
}

/* Gives one sample to the first streams of K. Returns the index of the first stream that is left in
 * K. */
static size_t serve(struct round *round)
{
	size_t first = round->first;
	size_t end = first + 1;
	sample_id sample = draw_one(round);
	if (end < round->m &&
		idset_all_contain(&round->sets[end], round->m - end, sample))
		end = first_to_refuse(round);
	for (size_t i = first; i < end; i++)
		*round->streams[i]->ret = sample;
	return end;
}

static bool before(const struct sampler_stream *a, const struct sampler_stream *b)
{
	if (a->remaining != b->remaining)
		return a->remaining < b->remaining;
	return a->id < b->id;
}

/* Sorts by insertion, because the order changes little in a round. */
static void sort(struct sampler *sampler)
{
	struct sampler_stream **order = sampler->order;
	for (size_t i = 1; i < sampler->n; i++) {
		struct sampler_stream *stream = order[i];
		size_t at = i;
		for (; at > 0 && before(stream, order[at - 1]); at--)
			order[at] = order[at - 1];
		order[at] = stream;
	}
}

/* Samples are removed from R only at the end of the round, so all sizes |R| are those at its
 * start. */
static void draw(struct sampler *sampler, size_t m)
{
	struct round round = {&sampler->foreseen, &sampler->rng, sampler->round,
		sampler->sets, m, 0, 0, 0, false};
	for (size_t i = 0, n = 0; i < sampler->n; i++)
		if (sampler->order[i]->ret) {
			round.sets[n] = sampler->order[i]->set;
			round.streams[n++] = sampler->order[i];
		}
	while (round.first < m) {
		size_t end = serve(&round);
		round.suffix = round.first;
		round.first = end;
		round.counted = false;
	}
	for (size_t i = 0; i < m; i++)
		stream_take(round.streams[i], *round.streams[i]->ret);
	sort(sampler);
}

/* Makes the draw with which draw_one will begin, with a copy of the random state. */
static sample_id foresee(struct sampler *sampler, const struct sampler_stream *stream)
{
	struct sampler_foreseen *foreseen = &sampler->foreseen;
	if (stream->remaining == 0)
		return SAMPLE_NONE;
	foreseen->set = stream->set;
	foreseen->after = sampler->rng;
	foreseen->sample = idset_select(
		stream->set, (uint32_t)rng_below(&foreseen->after, stream->remaining));
	return foreseen->sample;
}

static int insert(struct sampler *sampler, struct sampler_stream *stream)
{
	size_t at = sampler->n;
	for (; at > 0 && before(stream, sampler->order[at - 1]); at--)
		sampler->order[at] = sampler->order[at - 1];
	sampler->order[at] = stream;
	return 0;
}

static void remove_stream(struct sampler *sampler, struct sampler_stream *stream)
{
	size_t at = 0;
	sampler->foreseen.set = NULL;
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
	.foresee = foresee,
	.validate = validate,
};
