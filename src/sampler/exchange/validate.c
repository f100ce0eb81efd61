// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "sampler/exchange/exchange_internal.h"

#include <string.h>

/* Checks that each job's selection contains all ids of a class, or none of them. */
static void validate_classes(const struct exchange *e)
{
	struct classes *classes = &e->slots->classes;
	size_t bytes = classes->n * sizeof(uint32_t);
	auto_free uint32_t *inside = calloc(1, bytes);
	ensure(inside);
	for (uint32_t id = 0; id < classes->n_ids; id++) {
		ensure(classes->of[id] < classes->n);
		inside[classes->of[id]]++;
	}
	ensure(!memcmp(inside, classes->size, bytes));
	for (size_t i = 0; i < e->n_members; i++) {
		memset(inside, 0, bytes);
		classes_count(classes, e->members[i]->selection, inside);
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

/* Checks that each class is a range of slots in the order of ids, and has one label. */
static void validate_slots(const struct exchange *e)
{
	const struct slots *slots = e->slots;
	auto_free uint32_t *seen =
		/* label + 1 of each class; 0: no id of the class was checked yet */
		calloc(e->slots->classes.n, sizeof(*seen));
	ensure(seen);
	for (uint32_t slot = 0; slot < slots->classes.n_ids; slot++) {
		uint32_t id = slots->id[slot];
		uint32_t class = e->slots->classes.of[id];
		uint32_t at = slot - slots->first[class];
		ensure(slots->of[id] == slot && at < e->slots->classes.size[class]);
		ensure(at == 0 || slots->id[slot - 1] < id);
		if (e->labels)
			validate_label(e->labels, id, slot, &seen[class]);
	}
}

static void validate_set(const struct slots *slots, const struct sampler_stream *stream)
{
	idset_validate(stream->owned->slots);
	ensure(idset_size(stream->owned->slots) == stream->remaining);
	for (uint32_t slot = 0; slot < slots->classes.n_ids; slot++)
		ensure(idset_contains(stream->owned->slots, slot) ==
			idset_contains(stream->set, slots->id[slot]));
}

static void validate_stream(const struct exchange *e, const struct sampler_stream *stream)
{
	ensure(stream->member->stream == stream && stream->member->job == stream->job);
	validate_set(e->slots, stream);
	auto_bitmap roaring_bitmap_t *ids = idset_to_bitmap(stream->set);
	ensure(ids);
	ensure(roaring_bitmap_is_subset(ids, stream->member->selection));
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
		ensure(member->residency->columns[member->column] == member);
	}
	for (size_t i = 0; i < e->n_residencies; i++)
		residency_validate(e->residencies[i]);
}

/* Checks that the list from the oldest to the newest resident has all residents. */
static void validate_order(const struct residency *residency)
{
	uint32_t n = 0;
	uint32_t older = NONE;
	for (uint32_t at = residency->oldest; at != NONE;
		at = residency->residents[at].newer) {
		const struct resident *resident = &residency->residents[at];
		ensure(at < residency->capacity && resident->older == older);
		ensure(resident->id < residency->n_ids &&
			residency->where[resident->id] == at);
		older = at;
		n++;
	}
	ensure(residency->newest == older && n == residency->n);
	for (uint32_t id = 0; id < residency->n_ids; id++)
		n -= residency->where[id] != NONE;
	ensure(n == 0);
}

static void validate_groups(const struct residency *residency)
{
	const struct classes *classes = &residency->exchange->slots->classes;
	auto_free uint32_t *n = calloc((size_t)residency->n_groups + 1, sizeof(*n));
	ensure(n);
	for (uint32_t at = residency->oldest; at != NONE;
		at = residency->residents[at].newer) {
		const struct resident *resident = &residency->residents[at];
		uint32_t class = classes->of[resident->id];
		if (resident->group == NONE)
			continue;
		ensure(resident->group < residency->n_groups && classes->size[class] > 1);
		ensure(residency->groups[resident->group].class == class);
		ensure(residency->group_of[class] == resident->group);
		n[resident->group]++;
	}
	for (uint32_t group = 0; group < residency->n_groups; group++)
		ensure(residency->groups[group].n == n[group]);
}

static bool remains(const struct residency *residency, uint32_t column, sample_id id)
{
	const struct member *member = residency->columns[column];
	return member && member->stream && idset_contains(member->stream->set, id);
}

static void validate_resident(const struct residency *residency, uint32_t at)
{
	const struct resident *resident = &residency->residents[at];
	uint32_t need = 0;
	for (uint32_t column = 0; column < residency->stride; column++) {
		const struct node *node = residency_node(residency, at, column);
		bool in = remains(residency, column, resident->id);
		need += in;
		if (node->next == NODE_TAKEN)
			ensure(residency->columns[column]);
		else
			ensure(node_linked(node) == (in && resident->group != NONE));
	}
	ensure(resident->need == need);
}

/* Checks that the rings of a column are in the order of residents: in a walk from the oldest to the
 * newest, each candidate is the next one of its ring, and the last leads back to the head. */
static void validate_rings(const struct residency *residency, uint32_t column)
{
	size_t rings = (size_t)residency->n_groups * residency->stride;
	auto_free uint32_t *next = malloc((rings + 1) * sizeof(*next));
	ensure(next);
	for (size_t i = 0; i < rings; i++)
		next[i] = residency_heads(residency, (uint32_t)(i / residency->stride),
			column)[i % residency->stride];
	for (uint32_t at = residency->oldest; at != NONE;
		at = residency->residents[at].newer) {
		const struct resident *resident = &residency->residents[at];
		const struct node *node = residency_node(residency, at, column);
		if (!node_linked(node))
			continue;
		uint32_t *expected = &next[(size_t)resident->group * residency->stride +
					   resident->need - 1];
		ensure(*expected == at);
		ensure(residency_node(residency, node->next, column)->previous == at);
		*expected = node->next;
	}
	for (size_t i = 0; i < rings; i++) {
		uint32_t head = residency_heads(residency,
			(uint32_t)(i / residency->stride), column)[i % residency->stride];
		ensure(next[i] == head);
		ensure(head == NONE ||
			node_linked(residency_node(residency, head, column)));
	}
}

void residency_validate(const struct residency *residency)
{
	validate_order(residency);
	validate_groups(residency);
	if (residency->stale)
		return;
	for (uint32_t at = residency->oldest; at != NONE;
		at = residency->residents[at].newer)
		validate_resident(residency, at);
	for (uint32_t column = 0; column < residency->stride; column++)
		validate_rings(residency, column);
}
