// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "sampler/exchange/exchange_internal.h"

/*
 * The draws of a round. Each stream draws uniformly from its R, given everything before
 * the round. Within the round the draws depend on each other: the streams draw the same
 * class as often as they can, so that a sample that one loads serves the others at once.
 *
 * Let p_i(c) = |R_i n c| / |R_i|. The streams are sorted by |R|. The first one draws by
 * itself. Each later stream k looks at the id that the stream j before it has drawn (a
 * maximal coupling of p_j and p_k):
 *
 *     c := the class of the id that j has drawn
 *     with probability min(1, p_k(c) / p_j(c)): draw uniformly from R_k n c
 *     otherwise: draw from the surplus of p_k over p_j, max(0, p_k - p_j)
 *
 * Class c is k's with probability p_k(c): if j draws by p_j, the first case gives it
 * p_j(c) min(1, p_k(c) / p_j(c)) = min(p_j(c), p_k(c)). The second one happens with
 * probability 1 - sum of min(p_j, p_k) = sum of max(0, p_k - p_j), and adds
 * max(0, p_k(c) - p_j(c)).
 *
 * No two draws can agree more often than with probability sum of min(p_j, p_k). In this
 * order all pairs reach this where one R lies within the next: no step loses more than it has
 * to. The round is dsa's, with classes in place of samples.
 *
 * Nothing is taken from an R before all have drawn. Probabilities are compared as
 * integers, times |R_j| |R_k| < 2^64, so that they are exact.
 */

static uint32_t class_of(const struct exchange *e, sample_id id)
{
	return e->slots->classes.of[id];
}

/* Returns |R n class|. */
static uint32_t left(
	const struct exchange *e, const struct sampler_stream *stream, uint32_t class)
{
	uint32_t first = e->slots->first[class];
	const struct idset *slots = stream->owned->slots;
	return idset_rank(slots, first + e->slots->classes.size[class]) -
	       idset_rank(slots, first);
}

sample_id exchange_draw_between(const struct exchange *e, struct rng *rng,
	const struct sampler_stream *stream, uint32_t first, uint32_t end)
{
	const struct idset *slots = stream->owned->slots;
	uint32_t rank = idset_rank(slots, first);
	uint32_t n = idset_rank(slots, end) - rank;
	if (!n)
		return SAMPLE_NONE;
	rank += (uint32_t)rng_below(rng, n);
	return e->slots->id[idset_select(slots, rank)];
}

static sample_id draw_class(const struct exchange *e, struct rng *rng,
	const struct sampler_stream *stream, uint32_t class)
{
	uint32_t first = e->slots->first[class];
	return exchange_draw_between(
		e, rng, stream, first, first + e->slots->classes.size[class]);
}

static sample_id draw_any(struct rng *rng, const struct sampler_stream *stream)
{
	return idset_select(stream->set, (uint32_t)rng_below(rng, stream->remaining));
}

/* p_k(c) and p_j(c), times |R_j| |R_k|. */
struct weights {
	uint64_t own;
	uint64_t other;
};

static struct weights weigh(const struct exchange *e, const struct sampler_stream *stream,
	const struct sampler_stream *other, uint32_t class)
{
	return (struct weights){(uint64_t)left(e, stream, class) * other->remaining,
		(uint64_t)left(e, other, class) * stream->remaining};
}

/* Draws by the surplus of each class of R: the class replaces the choice with the probability
 * that is its share of the sum so far. */
static sample_id draw_surplus_by_class(const struct exchange *e, struct rng *rng,
	const struct sampler_stream *stream, const struct sampler_stream *other)
{
	uint32_t chosen = NONE;
	uint64_t sum = 0;
	for (uint32_t rank = 0; rank < stream->remaining;) {
		uint32_t slot = idset_select(stream->owned->slots, rank);
		uint32_t class = class_of(e, e->slots->id[slot]);
		struct weights p = weigh(e, stream, other, class);
		rank += left(e, stream, class);
		if (p.own <= p.other)
			continue;
		sum += p.own - p.other;
		if (rng_below(rng, sum) < p.own - p.other)
			chosen = class;
	}
	ensure(chosen != NONE);
	return draw_class(e, rng, stream, chosen);
}

/*
 * Draws from max(0, p_k - p_j): a draw by p_k is accepted with the share of p_k(c) that exceeds
 * p_j(c). With d = sum of max(0, p_k - p_j) this takes 1 / d tries and is needed with
 * probability d: on average one try for each draw. Where d is so small that many tries would be
 * needed, going through all classes is as cheap, and as exact.
 */
static sample_id draw_surplus(const struct exchange *e, struct rng *rng,
	const struct sampler_stream *stream, const struct sampler_stream *other)
{
	for (uint32_t i = 0; i < e->slots->n_classes; i++) {
		sample_id drawn = draw_any(rng, stream);
		struct weights p = weigh(e, stream, other, class_of(e, drawn));
		if (rng_below(rng, p.own) >= p.other)
			return drawn;
	}
	return draw_surplus_by_class(e, rng, stream, other);
}

static sample_id draw_after(const struct exchange *e, struct rng *rng,
	const struct sampler_stream *stream, const struct sampler_stream *other)
{
	uint32_t class = class_of(e, other->member->drawn);
	struct weights p = weigh(e, stream, other, class);
	if (rng_below(rng, p.other) < p.own)
		return draw_class(e, rng, stream, class);
	return draw_surplus(e, rng, stream, other);
}

/* Sorts by cache space first: streams of two spaces share nothing. */
static bool is_before(const struct sampler_stream *a, const struct sampler_stream *b)
{
	uint32_t residency = a->member->residency->id;
	uint32_t other = b->member->residency->id;
	return residency != other ? residency < other : a->remaining < b->remaining;
}

static void sort(struct sampler_stream **round, size_t m)
{
	for (size_t i = 1; i < m; i++) {
		struct sampler_stream *stream = round[i];
		size_t at = i;
		for (; at > 0 && is_before(stream, round[at - 1]); at--)
			round[at] = round[at - 1];
		round[at] = stream;
	}
}

void exchange_draw(const struct exchange *e, struct rng *rng,
	struct sampler_stream **round, size_t m)
{
	sort(round, m);
	round[0]->member->drawn = draw_any(rng, round[0]);
	for (size_t i = 1; i < m; i++)
		round[i]->member->drawn = draw_after(e, rng, round[i], round[i - 1]);
}
