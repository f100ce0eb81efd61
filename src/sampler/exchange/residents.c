// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "sampler/exchange/exchange_internal.h"

#include <errno.h>
#include <string.h>

/* A space's members and groups; its residents are in exchange_resident.c. */

int space_new(const struct exchange *exchange, uint32_t id, struct space **ret)
{
	struct space *space = calloc(1, sizeof(*space));
	if (!space)
		return -ENOMEM;
	*space = (struct space){.id = id,
		.exchange = exchange,
		.free = NONE,
		.oldest = NONE,
		.newest = NONE,
		.free_group = NONE};
	*ret = space;
	return 0;
}

void space_free(struct space **space)
{
	struct space *s = *space;
	free(s->columns);
	free(s->where);
	free(s->residents);
	free(s->nodes);
	free(s->groups);
	free(s->heads);
	free(s->group_of);
	free(s);
	*space = NULL;
}

int space_cover(struct space *space, uint32_t n_ids)
{
	if (n_ids <= space->n_ids)
		return 0;
	uint32_t *where = reallocarray(space->where, n_ids, sizeof(*where));
	if (!where)
		return -ENOMEM;
	for (uint32_t id = space->n_ids; id < n_ids; id++)
		where[id] = NONE;
	space->where = where;
	space->n_ids = n_ids;
	return 0;
}

/* Twice as many columns: all that depends on their number is made anew. */
static int widen(struct space *space)
{
	uint32_t stride = space->stride ? 2 * space->stride : 4;
	size_t n = (size_t)space->capacity * stride;
	struct member **columns = reallocarray(space->columns, stride, sizeof(*columns));
	if (!columns)
		return -ENOMEM;
	space->columns = columns;
	struct node *nodes = malloc((n ? n : 1) * sizeof(*nodes));
	if (!nodes)
		return -ENOMEM;
	for (uint32_t i = space->stride; i < stride; i++)
		columns[i] = NULL;
	for (size_t i = 0; i < n; i++) {
		uint32_t at = (uint32_t)(i / stride);
		uint32_t column = (uint32_t)(i % stride);
		bool old = column < space->stride;
		nodes[i].next = old ? space_node(space, at, column)->next : NODE_OUT;
	}
	free(space->nodes);
	space->nodes = nodes;
	space->stride = stride;
	free(space->heads);
	space->heads = NULL;
	space->group_capacity = 0;
	space_rebuild(space);
	return 0;
}

int space_join(struct space *space, struct member *member)
{
	uint32_t column = 0;
	while (column < space->stride && space->columns[column])
		column++;
	if (column == space->stride) {
		int error = widen(space);
		if (error)
			return error;
	}
	space->columns[column] = member;
	space->end = column >= space->end ? column + 1 : space->end;
	space->n_members++;
	member->space = space;
	member->column = column;
	return 0;
}

/* What the job was given is forgotten, before another one gets its column. */
void space_leave(struct space *space, struct member *member)
{
	while (!space_settle(space, UINT32_MAX))
		;
	uint32_t at = space->oldest;
	for (; at != NONE; at = space->residents[at].newer)
		space_node(space, at, member->column)->next = NODE_OUT;
	space->columns[member->column] = NULL;
	while (space->end > 0 && !space->columns[space->end - 1])
		space->end--;
	space->n_members--;
}

void groups_clear(struct space *space)
{
	space->n_groups = 0;
	space->free_group = NONE;
	for (uint32_t class = 0; class < space->n_classes; class ++)
		space->group_of[class] = NONE;
}

static bool grow_groups(struct space *space)
{
	uint32_t n = space->group_capacity ? 2 * space->group_capacity : 4;
	size_t heads_each = (size_t)space->stride * space->stride;
	struct group *groups = reallocarray(space->groups, n, sizeof(*groups));
	if (!groups)
		return false;
	space->groups = groups;
	uint32_t *heads = reallocarray(space->heads, n, heads_each * sizeof(*heads));
	if (!heads)
		return false;
	space->heads = heads;
	space->group_capacity = n;
	return true;
}

static bool cover_classes(struct space *space)
{
	uint32_t n = space->exchange->classes.n;
	if (n <= space->n_classes)
		return true;
	uint32_t *group_of = reallocarray(space->group_of, n, sizeof(*group_of));
	if (!group_of)
		return false;
	for (uint32_t class = space->n_classes; class < n; class ++)
		group_of[class] = NONE;
	space->group_of = group_of;
	space->n_classes = n;
	return true;
}

static uint32_t group_new(struct space *space, uint32_t class)
{
	uint32_t group = space->free_group;
	if (group != NONE) {
		space->free_group = space->groups[group].next_free;
	} else {
		if (space->n_groups == space->group_capacity && !grow_groups(space))
			return NONE;
		group = space->n_groups++;
	}
	space->groups[group] = (struct group){.class = class};
	uint32_t *heads = space_heads(space, group, 0);
	for (size_t i = 0; i < (size_t)space->stride * space->stride; i++)
		heads[i] = NONE;
	space->group_of[class] = group;
	return group;
}

/* An id alone in its class is no use to exchange: where all are, there are no groups. */
uint32_t group_get(struct space *space, uint32_t class)
{
	if (space->exchange->classes.size[class] < 2 || !cover_classes(space))
		return NONE;
	uint32_t group = space->group_of[class];
	if (group == NONE)
		group = group_new(space, class);
	if (group != NONE)
		space->groups[group].n++;
	return group;
}

void group_put(struct space *space, uint32_t group)
{
	struct group *g = &space->groups[group];
	if (--g->n)
		return;
	space->group_of[g->class] = NONE;
	g->next_free = space->free_group;
	space->free_group = group;
}
