// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/array_grow.h"
#include "sampler/exchange/exchange_internal.h"

/*
 * A candidate is a resident sample that the stream of a member can get in exchange. The need of a
 * sample is the number of streams of this cache space that have yet to draw the sample, as in the
 * cache's policy refcnt. A ring is a circular list. There is a ring for each group, member (by the
 * member's column) and need. A ring has the candidates of its group,
 * member and need, in the order in which they became resident, or were last given to any member:
 *
 *  heads[group][column][need - 1] -> oldest <-> ... <-> newest <-> (oldest)
 *
 * The candidate with the least need is given first; among candidates of equal need, the one that
 * was given least recently. The cache would evict this sample next, so it is given while it is
 * still there. Neither rule depends on the id itself, so orders stay uniform (exchange.c).
 */

bool residency_has(const struct residency *residency, sample_id id)
{
	return id < residency->n_ids && residency->where[id] != NONE;
}

static void link_node(
	struct residency *residency, uint32_t resident, uint32_t column, uint32_t *head)
{
	struct node *node = residency_node(residency, resident, column);
	if (*head == NONE) {
		*node = (struct node){resident, resident};
		*head = resident;
		return;
	}
	struct node *oldest = residency_node(residency, *head, column);
	*node = (struct node){.previous = oldest->previous, .next = *head};
	residency_node(residency, oldest->previous, column)->next = resident;
	oldest->previous = resident;
}

static void unlink_node(
	struct residency *residency, uint32_t resident, uint32_t column, uint32_t *head)
{
	const struct node *node = residency_node(residency, resident, column);
	if (node->next == resident) {
		*head = NONE;
		return;
	}
	residency_node(residency, node->previous, column)->next = node->next;
	residency_node(residency, node->next, column)->previous = node->previous;
	if (*head == resident)
		*head = node->next;
}

static void order_append(struct residency *residency, uint32_t at)
{
	struct resident *resident = &residency->residents[at];
	resident->older = residency->newest;
	resident->newer = NONE;
	if (residency->newest == NONE)
		residency->oldest = at;
	else
		residency->residents[residency->newest].newer = at;
	residency->newest = at;
	if (residency->stale && residency->next_stale == NONE)
		residency->next_stale = at;
}

static void order_remove(struct residency *residency, uint32_t at)
{
	const struct resident *resident = &residency->residents[at];
	if (residency->next_stale == at)
		residency->next_stale = resident->newer;
	if (resident->older == NONE)
		residency->oldest = resident->newer;
	else
		residency->residents[resident->older].newer = resident->newer;
	if (resident->newer == NONE)
		residency->newest = resident->older;
	else
		residency->residents[resident->newer].older = resident->older;
}

static bool grow(struct residency *residency)
{
	uint32_t n = residency->capacity ? 2 * residency->capacity : 64;
	if (!array_resize(residency->residents, n) ||
		!array_resize(residency->nodes, (size_t)n * residency->stride))
		return false;
	for (uint32_t at = n; at-- > residency->capacity;) {
		residency->residents[at].newer = residency->free;
		residency->free = at;
	}
	residency->capacity = n;
	return true;
}

/* Counts the streams that have yet to draw the resident sample: its need. Then links the sample
 * into a ring of each member whose stream can get the sample in exchange. */
static void assess(struct residency *residency, uint32_t at)
{
	struct resident *resident = &residency->residents[at];
	resident->need = 0;
	for (uint32_t column = 0; column < residency->end; column++) {
		const struct member *member = residency->columns[column];
		struct node *node = residency_node(residency, at, column);
		bool remains = member && member->stream &&
			       idset_contains(member->stream->set, resident->id);
		resident->need += remains;
		if (node->next == NODE_TAKEN)
			continue;
		/* This loop is still counting the need, which decides the ring. So it only marks
		 * the node with `at`; the next loop links the node into the ring. */
		node->next = remains && resident->group != NONE ? at : NODE_OUT;
	}
	for (uint32_t column = 0; column < residency->end; column++)
		if (node_linked(residency_node(residency, at, column)))
			link_node(residency, at, column,
				&residency_heads(residency, resident->group,
					column)[resident->need - 1]);
}

void residency_admit(struct residency *residency, sample_id id)
{
	if (residency_has(residency, id) || id >= residency->n_ids)
		return;
	if (residency->free == NONE && !grow(residency))
		return;
	uint32_t at = residency->free;
	struct resident *resident = &residency->residents[at];
	residency->free = resident->newer;
	resident->id = id;
	resident->group = group_get(residency, exchange_class(residency->exchange, id));
	for (uint32_t column = 0; column < residency->stride; column++)
		residency_node(residency, at, column)->next = NODE_OUT;
	assess(residency, at);
	order_append(residency, at);
	residency->where[id] = at;
	residency->n++;
}

static void withdraw(struct residency *residency, uint32_t at)
{
	const struct resident *resident = &residency->residents[at];
	for (uint32_t column = 0; column < residency->end; column++)
		if (node_linked(residency_node(residency, at, column)))
			unlink_node(residency, at, column,
				&residency_heads(residency, resident->group,
					column)[resident->need - 1]);
}

void residency_evict(struct residency *residency, sample_id id)
{
	if (!residency_has(residency, id))
		return;
	uint32_t at = residency->where[id];
	struct resident *resident = &residency->residents[at];
	withdraw(residency, at);
	order_remove(residency, at);
	if (resident->group != NONE)
		group_put(residency, resident->group);
	residency->where[id] = NONE;
	resident->newer = residency->free;
	residency->free = at;
	residency->n--;
}

/* Called when the member of column `given_to` was given a resident sample. The sample's need falls
 * by one. The sample leaves the ring of this member. If the sample is a candidate for another
 * member, it moves to the end of that member's ring for the lower need. */
static void lower_need(struct residency *residency, uint32_t at, uint32_t given_to)
{
	struct resident *resident = &residency->residents[at];
	uint32_t need = resident->need--;
	for (uint32_t column = 0; column < residency->end; column++) {
		if (!node_linked(residency_node(residency, at, column)))
			continue;
		uint32_t *heads = residency_heads(residency, resident->group, column);
		unlink_node(residency, at, column, &heads[need - 1]);
		if (column != given_to)
			link_node(residency, at, column, &heads[need - 2]);
	}
	order_remove(residency, at);
	order_append(residency, at);
}

void residency_give(
	struct residency *residency, const struct member *member, sample_id id)
{
	if (residency_has(residency, id))
		lower_need(residency, residency->where[id], member->column);
	else
		residency_admit(residency, id);
	if (residency_has(residency, id))
		residency_node(residency, residency->where[id], member->column)->next =
			NODE_TAKEN;
}

sample_id residency_candidate(
	const struct residency *residency, const struct member *member, uint32_t class)
{
	uint32_t group = class < residency->n_classes ? residency->group_of[class] : NONE;
	if (group == NONE)
		return SAMPLE_NONE;
	const uint32_t *heads = residency_heads(residency, group, member->column);
	for (uint32_t i = 0; i < residency->end; i++)
		if (heads[i] != NONE)
			return residency->residents[heads[i]].id;
	return SAMPLE_NONE;
}

/* Called when a stream was added or removed: all needs and rings are outdated. residency_refresh
 * then updates the residents from the oldest to the newest, and moves each to the ends of its
 * rings. So each ring again has its candidates in the order in which they were last given. Until
 * then samples are given and evicted as usual. */
void residency_make_stale(struct residency *residency)
{
	residency->stale = residency->n > 0;
	residency->next_stale = residency->oldest;
}

void residency_refresh_one(struct residency *residency, sample_id id)
{
	if (!residency->stale || !residency_has(residency, id))
		return;
	withdraw(residency, residency->where[id]);
	assess(residency, residency->where[id]);
}

bool residency_refresh(struct residency *residency, uint32_t n)
{
	for (; residency->stale && n > 0; n--) {
		uint32_t at = residency->next_stale;
		if (at == NONE) {
			residency->stale = false;
			break;
		}
		withdraw(residency, at);
		assess(residency, at);
		residency->next_stale = residency->residents[at].newer;
	}
	return !residency->stale;
}

void residency_rebuild(struct residency *residency)
{
	groups_clear(residency);
	residency->stale = false;
	for (uint32_t at = residency->oldest; at != NONE;
		at = residency->residents[at].newer) {
		struct resident *resident = &residency->residents[at];
		resident->group = group_get(
			residency, exchange_class(residency->exchange, resident->id));
		assess(residency, at);
	}
}
