// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "group.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The engine's disk: copies of the engine at earlier times. */

#define COPIES 12

static struct {
	struct coord_local *store;
	uint64_t ns;
} copies[COPIES];
static unsigned n_copies;

static uint64_t engine_now(void *unused)
{
	(void)unused;
	return co_now() + group.engine_clock_ns;
}

static struct coord_local *make(void)
{
	struct coord_local *store;
	ensure(coord_local_new(engine_now, NULL, false, &store) == 0);
	return store;
}

static void copy_feeds(const struct local_job *from, struct local_job *to)
{
	const struct local_feed *feed;
	LIST_FOREACH (feed, &from->feeds, link) {
		size_t size = sizeof(*feed) + feed->ranks * sizeof(feed->rank[0]);
		struct local_feed *copy = malloc(size);
		ensure(copy);
		memcpy(copy, feed, size);
		for (uint32_t r = 0; r < feed->ranks; r++) {
			struct local_rank_feed *rank = &copy->rank[r];
			rank->ids = malloc(rank->n * sizeof(sample_id) + 1);
			ensure(rank->ids);
			if (rank->n)
				memcpy(rank->ids, feed->rank[r].ids,
					rank->n * sizeof(sample_id));
			rank->room = rank->n;
		}
		LIST_INSERT_HEAD(&to->feeds, copy, link);
	}
}

static void copy_job(const struct local_job *from, struct coord_local *to)
{
	const struct local_runner *runner;
	char differs[COORD_TEXT];
	LIST_FOREACH (runner, &from->runners, link)
		ensure(local_enter(to, runner->node, &from->facts, differs) == 0);
	struct local_job *job = local_find(to, from->name);
	ensure(job);
	job->epoch = from->epoch;
	job->next = from->next;
	memcpy(job->ranks, from->ranks, from->facts.ranks * sizeof(*job->ranks));
	copy_feeds(from, job);
}

/* Copies all data that outlive the engine's process. */
static struct coord_local *copy(const struct coord_local *from)
{
	struct coord_local *to = make();
	const struct local_node *node;
	const struct local_job *job;
	memcpy(to->run, from->run, sizeof(to->run));
	memcpy(to->is_ready, from->is_ready, sizeof(to->is_ready));
	to->leader = from->leader;
	to->leader_until_ns = from->leader_until_ns;
	to->token = from->token;
	LIST_FOREACH (node, &from->nodes, link) {
		struct local_node *one = malloc(sizeof(*one));
		ensure(one);
		*one = *node;
		LIST_INSERT_HEAD(&to->nodes, one, link);
	}
	LIST_FOREACH (job, &from->jobs, link)
		copy_job(job, to);
	return to;
}

static void live(void)
{
	snprintf(group.store->run, sizeof(group.store->run), "life-%" PRIu64,
		++group.life);
	group.engine_began_ns = co_now();
}

void store_begin(void)
{
	group.store = make();
	live();
}

void store_end(void)
{
	coord_local_free(&group.store);
	while (n_copies > 0)
		coord_local_free(&copies[--n_copies].store);
}

void store_save(void)
{
	if (n_copies == COPIES) {
		coord_local_free(&copies[0].store);
		memmove(&copies[0], &copies[1], (COPIES - 1) * sizeof(copies[0]));
		n_copies--;
	}
	copies[n_copies].ns = co_now();
	copies[n_copies++].store = copy(group.store);
}

/* Replaces the engine by the newest copy that is old enough. Newer copies are dropped. */
static void roll_back(uint64_t ago_ns)
{
	unsigned i = n_copies;
	while (i > 0 && co_now() - copies[i - 1].ns < ago_ns)
		i--;
	if (i == 0)
		return;
	coord_local_free(&group.store);
	group.store = copy(copies[i - 1].store);
	while (n_copies > i)
		coord_local_free(&copies[--n_copies].store);
	group.counts.rollbacks++;
}

void store_restart(uint64_t ago_ns)
{
	local_forget_life(group.store);
	if (ago_ns)
		roll_back(ago_ns);
	live();
	group.counts.restarts++;
}
