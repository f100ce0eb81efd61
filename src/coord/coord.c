// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "coord/coord.h"
#include "coord/coord_facts.h"
#include "coord/coord_internal.h"

#include "base/ensure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifdef COORD_MUTANTS
unsigned coord_mutants;
#endif

/* Most requests are only noted here; coord_step carries them out later. */

/* limit of coord.pace_ns, the unit of pauses, so that pauses stay short even if leases last long */
#define MOST_PACE_NS UINT64_C(1000000000)
#define USUAL_MOST_IDS (UINT64_C(1) << 33)

int coord_new(const struct coord_options *options, const struct coord_engine *engine,
	struct coord **ret)
{
	ensure(options->self.incarnation && options->ttl_ns >= NS_PER_MS);
	if (!coord_name_is_good(options->self.name))
		return -EINVAL;
	struct coord *coord = calloc(1, sizeof(*coord));
	if (!coord)
		return -ENOMEM;
	coord->self = options->self;
	coord->ttl_ns = options->ttl_ns;
	coord->pace_ns = options->ttl_ns < MOST_PACE_NS ? options->ttl_ns : MOST_PACE_NS;
	coord->mini_batches = options->mini_batches ? options->mini_batches : 4;
	coord->most_ids = options->most_ids ? options->most_ids : USUAL_MOST_IDS;
	coord->calls = options->calls;
	coord->engine = engine;
	coord->seed = options->seed;
	rng_seed(&coord->rng, options->seed);
	LIST_INIT(&coord->jobs);
	LIST_INIT(&coord->drawn);
	LIST_INIT(&coord->pools);
	*ret = coord;
	return 0;
}

static void free_job(struct held_job *job)
{
	LIST_REMOVE(job, link);
	for (uint32_t r = 0; r < job->facts.ranks; r++)
		bitmap_free(&job->came[r].ids);
	coord_facts_free(&job->facts);
	free(job->ranks);
	free(job->came);
	free(job->log.owners);
	free(job->log.cursors);
	free(job);
}

void coord_free(struct coord **pointer)
{
	struct coord *coord = *pointer;
	if (!coord)
		return;
	coord_drop_drawn(coord);
	while (!LIST_EMPTY(&coord->jobs))
		free_job(LIST_FIRST(&coord->jobs));
	free(coord->members);
	free(coord->expected);
	free(coord);
	*pointer = NULL;
}

struct held_job *coord_find_job(const struct coord *coord, const char *name)
{
	struct held_job *job;
	LIST_FOREACH (job, &coord->jobs, link)
		if (strcmp(job->facts.name, name) == 0)
			return job;
	return NULL;
}

static void beat_soon(struct coord *coord)
{
	uint64_t soon = coord->beaten_ns + coord->pace_ns / 64;
	if (soon < coord->beat_ns)
		coord->beat_ns = soon;
}

void coord_moved(struct coord *coord)
{
	if (quiet_ns(coord) > coord->pace_ns)
		coord->look_ns = coord->read_ns = coord->draw_ns = coord->tell_ns = 0;
	coord->moved_ns = coord->now_ns;
}

bool coord_is_quiet(const struct coord *coord)
{
	const struct held_job *job;
	LIST_FOREACH (job, &coord->jobs, link) {
		if (!job->entered)
			return false;
		for (uint32_t r = 0; r < job->facts.ranks; r++)
			if (job->ranks[r].taken && !job->ranks[r].held)
				return false;
	}
	return quiet_ns(coord) > coord->ttl_ns;
}

void coord_leave(struct coord *coord)
{
	const struct coord_engine *engine = coord->engine;
	struct held_job *job;
	if (coord->joined && !coord->refused && !coord->status.away_since_ns)
		(void)!coord_beat(coord);
	LIST_FOREACH (job, &coord->jobs, link)
		for (uint32_t r = 0; r < job->facts.ranks; r++)
			if (job->ranks[r].held)
				(void)engine->release(engine->context, &coord->self,
					job->facts.name, r);
	(void)engine->release(engine->context, &coord->self, NULL, 0);
	coord_resign(coord);
}

/* --- jobs ------------------------------------------------------------------------------- */

/* Tells whether the job `facts` begins at a later position than the added job `held`, and behind
 * the end of the group's log. If so, the log of `facts` has no effect (-EALREADY). */
static bool goes_on_later(const struct coord_job *facts, const struct held_job *held)
{
	struct coord_position to = {facts->epoch, facts->n_log};
	struct coord_position began = {held->facts.epoch, held->facts.n_log};
	struct coord_position at = {held->log.epoch, held->log.next};
	return position_before(began, to) && position_before(at, to);
}

int coord_add_job(struct coord *coord, const struct coord_job *facts)
{
	if (!coord_name_is_good(facts->name) || !coord_name_is_good(facts->dataset) ||
		facts->ranks == 0 || facts->batch < facts->ranks ||
		roaring_bitmap_is_empty(facts->ids) ||
		facts->n_log > roaring_bitmap_get_cardinality(facts->ids))
		return -EINVAL;
	const struct held_job *held = coord_find_job(coord, facts->name);
	if (held)
		return goes_on_later(facts, held) ? -EALREADY : -EEXIST;
	struct held_job *job = calloc(1, sizeof(*job));
	if (!job)
		return -ENOMEM;
	job->ranks = calloc(facts->ranks, sizeof(*job->ranks));
	job->came = calloc(facts->ranks, sizeof(*job->came));
	LIST_INSERT_HEAD(&coord->jobs, job, link);
	if (!job->ranks || !job->came || coord_facts_copy(facts, &job->facts)) {
		free_job(job);
		return -ENOMEM;
	}
	job->n = (uint32_t)roaring_bitmap_get_cardinality(facts->ids);
	beat_soon(coord);
	return 0;
}

int coord_remove_job(struct coord *coord, const char *name)
{
	struct held_job *job = coord_find_job(coord, name);
	if (!job)
		return -ENOENT;
	const struct coord_engine *engine = coord->engine;
	for (uint32_t r = 0; r < job->facts.ranks; r++)
		coord_drop_rank(coord, name, r);
	int err = 0;
	if (job->entered)
		err = engine->leave(engine->context, coord->self.name, name);
	if (err && err != -ENOENT)
		return err;
	free_job(job);
	return 0;
}

/* --- ranks ------------------------------------------------------------------------------ */

static struct held_rank *find_rank(
	const struct coord *coord, const char *name, uint32_t rank, struct held_job **ret)
{
	*ret = coord_find_job(coord, name);
	return *ret && rank < (*ret)->facts.ranks ? &(*ret)->ranks[rank] : NULL;
}

int coord_take_rank(struct coord *coord, const char *name, uint32_t number,
	uint32_t epoch, uint32_t position)
{
	struct held_job *job;
	struct held_rank *rank = find_rank(coord, name, number, &job);
	if (!rank)
		return job ? -EINVAL : -ENOENT;
	if (rank->taken)
		return -EALREADY;
	bool at_cursor = position == COORD_AT_CURSOR;
	if (!at_cursor && position > rank_length(&job->facts, job->n, number))
		return -EINVAL;
	*rank = (struct held_rank){.taken = true, .at_cursor = at_cursor};
	if (!at_cursor)
		rank->head = (struct coord_position){epoch, position};
	coord_note_begun(job, rank->head);
	beat_soon(coord);
	return 0;
}

int coord_drop_rank(struct coord *coord, const char *name, uint32_t number)
{
	struct held_job *job;
	struct held_rank *rank = find_rank(coord, name, number, &job);
	if (!rank)
		return job ? -EINVAL : -ENOENT;
	const struct coord_engine *engine = coord->engine;
	if (rank->held)
		(void)engine->release(engine->context, &coord->self, name, number);
	*rank = (struct held_rank){0};
	return 0;
}

void coord_lose_rank(struct coord *coord, struct held_job *job, uint32_t number)
{
	job->ranks[number] = (struct held_rank){0};
	if (coord->calls.lost)
		coord->calls.lost(coord->calls.context, job->facts.name, number);
}

int coord_want(struct coord *coord, const char *name, uint32_t epoch)
{
	struct held_job *job = coord_find_job(coord, name);
	if (!job)
		return -ENOENT;
	if (epoch > job->wanted) {
		job->wanted = epoch;
		coord_moved(coord);
		coord->read_ns = coord->hunger_ns = 0;
	}
	return 0;
}

int coord_commit(struct coord *coord, const char *name, uint32_t number, uint32_t epoch,
	uint32_t position)
{
	struct held_job *job;
	struct held_rank *rank = find_rank(coord, name, number, &job);
	struct coord_position to = {epoch, position};
	if (!rank)
		return job ? -EINVAL : -ENOENT;
	if (position_before(rank->consumed, to)) {
		rank->consumed = to;
		coord_moved(coord);
	}
	coord_note_begun(job, to);
	if (!position_before(rank->sent, rank->consumed))
		return 0; /* the last heartbeat has sent the position */
	if (rank->consumed.epoch != rank->sent.epoch ||
		rank->consumed.position >= rank->sent.position + COMMIT_EVERY ||
		position == rank_length(&job->facts, job->n, number))
		beat_soon(coord);
	return 0;
}

/* --- status ----------------------------------------------------------------------------- */

static enum coord_state state_of(const struct coord *coord)
{
	if (coord->refused)
		return COORD_REFUSED;
	if (coord->status.away_since_ns)
		return COORD_AWAY;
	if (!coord->joined)
		return COORD_JOINING;
	return coord->leads ? COORD_LEADS : COORD_FOLLOWS;
}

void coord_status(const struct coord *coord, struct coord_status *ret)
{
	*ret = coord->status;
	ret->state = state_of(coord);
	ret->repairing = coord->joined && !coord->view.ready;
	ret->term = coord->view.term;
	memcpy(ret->leader, coord->view.leader_name, sizeof(ret->leader));
}

int coord_job_status(
	const struct coord *coord, const char *name, struct coord_job_status *ret)
{
	const struct held_job *job = coord_find_job(coord, name);
	if (!job)
		return -ENOENT;
	*ret = (struct coord_job_status){.entered = job->entered,
		.epoch = job->log.epoch,
		.next = job->log.next,
		.n = job->n};
	memcpy(ret->refused, job->refused, sizeof(ret->refused));
	return 0;
}

int coord_rank_status(const struct coord *coord, const char *name, uint32_t number,
	struct coord_rank_status *ret)
{
	struct held_job *job;
	const struct held_rank *rank = find_rank(coord, name, number, &job);
	if (!rank)
		return job ? -EINVAL : -ENOENT;
	*ret = (struct coord_rank_status){.held = rank->held,
		.epoch = rank->head.epoch,
		.position = rank->head.position,
		.committed_epoch = rank->acked.epoch,
		.committed = rank->acked.position,
		.behind = coord_is_behind_others(job, number)};
	for (size_t i = 0; job->log.owners && i < coord->n_live; i++)
		if (coord->members[i].incarnation == job->log.owners[number])
			memcpy(ret->owner, coord->members[i].name, COORD_NAME);
	return 0;
}

const struct coord_node *coord_members(const struct coord *coord, size_t *ret_n)
{
	*ret_n = coord->n_live;
	return coord->members;
}

const struct coord_node *coord_silent(const struct coord *coord, size_t *ret_n)
{
	*ret_n = coord->n_members - coord->n_live;
	return coord->members ? coord->members + coord->n_live : NULL;
}
