// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sampler/sampler.h"
#include "base/array_grow.h"
#include "base/ensure.h"
#include "sampler/sampler_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct sampler_ops *const engines[] = {
	[SAMPLER_DSA] = &sampler_dsa,
	[SAMPLER_ISA] = &sampler_isa,
	[SAMPLER_EXCHANGE] = &sampler_exchange,
	[SAMPLER_SEQUENTIAL] = &sampler_sequential,
};

int sampler_new_of(const struct sampler_ops *ops, uint64_t seed, struct sampler **ret)
{
	struct sampler *sampler = calloc(1, sizeof(*sampler));
	if (!sampler)
		return -ENOMEM;
	sampler->ops = ops;
	rng_seed(&sampler->rng, seed);
	*ret = sampler;
	return 0;
}

static int create(enum sampler_kind kind, uint64_t seed, const uint32_t *labels,
	uint32_t n_ids, struct sampler **ret)
{
	struct sampler *sampler = NULL;
	ensure((size_t)kind < sizeof(engines) / sizeof(engines[0]));
	int error = sampler_new_of(engines[kind], seed, &sampler);
	if (!error && kind == SAMPLER_EXCHANGE)
		error = exchange_new(labels, n_ids, &sampler->exchange);
	if (error)
		sampler_free(&sampler);
	else
		*ret = sampler;
	return error;
}

int sampler_new(enum sampler_kind kind, uint64_t seed, struct sampler **ret)
{
	return create(kind, seed, NULL, 0, ret);
}

int sampler_new_labelled(
	uint64_t seed, const uint32_t *labels, uint32_t n_ids, struct sampler **ret)
{
	return create(SAMPLER_EXCHANGE, seed, labels, n_ids, ret);
}

void sampler_stir(struct sampler *sampler, uint64_t number)
{
	sampler->foreseen.set = NULL;
	rng_seed(&sampler->rng, rng_mix(rng_next(&sampler->rng), number));
}

void sampler_set_free(struct sampler_set **set)
{
	if (!*set)
		return;
	idset_free(&(*set)->ids);
	idset_free(&(*set)->slots);
	slots_put(&(*set)->numbering);
	free(*set);
	*set = NULL;
}

static void stream_free(struct sampler_stream *stream)
{
	sampler_set_free(&stream->owned);
	free(stream);
}

void stream_take(struct sampler_stream *stream, sample_id sample)
{
	idset_remove(stream->set, sample);
	stream->remaining--;
}

void sampler_free(struct sampler **sampler)
{
	struct sampler *s = *sampler;
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		stream_free(s->by_id[i]);
	exchange_free(&s->exchange);
	if (s->ops->free)
		s->ops->free(s);
	free(s->by_id);
	free(s->round);
	free(s->order);
	free(s->sets);
	free(s);
	*sampler = NULL;
}

/* Returns the stream's index in by_id or, if it is not there, the index at which to insert it. */
static size_t find(const struct sampler *sampler, stream_id id)
{
	size_t low = 0;
	size_t high = sampler->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (sampler->by_id[middle]->id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool known(const struct sampler *sampler, size_t at, stream_id id)
{
	return at < sampler->n && sampler->by_id[at]->id == id;
}

struct sampler_stream *stream_get(const struct sampler *sampler, stream_id id)
{
	size_t at = find(sampler, id);
	ensure(known(sampler, at, id));
	return sampler->by_id[at];
}

/* Makes room for one more stream in all arrays, so that a draw needs no memory. */
static int reserve(struct sampler *s)
{
	if (s->n < s->capacity)
		return 0;
	size_t n = s->capacity ? 2 * s->capacity : 8;
	if (!array_resize(s->by_id, n) || !array_resize(s->round, n) ||
		!array_resize(s->order, n) || !array_resize(s->sets, n))
		return -ENOMEM;
	s->capacity = n;
	return 0;
}

static int insert_at(struct sampler *sampler, size_t at, struct sampler_stream *stream)
{
	int error = reserve(sampler);
	if (!error && sampler->ops->insert)
		error = sampler->ops->insert(sampler, stream);
	if (error)
		return error;
	memmove(&sampler->by_id[at + 1], &sampler->by_id[at],
		(sampler->n - at) * sizeof(sampler->by_id[0]));
	sampler->by_id[at] = stream;
	sampler->n++;
	return 0;
}

int sampler_set_new(const struct sampler *sampler, struct sampler_set **ret)
{
	struct sampler_set *set = calloc(1, sizeof(*set));
	if (!set)
		return -ENOMEM;
	if (sampler->exchange)
		set->numbering = exchange_slots(sampler->exchange);
	*ret = set;
	return 0;
}

int sampler_set_fill(struct sampler_set *set, const roaring_bitmap_t *remaining)
{
	ensure(!set->ids);
	uint32_t bound = 0;
	if (!roaring_bitmap_is_empty(remaining))
		bound = roaring_bitmap_maximum(remaining) + 1;
	int error = idset_from_bitmap(bound, remaining, &set->ids);
	if (!error && set->numbering)
		error = slots_translate(set->numbering, set->ids, &set->slots);
	return error;
}

roaring_bitmap_t *sampler_set_ids(const struct sampler_set *set)
{
	return idset_to_bitmap(set->ids);
}

bool sampler_set_contains(const struct sampler_set *set, sample_id sample)
{
	return idset_contains(set->ids, sample);
}

static struct sampler_stream *stream_new(
	stream_id id, job_id job, struct sampler_set *set)
{
	struct sampler_stream *stream = calloc(1, sizeof(*stream));
	if (!stream)
		return NULL;
	*stream = (struct sampler_stream){.id = id,
		.job = job,
		.owned = set,
		.set = set->ids,
		.remaining = idset_size(set->ids)};
	return stream;
}

int sampler_insert_set(
	struct sampler *sampler, stream_id id, job_id job, struct sampler_set *set)
{
	size_t at = find(sampler, id);
	struct sampler_stream *stream = NULL;
	int error = known(sampler, at, id) ? -EEXIST : -ENOMEM;
	if (error != -EEXIST)
		stream = stream_new(id, job, set);
	if (!stream) {
		sampler_set_free(&set);
		return error;
	}
	error = insert_at(sampler, at, stream);
	if (error)
		stream_free(stream);
	return error;
}

static void refresh_all(struct sampler *sampler)
{
	while (!sampler_settle(sampler, UINT32_MAX))
		;
}

void sampler_coarsen_all(struct sampler *sampler)
{
	struct sampler_coarsening *coarsening;
	if (sampler_coarsening_new(sampler, &coarsening) != 0 || !coarsening)
		return;
	if (sampler_coarsening_prepare(coarsening) == 0)
		ensure(sampler_coarsen(sampler, coarsening) == 0);
	sampler_coarsening_free(&coarsening);
}

int sampler_insert(
	struct sampler *sampler, stream_id id, job_id job, roaring_bitmap_t *remaining)
{
	struct sampler_set *set = NULL;
	sampler_coarsen_all(sampler);
	int error = sampler_set_new(sampler, &set);
	if (!error)
		error = sampler_set_fill(set, remaining);
	roaring_bitmap_free(remaining);
	if (!error)
		error = sampler_insert_set(sampler, id, job, set);
	else
		sampler_set_free(&set);
	refresh_all(sampler);
	return error;
}

struct sampler_set *sampler_remove_set(struct sampler *sampler, stream_id id)
{
	size_t at = find(sampler, id);
	struct sampler_stream *stream = stream_get(sampler, id);
	if (sampler->ops->remove)
		sampler->ops->remove(sampler, stream);
	sampler->n--;
	memmove(&sampler->by_id[at], &sampler->by_id[at + 1],
		(sampler->n - at) * sizeof(sampler->by_id[0]));
	struct sampler_set *set = stream->owned;
	free(stream);
	return set;
}

void sampler_remove(struct sampler *sampler, stream_id id)
{
	struct sampler_set *set = sampler_remove_set(sampler, id);
	sampler_set_free(&set);
	refresh_all(sampler);
}

/* Fills sampler->round with those of the n streams that still have samples, and returns their
 * number m. Sorts them by id, so that the order of `ids` does not matter. */
static size_t gather(
	struct sampler *sampler, const stream_id *ids, size_t n, sample_id *ret)
{
	for (size_t i = 0; i < n; i++) {
		struct sampler_stream *stream = stream_get(sampler, ids[i]);
		ensure(!stream->ret);
		ret[i] = SAMPLE_NONE;
		stream->ret = &ret[i];
	}
	size_t m = 0;
	for (size_t i = 0; i < sampler->n; i++) {
		struct sampler_stream *stream = sampler->by_id[i];
		if (stream->ret && stream->remaining)
			sampler->round[m++] = stream;
		else
			stream->ret = NULL;
	}
	return m;
}

void sampler_draw(struct sampler *sampler, const stream_id *ids, size_t n, sample_id *ret)
{
	size_t m = gather(sampler, ids, n, ret);
	if (m)
		sampler->ops->draw(sampler, m);
	for (size_t i = 0; i < m; i++)
		sampler->round[i]->ret = NULL;
}

sample_id sampler_foresee(struct sampler *sampler, stream_id id)
{
	return sampler->ops->foresee
		       ? sampler->ops->foresee(sampler, stream_get(sampler, id))
		       : SAMPLE_NONE;
}

uint32_t sampler_remaining(const struct sampler *sampler, stream_id id)
{
	return stream_get(sampler, id)->remaining;
}

bool sampler_contains(const struct sampler *sampler, stream_id id, sample_id sample)
{
	return idset_contains(stream_get(sampler, id)->set, sample);
}

void sampler_validate(const struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->n; i++) {
		const struct sampler_stream *stream = sampler->by_id[i];
		ensure(!stream->ret);
		ensure(i == 0 || sampler->by_id[i - 1]->id < stream->id);
		ensure(stream->remaining == idset_size(stream->set));
		idset_validate(stream->set);
	}
	if (sampler->ops->validate)
		sampler->ops->validate(sampler);
}
