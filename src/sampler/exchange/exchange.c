// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/array_grow.h"
#include "base/ensure.h"
#include "sampler/exchange/exchange_internal.h"

#include <errno.h>

/*
 * Exchange sampling, for stream j, which still has to draw the ids in R_j:
 *
 *  draw x uniformly from R_j (exchange_round.c)
 *  if x is resident: give x
 *  else if R_j has residents y of x's class that j was not given since they became
 *       resident: give the y with the least need
 *  else: give x
 *
 * Proof that an epoch's order is uniform: let s be a permutation of the ids that maps each class
 * onto itself. Every step treats all ids of a class alike: a round draws classes by the number of
 * ids left in each, then ids uniformly; candidates are chosen by need and age (candidates.c);
 * eviction depends on need and age. So a history, and the same history with s applied to its ids,
 * are equally likely. Hence, whatever classes each stream draws at each time, the ids of a class
 * come in a uniformly random order. The class itself is drawn with probability |R_j n class| /
 * |R_j| (n: intersection), regardless of everything before the round, because x was drawn
 * uniformly. The draws of different streams in a round depend on each other, which changes no
 * probability of a single stream. If a job joins and splits classes, fewer permutations s remain.
 * Each of these was among the permutations before the split, so the argument still holds.
 *
 * When a job leaves, its classes can't be merged at once: samples that the job loaded are still
 * resident, and after a merge streams would get these ids first. So classes stay until no stream
 * and no resident is left. Until then there are more classes than needed: orders stay uniform, but
 * a little less is shared.
 *
 * A round serves its streams in the order in which they draw. Any order that does not depend on
 * samples is correct. A sample that one stream loads is resident for the streams after it.
 */

void exchange_free(struct exchange **exchange)
{
	struct exchange *e = *exchange;
	if (!e)
		return;
	for (size_t i = 0; i < e->n_members; i++)
		member_put(&e->members[i]);
	for (size_t i = 0; i < e->n_residencies; i++)
		residency_free(&e->residencies[i]);
	free(e->members);
	free(e->residencies);
	slots_put(&e->slots);
	labels_free(&e->labels);
	free(e);
	*exchange = NULL;
}

int exchange_new(const uint32_t *labels, uint32_t n_ids, struct exchange **ret)
{
	struct exchange *e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	int error = labels ? labels_new(labels, n_ids, &e->labels) : 0;
	struct classes classes;
	if (!error)
		error = classes_new(&classes, e->labels, n_ids);
	if (!error)
		error = slots_new(&classes, e->labels, &e->slots);
	if (error) {
		exchange_free(&e);
		return error;
	}
	*ret = e;
	return 0;
}

struct member *member_hold(struct member *member)
{
	atomic_fetch_add(&member->references, 1);
	return member;
}

void member_put(struct member **pointer)
{
	struct member *member = *pointer;
	*pointer = NULL;
	if (!member || atomic_fetch_sub(&member->references, 1) > 1)
		return;
	bitmap_free(&member->selection);
	free(member);
}

struct member *exchange_find_member(const struct exchange *e, job_id job)
{
	for (size_t i = 0; i < e->n_members; i++)
		if (e->members[i]->job == job)
			return e->members[i];
	return NULL;
}

struct residency *exchange_find_residency(const struct exchange *e, uint32_t id)
{
	for (size_t i = 0; e && i < e->n_residencies; i++)
		if (e->residencies[i]->id == id)
			return e->residencies[i];
	return NULL;
}

int exchange_get_residency(struct exchange *e, uint32_t id, struct residency **ret)
{
	*ret = exchange_find_residency(e, id);
	if (*ret)
		return 0;
	if (!array_resize(e->residencies, e->n_residencies + 1))
		return -ENOMEM;
	int error = residency_new(e, id, ret);
	if (!error)
		e->residencies[e->n_residencies++] = *ret;
	return error;
}

void exchange_put_residency(struct exchange *e, struct residency *residency)
{
	if (residency->n_members || residency->n)
		return;
	size_t at = 0;
	while (e->residencies[at] != residency)
		at++;
	e->residencies[at] = e->residencies[--e->n_residencies];
	residency_free(&residency);
}

void sampler_leave(struct sampler *sampler, job_id job)
{
	struct exchange *e = sampler->exchange;
	if (!e)
		return;
	struct member *member = exchange_find_member(e, job);
	ensure(member && !member->stream);
	size_t at = 0;
	while (e->members[at] != member)
		at++;
	e->members[at] = e->members[--e->n_members];
	residency_leave(member->residency, member);
	exchange_put_residency(e, member->residency);
	member_put(&member);
	e->too_fine = true;
	e->changes++;
}

struct slots *exchange_slots(const struct exchange *exchange)
{
	return slots_hold(exchange->slots);
}

/* Computes the set's slots again if e->slots has changed since sampler_set_new. */
static int renumber(const struct exchange *e, struct sampler_set *set)
{
	if (set->numbering != e->slots) {
		struct idset *slots;
		int error = slots_translate(e->slots, set->ids, &slots);
		if (error)
			return error;
		idset_free(&set->slots);
		set->slots = slots;
	}
	/* from now on the set belongs to a stream, whose sets put_in_place (joining.c)
	 * renumbers, so `numbering` is no longer needed */
	slots_put(&set->numbering);
	return 0;
}

static int insert(struct sampler *sampler, struct sampler_stream *stream)
{
	struct exchange *e = sampler->exchange;
	struct member *member = exchange_find_member(e, stream->job);
	ensure(member && idset_bound(stream->set) <= member->residency->n_ids);
	if (member->stream)
		return -EEXIST;
	int error = renumber(e, stream->owned);
	if (error)
		return error;
	residency_refresh(member->residency, UINT32_MAX);
	stream->member = member;
	member->stream = stream;
	residency_make_stale(member->residency);
	return 0;
}

static void remove_stream(struct sampler *sampler, struct sampler_stream *stream)
{
	struct residency *residency = stream->member->residency;
	(void)sampler;
	residency_refresh(residency, UINT32_MAX);
	stream->member->stream = NULL;
	/* A stream without remaining samples was counted in no need, so all needs stay valid. */
	if (stream->remaining)
		residency_make_stale(residency);
}

bool sampler_settle(struct sampler *sampler, uint32_t n)
{
	struct exchange *e = sampler->exchange;
	for (size_t i = 0; e && i < e->n_residencies; i++)
		if (!residency_refresh(e->residencies[i], n))
			return false;
	return true;
}

/* Gives the stream the drawn id or, in exchange, another id of its class. Returns the given id. */
static sample_id give(struct exchange *e, struct sampler_stream *stream, sample_id drawn)
{
	struct member *member = stream->member;
	sample_id given = drawn;
	if (!residency_has(member->residency, drawn)) {
		uint32_t class = exchange_class(e, drawn);
		sample_id other = residency_candidate(member->residency, member, class);
		given = other != SAMPLE_NONE ? other : drawn;
	}
	residency_refresh_one(member->residency, given);
	stream_take(stream, given);
	idset_remove(stream->owned->slots, e->slots->of[given]);
	residency_give(member->residency, member, given);
	return given;
}

static void draw(struct sampler *sampler, size_t m)
{
	struct exchange *e = sampler->exchange;
	exchange_draw(e, &sampler->rng, sampler->round, m);
	for (size_t i = 0; i < m; i++) {
		struct sampler_stream *stream = sampler->round[i];
		*stream->ret = give(e, stream, stream->member->drawn);
	}
}

sample_id sampler_draw_within(struct sampler *sampler, stream_id id, uint32_t label)
{
	struct exchange *e = sampler->exchange;
	struct sampler_stream *stream = stream_get(sampler, id);
	ensure(e && e->labels);
	if (label >= e->labels->n)
		return SAMPLE_NONE;
	const uint32_t *first = &e->labels->first[label];
	sample_id drawn =
		exchange_draw_between(e, &sampler->rng, stream, first[0], first[1]);
	return drawn == SAMPLE_NONE ? drawn : give(e, stream, drawn);
}

void sampler_resident(struct sampler *sampler, uint32_t space, sample_id sample)
{
	struct residency *residency = exchange_find_residency(sampler->exchange, space);
	if (residency)
		residency_admit(residency, sample);
}

void sampler_evicted(struct sampler *sampler, uint32_t space, sample_id sample)
{
	struct residency *residency = exchange_find_residency(sampler->exchange, space);
	if (!residency)
		return;
	residency_evict(residency, sample);
	exchange_put_residency(sampler->exchange, residency);
}

const struct sampler_ops sampler_exchange = {
	.insert = insert,
	.remove = remove_stream,
	.draw = draw,
	.validate = exchange_validate,
};
