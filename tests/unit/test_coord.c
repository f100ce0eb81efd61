// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "coord_world.h"

#include "coord/coord_local_internal.h"
#include "place/divide.h"

#include <errno.h>

/* The behaviour of a group of daemons, with each engine. */

#define EACH_ENGINE(name)                                                                \
	static void name(struct world *world);                                           \
	Test(coord_local, name)                                                          \
	{                                                                                \
		struct world world;                                                      \
		world_begin(&world, WORLD_LOCAL);                                        \
		name(&world);                                                            \
		world_end(&world);                                                       \
	}                                                                                \
	Test(coord_redis, name)                                                          \
	{                                                                                \
		struct world world;                                                      \
		if (!redis_is_there())                                                   \
			cr_skip_test("no redis-server");                                 \
		world_begin(&world, WORLD_REDIS);                                        \
		name(&world);                                                            \
		world_end(&world);                                                       \
	}                                                                                \
	static void name(struct world *world)

EACH_ENGINE(one_node_is_fed_each_sample_once_in_each_epoch)
{
	struct world_node *node = world_start(world, 0);
	cr_assert_eq(coord_add_job(node->coord, world_job(world, 0, 0, 101, 2, 8)), 0);
	world_take(node, 0, 0);
	world_take(node, 0, 1);
	world_until(world, world_is_given(world, 0, 2));
	for (uint32_t e = 0; e < 2; e++)
		cr_assert(world_is_given(world, 0, e));
	cr_assert_neq(memcmp(node->journal.ids[0][0][0], node->journal.ids[0][1][0], 200),
		0, "epochs are in the same order");
	struct coord_status status = world_status(node);
	cr_assert_eq(status.state, COORD_LEADS);
	cr_assert_str_eq(status.leader, "node0");
}

EACH_ENGINE(ranks_of_several_nodes_share_an_epoch)
{
	for (unsigned i = 0; i < 3; i++) {
		struct world_node *node = world_start(world, i);
		cr_assert_eq(
			coord_add_job(node->coord, world_job(world, 0, 0, 100, 3, 10)),
			0);
		world_take(node, 0, i);
	}
	world_until(world, world_is_given(world, 0, 1));
	cr_assert(world_is_given(world, 0, 0));
	unsigned leaders = 0;
	for (unsigned i = 0; i < 3; i++)
		leaders += world_status(&world->nodes[i]).state == COORD_LEADS;
	cr_assert_eq(leaders, 1);
	/* The first rank gets one sample more of each mini-batch. */
	cr_assert_neq(world->nodes[0].journal.ids[0][0][0][39], SAMPLE_NONE);
	cr_assert_eq(world->nodes[0].journal.ids[0][0][0][40], SAMPLE_NONE);
	cr_assert_neq(world->nodes[2].journal.ids[0][0][2][29], SAMPLE_NONE);
	cr_assert_eq(world->nodes[2].journal.ids[0][0][2][30], SAMPLE_NONE);
	size_t n;
	const struct coord_node *members = coord_members(world->nodes[1].coord, &n);
	cr_assert_eq(n, 3);
	cr_assert_str_eq(members[2].name, "node2");
	cr_assert_str_eq(members[2].address, "10.0.0.1:7000");
	cr_assert_eq(members[2].capacity, 1.5);
}

/* Jobs that begin together and read at the same pace get the same samples. */
EACH_ENGINE(jobs_on_one_dataset_share_draws)
{
	struct world_node *node = world_start(world, 0), *other = world_start(world, 1);
	cr_assert_eq(coord_add_job(node->coord, world_job(world, 0, 0, 100, 1, 100)), 0);
	cr_assert_eq(coord_add_job(other->coord, world_job(world, 1, 0, 100, 1, 100)), 0);
	world_take(node, 0, 0);
	world_take(other, 1, 0);
	world_until(world, world_is_given(world, 0, 0) && world_is_given(world, 1, 0));
	cr_assert_eq(memcmp(node->journal.ids[0][0][0], other->journal.ids[1][0][0],
			     100 * sizeof(sample_id)),
		0);
}

EACH_ENGINE(a_job_that_differs_is_refused)
{
	struct world_node *node = world_start(world, 0), *other = world_start(world, 1);
	struct coord_job job = *world_job(world, 0, 0, 100, 2, 8);
	struct coord_job_status status;
	cr_assert_eq(coord_add_job(node->coord, &job), 0);
	world_until(world,
		coord_job_status(node->coord, "job0", &status) == 0 && status.entered);
	static const char *const messages[] = {"ranks: 3 here, 2 in the group",
		"batch: 9 here, 8 in the group",
		"sampler: exchange here, dsa in the group",
		"samples: the samples selected here differ",
		"dataset: 'trees' here, 'photos'", "samples: 90 here, 100",
		"times: the files' paths and sizes are those of the group"};
	for (unsigned i = 0; i < 7; i++) {
		struct coord_job one = job;
		roaring_bitmap_t *fewer = roaring_bitmap_from_range(0, 90, 1);
		one.ranks += i == 0;
		one.batch += i == 1;
		one.kind = i == 2 ? SAMPLER_EXCHANGE : one.kind;
		one.fingerprint += i == 3 ? UINT64_C(1) << 32 : i == 6;
		one.dataset = i == 4 ? "trees" : one.dataset;
		one.ids = i == 5 ? fewer : one.ids;
		cr_assert_eq(coord_add_job(other->coord, &one), 0);
		world_until(world, coord_job_status(other->coord, "job0", &status) == 0 &&
					   status.refused[0]);
		cr_assert_not_null(
			strstr(status.refused, messages[i]), "%s", status.refused);
		cr_assert_not(status.entered);
		cr_assert_eq(coord_remove_job(other->coord, "job0"), 0);
		roaring_bitmap_free(fewer);
	}
	/* An older version has begun the training. */
	struct coord_job newer = job;
	newer.older = job.fingerprint;
	newer.fingerprint += UINT64_C(1) << 40;
	cr_assert_eq(coord_add_job(other->coord, &newer), 0);
	world_until(world,
		coord_job_status(other->coord, "job0", &status) == 0 && status.entered);
}

/* Samples of the epoch that former ranks consumed are not given again. Each other sample is given
 * once. */
EACH_ENGINE(a_training_goes_on_in_an_epoch_with_other_ranks)
{
	static const uint32_t lengths[] = {0, 1, 12, 29, 30, 99, 100};
	struct world_node *node = world_start(world, 0), *other = world_start(world, 1);
	sample_id log[100];
	for (uint32_t i = 0; i < 100; i++)
		log[i] = 7 * i % 100;
	for (unsigned k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++) {
		struct coord_job job = *world_job(world, 0, 0, 100, 3, 10);
		struct coord_job_status status;
		job.epoch = 3;
		job.log = log;
		job.n_log = lengths[k];
		cr_assert_eq(coord_add_job(node->coord, &job), 0);
		world_until(world, coord_job_status(node->coord, "job0", &status) == 0 &&
					   status.entered);
		/* The other node learns the position from the group. */
		cr_assert_eq(
			coord_add_job(other->coord, world_job(world, 0, 0, 100, 3, 10)),
			0);
		world_take(node, 0, 0);
		world_take(other, 0, 1);
		world_take(other, 0, 2);
		world_until(world, world_is_given(world, 0, 5));
		cr_assert(world_is_given(world, 0, 4));
		uint32_t positions;
		roaring_bitmap_t *given = world_given(world, 0, 3, &positions);
		for (uint32_t i = 0; i < 100; i++)
			cr_assert_eq(roaring_bitmap_contains(given, log[i]),
				i >= lengths[k], "%u of %u", i, lengths[k]);
		cr_assert_eq(positions, 100 - lengths[k]);
		roaring_bitmap_free(given);
		cr_assert(!world_given_any(world, 0, 2));
		cr_assert_eq(coord_remove_job(node->coord, "job0"), 0);
		cr_assert_eq(coord_remove_job(other->coord, "job0"), 0);
		world_forget_readers(world);
	}
}

EACH_ENGINE(who_goes_on_later_than_the_group_is_refused)
{
	struct world_node *node = world_start(world, 0), *other = world_start(world, 1);
	static const sample_id log[] = {5, 6, 7, 8};
	struct coord_job job = *world_job(world, 0, 0, 100, 2, 8);
	struct coord_job_status status;
	cr_assert_eq(coord_add_job(node->coord, &job), 0);
	world_until(world,
		coord_job_status(node->coord, "job0", &status) == 0 && status.entered);
	job.epoch = 1;
	job.log = log;
	job.n_log = 4;
	cr_assert_eq(coord_add_job(other->coord, &job), 0);
	world_until(world, coord_job_status(other->coord, "job0", &status) == 0 &&
				   status.refused[0]);
	cr_assert_str_eq(status.refused, "position (samples of all ranks): epoch 1, "
					 "sample 4 here, epoch 0, sample 0 in the group");
	/* The training continues with other facts when no node has it with the old ones. */
	cr_assert_eq(coord_remove_job(node->coord, "job0"), 0);
	world_until(world,
		coord_job_status(other->coord, "job0", &status) == 0 && status.entered);
	cr_assert_eq(coord_add_job(other->coord, &job), -EEXIST);
	job.epoch = 2;
	cr_assert_eq(coord_add_job(other->coord, &job), -EALREADY);
	job.n_log = 101;
	cr_assert_eq(coord_add_job(node->coord, &job), -EINVAL);
}

EACH_ENGINE(a_second_daemon_of_the_same_name_is_refused_until_the_first_is_gone)
{
	struct world_node *node = world_start(world, 0);
	world_until(world, world_status(node).state == COORD_LEADS);
	struct world_node *other = world_start_as(world, 1, "node0");
	world_until(world, world_status(other).state == COORD_REFUSED);
	cr_assert_not_null(strstr(world_status(other).message, "'node0'"));
	coord_leave(node->coord);
	world_kill(node);
	world_until(world, world_status(other).state == COORD_LEADS);
}

/* The daemon does not wait until its former leases end, and its former incarnation can't come
 * back. */
EACH_ENGINE(a_daemon_that_comes_back_takes_its_leases)
{
	struct world_node *node = world_start(world, 0), *other = world_start(world, 1);
	world->hold_epoch = 0;
	world->hold_position = 20;
	cr_assert_eq(coord_add_job(node->coord, world_job(world, 0, 0, 100, 1, 10)), 0);
	cr_assert_eq(coord_add_job(other->coord, &world->facts[0]), 0);
	world_take(node, 0, 0);
	struct coord_rank_status status;
	world_until(world, coord_rank_status(node->coord, "job0", 0, &status) == 0 &&
				   status.committed == 20);
	other->silent = true; /* this node must not become the leader */
	const struct coord_engine *engine = world->engine == WORLD_LOCAL
						    ? coord_local_engine(world->local)
						    : coord_resp_engine(other->resp);
	struct coord_node was = {.name = "node0", .incarnation = node->incarnation};
	world_kill(node);
	world->before = was.incarnation;
	node = world_start(world, 0);
	world->before = 0;
	cr_assert_eq(coord_add_job(node->coord, &world->facts[0]), 0);
	world_take(node, 0, 0);
	for (int i = 0; i < 8 && !world_holds(node, 0, 0); i++)
		(void)coord_step(node->coord, world_now(world) + (uint64_t)i * 10000000);
	cr_assert(world_holds(node, 0, 0), "it waits for its own leases");
	cr_assert_eq(world_status(node).state, COORD_LEADS);
	struct coord_lease lease = {.job = "job0", .cursor = {0, 30}};
	struct coord_view view;
	const struct coord_beat beat = {
		.self = &was, .ttl_ms = 1000, .leases = &lease, .n = 1};
	cr_assert_eq(engine->beat(engine->context, &beat, &view), -EEXIST);
	world->hold_position = UINT32_MAX;
	world_until(world, world_is_given(world, 0, 0));
}

/* The next node that takes the rank knows what was consumed. */
EACH_ENGINE(a_node_that_leaves_sends_its_cursors)
{
	struct world_node *node = world_start(world, 0), *other = world_start(world, 1);
	struct coord_rank_status status;
	world->hold_epoch = 0;
	world->hold_position = 0;
	cr_assert_eq(coord_add_job(node->coord, world_job(world, 0, 0, 100, 1, 10)), 0);
	cr_assert_eq(coord_add_job(other->coord, &world->facts[0]), 0);
	world_take(node, 0, 0);
	world_until(world, node->fed >= 20);
	cr_assert_eq(coord_commit(node->coord, "job0", 0, 0, 17), 0);
	coord_leave(node->coord);
	world_kill(node);
	world_take(other, 0, 0);
	world_until(world, world_holds(other, 0, 0));
	cr_assert_eq(coord_rank_status(other->coord, "job0", 0, &status), 0);
	cr_assert_eq(status.committed, 17);
}

/* A job with the same name and other facts is possible when no node runs the former job. */
EACH_ENGINE(ranks_change_when_no_node_runs_the_job)
{
	struct world_node *node = world_start(world, 0), *other = world_start(world, 1);
	struct coord_job_status status;
	cr_assert_eq(coord_add_job(node->coord, world_job(world, 0, 0, 60, 3, 6)), 0);
	cr_assert_eq(coord_add_job(other->coord, &world->facts[0]), 0);
	for (unsigned r = 0; r < 3; r++)
		world_take(r ? node : other, 0, r);
	world_until(world, world_is_given(world, 0, 0));
	world->hold_epoch = 0;
	for (unsigned i = 0; i < 2; i++) {
		struct world_node *one = i ? node : other;
		cr_assert_eq(coord_remove_job(one->coord, "job0"), 0);
		(void)world_job(world, 0, 0, 60, 2, 6);
		cr_assert_eq(coord_add_job(one->coord, &world->facts[0]), 0);
		journal_clear(&one->journal);
		memset(one->consumed, 0, sizeof(one->consumed));
		memset(one->consumed_epoch, 0, sizeof(one->consumed_epoch));
		if (i == 0)
			world_until(world,
				coord_job_status(one->coord, "job0", &status) == 0 &&
					status.refused[0]);
		world_take(one, 0, i);
	}
	world_until(world, world_is_given(world, 0, 0));
	cr_assert_eq(coord_job_status(other->coord, "job0", &status), 0);
	cr_assert(status.entered && !status.refused[0]);
}

EACH_ENGINE(when_the_leader_dies_another_one_goes_on_with_the_log)
{
	world->hold_epoch = 0;
	world->hold_position = 8;
	for (unsigned i = 0; i < 3; i++) {
		struct world_node *node = world_start(world, i);
		cr_assert_eq(
			coord_add_job(node->coord, world_job(world, 0, 0, 120, 3, 6)), 0);
		world_take(node, 0, i);
	}
	world_until(world, world->nodes[0].fed >= 8 && world->nodes[1].fed >= 8 &&
				   world->nodes[2].fed >= 8);
	unsigned leader = 0;
	while (world_status(&world->nodes[leader]).state != COORD_LEADS)
		leader++;
	unsigned other = (leader + 1) % 3;
	uint64_t term = world_status(&world->nodes[leader]).term;
	world_kill(&world->nodes[leader]);
	world_until(world, world_status(&world->nodes[other]).term > term);
	world->hold_position = UINT32_MAX;
	/* The dead node's rank continues where it was committed. */
	world_take(&world->nodes[other], 0, leader);
	world_until(world, world_is_given(world, 0, 0));
}

EACH_ENGINE(a_rank_is_served_by_one_node_at_a_time)
{
	struct world_node *node = world_start(world, 0), *other = world_start(world, 1);
	world->hold_epoch = 0;
	world->hold_position = 20;
	cr_assert_eq(coord_add_job(node->coord, world_job(world, 0, 0, 100, 1, 10)), 0);
	cr_assert_eq(coord_add_job(other->coord, world_job(world, 0, 0, 100, 1, 10)), 0);
	world_take(node, 0, 0);
	struct coord_rank_status status;
	world_until(world, coord_rank_status(node->coord, "job0", 0, &status) == 0 &&
				   status.committed == 20);
	world_take(other, 0, 0);
	world_pass(world, 3 * world->ttl_ns);
	cr_assert_not(world_holds(other, 0, 0));
	cr_assert_eq(other->fed, 0);
	node->silent = true; /* the node is stopped */
	world_until(world, world_holds(other, 0, 0) && other->fed > 0);
	cr_assert_eq(other->journal.ids[0][0][0][19], SAMPLE_NONE);
	cr_assert_eq(other->journal.ids[0][0][0][20], node->journal.ids[0][0][0][20]);
	node->silent = false; /* the node learns that another one serves its rank */
	world_until(world, node->lost == 1);
	cr_assert_not(world_holds(node, 0, 0));
	world->hold_position = UINT32_MAX;
	world_until(world, world_is_given(world, 0, 0));
	cr_assert_eq(coord_drop_rank(other->coord, "job0", 0), 0);
	world_take(node, 0, 0);
	world_until(world, world_holds(node, 0, 0));
}

EACH_ENGINE(what_a_journal_does_not_take_comes_again)
{
	struct world_node *node = world_start(world, 0);
	cr_assert_eq(coord_add_job(node->coord, world_job(world, 0, 0, 50, 1, 5)), 0);
	world_take(node, 0, 0);
	node->full = true;
	world_pass(world, 4 * world->ttl_ns);
	cr_assert_eq(node->fed, 0);
	node->full = false;
	world_until(world, world_is_given(world, 0, 0));
}

static bool is_behind(const struct world_node *node, const char *ranks)
{
	char behind[COORD_TEXT];
	coord_behind(node->coord, "job0", behind);
	return strcmp(behind, ranks) == 0;
}

/* The journal of one rank takes no samples for a while. The other rank comes to its third epoch, and
 * waits, even when the first rank has no node: leases are no safety. */
EACH_ENGINE(an_epoch_begins_when_no_rank_is_two_epochs_behind)
{
	struct world_node *fast = world_start(world, 0), *slow = world_start(world, 1);
	struct coord_rank_status status;
	cr_assert_eq(coord_add_job(fast->coord, world_job(world, 0, 0, 60, 2, 6)), 0);
	cr_assert_eq(coord_add_job(slow->coord, &world->facts[0]), 0);
	world_take(fast, 0, 0);
	world_take(slow, 0, 1);
	world_until(world, slow->fed > 0);
	slow->full = true;
	world_until(world, is_behind(fast, "1") && is_behind(slow, "1"));
	cr_assert_eq(coord_rank_status(slow->coord, "job0", 1, &status), 0);
	cr_assert(status.behind);
	cr_assert_eq(coord_rank_status(fast->coord, "job0", 0, &status), 0);
	cr_assert_not(status.behind);
	cr_assert_eq(coord_drop_rank(slow->coord, "job0", 1), 0);
	world_pass(world, 4 * world->ttl_ns);
	cr_assert_not(world_given_any(world, 0, 2));
	slow->full = false;
	world_take(slow, 0, 1);
	world_until(world, world_is_given(world, 0, 4));
	for (uint32_t e = 0; e < 4; e++)
		cr_assert(world_is_given(world, 0, e), "epoch %u", e);
	cr_assert_eq(world_status(fast).skips + world_status(slow).skips, 0);
	world_until(world, is_behind(fast, ""));
}

/* The node has an older copy of its journal, and the engine has lost the rank's cursor. */
Test(coord_local, a_rank_whose_samples_are_gone_is_told)
{
	struct world world;
	world_begin(&world, WORLD_LOCAL);
	struct world_node *node = world_start(&world, 0);
	cr_assert_eq(coord_add_job(node->coord, world_job(&world, 0, 0, 60, 1, 6)), 0);
	world_take(node, 0, 0);
	world_until(&world, world_is_given(&world, 0, 3));
	cr_assert_eq(coord_drop_rank(node->coord, "job0", 0), 0);
	local_find(world.local, "job0")->ranks[0].cursor = (struct coord_position){0, 0};
	cr_assert_eq(world_status(node).skips, 0);
	cr_assert_eq(coord_take_rank(node->coord, "job0", 0, 0, 3), 0);
	world_until(&world, world_status(node).skips == 1);
	cr_assert_geq(node->skipped_to, 2);
	world_until(&world, world_is_given(&world, 0, 6));
	world_end(&world);
}

EACH_ENGINE(a_job_that_no_node_runs_is_forgotten)
{
	struct world_node *node = world_start(world, 0), *other = world_start(world, 1);
	struct coord_job_status status;
	cr_assert_eq(coord_add_job(node->coord, world_job(world, 0, 0, 40, 2, 4)), 0);
	cr_assert_eq(coord_add_job(other->coord, world_job(world, 0, 0, 40, 2, 4)), 0);
	world_take(node, 0, 0);
	world_take(other, 0, 1);
	world_until(world, world_is_given(world, 0, 1));
	cr_assert_eq(coord_remove_job(node->coord, "job0"), 0);
	cr_assert_eq(coord_remove_job(node->coord, "job0"), -ENOENT);
	cr_assert_eq(coord_add_job(node->coord, world_job(world, 0, 0, 40, 2, 4)), 0);
	world_until(world, coord_job_status(node->coord, "job0", &status) == 0 &&
				   status.entered && status.epoch > 0);
	cr_assert_eq(coord_remove_job(node->coord, "job0"), 0);
	cr_assert_eq(coord_remove_job(other->coord, "job0"), 0);
	struct coord_job fewer_ranks = *world_job(world, 0, 0, 40, 1, 4);
	cr_assert_eq(coord_add_job(node->coord, &fewer_ranks), 0);
	world_until(world,
		coord_job_status(node->coord, "job0", &status) == 0 && status.entered);
	cr_assert_eq(status.epoch, 0);
}

/* Only the journals of readers have the orders. */
EACH_ENGINE(an_engine_that_lost_all_is_repaired_from_journals)
{
	world->hold_epoch = 1;
	world->hold_position = 9;
	for (unsigned i = 0; i < 3; i++) {
		struct world_node *node = world_start(world, i);
		cr_assert_eq(
			coord_add_job(node->coord, world_job(world, 0, 0, 90, 3, 9)), 0);
		world_take(node, 0, i);
	}
	world_until(world, world->nodes[0].fed >= 40 && world->nodes[1].fed >= 40 &&
				   world->nodes[2].fed >= 40);
	if (world->engine == WORLD_LOCAL) {
		struct coord_local *empty;
		for (unsigned i = 0; i < 3; i++)
			coord_free(&world->nodes[i].coord);
		coord_local_free(&world->local);
		cr_assert_eq(coord_local_new(world_now, world, false, &empty), 0);
		world->local = empty;
		for (unsigned i = 0; i < 3; i++) {
			world_start(world, i);
			cr_assert_eq(
				coord_add_job(world->nodes[i].coord, &world->facts[0]),
				0);
			world_take(&world->nodes[i], 0, i);
		}
	} else {
		redis_kill(&world->server);
		world_until(world, world_status(&world->nodes[0]).state == COORD_AWAY);
		cr_assert_geq(world_status(&world->nodes[0]).away_since_ns, 1);
		redis_start(&world->server, NULL);
	}
	world->hold_epoch = UINT32_MAX;
	world_until(world, world_is_given(world, 0, 2));
	for (uint32_t e = 0; e < 2; e++)
		cr_assert(world_is_given(world, 0, e));
	for (unsigned i = 0; i < 3; i++)
		cr_assert_eq(world_status(&world->nodes[i]).rebound, 0);
}

/* Gives the smaller numbers to the first rank. */
static bool place_by_number(
	void *context, const struct coord_batch *batch, uint32_t *rank_of)
{
	(void)context;
	cr_assert_eq(batch->ranks, 2);
	for (uint32_t i = 0; i < batch->n; i++) {
		uint32_t smaller = 0;
		for (uint32_t k = 0; k < batch->n; k++)
			smaller += batch->ids[k] < batch->ids[i];
		rank_of[i] = smaller >= ranks_share(batch->n, 2, 0);
	}
	return true;
}

Test(coord, who_reads_which_sample_of_a_mini_batch_is_asked)
{
	struct world world;
	world_begin(&world, WORLD_LOCAL);
	world.calls.place = place_by_number;
	struct world_node *node = world_start(&world, 0);
	cr_assert_eq(coord_add_job(node->coord, world_job(&world, 0, 0, 59, 2, 6)), 0);
	world_take(node, 0, 0);
	world_take(node, 0, 1);
	world_until(&world, world_is_given(&world, 0, 0));
	const sample_id *first = node->journal.ids[0][0][0],
			*second = node->journal.ids[0][0][1];
	for (uint32_t i = 0; i < 29; i++)
		for (uint32_t k = i / 3 * 3; k < i / 3 * 3 + 3 && k < 29; k++)
			cr_assert_lt(first[i], second[k]);
	world_end(&world);
}

#define BATCHES 64

/* The leader's draws for epoch 1, and how many of the samples are read on their homes. */
static struct {
	uint64_t nodes[WORLD_NODES];
	roaring_bitmap_t *ids[BATCHES];
	uint32_t n, samples, at_home;
} drawn;

static bool place_at_home(
	void *context, const struct coord_batch *batch, uint32_t *rank_of)
{
	const struct world *world = ((struct world_node *)context)->world;
	uint32_t home[128];
	if (world->hold_epoch == 0)
		return false; /* at first, ranks come one after the other */
	for (uint32_t r = 0; r < batch->ranks; r++)
		cr_assert_eq(batch->rank_node[r], drawn.nodes[r]);
	for (uint32_t i = 0; i < batch->n; i++)
		home[i] = batch->ids[i] % WORLD_NODES;
	if (!divide(batch, home, drawn.nodes, WORLD_NODES, rank_of))
		return false;
	cr_assert_lt(drawn.n, BATCHES);
	drawn.ids[drawn.n++] = roaring_bitmap_of_ptr(batch->n, batch->ids);
	drawn.samples += batch->n;
	for (uint32_t i = 0; i < batch->n; i++)
		drawn.at_home += rank_of[i] == home[i];
	return true;
}

static roaring_bitmap_t *mini_batch(const struct world *world, uint32_t k, uint32_t each)
{
	roaring_bitmap_t *ids = roaring_bitmap_create();
	for (unsigned i = 0; i < WORLD_NODES; i++)
		for (uint32_t p = k * each; p < (k + 1) * each; p++) {
			sample_id id = world->nodes[i].journal.ids[0][1][i][p];
			if (id != SAMPLE_NONE)
				roaring_bitmap_add(ids, id);
		}
	return ids;
}

/* If ranks took samples in turn, a third of them would be read at home. The mini-batches keep
 * their samples. */
EACH_ENGINE(the_leader_knows_on_which_node_a_rank_runs)
{
	world->calls.place = place_at_home;
	world->hold_epoch = 0;
	memset(&drawn, 0, sizeof(drawn));
	for (unsigned i = 0; i < WORLD_NODES; i++) {
		struct world_node *node = world_start(world, i);
		cr_assert_eq(
			coord_add_job(node->coord, world_job(world, 0, 0, 300, 3, 24)),
			0);
		world_take(node, 0, i);
		drawn.nodes[i] = node->incarnation;
	}
	world_until(world, world_is_given(world, 0, 0));
	world->hold_epoch = 1;
	world_until(world, world_is_given(world, 0, 1));
	cr_assert_eq(drawn.samples, 300);
	cr_assert_gt(drawn.at_home, 200, "%u of 300 are read at home", drawn.at_home);
	for (uint32_t k = 0; k < drawn.n; k++) {
		roaring_bitmap_t *ids = mini_batch(world, k, 8);
		cr_assert(roaring_bitmap_equals(ids, drawn.ids[k]));
		roaring_bitmap_free(ids);
		roaring_bitmap_free(drawn.ids[k]);
	}
}

/* --- samples that their homes lack ------------------------------------------------------- */

/* Samples that homes lacked when the leader last drew, and the number of calls that told it. */
static struct {
	const struct coord_engine *engine;
	roaring_bitmap_t *ids;
	unsigned calls;
} lacked;

static bool note_lacked(void *context, const struct coord_batch *batch, uint32_t *rank_of)
{
	(void)context, (void)rank_of;
	if (lacked.ids)
		roaring_bitmap_free(lacked.ids);
	lacked.ids = batch->lacked ? roaring_bitmap_copy(batch->lacked) : NULL;
	return false;
}

/* Node i lacks all samples of the job, and ten samples from 1000 + 100 i on, which no job has. */
static void lacked_by(void *context, const char *dataset, roaring_bitmap_t *ids)
{
	const struct world_node *node = context;
	uint64_t from = 1000 + 100 * (uint64_t)(node - node->world->nodes);
	cr_assert_str_eq(dataset, "photos");
	roaring_bitmap_add_range(ids, from, from + 10);
	roaring_bitmap_add_range(ids, 0, 300);
}

/* Tells whether the leader knew the sets of nodes 0 to n - 1. Samples that were drawn recently are
 * left out, because they are on the way to a cache. */
static bool is_known(unsigned n)
{
	roaring_bitmap_t *ids = roaring_bitmap_create();
	for (unsigned i = 0; i < n; i++)
		roaring_bitmap_add_range(ids, 1000 + 100 * i, 1000 + 100 * i + 10);
	bool equal = lacked.ids && roaring_bitmap_equals(ids, lacked.ids);
	roaring_bitmap_free(ids);
	return equal;
}

static void start_lacking(struct world *world)
{
	world->calls.place = note_lacked;
	world->calls.lacked = lacked_by;
	world->hold_epoch = 0;
	for (unsigned i = 0; i < WORLD_NODES; i++) {
		struct world_node *node = world_start(world, i);
		cr_assert_eq(
			coord_add_job(node->coord, world_job(world, 0, 0, 300, 3, 6)), 0);
		world_take(node, 0, i);
	}
}

/* Reads epochs, with pauses between them, until the leader knows the sets of n nodes. */
static void read_until_known(struct world *world, unsigned n)
{
	while (!is_known(n)) {
		cr_assert_lt(world->hold_epoch, JOURNAL_EPOCHS - 1);
		world_until(world, world_is_given(world, 0, world->hold_epoch));
		world_pass(world, world->ttl_ns / 2);
		world->hold_epoch++;
	}
}

static void forget_lacked(void)
{
	if (lacked.ids)
		roaring_bitmap_free(lacked.ids);
	lacked.ids = NULL;
}

/* The set of a dead node expires. */
EACH_ENGINE(the_leader_knows_which_samples_homes_lack)
{
	start_lacking(world);
	read_until_known(world, WORLD_NODES);
	world_kill(&world->nodes[2]);
	world_pass(world, 4 * world->ttl_ns);
	world_take(&world->nodes[1], 0, 2);
	read_until_known(world, 2);
	forget_lacked();
}

static int count_tell(void *context, const char *node, const char *what,
	const roaring_bitmap_t *ids, uint32_t ttl_ms)
{
	lacked.calls++;
	return lacked.engine->tell(context, node, what, ids, ttl_ms);
}

static int count_told(void *context, const char *what, roaring_bitmap_t *ret)
{
	lacked.calls++;
	return lacked.engine->told(context, what, ret);
}

/* Nodes tell nothing while no rank reads, nor in a group of one node. */
Test(coord, idle_nodes_do_not_tell_what_they_lack)
{
	struct world world;
	world_begin(&world, WORLD_LOCAL);
	lacked.engine = coord_local_engine(world.local);
	struct coord_engine counting = *lacked.engine;
	counting.tell = count_tell;
	counting.told = count_told;
	world.instead = &counting;
	start_lacking(&world);
	world_until(&world, world_is_given(&world, 0, 0));
	cr_assert_gt(lacked.calls, 0);
	world_pass(&world, 3 * world.ttl_ns);
	lacked.calls = 0;
	world_pass(&world, 20 * world.ttl_ns);
	cr_assert_eq(lacked.calls, 0);
	world.hold_epoch = 1;
	world_until(&world, world_is_given(&world, 0, 1));
	cr_assert_gt(lacked.calls, 0);
	forget_lacked();
	world_end(&world);
}

/* The time between polls does not depend on the time after which a node counts as dead. */
Test(coord, a_long_lease_does_not_slow_readers)
{
	struct world world;
	world_begin(&world, WORLD_LOCAL);
	world.ttl_ns = UINT64_C(60000000000);
	struct world_node *node = world_start(&world, 0);
	cr_assert_eq(coord_add_job(node->coord, world_job(&world, 0, 0, 300, 3, 24)), 0);
	for (uint32_t r = 0; r < 3; r++)
		world_take(node, 0, r);
	world.hold_epoch = 0;
	world_until(&world, world_is_given(&world, 0, 0));
	uint64_t begun = world_now(&world);
	world.hold_epoch = 1;
	world_until(&world, world_is_given(&world, 0, 1));
	cr_assert_lt(world_now(&world) - begun, UINT64_C(5000000000));
	world_end(&world);
}

static void the_last_ten(void *context, const char *dataset, roaring_bitmap_t *ids)
{
	const struct world_node *node = context;
	cr_assert_str_eq(dataset, "photos");
	if (node == &node->world->nodes[1])
		roaring_bitmap_add_range(ids, 90, 100);
}

/* One node has the samples resident, and another one reads. The samples that the reader has had
 * meanwhile are no longer resident when the second job begins. */
EACH_ENGINE(exchange_draws_first_what_is_resident_anywhere)
{
	world->calls.resident = the_last_ten;
	world->hold_epoch = 0;
	struct world_node *other = world_start(world, 1), *node = world_start(world, 0);
	for (unsigned j = 0; j < 2; j++) {
		(void)world_job(world, j, 0, 100, 1, 5);
		world->facts[j].kind = SAMPLER_EXCHANGE;
		cr_assert_eq(coord_add_job(other->coord, &world->facts[j]), 0);
		cr_assert_eq(coord_add_job(node->coord, &world->facts[j]), 0);
		world_take(node, j, 0);
		world_until(world, world_is_given(world, j, 0));
		for (uint32_t i = 0; i < 10; i++)
			cr_assert_geq(node->journal.ids[j][0][0][i], 90);
		world_pass(world, 10 * world->ttl_ns);
	}
}

/* Node 1 has a job with ids for which node 0, the leader, has no memory. */
Test(coord, a_leader_takes_no_memory_for_more_ids_than_it_may)
{
	for (unsigned fits = 0; fits < 2; fits++) {
		struct world world;
		world_begin(&world, WORLD_LOCAL);
		world.hold_epoch = 0;
		world.most_ids = 100000 + fits;
		(void)world_start(&world, 0);
		world_step(&world);
		cr_assert_eq(world_status(&world.nodes[0]).state, COORD_LEADS);
		world.most_ids = 0;
		struct world_node *other = world_start(&world, 1);
		cr_assert_eq(coord_add_job(other->coord,
				     world_job(&world, 0, 99990, 100001, 1, 4)),
			0);
		world_take(other, 0, 0);
		world_pass(&world, 3 * world.ttl_ns);
		cr_assert_eq(other->fed > 0, fits);
		world_end(&world);
	}
}

Test(coord, names_and_numbers_that_make_no_sense_are_refused)
{
	struct world world;
	world_begin(&world, WORLD_LOCAL);
	struct world_node *node = world_start(&world, 0);
	struct coord_job good = *world_job(&world, 0, 0, 10, 2, 4), job = good;
	roaring_bitmap_t *none = roaring_bitmap_create();
	job.name = "a job";
	cr_assert_eq(coord_add_job(node->coord, &job), -EINVAL);
	job = good;
	job.batch = 1;
	cr_assert_eq(coord_add_job(node->coord, &job), -EINVAL);
	job = good;
	job.ids = none;
	cr_assert_eq(coord_add_job(node->coord, &job), -EINVAL);
	cr_assert_eq(coord_add_job(node->coord, &good), 0);
	cr_assert_eq(coord_add_job(node->coord, &good), -EEXIST);
	cr_assert_eq(coord_take_rank(node->coord, "job1", 0, 0, 0), -ENOENT);
	cr_assert_eq(coord_take_rank(node->coord, "job0", 2, 0, 0), -EINVAL);
	cr_assert_eq(coord_take_rank(node->coord, "job0", 0, 0, 6), -EINVAL);
	cr_assert_eq(coord_take_rank(node->coord, "job0", 0, 0, 5), 0);
	cr_assert_eq(coord_take_rank(node->coord, "job0", 0, 0, 5), -EALREADY);
	roaring_bitmap_free(none);
	world_end(&world);
}

/* --- a log that has a sample twice ------------------------------------------------------- */

static const struct coord_engine *honest;
static enum { TWICE_NOT, TWICE_IN_ONE_ANSWER, TWICE_IN_TWO } twice;

/* Lies to the node that gets samples, but not to the node that draws, which asks for fewer samples
 * at once. */
static int read_twice(void *context, const char *run, struct coord_read *reads, size_t n)
{
	static sample_id first = SAMPLE_NONE;
	int err = honest->read(context, run, reads, n);
	for (size_t i = 0; i < n && !err; i++) {
		sample_id *ids = reads[i].ids;
		if (reads[i].ret_n == 0 || reads[i].most != 1024)
			continue;
		if (reads[i].from == 0)
			first = ids[0];
		else if (twice == TWICE_IN_TWO)
			ids[0] = first;
		if (twice == TWICE_IN_ONE_ANSWER && reads[i].ret_n > 1)
			ids[1] = ids[0];
	}
	return err;
}

static void check_twice(int kind)
{
	struct world world;
	world_begin(&world, WORLD_LOCAL);
	honest = coord_local_engine(world.local);
	struct coord_engine liar = *honest;
	liar.read = read_twice;
	world.instead = &liar;
	world.hold_epoch = 0;
	world.hold_position = kind == TWICE_IN_TWO ? 10 : UINT32_MAX;
	struct world_node *node = world_start(&world, 0);
	cr_assert_eq(coord_add_job(node->coord, world_job(&world, 0, 0, 101, 1, 8)), 0);
	twice = kind;
	world_take(node, 0, 0);
	if (kind == TWICE_IN_TWO)
		world_until(&world, node->fed > 0);
	world.hold_epoch = world.hold_position = UINT32_MAX;
	world_until(&world, world_status(node).state == COORD_AWAY);
	cr_assert(strstr(world_status(node).message, "is invalid"), "%s",
		world_status(node).message);
	twice = TWICE_NOT;
	world_until(&world, world_is_given(&world, 0, 1));
	cr_assert(world_is_given(&world, 0, 0));
	world_end(&world);
}

Test(coord_local, a_log_that_has_a_sample_twice_feeds_nobody)
{
	check_twice(TWICE_IN_ONE_ANSWER);
	check_twice(TWICE_IN_TWO);
}
