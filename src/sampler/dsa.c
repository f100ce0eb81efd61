// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "sampler/sampler_internal.h"

#include <string.h>

/*
 * The dependent sampling algorithm (JOADER, Algorithm 1 and 2), one round. R_k is the set of the
 * samples that stream k has yet to draw.
 *
 *    S := {} ; K := the round's streams, ascending |R|
 *    while K is not empty:
 *        I := elements that all of K need, without S
 *        first(K), the stream of K with the fewest samples, chooses I with probability
 *        |I| / (|R_first| - |S|)
 *        if first(K) does, each later stream k, in turn, chooses I with probability
 *        (|R_before| - |S|) / (|R_k| - |S|), where `before` is the stream before k;
 *        the choosing ends at the first stream that does not choose I
 *        the streams that chose I are given one element of I; if there are none,
 *        first(K) gets one of R_first - S - I
 *        K := K without the streams served ; S := S + I
 *
 * The paper keeps the sets I and their sizes in a dependent sampling tree (section 4), which
 * tools/sim/dsa_tree.h has for comparison. This file has no tree: for draws with the right
 * probabilities it is enough to know each R, and to test whether R contains an element.
 *
 * An element drawn uniformly from R_first - S is in I with the probability |I| / (|R_first| - |S|),
 * with which first(K) has to choose I. If the element is in I, it is uniform in I, otherwise in
 * R_first - S - I. So the element is drawn first. Then one bit test per stream, up to the first
 * stream that lacks the element, tells whether every R of K contains it.
 *
 * After each step, S has exactly the elements that all streams of this step's K share. So bit tests
 * also tell whether an element is in S. A uniform element of R - S is found by drawing elements of
 * R until one is not in S. A decision with probability (|R_a| - |S|) / (|R_b| - |S|) is drawn as
 * follows. Imagine |R_b| places, of which the elements of R_a take the first |R_a|. Leave out the
 * places of elements of S. A place drawn uniformly from the remaining ones belongs to R_a with this
 * probability.
 *
 * On average few draws are repeated, whatever the sets are: stream k is given each element of R_k
 * with the same probability 1 / |R_k|. So the probability that k is not served yet, after all
 * elements of S were offered, is at most 1 - |S| / |R_k|. If k is then first(K), finding an element
 * of R_k - S takes |R_k| / (|R_k| - |S|) draws on average. The product of this number and the
 * probability is 1: on average, one draw. If many draws in a row fail, as with sets that differ in
 * one element, S is counted instead.
 */

struct round {
	struct sampler_foreseen *foreseen;
	struct rng *rng;
	struct sampler_stream **streams; /* by ascending |R| */
	const struct idset **sets;
	size_t m;
	/* K: the streams from `first` to m - 1, which have no sample in this round yet */
	size_t first;
	/* S: the samples that this round has offered to all streams of K. These are the samples
	 * that all streams from `suffix` to m - 1 still had to draw before the round. If suffix =
	 * first, S is empty. */
	size_t suffix;
	uint32_t size; /* the number of samples in S; not set unless `counted` */
	bool counted;
};

/* Tells whether the sample is in S. */
static bool offered(const struct round *round, sample_id sample)
{
	return round->suffix < round->first &&
	       idset_all_contain(
		       &round->sets[round->suffix], round->m - round->suffix, sample);
}

/* Drawing a sample takes as long as reading REDRAW_WORDS words, and testing the sample as long as
 * reading TEST_WORDS words per set. Counting S reads all words of the sets, up to the end of the
 * smallest set. redraws() allows so many draws that they take about as long as counting. */
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

/* Draws a uniform element of R_first, the set of stream number `first`. Returns the element that
 * `foresee` has drawn from this set in advance, if nothing was drawn since. */
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

/* Returns true with probability (|R_a| - |S|) / (|R_b| - |S|). Stream b comes after stream a. */
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
 * Returns the index of the first stream of K that refuses the element of first(K), or m if none
 * refuses. If stream a has chosen the element, the probability that all streams from a+1 to b
 * choose it, too, is (|R_a| - |S|) / (|R_b| - |S|): the product of their single probabilities. So
 * joins(a, b) decides for all of them at once. If one of them refuses, a bisection finds the first
 * stream that refuses. Given that one of the streams from a+1 to b refuses, this is the probability
 * that none from a+1 to `middle` refuses:
 *
 *    (|R_a| - |S|) / (|R_middle| - |S|) * (|R_b| - |R_middle|) / (|R_b| - |R_a|)
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

/* Serves first(K) and later streams with one sample. Returns the index of the first stream that
 * refuses the sample, or m if none refuses. */
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

/* Removes samples last, because probabilities depend on the sets' sizes before the round. */
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

/* Draws in advance, with a copy of the random state. Returns the sample that the next draw_any will
 * draw if `stream` is then first(K), the first stream of K. */
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
