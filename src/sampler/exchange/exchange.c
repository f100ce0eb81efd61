// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "sampler/exchange/exchange_internal.h"

#include <errno.h>
#include <string.h>

/*
 * Exchange sampling:
 *
 *   draw x uniformly from R_j (exchange_draw.c)
 *   if x is resident: give x
 *   else if a resident y of x's class remains in R_j, and j was not given y since y is
 *        resident: give the y of least need
 *   else: give x
 *
 * Why an epoch's order is exactly uniform: let s be any permutation of the ids that maps
 * each class onto itself. Everything that happens treats ids alike but for their classes
 * (a round's classes are drawn by how much is left of each, then ids uniformly; rings are
 * in the order of events, eviction is by need and age), so a history and what s makes of
 * it are equally likely. Given which class is drawn when, by all streams, a class's ids
 * therefore come in a uniformly random order; and the class itself is drawn with
 * probability |R_j n class| / |R_j| whatever was before the round, because x was. How the
 * draws of a round depend on each other says something about several streams, nothing
 * about one. A job that comes splits classes: the remaining permutations are some of
 * those before, so all of this still holds.
 *
 * A job that leaves is another matter. As long as something remembers it (an epoch that
 * was running beside it, or what it left in the cache) ids that it had are not like those
 * that it had not: if its ids were merged with others, streams would be given them first,
 * since they are resident. Its classes stay until no stream and no resident is left.
 * Classes that are finer than need be cost a little sharing, and no uniformity.
 *
 * A round serves its streams in the order in which they draw: any that does not look at
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
	slots_put(&e->slots);
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
	if (!error)
		error = slots_new(&e->classes, e->labels, &e->slots);
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

/* Slots by these classes, which are taken over, for all streams. */
static int regroup(struct exchange *e, struct classes *classes)
{
	struct slots *slots = NULL;
	size_t n = 0;
	auto_free struct idset **sets = calloc(e->n_members + 1, sizeof(*sets));
	int error = sets ? slots_new(classes, e->labels, &slots) : -ENOMEM;
	if (error)
		return error;
	for (; !error && n < e->n_members; n++)
		if (e->members[n]->stream)
			error = slots_translate(
				slots, e->members[n]->stream->set, &sets[n]);
	if (error) {
		while (n-- > 0)
			idset_free(&sets[n]);
		slots_put(&slots);
		return error;
	}
	for (size_t i = 0; i < e->n_members; i++) {
		if (!e->members[i]->stream)
			continue;
		struct sampler_set *set = e->members[i]->stream->owned;
		idset_free(&set->slots);
		set->slots = sets[i];
	}
	slots_put(&e->slots);
	classes_free(&e->classes);
	e->slots = slots;
	e->classes = *classes;
	return 0;
}

static int refine(struct exchange *e, uint32_t n_ids, const roaring_bitmap_t *selection)
{
	struct classes classes;
	int error = classes_copy(&e->classes, &classes);
	if (error)
		return error;
	error = classes_cover(&classes, n_ids);
	if (!error)
		error = classes_split(&classes, selection);
	if (!error && classes.n == e->classes.n && classes.n_ids == e->classes.n_ids) {
		classes_free(&classes);
		return 0;
	}
	if (!error)
		error = regroup(e, &classes);
	if (error) {
		classes_free(&classes);
		return error;
	}
	for (size_t i = 0; i < e->n_spaces; i++)
		space_rebuild(e->spaces[i]);
	return 0;
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
	int error = space_cover(space, n_ids);
	if (!error)
		error = refine(e, n_ids, selection);
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
	int error = 0;
	for (size_t i = 0; !error && i < e->n_members; i++)
		error = classes_split(&classes, e->members[i]->selection);
	if (!error)
		error = regroup(e, &classes);
	if (error)
		classes_free(&classes);
	else
		e->stale = false;
}

struct slots *exchange_slots(const struct exchange *exchange)
{
	return slots_hold(exchange->slots);
}

/* The set may have been made before a job came, or classes became coarser. */
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
	slots_put(&set->numbering); /* from now on they change together */
	return 0;
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
	int error = renumber(e, stream->owned);
	if (error)
		return error;
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
	idset_remove(stream->owned->slots, e->slots->of[given]);
	space_give(member->space, member, given);
	return given;
}

static void draw(struct sampler *sampler, size_t m)
{
	struct exchange *e = sampler->exchange;
	exchange_draw(e, &sampler->rng, sampler->round, m);
	for (size_t i = 0; i < m; i++) {
		struct stream *stream = sampler->round[i];
		*stream->ret = give(e, stream, stream->member->drawn);
	}
}

static sample_id draw_within(
	struct sampler *sampler, struct stream *stream, uint32_t label)
{
	struct exchange *e = sampler->exchange;
	ensure(e->labels);
	if (label >= e->labels->n)
		return SAMPLE_NONE;
	const uint32_t *first = &e->labels->first[label];
	sample_id drawn =
		exchange_draw_between(e, &sampler->rng, stream, first[0], first[1]);
	return drawn == SAMPLE_NONE ? drawn : give(e, stream, drawn);
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
