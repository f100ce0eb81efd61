// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "coord/coord_local_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The engine's functions for leases of nodes, of the leader, and of ranks. */

static uint64_t now(const struct coord_local *local)
{
	return local->now_ns(local->clock);
}

static uint64_t end_of(const struct coord_local *local, uint32_t ttl_ms)
{
	return now(local) + ttl_ms * NS_PER_MS;
}

struct local_job *local_find(struct coord_local *local, const char *name)
{
	struct local_job *job;
	LIST_FOREACH (job, &local->jobs, link)
		if (strcmp(job->name, name) == 0)
			return job;
	return NULL;
}

bool local_token_is(const struct coord_local *local, const struct coord_token *token)
{
	return token->term && local->token.term == token->term &&
	       local->token.random == token->random;
}

/* --- nodes ------------------------------------------------------------------------------ */

static struct local_node *find_node(struct coord_local *local, const char *name)
{
	struct local_node *node;
	LIST_FOREACH (node, &local->nodes, link)
		if (strcmp(node->node.name, name) == 0)
			return node;
	return NULL;
}

bool local_is_live(struct coord_local *local, const char *name)
{
	const struct local_node *node = find_node(local, name);
	return node && node->until_ns > now(local);
}

static int beat_node(
	struct coord_local *local, const struct coord_node *self, uint32_t ttl_ms)
{
	struct local_node *node = find_node(local, self->name);
	if (node && node->until_ns > now(local) &&
		node->node.incarnation != self->incarnation &&
		node->node.incarnation != self->before)
		return -EEXIST;
	if (!node) {
		node = calloc(1, sizeof(*node));
		if (!node)
			return -ENOMEM;
		LIST_INSERT_HEAD(&local->nodes, node, link);
	}
	node->node = *self;
	node->until_ns = end_of(local, ttl_ms);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct coord_node *)a)->name,
		((const struct coord_node *)b)->name);
}

static int members(struct coord_local *local, struct coord_look *ret)
{
	struct local_node *node;
	size_t n = 0, live = 0;
	LIST_FOREACH (node, &local->nodes, link)
		n++;
	struct coord_node *list = calloc(n + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	LIST_FOREACH (node, &local->nodes, link)
		if (node->until_ns > now(local))
			list[live++] = node->node;
	n = live;
	LIST_FOREACH (node, &local->nodes, link)
		if (node->until_ns <= now(local))
			list[n++] = node->node;
	qsort(list, live, sizeof(*list), by_name);
	ret->members = list;
	ret->n = n;
	ret->live = live;
	return 0;
}

/* --- leases of ranks -------------------------------------------------------------------- */

static int beat_rank(struct coord_local *local, const struct coord_node *self,
	uint32_t ttl_ms, struct coord_lease *lease)
{
	struct local_job *job = local_find(local, lease->job);
	if (!job || lease->rank >= job->facts.ranks ||
		!local_runner(&job->runners, self->name))
		return -ENOENT;
	struct local_rank *rank = &job->ranks[lease->rank];
	lease->ret_cursor = rank->cursor;
	if (rank->owner != self->incarnation && rank->owner != self->before &&
		rank->until_ns > now(local))
		return -EBUSY;
	if (rank->owner != self->incarnation || rank->until_ns <= now(local) ||
		position_before(rank->cursor, lease->cursor))
		local->news++;
	rank->owner = self->incarnation;
	rank->until_ns = end_of(local, ttl_ms);
	if (position_before(rank->cursor, lease->cursor))
		rank->cursor = lease->cursor;
	lease->ret_cursor = rank->cursor;
	return 0;
}

void local_forget_dead(struct coord_local *local)
{
	struct local_node *node = LIST_FIRST(&local->nodes), *following;
	for (; node; node = following) {
		following = LIST_NEXT(node, link);
		if (node->until_ns > now(local) ||
			local_runner(&local->reported, node->node.name))
			continue;
		LIST_REMOVE(node, link);
		free(node);
	}
}

static void view(struct coord_local *local, const char *self, struct coord_view *ret)
{
	*ret = (struct coord_view){.ready = strcmp(local->run, local->is_ready) == 0,
		.reported = local_runner(&local->reported, self) != NULL,
		.term = local->token.term,
		.news = local->news};
	memcpy(ret->run, local->run, sizeof(ret->run));
	if (local->leader_until_ns <= now(local))
		return;
	ret->leader = local->leader;
	struct local_node *node;
	LIST_FOREACH (node, &local->nodes, link)
		if (node->node.incarnation == local->leader)
			memcpy(ret->leader_name, node->node.name, COORD_NAME);
}

static bool renew(struct coord_local *local, const struct coord_beat *beat)
{
	if (!beat->token || local->leader_until_ns <= now(local) ||
		local->leader != beat->self->incarnation ||
		!local_token_is(local, beat->token))
		return false;
	local->leader_until_ns = end_of(local, beat->ttl_ms);
	return true;
}

static int beat(void *context, const struct coord_beat *beat, struct coord_view *ret)
{
	struct coord_local *local = context;
	const struct coord_node *self = beat->self;
	int err = beat_node(local, self, beat->ttl_ms);
	if (err)
		return err;
	if (self->before && local->leader == self->before)
		local->leader_until_ns = 0;
	for (size_t i = 0; i < beat->n; i++)
		beat->leases[i].error =
			beat_rank(local, self, beat->ttl_ms, &beat->leases[i]);
	bool renewed = renew(local, beat);
	view(local, self->name, ret);
	ret->renewed = renewed;
	if (beat->look)
		err = members(local, beat->look);
	if (beat->look && !err)
		err = local_jobs(local, local->run, &beat->look->jobs);
	return err;
}

static int release(
	void *context, const struct coord_node *self, const char *name, uint32_t rank)
{
	struct coord_local *local = context;
	if (name) {
		struct local_job *job = local_find(local, name);
		if (job && rank < job->facts.ranks &&
			job->ranks[rank].owner == self->incarnation) {
			job->ranks[rank].until_ns = 0;
			local->news++;
		}
		return 0;
	}
	struct local_node *node = find_node(local, self->name);
	if (node && node->node.incarnation == self->incarnation) {
		LIST_REMOVE(node, link);
		free(node);
	}
	if (local->leader == self->incarnation)
		local->leader_until_ns = 0;
	return 0;
}

/* --- the leader ------------------------------------------------------------------------- */

static int elect(void *context, const struct coord_node *self, uint64_t random,
	uint32_t ttl_ms, struct coord_token *ret)
{
	struct coord_local *local = context;
	if (local->leader_until_ns > now(local) && local->leader != self->incarnation)
		return -EBUSY;
	local->leader = self->incarnation;
	local->leader_until_ns = end_of(local, ttl_ms);
	local->token.term++;
	local->token.random = random;
	*ret = local->token;
	return 0;
}

static const struct coord_engine functions = {.beat = beat,
	.release = release,
	.enter = local_enter,
	.leave = local_leave,
	.jobs = local_jobs,
	.facts = local_facts,
	.elect = elect,
	.open = local_open,
	.append = local_append,
	.read = local_read,
	.forget = local_forget,
	.repair = local_repair,
	.repaired = local_repaired,
	.offers = local_offers,
	.reported = local_reported,
	.fill = local_fill,
	.mend = local_mend,
	.ready = local_ready,
	.tell = local_tell,
	.told = local_told};

int coord_local_new(uint64_t (*now_ns)(void *context), void *context, bool alone,
	struct coord_local **ret)
{
	struct coord_local *local = calloc(1, sizeof(*local));
	if (!local)
		return -ENOMEM;
	local->engine = functions;
	local->engine.context = local;
	local->engine.alone = alone;
	local->now_ns = now_ns;
	local->clock = context;
	LIST_INIT(&local->nodes);
	LIST_INIT(&local->jobs);
	LIST_INIT(&local->told);
	LIST_INIT(&local->reported);
	coord_local_restart(local);
	*ret = local;
	return 0;
}

void local_forget_life(struct coord_local *local)
{
	coord_offers_free(&local->offers);
	while (!LIST_EMPTY(&local->reported)) {
		struct local_runner *node = LIST_FIRST(&local->reported);
		LIST_REMOVE(node, link);
		free(node);
	}
}

void coord_local_free(struct coord_local **pointer)
{
	struct coord_local *local = *pointer;
	if (!local)
		return;
	local_forget_life(local);
	while (!LIST_EMPTY(&local->told))
		local_told_free(LIST_FIRST(&local->told));
	while (!LIST_EMPTY(&local->jobs))
		local_job_free(LIST_FIRST(&local->jobs));
	while (!LIST_EMPTY(&local->nodes)) {
		struct local_node *node = LIST_FIRST(&local->nodes);
		LIST_REMOVE(node, link);
		free(node);
	}
	free(local);
	*pointer = NULL;
}

const struct coord_engine *coord_local_engine(struct coord_local *local)
{
	return &local->engine;
}

void coord_local_restart(struct coord_local *local)
{
	local_forget_life(local);
	snprintf(local->run, sizeof(local->run), "local-%" PRIu64, ++local->life);
}
