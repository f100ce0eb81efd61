// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "../coord_journal.h"
#include "base/clock.h"
#include "coord/coord_local.h"
#include "coord/coord_resp.h"
#include "redis_server.h"

#include <criterion/criterion.h>

/*
 * A few coordinators over one engine: the engine in the process, with a clock of its own, or a
 * real server. Readers consume samples as soon as they are fed, unless the world holds them.
 */

#define WORLD_NODES 3

enum world_engine { WORLD_LOCAL, WORLD_REDIS };

struct world_node {
	struct world *world;
	struct coord *coord;
	struct coord_resp *resp;
	struct coord_journal journal;
	uint32_t consumed_epoch[JOURNAL_JOBS][JOURNAL_RANKS];
	uint32_t consumed[JOURNAL_JOBS][JOURNAL_RANKS];
	uint64_t incarnation;
	uint32_t fed; /* positions that the node was fed */
	uint32_t lost;
	uint32_t
		skipped_to; /* the epoch with which a rank went on after it had lost samples */
	bool full;	    /* its journal has no room */
	bool silent;	    /* the node makes no steps, as if it were dead or stopped */
};

struct world {
	enum world_engine engine;
	struct coord_local *local;
	const struct coord_engine *instead; /* replaces the local engine, unless NULL */
	struct redis_server server;
	uint64_t now_ns, ttl_ns;
	uint64_t incarnations;
	uint64_t most_ids; /* most_ids of nodes that start from now on */
	uint64_t before;   /* former incarnation of the next node that starts */
	struct world_node nodes[WORLD_NODES];
	roaring_bitmap_t *ids[JOURNAL_JOBS];
	struct coord_job facts[JOURNAL_JOBS];
	struct coord_calls calls; /* only place, resident and lacked are used */
	uint32_t hold_epoch;	  /* readers begin no later epoch */
	uint32_t hold_position;	  /* readers consume no more positions of this epoch */
};

static inline uint64_t world_now(void *context)
{
	const struct world *world = context;
	return world->engine == WORLD_LOCAL ? world->now_ns : clock_now_ns();
}

/* --- what coordinators call ------------------------------------------------------------- */

static inline int world_fed(void *context, const char *name, uint32_t rank,
	uint32_t epoch, uint32_t base, const sample_id *ids, uint32_t n)
{
	struct world_node *node = context;
	unsigned job = journal_job(name);
	if (node->full)
		return -28;
	for (uint32_t i = 0; i < n; i++) {
		sample_id before = node->journal.ids[job][epoch][rank][base + i];
		cr_assert(before == SAMPLE_NONE || before == ids[i],
			"position %u of rank %u was %u, is %u", base + i, rank, before,
			ids[i]);
	}
	journal_write(&node->journal, job, rank, epoch, base, ids, n);
	node->fed += n;
	return 0;
}

static inline void world_lost(void *context, const char *job, uint32_t rank)
{
	struct world_node *node = context;
	(void)job, (void)rank;
	node->lost++;
}

static inline uint32_t world_known(void *context, const char *job)
{
	struct world_node *node = context;
	return node->journal.known[journal_job(job)];
}

static inline uint32_t world_tail(
	void *context, struct coord_tail *tail, sample_id *ids, uint32_t most)
{
	struct world_node *node = context;
	return journal_tail(&node->journal, tail, ids, most);
}

static inline int world_skipped(void *context, const char *job, uint32_t rank,
	uint32_t epoch, uint32_t position, uint32_t to)
{
	struct world_node *node = context;
	(void)job, (void)rank, (void)epoch, (void)position;
	node->skipped_to = to;
	return 0;
}

static inline void world_forget(void *context, const char *job, uint32_t rank,
	uint32_t epoch, uint32_t base, uint32_t n)
{
	struct world_node *node = context;
	journal_forget(&node->journal, journal_job(job), rank, epoch, base, n);
}

/* --- life ------------------------------------------------------------------------------- */

static inline bool world_begin(struct world *world, enum world_engine engine)
{
	memset(world, 0, sizeof(*world));
	world->engine = engine;
	world->now_ns = 1000000000;
	world->ttl_ns = engine == WORLD_LOCAL ? 1000000000 : 400000000;
	world->hold_epoch = UINT32_MAX;
	world->hold_position = UINT32_MAX;
	if (engine == WORLD_LOCAL)
		cr_assert_eq(coord_local_new(world_now, world, false, &world->local), 0);
	else
		redis_new(&world->server, NULL);
	return true;
}

static inline const struct coord_engine *world_engine(struct world_node *node)
{
	char message[COORD_TEXT];
	if (node->world->instead)
		return node->world->instead;
	if (node->world->engine == WORLD_LOCAL)
		return coord_local_engine(node->world->local);
	cr_assert_eq(
		coord_resp_new(&(struct coord_server){.url = node->world->server.url},
			"group", 200, &node->resp, message),
		0, "%s", message);
	return coord_resp_engine(node->resp);
}

/* Starts node i under the name, with its former journal. */
static inline struct world_node *world_start_as(
	struct world *world, unsigned i, const char *name)
{
	struct world_node *node = &world->nodes[i];
	if (!node->world)
		journal_clear(&node->journal);
	node->world = world;
	node->silent = false;
	node->incarnation = ++world->incarnations;
	struct coord_options options = {.self = {.incarnation = node->incarnation,
						.capacity = 1.5,
						.address = "10.0.0.1:7000",
						.before = world->before},
		.ttl_ns = world->ttl_ns,
		.seed = 7 * i + world->incarnations,
		.most_ids = world->most_ids,
		.calls = {.context = node,
			.fed = world_fed,
			.lost = world_lost,
			.known = world_known,
			.tail = world_tail,
			.forget = world_forget,
			.skipped = world_skipped,
			.place = world->calls.place,
			.resident = world->calls.resident,
			.lacked = world->calls.lacked}};
	snprintf(options.self.name, sizeof(options.self.name), "%s", name);
	cr_assert_eq(coord_new(&options, world_engine(node), &node->coord), 0);
	return node;
}

static inline struct world_node *world_start(struct world *world, unsigned i)
{
	static const char *const names[] = {"node0", "node1", "node2"};
	return world_start_as(world, i, names[i]);
}

/* Ends the node as SIGKILL does. */
static inline void world_kill(struct world_node *node)
{
	coord_free(&node->coord);
	coord_resp_free(&node->resp);
	node->fed = 0;
	memset(node->consumed, 0, sizeof(node->consumed));
	memset(node->consumed_epoch, 0, sizeof(node->consumed_epoch));
}

static inline void world_end(struct world *world)
{
	for (unsigned i = 0; i < WORLD_NODES; i++)
		world_kill(&world->nodes[i]);
	for (unsigned j = 0; j < JOURNAL_JOBS; j++)
		if (world->ids[j])
			roaring_bitmap_free(world->ids[j]);
	if (world->engine == WORLD_LOCAL)
		coord_local_free(&world->local);
	else
		redis_end(&world->server);
}

/* Adds a job of the samples from..to-1. */
static inline const struct coord_job *world_job(struct world *world, unsigned job,
	uint32_t from, uint32_t to, uint32_t ranks, uint32_t batch)
{
	if (!world->ids[job])
		world->ids[job] = roaring_bitmap_from_range(from, to, 1);
	world->facts[job] = (struct coord_job){.name = journal_name(job),
		.dataset = "photos",
		.fingerprint = 17,
		.ids = world->ids[job],
		.ranks = ranks,
		.batch = batch,
		.kind = SAMPLER_DSA};
	return &world->facts[job];
}

static inline void world_take(struct world_node *node, unsigned job, uint32_t rank)
{
	cr_assert_eq(
		coord_take_rank(node->coord, journal_name(job), rank, 0, COORD_AT_CURSOR),
		0);
}

/* --- steps ------------------------------------------------------------------------------ */

static inline void world_consume(struct world_node *node, unsigned job, uint32_t rank)
{
	const struct world *world = node->world;
	const struct coord_job *facts = &world->facts[job];
	uint32_t n = (uint32_t)roaring_bitmap_get_cardinality(facts->ids);
	uint32_t length = ranks_position(n, facts->batch, facts->ranks, rank);
	uint32_t *epoch = &node->consumed_epoch[job][rank],
		 *position = &node->consumed[job][rank];
	struct coord_rank_status status;
	if (coord_rank_status(node->coord, facts->name, rank, &status) || !status.held)
		return;
	if (status.committed_epoch > *epoch) {
		*epoch = status.committed_epoch;
		*position = 0;
	}
	if (status.committed_epoch == *epoch && status.committed > *position)
		*position = status.committed;
	uint32_t to = status.epoch > *epoch ? length : status.position;
	if (*epoch == world->hold_epoch && to > world->hold_position)
		to = world->hold_position;
	if (status.epoch >= *epoch && to > *position) {
		*position = to;
		(void)coord_commit(node->coord, facts->name, rank, *epoch, to);
	}
	bool last = *epoch == JOURNAL_EPOCHS - 1;
	if (*position == length && *epoch < world->hold_epoch && !last) {
		(void)coord_want(node->coord, facts->name, *epoch + 1);
		if (status.epoch > *epoch) {
			++*epoch;
			*position = 0;
			(void)coord_commit(node->coord, facts->name, rank, *epoch, 0);
		}
	}
}

static inline void world_step(struct world *world)
{
	uint64_t now = world_now(world), due = now + world->ttl_ns;
	for (unsigned i = 0; i < WORLD_NODES; i++) {
		struct world_node *node = &world->nodes[i];
		if (!node->coord || node->silent)
			continue;
		uint64_t next = coord_step(node->coord, now);
		due = next < due ? next : due;
		for (unsigned j = 0; j < JOURNAL_JOBS; j++)
			for (uint32_t r = 0; r < world->facts[j].ranks; r++)
				world_consume(node, j, r);
	}
	if (due > now + world->ttl_ns / 64)
		due = now + world->ttl_ns / 64;
	if (due < now + 1000000)
		due = now + 1000000;
	if (world->engine == WORLD_LOCAL)
		world->now_ns = due;
	else
		redis_wait_ms((long)((due - now) / 1000000));
}

static inline void world_print(const struct world *world)
{
	for (unsigned i = 0; i < WORLD_NODES; i++) {
		struct coord_status status;
		if (!world->nodes[i].coord)
			continue;
		coord_status(world->nodes[i].coord, &status);
		fprintf(stderr, "node%u: state %d%s, leader %s, term %lu, fed %u, %s\n",
			i, (int)status.state, status.repairing ? " repairing" : "",
			status.leader, (unsigned long)status.term, world->nodes[i].fed,
			status.message);
	}
}

/* Makes steps until the condition holds; fails after a hundred ttl. */
#define world_until(world, condition)                                                    \
	do {                                                                             \
		uint64_t end_ns_ = world_now(world) + 100 * (world)->ttl_ns;             \
		while (!(condition)) {                                                   \
			if (world_now(world) >= end_ns_) {                               \
				world_print(world);                                      \
				cr_assert_fail("not reached: %s", #condition);           \
			}                                                                \
			world_step(world);                                               \
		}                                                                        \
	} while (0)

static inline void world_pass(struct world *world, uint64_t ns)
{
	uint64_t end_ns = world_now(world) + ns;
	while (world_now(world) < end_ns)
		world_step(world);
}

/* Returns the samples that readers on all nodes were given in the epoch. */
static inline roaring_bitmap_t *world_given(
	const struct world *world, unsigned job, uint32_t epoch, uint32_t *ret_positions)
{
	roaring_bitmap_t *ids = roaring_bitmap_create();
	*ret_positions = 0;
	for (uint32_t r = 0; r < JOURNAL_RANKS; r++)
		for (uint32_t p = 0; p < JOURNAL_POSITIONS; p++) {
			sample_id one = SAMPLE_NONE;
			for (unsigned i = 0; i < WORLD_NODES; i++) {
				sample_id id =
					world->nodes[i].world
						? world->nodes[i]
							  .journal.ids[job][epoch][r][p]
						: SAMPLE_NONE;
				if (id == SAMPLE_NONE)
					continue;
				cr_assert(one == SAMPLE_NONE || one == id,
					"rank %u has two samples at %u", r, p);
				one = id;
			}
			if (one == SAMPLE_NONE)
				continue;
			roaring_bitmap_add(ids, one);
			++*ret_positions;
		}
	return ids;
}

static inline bool world_given_any(
	const struct world *world, unsigned job, uint32_t epoch)
{
	uint32_t positions;
	roaring_bitmap_free(world_given(world, job, epoch, &positions));
	return positions > 0;
}

/* Forgets all readers of all jobs, and the samples in their journals. */
static inline void world_forget_readers(struct world *world)
{
	for (unsigned i = 0; i < WORLD_NODES; i++) {
		struct world_node *node = &world->nodes[i];
		journal_clear(&node->journal);
		memset(node->consumed, 0, sizeof(node->consumed));
		memset(node->consumed_epoch, 0, sizeof(node->consumed_epoch));
	}
}

static inline bool world_is_given(const struct world *world, unsigned job, uint32_t epoch)
{
	uint32_t positions;
	roaring_bitmap_t *ids = world_given(world, job, epoch, &positions);
	bool all = roaring_bitmap_equals(ids, world->ids[job]);
	cr_assert_eq(roaring_bitmap_get_cardinality(ids), positions, "a sample twice");
	roaring_bitmap_free(ids);
	return all;
}

static inline struct coord_status world_status(const struct world_node *node)
{
	struct coord_status status;
	coord_status(node->coord, &status);
	return status;
}

static inline bool world_holds(const struct world_node *node, unsigned job, uint32_t rank)
{
	struct coord_rank_status status;
	return coord_rank_status(node->coord, journal_name(job), rank, &status) == 0 &&
	       status.held;
}
