// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "sampler/exchange/exchange_internal.h"

#include <string.h>

/* Everything that is kept up to date step by step, counted anew. */

struct count {
	const struct classes *classes;
	uint32_t *inside;
};

static bool count_one(uint32_t id, void *context)
{
	struct count *count = context;
	count->inside[count->classes->of[id]]++;
	return true;
}

/* No job has one id of a class and lacks another one. */
static void validate_classes(const struct exchange *e)
{
	const struct classes *classes = &e->classes;
	size_t bytes = classes->n * sizeof(uint32_t);
	auto_free uint32_t *inside = calloc(1, bytes);
	struct count count = {classes, inside};
	ensure(inside);
	for (uint32_t id = 0; id < classes->n_ids; id++) {
		ensure(classes->of[id] < classes->n);
		inside[classes->of[id]]++;
	}
	ensure(!memcmp(inside, classes->size, bytes));
	for (size_t i = 0; i < e->n_members; i++) {
		memset(inside, 0, bytes);
		roaring_iterate(e->members[i]->selection, count_one, &count);
		for (uint32_t class = 0; class < classes->n; class ++)
			ensure(!inside[class] ||
				(class != CLASS_OUTSIDE &&
					inside[class] == classes->size[class]));
	}
}

static void validate_label(
	const struct labels *labels, uint32_t id, uint32_t slot, uint32_t *seen)
{
	uint32_t label = labels->label[id];
	ensure(labels->first[label] <= slot && slot < labels->first[label + 1]);
	ensure(!*seen || *seen == label + 1);
	*seen = label + 1;
}

/* Each class is a range of slots, in the order of its ids, and has one label. */
static void validate_slots(const struct exchange *e)
{
	const struct slots *slots = e->slots;
	auto_free uint32_t *seen = calloc(e->classes.n, sizeof(*seen)); /* label + 1 */
	ensure(seen && slots->n == e->classes.n_ids);
	for (uint32_t slot = 0; slot < slots->n; slot++) {
		uint32_t id = slots->id[slot];
		uint32_t class = e->classes.of[id];
		uint32_t at = slot - slots->first[class];
		ensure(slots->of[id] == slot && at < e->classes.size[class]);
		ensure(at == 0 || slots->id[slot - 1] < id);
		if (e->labels)
			validate_label(e->labels, id, slot, &seen[class]);
	}
}

static void validate_set(const struct slots *slots, const struct stream *stream)
{
	idset_validate(stream->owned->slots);
	ensure(idset_size(stream->owned->slots) == stream->remaining);
	for (uint32_t slot = 0; slot < slots->n; slot++)
		ensure(idset_contains(stream->owned->slots, slot) ==
			idset_contains(stream->set, slots->id[slot]));
}

static void validate_stream(const struct exchange *e, const struct stream *stream)
{
	ensure(stream->member->stream == stream && stream->member->job == stream->job);
	validate_set(e->slots, stream);
	roaring_bitmap_t *ids = idset_to_bitmap(stream->set);
	ensure(ids);
	ensure(roaring_bitmap_is_subset(ids, stream->member->selection));
	roaring_bitmap_free(ids);
}

void exchange_validate(const struct sampler *sampler)
{
	const struct exchange *e = sampler->exchange;
	validate_classes(e);
	validate_slots(e);
	for (size_t i = 0; i < sampler->n; i++)
		validate_stream(e, sampler->by_id[i]);
	for (size_t i = 0; i < e->n_members; i++) {
		const struct member *member = e->members[i];
		ensure(member->space->columns[member->column] == member);
	}
	for (size_t i = 0; i < e->n_spaces; i++)
		space_validate(e->spaces[i]);
}

/* The order of residents is one chain of all of them. */
static void validate_order(const struct space *space)
{
	uint32_t n = 0;
	uint32_t older = NONE;
	for (uint32_t at = space->oldest; at != NONE; at = space->residents[at].newer) {
		const struct resident *resident = &space->residents[at];
		ensure(at < space->capacity && resident->older == older);
		ensure(resident->id < space->n_ids && space->where[resident->id] == at);
		older = at;
		n++;
	}
	ensure(space->newest == older && n == space->n);
	for (uint32_t id = 0; id < space->n_ids; id++)
		n -= space->where[id] != NONE;
	ensure(n == 0);
}

static void validate_groups(const struct space *space)
{
	const struct classes *classes = &space->exchange->classes;
	auto_free uint32_t *n = calloc((size_t)space->n_groups + 1, sizeof(*n));
	ensure(n);
	for (uint32_t at = space->oldest; at != NONE; at = space->residents[at].newer) {
		const struct resident *resident = &space->residents[at];
		uint32_t class = classes->of[resident->id];
		if (resident->group == NONE)
			continue;
		ensure(resident->group < space->n_groups && classes->size[class] > 1);
		ensure(space->groups[resident->group].class == class);
		ensure(space->group_of[class] == resident->group);
		n[resident->group]++;
	}
	for (uint32_t group = 0; group < space->n_groups; group++)
		ensure(space->groups[group].n == n[group]);
}

static bool remains(const struct space *space, uint32_t column, sample_id id)
{
	const struct member *member = space->columns[column];
	return member && member->stream && idset_contains(member->stream->set, id);
}

static void validate_resident(const struct space *space, uint32_t at)
{
	const struct resident *resident = &space->residents[at];
	uint32_t need = 0;
	for (uint32_t column = 0; column < space->stride; column++) {
		const struct node *node = space_node(space, at, column);
		bool in = remains(space, column, resident->id);
		need += in;
		if (node->next == NODE_TAKEN)
			ensure(space->columns[column]);
		else
			ensure(node_linked(node) == (in && resident->group != NONE));
	}
	ensure(resident->need == need);
}

/*
 * The candidates of a column, taken in the order of residents, are the rings in theirs:
 * each is the next of its ring, and in the end each ring is back at its head.
 */
static void validate_rings(const struct space *space, uint32_t column)
{
	size_t rings = (size_t)space->n_groups * space->stride;
	auto_free uint32_t *next = malloc((rings + 1) * sizeof(*next));
	ensure(next);
	for (size_t i = 0; i < rings; i++)
		next[i] = space_heads(
			space, (uint32_t)(i / space->stride), column)[i % space->stride];
	for (uint32_t at = space->oldest; at != NONE; at = space->residents[at].newer) {
		const struct resident *resident = &space->residents[at];
		const struct node *node = space_node(space, at, column);
		if (!node_linked(node))
			continue;
		uint32_t *expected = &next[(size_t)resident->group * space->stride +
					   resident->need - 1];
		ensure(*expected == at);
		ensure(space_node(space, node->next, column)->previous == at);
		*expected = node->next;
	}
	for (size_t i = 0; i < rings; i++) {
		uint32_t head = space_heads(
			space, (uint32_t)(i / space->stride), column)[i % space->stride];
		ensure(next[i] == head);
		ensure(head == NONE || node_linked(space_node(space, head, column)));
	}
}

void space_validate(const struct space *space)
{
	validate_order(space);
	validate_groups(space);
	if (space->unsettled)
		return;
	for (uint32_t at = space->oldest; at != NONE; at = space->residents[at].newer)
		validate_resident(space, at);
	for (uint32_t column = 0; column < space->stride; column++)
		validate_rings(space, column);
}
