// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/array_grow.h"
#include "sampler/exchange/exchange_internal.h"

#include <errno.h>
#include <string.h>

/* The members and groups of a cache space. candidates.c handles the resident samples. */

int residency_new(const struct exchange *exchange, uint32_t id, struct residency **ret)
{
	struct residency *residency = calloc(1, sizeof(*residency));
	if (!residency)
		return -ENOMEM;
	*residency = (struct residency){.id = id,
		.exchange = exchange,
		.free = NONE,
		.oldest = NONE,
		.newest = NONE,
		.free_group = NONE};
	*ret = residency;
	return 0;
}

void residency_free(struct residency **residency)
{
	struct residency *s = *residency;
	free(s->columns);
	free(s->where);
	free(s->residents);
	free(s->nodes);
	free(s->groups);
	free(s->heads);
	free(s->group_of);
	free(s);
	*residency = NULL;
}

void residency_cover(struct residency *residency, uint32_t n_ids, uint32_t **where)
{
	uint32_t *old = residency->where;
	if (n_ids <= residency->n_ids)
		return;
	if (old)
		memcpy(*where, old, residency->n_ids * sizeof(*old));
	residency->where = *where;
	residency->n_ids = n_ids;
	*where = old;
}

/* Doubles the number of columns (`stride`), of which each member has one. -ENOMEM */
static int widen(struct residency *residency)
{
	uint32_t stride = residency->stride ? 2 * residency->stride : 4;
	size_t n = (size_t)residency->capacity * stride;
	if (!array_resize(residency->columns, stride))
		return -ENOMEM;
	struct node *nodes = malloc((n ? n : 1) * sizeof(*nodes));
	if (!nodes)
		return -ENOMEM;
	for (uint32_t i = residency->stride; i < stride; i++)
		residency->columns[i] = NULL;
	for (size_t i = 0; i < n; i++) {
		uint32_t at = (uint32_t)(i / stride);
		uint32_t column = (uint32_t)(i % stride);
		bool old = column < residency->stride;
		nodes[i].next =
			old ? residency_node(residency, at, column)->next : NODE_OUT;
	}
	free(residency->nodes);
	residency->nodes = nodes;
	residency->stride = stride;
	free(residency->heads);
	residency->heads = NULL;
	residency->group_capacity = 0;
	residency_rebuild(residency);
	return 0;
}

int residency_join(struct residency *residency, struct member *member)
{
	uint32_t column = 0;
	while (column < residency->stride && residency->columns[column])
		column++;
	if (column == residency->stride) {
		int error = widen(residency);
		if (error)
			return error;
	}
	residency->columns[column] = member;
	residency->end = column >= residency->end ? column + 1 : residency->end;
	residency->n_members++;
	member->residency = residency;
	member->column = column;
	return 0;
}

/* Takes the member out of its column. Clears the column's marks NODE_TAKEN, because a later member
 * in this column may get the samples that this member was given. */
void residency_leave(struct residency *residency, struct member *member)
{
	residency_refresh(residency, UINT32_MAX);
	uint32_t at = residency->oldest;
	for (; at != NONE; at = residency->residents[at].newer)
		residency_node(residency, at, member->column)->next = NODE_OUT;
	residency->columns[member->column] = NULL;
	while (residency->end > 0 && !residency->columns[residency->end - 1])
		residency->end--;
	residency->n_members--;
}

void groups_clear(struct residency *residency)
{
	residency->n_groups = 0;
	residency->free_group = NONE;
	for (uint32_t class = 0; class < residency->n_classes; class ++)
		residency->group_of[class] = NONE;
}

static bool grow_groups(struct residency *residency)
{
	uint32_t n = residency->group_capacity ? 2 * residency->group_capacity : 4;
	size_t heads_each = (size_t)residency->stride * residency->stride;
	if (!array_resize(residency->groups, n) ||
		!array_resize(residency->heads, n * heads_each))
		return false;
	residency->group_capacity = n;
	return true;
}

static bool cover_classes(struct residency *residency)
{
	uint32_t n = residency->exchange->slots->classes.n;
	if (n <= residency->n_classes)
		return true;
	if (!array_resize(residency->group_of, n))
		return false;
	for (uint32_t class = residency->n_classes; class < n; class ++)
		residency->group_of[class] = NONE;
	residency->n_classes = n;
	return true;
}

static uint32_t group_new(struct residency *residency, uint32_t class)
{
	uint32_t group = residency->free_group;
	if (group != NONE) {
		residency->free_group = residency->groups[group].next_free;
	} else {
		if (residency->n_groups == residency->group_capacity &&
			!grow_groups(residency))
			return NONE;
		group = residency->n_groups++;
	}
	residency->groups[group] = (struct group){.class = class};
	uint32_t *heads = residency_heads(residency, group, 0);
	for (size_t i = 0; i < (size_t)residency->stride * residency->stride; i++)
		heads[i] = NONE;
	residency->group_of[class] = group;
	return group;
}

uint32_t group_get(struct residency *residency, uint32_t class)
{
	if (residency->exchange->slots->classes.size[class] < 2 ||
		!cover_classes(residency))
		return NONE;
	uint32_t group = residency->group_of[class];
	if (group == NONE)
		group = group_new(residency, class);
	if (group != NONE)
		residency->groups[group].n++;
	return group;
}

void group_put(struct residency *residency, uint32_t group)
{
	struct group *g = &residency->groups[group];
	if (--g->n)
		return;
	residency->group_of[g->class] = NONE;
	g->next_free = residency->free_group;
	residency->free_group = group;
}
