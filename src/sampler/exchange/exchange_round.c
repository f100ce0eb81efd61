// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "sampler/exchange/exchange_internal.h"

/*
 * R_k is the set of the ids that stream k has yet to draw. A class is a set of ids which the same
 * jobs have selected, and which can be exchanged. Each stream draws uniformly from its R, whatever
 * happened before the round. Within the round the draws depend on each other: the streams draw the
 * same class as often as possible. If one stream then loads a sample of this class, the other
 * streams of the round can get the same sample in exchange, and need not load another one.
 *
 * Let p_k(c) = |R_k n c| / |R_k|, where n means intersection: the probability that a uniform draw
 * from R_k is in class c. The streams are sorted by |R|. The first stream draws independently. The
 * draw of each later stream k depends on the id drawn by the stream j before k (a maximal coupling
 * of p_j and p_k):
 *
 *    c := the class of the id that j has drawn
 *    with probability min(1, p_k(c) / p_j(c)): draw uniformly from R_k n c
 *    otherwise: draw from the surplus of p_k over p_j, max(0, p_k - p_j)
 *
 * Stream k draws class c with probability p_k(c). Proof: if j draws by p_j, the first case
 * contributes p_j(c) min(1, p_k(c) / p_j(c)) = min(p_j(c), p_k(c)). The second case has the
 * probability 1 - sum of min(p_j, p_k) = sum of max(0, p_k - p_j), and contributes max(0, p_k(c) -
 * p_j(c)).
 *
 * Two streams j and k can't draw the same class with a higher probability than the sum of min(p_j,
 * p_k). If each stream's R contains the R of the stream before, every two streams of the round
 * reach this limit. The round is then like a round of dsa, with classes instead of samples.
 *
 * No id is removed from an R before all streams have drawn. Probabilities are compared exactly, as
 * integers: multiplied by |R_j| |R_k| < 2^64.
 */

/* Returns the number of ids of the class that the stream has yet to draw. */
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

/* The probabilities p_k(c) of stream k (own) and p_j(c) of the stream before it (other) for a class
 * c, both multiplied by |R_j| |R_k|, so that they are integers. */
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

/* Draws a class with a probability in proportion to its surplus max(0, p_k - p_j), then an id of
 * this class. To choose a class, walks through all classes once. Each class has the probability
 * surplus / (sum of the surpluses so far) to replace the class that was chosen before. */
static sample_id draw_surplus_by_class(const struct exchange *e, struct rng *rng,
	const struct sampler_stream *stream, const struct sampler_stream *other)
{
	uint32_t chosen = NONE;
	uint64_t sum = 0;
	for (uint32_t rank = 0; rank < stream->remaining;) {
		uint32_t slot = idset_select(stream->owned->slots, rank);
		uint32_t class = exchange_class(e, e->slots->id[slot]);
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

/* Draws an id for stream k from its surplus over stream j, max(0, p_k - p_j). Draws an id of R_k,
 * of a class c, and accepts it with probability max(0, 1 - p_j(c) / p_k(c)); otherwise tries again.
 * Let d = sum of max(0, p_k - p_j). The function is called with probability d, and then takes 1 / d
 * tries on average. The product is one try per stream and round. All n_classes tries may
 * fail if d is very small. Then draw_surplus_by_class draws with the same probabilities. */
static sample_id draw_surplus(const struct exchange *e, struct rng *rng,
	const struct sampler_stream *stream, const struct sampler_stream *other)
{
	for (uint32_t i = 0; i < e->slots->n_classes; i++) {
		sample_id drawn = draw_any(rng, stream);
		struct weights p = weigh(e, stream, other, exchange_class(e, drawn));
		if (rng_below(rng, p.own) >= p.other)
			return drawn;
	}
	return draw_surplus_by_class(e, rng, stream, other);
}

static sample_id draw_after(const struct exchange *e, struct rng *rng,
	const struct sampler_stream *stream, const struct sampler_stream *other)
{
	uint32_t class = exchange_class(e, other->member->drawn);
	struct weights p = weigh(e, stream, other, class);
	if (rng_below(rng, p.other) < p.own)
		return draw_class(e, rng, stream, class);
	return draw_surplus(e, rng, stream, other);
}

/* Orders streams by cache space, because different spaces share nothing, and then by |R|. */
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
