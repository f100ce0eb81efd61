// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "sampler/exchange/exchange_internal.h"

/*
 * Residents and candidates. For each member, class and need there is a ring of what the
 * member may be given in exchange, the one that was given to somebody longest ago first:
 *
 *   heads[group][column][need - 1] -> oldest <-> ... <-> newest <-> (oldest)
 *
 * Need counts the streams of this space, as the cache's RefCnt does: only they keep the
 * tensor from being evicted. Among equal needs the least recently given comes first, as
 * it does for the cache: what would be evicted next is given while it is there. Neither
 * looks at the id itself.
 */

bool space_has(const struct space *space, sample_id id)
{
	return id < space->n_ids && space->where[id] != NONE;
}

static void link_node(
	struct space *space, uint32_t resident, uint32_t column, uint32_t *head)
{
	struct node *node = space_node(space, resident, column);
	if (*head == NONE) {
		*node = (struct node){resident, resident};
		*head = resident;
		return;
	}
	struct node *oldest = space_node(space, *head, column);
	*node = (struct node){.previous = oldest->previous, .next = *head};
	space_node(space, oldest->previous, column)->next = resident;
	oldest->previous = resident;
}

static void unlink_node(
	struct space *space, uint32_t resident, uint32_t column, uint32_t *head)
{
	const struct node *node = space_node(space, resident, column);
	if (node->next == resident) {
		*head = NONE;
		return;
	}
	space_node(space, node->previous, column)->next = node->next;
	space_node(space, node->next, column)->previous = node->previous;
	if (*head == resident)
		*head = node->next;
}

static void order_append(struct space *space, uint32_t at)
{
	struct resident *resident = &space->residents[at];
	resident->older = space->newest;
	resident->newer = NONE;
	if (space->newest == NONE)
		space->oldest = at;
	else
		space->residents[space->newest].newer = at;
	space->newest = at;
	if (space->unsettled && space->next_unsettled == NONE)
		space->next_unsettled = at;
}

static void order_remove(struct space *space, uint32_t at)
{
	const struct resident *resident = &space->residents[at];
	if (space->next_unsettled == at)
		space->next_unsettled = resident->newer;
	if (resident->older == NONE)
		space->oldest = resident->newer;
	else
		space->residents[resident->older].newer = resident->newer;
	if (resident->newer == NONE)
		space->newest = resident->older;
	else
		space->residents[resident->newer].older = resident->older;
}

/* Room for twice as many; false: no memory. */
static bool grow(struct space *space)
{
	uint32_t n = space->capacity ? 2 * space->capacity : 64;
	struct resident *residents =
		reallocarray(space->residents, n, sizeof(*residents));
	if (!residents)
		return false;
	space->residents = residents;
	struct node *nodes =
		reallocarray(space->nodes, n, space->stride * sizeof(*nodes));
	if (!nodes)
		return false;
	space->nodes = nodes;
	for (uint32_t at = n; at-- > space->capacity;) {
		residents[at].newer = space->free;
		space->free = at;
	}
	space->capacity = n;
	return true;
}

/* A resident's need, and for whom it is a candidate, by their sets. */
static void assess(struct space *space, uint32_t at)
{
	struct resident *resident = &space->residents[at];
	resident->need = 0;
	for (uint32_t column = 0; column < space->end; column++) {
		const struct member *member = space->columns[column];
		struct node *node = space_node(space, at, column);
		bool remains = member && member->stream &&
			       idset_contains(member->stream->set, resident->id);
		resident->need += remains;
		if (node->next == NODE_TAKEN)
			continue;
		/* To be linked; it is not known yet where. */
		node->next = remains && resident->group != NONE ? at : NODE_OUT;
	}
	for (uint32_t column = 0; column < space->end; column++)
		if (node_linked(space_node(space, at, column)))
			link_node(space, at, column,
				&space_heads(space, resident->group,
					column)[resident->need - 1]);
}

static uint32_t class_of(const struct space *space, sample_id id)
{
	return space->exchange->classes.of[id];
}

/* Without memory it just isn't resident. */
void space_admit(struct space *space, sample_id id)
{
	if (space_has(space, id) || id >= space->n_ids)
		return;
	if (space->free == NONE && !grow(space))
		return;
	uint32_t at = space->free;
	struct resident *resident = &space->residents[at];
	space->free = resident->newer;
	resident->id = id;
	resident->group = group_get(space, class_of(space, id));
	for (uint32_t column = 0; column < space->stride; column++)
		space_node(space, at, column)->next = NODE_OUT;
	assess(space, at);
	order_append(space, at);
	space->where[id] = at;
	space->n++;
}

/* Takes it out of all rings. */
static void withdraw(struct space *space, uint32_t at)
{
	const struct resident *resident = &space->residents[at];
	for (uint32_t column = 0; column < space->end; column++)
		if (node_linked(space_node(space, at, column)))
			unlink_node(space, at, column,
				&space_heads(space, resident->group,
					column)[resident->need - 1]);
}

void space_evict(struct space *space, sample_id id)
{
	if (!space_has(space, id))
		return;
	uint32_t at = space->where[id];
	struct resident *resident = &space->residents[at];
	withdraw(space, at);
	order_remove(space, at);
	if (resident->group != NONE)
		group_put(space, resident->group);
	space->where[id] = NONE;
	resident->newer = space->free;
	space->free = at;
	space->n--;
}

/* Its need is less by one: candidates move to the next ring, as its newest. */
static void lower_need(struct space *space, uint32_t at, uint32_t given_to)
{
	struct resident *resident = &space->residents[at];
	uint32_t need = resident->need--;
	for (uint32_t column = 0; column < space->end; column++) {
		if (!node_linked(space_node(space, at, column)))
			continue;
		uint32_t *heads = space_heads(space, resident->group, column);
		unlink_node(space, at, column, &heads[need - 1]);
		if (column != given_to)
			link_node(space, at, column, &heads[need - 2]);
	}
	order_remove(space, at);
	order_append(space, at);
}

void space_give(struct space *space, const struct member *member, sample_id id)
{
	if (space_has(space, id))
		lower_need(space, space->where[id], member->column);
	else
		space_admit(space, id);
	if (space_has(space, id))
		space_node(space, space->where[id], member->column)->next = NODE_TAKEN;
}

sample_id space_candidate(
	const struct space *space, const struct member *member, uint32_t class)
{
	uint32_t group = class < space->n_classes ? space->group_of[class] : NONE;
	if (group == NONE)
		return SAMPLE_NONE;
	const uint32_t *heads = space_heads(space, group, member->column);
	for (uint32_t i = 0; i < space->end; i++)
		if (heads[i] != NONE)
			return space->residents[heads[i]].id;
	return SAMPLE_NONE;
}

/*
 * Until it is assessed anew, a resident stays as it was before the stream came or went:
 * what it needs and the rings it is in fit each other, so that it can be given, moved to
 * the end of the order and evicted as ever. All of them are linked anew, each at the end
 * of its rings, so that these end in the order of residents.
 */
void space_unsettle(struct space *space)
{
	space->unsettled = space->n > 0;
	space->next_unsettled = space->oldest;
}

void space_reassess(struct space *space, sample_id id)
{
	if (!space->unsettled || !space_has(space, id))
		return;
	withdraw(space, space->where[id]);
	assess(space, space->where[id]);
}

bool space_settle(struct space *space, uint32_t n)
{
	for (; space->unsettled && n > 0; n--) {
		uint32_t at = space->next_unsettled;
		if (at == NONE) {
			space->unsettled = false;
			break;
		}
		withdraw(space, at);
		assess(space, at);
		space->next_unsettled = space->residents[at].newer;
	}
	return !space->unsettled;
}

void space_rebuild(struct space *space)
{
	groups_clear(space);
	space->unsettled = false;
	for (uint32_t at = space->oldest; at != NONE; at = space->residents[at].newer) {
		struct resident *resident = &space->residents[at];
		resident->group = group_get(space, class_of(space, resident->id));
		assess(space, at);
	}
}
