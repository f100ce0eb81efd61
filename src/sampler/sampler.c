// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sampler/sampler.h"
#include "base/ensure.h"
#include "sampler/idset.h"
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

static int new(enum sampler_kind kind, uint64_t seed, const uint32_t *labels,
	uint32_t n_ids, struct sampler **ret)
{
	struct sampler *sampler = calloc(1, sizeof(*sampler));
	if (!sampler)
		return -ENOMEM;
	ensure((size_t)kind < sizeof(engines) / sizeof(engines[0]));
	sampler->ops = engines[kind];
	rng_seed(&sampler->rng, seed);
	if (kind == SAMPLER_EXCHANGE) {
		int error = exchange_new(labels, n_ids, &sampler->exchange);
		if (error) {
			free(sampler);
			return error;
		}
	}
	*ret = sampler;
	return 0;
}

int sampler_new(enum sampler_kind kind, uint64_t seed, struct sampler **ret)
{
	return new(kind, seed, NULL, 0, ret);
}

int sampler_new_labelled(
	uint64_t seed, const uint32_t *labels, uint32_t n_ids, struct sampler **ret)
{
	return new(SAMPLER_EXCHANGE, seed, labels, n_ids, ret);
}

static void stream_free(struct stream *stream)
{
	if (stream->own.ids)
		roaring_bitmap_free(stream->own.ids);
	if (stream->shared.ids)
		roaring_bitmap_free(stream->shared.ids);
	idset_free(&stream->set);
	free(stream);
}

void sampler_free(struct sampler **sampler)
{
	struct sampler *s = *sampler;
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		stream_free(s->by_id[i]);
	exchange_free(&s->exchange);
	free(s->by_id);
	free(s->round);
	free(s->tree.order);
	free(s->tree.needs);
	free(s);
	*sampler = NULL;
}

/* Where the stream is in by_id, or belongs. */
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

static struct stream *get(const struct sampler *sampler, stream_id id)
{
	size_t at = find(sampler, id);
	ensure(known(sampler, at, id));
	return sampler->by_id[at];
}

/* Room for one more stream everywhere, so that a draw needs to allocate none. */
static int reserve(struct sampler *s)
{
	if (s->n < s->capacity)
		return 0;
	size_t n = s->capacity ? 2 * s->capacity : 8;
	struct stream **by_id = reallocarray(s->by_id, n, sizeof(*by_id));
	s->by_id = by_id ? by_id : s->by_id;
	struct stream **round = reallocarray(s->round, n, sizeof(*round));
	s->round = round ? round : s->round;
	struct stream **order = reallocarray(s->tree.order, n, sizeof(*order));
	s->tree.order = order ? order : s->tree.order;
	bool *needs = reallocarray(s->tree.needs, n, sizeof(*needs));
	s->tree.needs = needs ? needs : s->tree.needs;
	if (!by_id || !round || !order || !needs)
		return -ENOMEM;
	s->capacity = n;
	return 0;
}

static int insert_at(struct sampler *sampler, size_t at, struct stream *stream)
{
	int error = reserve(sampler);
	if (!error)
		error = sampler->ops->insert(sampler, stream);
	if (error)
		return error;
	memmove(&sampler->by_id[at + 1], &sampler->by_id[at],
		(sampler->n - at) * sizeof(sampler->by_id[0]));
	sampler->by_id[at] = stream;
	sampler->n++;
	return 0;
}

/*
 * Run containers are small, but selecting from them and removing is linear in their
 * runs. CRoaring's own way to get rid of them (0.2.66, remove_run_compression) writes
 * beyond its buffer when a run of few elements ends a container.
 */
static int without_runs(struct vertex *set)
{
	roaring_statistics_t statistics;
	roaring_bitmap_statistics(set->ids, &statistics);
	if (!statistics.n_run_containers)
		return 0;
	auto_free uint32_t *ids = malloc(set->size * sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	roaring_bitmap_to_uint32_array(set->ids, ids);
	roaring_bitmap_t *plain = roaring_bitmap_of_ptr(set->size, ids);
	if (!plain)
		return -ENOMEM;
	roaring_bitmap_free(set->ids);
	set->ids = plain;
	return 0;
}

int sampler_join(struct sampler *sampler, job_id job, uint32_t space,
	const roaring_bitmap_t *selection)
{
	return sampler->ops->join ? sampler->ops->join(sampler, job, space, selection)
				  : 0;
}

void sampler_leave(struct sampler *sampler, job_id job)
{
	if (sampler->ops->leave)
		sampler->ops->leave(sampler, job);
}

int sampler_insert(
	struct sampler *sampler, stream_id id, job_id job, roaring_bitmap_t *remaining)
{
	size_t at = find(sampler, id);
	int error = known(sampler, at, id) ? -EEXIST : 0;
	struct stream *stream = error ? NULL : calloc(1, sizeof(*stream));
	if (!stream) {
		roaring_bitmap_free(remaining);
		return error ? error : -ENOMEM;
	}
	stream->id = id;
	stream->job = job;
	stream->remaining = (uint32_t)roaring_bitmap_get_cardinality(remaining);
	stream->own = (struct vertex){remaining, stream->remaining};
	error = without_runs(&stream->own);
	if (!error && sampler->exchange)
		error = idset_from_bitmap(
			stream->remaining ? roaring_bitmap_maximum(remaining) + 1 : 0,
			remaining, &stream->set);
	if (!error)
		error = insert_at(sampler, at, stream);
	if (error)
		stream_free(stream);
	return error;
}

void sampler_remove(struct sampler *sampler, stream_id id)
{
	size_t at = find(sampler, id);
	struct stream *stream = get(sampler, id);
	sampler->ops->remove(sampler, stream);
	sampler->n--;
	memmove(&sampler->by_id[at], &sampler->by_id[at + 1],
		(sampler->n - at) * sizeof(sampler->by_id[0]));
	stream_free(stream);
}

/* The order of the arguments must not matter: the round is put in order of ids. */
static size_t gather(
	struct sampler *sampler, const stream_id *ids, size_t n, sample_id *ret)
{
	for (size_t i = 0; i < n; i++) {
		struct stream *stream = get(sampler, ids[i]);
		ensure(!stream->ret);
		ret[i] = SAMPLE_NONE;
		stream->ret = &ret[i];
	}
	size_t m = 0;
	for (size_t i = 0; i < sampler->n; i++) {
		struct stream *stream = sampler->by_id[i];
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

sample_id sampler_draw_within(struct sampler *sampler, stream_id id, uint32_t label)
{
	ensure(sampler->ops->draw_within);
	return sampler->ops->draw_within(sampler, get(sampler, id), label);
}

void sampler_resident(struct sampler *sampler, uint32_t space, sample_id sample)
{
	if (sampler->ops->resident)
		sampler->ops->resident(sampler, space, sample);
}

void sampler_evicted(struct sampler *sampler, uint32_t space, sample_id sample)
{
	if (sampler->ops->evicted)
		sampler->ops->evicted(sampler, space, sample);
}

uint32_t sampler_remaining(const struct sampler *sampler, stream_id id)
{
	return get(sampler, id)->remaining;
}

bool sampler_contains(const struct sampler *sampler, stream_id id, sample_id sample)
{
	return sampler->ops->contains(sampler, get(sampler, id), sample);
}

roaring_bitmap_t *sampler_copy_remaining(const struct sampler *sampler, stream_id id)
{
	return sampler->ops->copy(sampler, get(sampler, id));
}

void sampler_validate(const struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->n; i++) {
		ensure(!sampler->by_id[i]->ret);
		ensure(i == 0 || sampler->by_id[i - 1]->id < sampler->by_id[i]->id);
	}
	sampler->ops->validate(sampler);
}
