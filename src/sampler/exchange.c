// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "sampler/exchange_internal.h"

#include <errno.h>
#include <string.h>

/*
 * Exchange sampling:
 *
 *   draw x uniformly from R_j
 *   if x is resident: give x
 *   else if a resident y of x's class remains in R_j, and j was not given y since y is
 *        resident: give the y of least need
 *   else: give x
 *
 * Why an epoch's order is exactly uniform: let s be any permutation of the ids that maps
 * each class onto itself. Everything that happens treats ids alike but for their classes
 * (uniform draws, rings in the order of events, need, eviction by need and age), so a
 * history and what s makes of it are equally likely. Given which class is drawn when, a
 * class's ids therefore come in a uniformly random order; and the class itself is drawn
 * with probability |R_j n class| / |R_j|, because x was. A job that comes splits classes:
 * the remaining permutations are some of those before, so all of this still holds.
 *
 * A job that leaves is another matter. As long as something remembers it (an epoch that
 * was running beside it, or what it left in the cache) ids that it had are not like those
 * that it had not: if its ids were merged with others, streams would be given them first,
 * since they are resident. Its classes stay until no stream and no resident is left.
 * Classes that are finer than need be cost a little sharing, and no uniformity.
 *
 * A round serves its streams in the order of their ids: any order that does not look at
 * samples is right, and what the first one loads the others find resident.
 */

void exchange_free(struct exchange **exchange)
{
	struct exchange *e = *exchange;
	if (!e)
		return;
	for (size_t i = 0; i < e->n_members; i++) {
		roaring_bitmap_free(e->members[i]->selection);
		free(e->members[i]);
	}
	for (size_t i = 0; i < e->n_spaces; i++)
		space_free(&e->spaces[i]);
	free(e->members);
	free(e->spaces);
	classes_free(&e->classes);
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
	if (!error)
		error = classes_new(&e->classes, labels, n_ids);
	if (error) {
		exchange_free(&e);
		return error;
	}
	*ret = e;
	return 0;
}

static struct member *find_member(const struct exchange *e, job_id job)
{
	for (size_t i = 0; i < e->n_members; i++)
		if (e->members[i]->job == job)
			return e->members[i];
	return NULL;
}

static struct space *find_space(const struct exchange *e, uint32_t id)
{
	for (size_t i = 0; i < e->n_spaces; i++)
		if (e->spaces[i]->id == id)
			return e->spaces[i];
	return NULL;
}

static int get_space(struct exchange *e, uint32_t id, struct space **ret)
{
	*ret = find_space(e, id);
	if (*ret)
		return 0;
	struct space **spaces =
		reallocarray(e->spaces, e->n_spaces + 1, sizeof(struct space *));
	if (!spaces)
		return -ENOMEM;
	e->spaces = spaces;
	int error = space_new(e, id, ret);
	if (!error)
		spaces[e->n_spaces++] = *ret;
	return error;
}

/* What is resident outlives the last job that had the space, until it is evicted. */
static void put_space(struct exchange *e, struct space *space)
{
	if (space->n_members || space->n)
		return;
	size_t at = 0;
	while (e->spaces[at] != space)
		at++;
	e->spaces[at] = e->spaces[--e->n_spaces];
	space_free(&space);
}

static int refine(struct exchange *e, const roaring_bitmap_t *selection)
{
	uint32_t n = e->classes.n;
	int error = classes_split(&e->classes, selection);
	for (size_t i = 0; e->classes.n != n && i < e->n_spaces; i++)
		space_rebuild(e->spaces[i]);
	return error;
}

static int add_member(struct exchange *e, struct space *space, struct member *member)
{
	const roaring_bitmap_t *selection = member->selection;
	bool empty = roaring_bitmap_is_empty(selection);
	uint32_t n_ids = empty ? 0 : roaring_bitmap_maximum(selection) + 1;
	ensure(!e->labels || n_ids <= e->labels->n_ids);
	struct member **members =
		reallocarray(e->members, e->n_members + 1, sizeof(struct member *));
	if (!members)
		return -ENOMEM;
	e->members = members;
	int error = classes_cover(&e->classes, n_ids);
	if (!error)
		error = space_cover(space, n_ids);
	if (!error)
		error = refine(e, selection);
	if (!error)
		error = space_join(space, member);
	if (!error)
		members[e->n_members++] = member;
	return error;
}

static int join(struct sampler *sampler, job_id job, uint32_t space_id,
	const roaring_bitmap_t *selection)
{
	struct exchange *e = sampler->exchange;
	if (find_member(e, job))
		return -EEXIST;
	struct space *space;
	int error = get_space(e, space_id, &space);
	if (error)
		return error;
	struct member *member = calloc(1, sizeof(*member));
	roaring_bitmap_t *copy = member ? roaring_bitmap_copy(selection) : NULL;
	error = -ENOMEM;
	if (copy) {
		*member = (struct member){.job = job, .selection = copy};
		error = add_member(e, space, member);
	}
	if (error) {
		if (copy)
			roaring_bitmap_free(copy);
		free(member);
		put_space(e, space);
	}
	return error;
}

static void leave(struct sampler *sampler, job_id job)
{
	struct exchange *e = sampler->exchange;
	struct member *member = find_member(e, job);
	ensure(member && !member->stream);
	size_t at = 0;
	while (e->members[at] != member)
		at++;
	e->members[at] = e->members[--e->n_members];
	space_leave(member->space, member);
	put_space(e, member->space);
	roaring_bitmap_free(member->selection);
	free(member);
	e->stale = true;
}

/* Nothing remembers those that left: the classes of those that are here are enough. */
static void coarsen(struct exchange *e)
{
	struct classes classes;
	for (size_t i = 0; i < e->n_spaces; i++)
		if (e->spaces[i]->n)
			return;
	const uint32_t *label = e->labels ? e->labels->label : NULL;
	if (classes_new(&classes, label, e->classes.n_ids) != 0)
		return;
	for (size_t i = 0; i < e->n_members; i++)
		if (classes_split(&classes, e->members[i]->selection) != 0) {
			classes_free(&classes);
			return;
		}
	classes_free(&e->classes);
	e->classes = classes;
	e->stale = false;
}

int exchange_slots(
	const struct exchange *exchange, const struct idset *ids, struct idset **ret)
{
	return exchange->labels ? labels_slots(exchange->labels, ids, ret) : 0;
}

static void settle_space(struct space *space)
{
	while (!space_settle(space, UINT32_MAX))
		;
}

static int insert(struct sampler *sampler, struct stream *stream)
{
	struct exchange *e = sampler->exchange;
	struct member *member = find_member(e, stream->job);
	ensure(member && idset_bound(stream->set) <= member->space->n_ids);
	if (member->stream)
		return -EEXIST;
	if (e->stale && sampler->n == 0)
		coarsen(e);
	settle_space(member->space);
	stream->member = member;
	member->stream = stream;
	space_unsettle(member->space);
	return 0;
}

static void remove_stream(struct sampler *sampler, struct stream *stream)
{
	struct space *space = stream->member->space;
	(void)sampler;
	settle_space(space);
	stream->member->stream = NULL;
	if (stream->remaining) /* otherwise it needs nothing and has no candidates */
		space_unsettle(space);
}

static bool settle(struct sampler *sampler, uint32_t n)
{
	struct exchange *e = sampler->exchange;
	for (size_t i = 0; i < e->n_spaces; i++)
		if (!space_settle(e->spaces[i], n))
			return false;
	return true;
}

/* Gives the id that was drawn, or what is exchanged for it. */
static sample_id give(struct exchange *e, struct stream *stream, sample_id drawn)
{
	struct member *member = stream->member;
	sample_id given = drawn;
	if (!space_has(member->space, drawn)) {
		uint32_t class = e->classes.of[drawn];
		sample_id other = space_candidate(member->space, member, class);
		given = other != SAMPLE_NONE ? other : drawn;
	}
	space_reassess(member->space, given);
	stream_take(stream, given);
	if (e->labels)
		idset_remove(stream->slots, e->labels->slot[given]);
	space_give(member->space, member, given);
	return given;
}

static void draw(struct sampler *sampler, size_t m)
{
	for (size_t i = 0; i < m; i++) {
		struct stream *stream = sampler->round[i];
		uint32_t rank = (uint32_t)rng_below(&sampler->rng, stream->remaining);
		sample_id drawn = idset_select(stream->set, rank);
		*stream->ret = give(sampler->exchange, stream, drawn);
	}
}

static sample_id draw_within(
	struct sampler *sampler, struct stream *stream, uint32_t label)
{
	const struct labels *labels = sampler->exchange->labels;
	const struct idset *slots = stream->slots;
	ensure(labels);
	if (label >= labels->n)
		return SAMPLE_NONE;
	uint32_t first = idset_rank(slots, labels->first[label]);
	uint32_t n = idset_rank(slots, labels->first[label + 1]) - first;
	if (!n)
		return SAMPLE_NONE;
	uint32_t rank = first + (uint32_t)rng_below(&sampler->rng, n);
	sample_id drawn = labels->id[idset_select(slots, rank)];
	return give(sampler->exchange, stream, drawn);
}

static void resident(struct sampler *sampler, uint32_t space_id, sample_id sample)
{
	struct space *space = find_space(sampler->exchange, space_id);
	if (space)
		space_admit(space, sample);
}

static void evicted(struct sampler *sampler, uint32_t space_id, sample_id sample)
{
	struct space *space = find_space(sampler->exchange, space_id);
	if (!space)
		return;
	space_evict(space, sample);
	put_space(sampler->exchange, space);
}

const struct sampler_ops sampler_exchange = {
	.insert = insert,
	.remove = remove_stream,
	.draw = draw,
	.validate = exchange_validate,
	.join = join,
	.leave = leave,
	.draw_within = draw_within,
	.resident = resident,
	.evicted = evicted,
	.settle = settle,
};
