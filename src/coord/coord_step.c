// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "coord/coord_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The heartbeat comes first: it renews all leases, and shows which node leads. */

void coord_doubt(struct coord *coord)
{
	coord->beat_ns = coord->look_ns = coord->draw_ns = 0;
	due_at(coord, coord->now_ns + coord->pace_ns / 256);
}

/* --- the heartbeat ---------------------------------------------------------------------- */

/* Returns the rank's consumed position, even if it was sent before, because the engine may have
 * forgotten it. */
static struct coord_position cursor_to_send(const struct held_rank *rank)
{
	bool moved = position_before(rank->sent, rank->consumed);
	if (mutant(MUTANT_NO_RECOMMIT) && !moved)
		return (struct coord_position){0};
	return rank->consumed;
}

/* Lists the leases that the node has or wants, and returns their number. If `leases` is NULL, only
 * counts the leases. */
static size_t list_leases(const struct coord *coord, struct coord_lease *leases)
{
	const struct held_job *job;
	size_t n = 0;
	LIST_FOREACH (job, &coord->jobs, link)
		for (uint32_t r = 0; r < job->facts.ranks; r++) {
			if (!job->entered || !job->ranks[r].taken)
				continue;
			if (leases)
				leases[n] = (struct coord_lease){.job = job->facts.name,
					.rank = r,
					.cursor = cursor_to_send(&job->ranks[r])};
			n++;
		}
	return n;
}

static void granted(struct coord *coord, struct held_job *job, uint32_t number,
	const struct coord_lease *lease)
{
	struct held_rank *rank = &job->ranks[number];
	if (lease->error == -ENOENT) {
		job->entered = false; /* the engine has lost the job */
		return;
	}
	/* The engine's cursor is later than any that this node has sent: another node has served
	 * the rank. */
	bool served = rank->held && position_before(rank->consumed, lease->ret_cursor) &&
		      position_before(rank->acked, lease->ret_cursor);
	if (lease->error || served) {
		if (rank->held)
			coord_lose_rank(coord, job, number);
		return;
	}
	if (!rank->held) {
		coord_moved(coord);
		coord->read_ns = coord->hunger_ns = 0;
	}
	rank->held = true;
	if (rank->at_cursor) {
		rank->at_cursor = false;
		rank->head = rank->consumed = lease->ret_cursor;
		coord_note_begun(job, rank->head);
	}
	rank->acked = lease->ret_cursor;
	if (position_before(rank->sent, lease->cursor))
		rank->sent = lease->cursor;
}

static bool are_possible(
	const struct coord *coord, const struct coord_lease *leases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct held_job *job = coord_find_job(coord, leases[i].job);
		if (leases[i].ret_cursor.position >
			rank_length(&job->facts, job->n, leases[i].rank))
			return false;
	}
	return true;
}

static void new_life(struct coord *coord)
{
	struct held_job *job;
	coord->status.lives++;
	coord_resign(coord);
	coord->compared = false;
	LIST_FOREACH (job, &coord->jobs, link) {
		job->entered = false;
		job->opened = 0;
	}
	struct coord_node *both = reallocarray(
		coord->expected, coord->n_expected + coord->n_live + 1, sizeof(*both));
	if (!both)
		return;
	coord->expected = both;
	if (coord->n_live)
		memcpy(both + coord->n_expected, coord->members,
			coord->n_live * sizeof(*both));
	coord->n_expected += coord->n_live;
}

static void viewed(struct coord *coord, const struct coord_view *view)
{
	bool was_joined = coord->joined;
	struct coord_view before = coord->view;
	coord->view = *view;
	coord->joined = true;
	if (view->leader && view->leader != before.leader)
		coord_moved(coord);
	/* The log is not complete any more, although the server did not restart: the server lost
	 * data, for instance by FLUSHALL, or engine->mend has dropped a part of the log. */
	bool emptied = before.ready && !view->ready;
	if (!was_joined || strcmp(before.run, view->run) != 0 || emptied)
		new_life(coord);
	if (view->ready && !before.ready)
		coord_moved(coord); /* readers have waited for the repair */
	if (!view->ready) {
		coord->compared = false;
	} else {
		coord->n_expected = 0;
		coord->waits_since_ns = 0;
	}
	if (coord->leads && view->renewed) {
		coord->renewed_ns = coord->now_ns;
	} else if (coord->leads) {
		coord->status.fenced++;
		coord_resign(coord);
	}
	if (!mutant(MUTANT_NO_NEWS) && view->news != before.news &&
		quiet_ns(coord) > coord->pace_ns)
		coord->draw_ns = 0;
}

static void refuse(struct coord *coord, int err)
{
	struct held_job *job;
	coord->refused = true;
	coord->joined = false;
	coord_resign(coord);
	LIST_FOREACH (job, &coord->jobs, link)
		for (uint32_t r = 0; r < job->facts.ranks; r++)
			if (job->ranks[r].held)
				coord_lose_rank(coord, job, r);
	if (err == -EEXIST)
		snprintf(coord->status.message, sizeof(coord->status.message),
			"another running daemon of the group has the name '%s'",
			coord->self.name);
	else
		snprintf(coord->status.message, sizeof(coord->status.message),
			"the group's version of the protocol is not %d, this node's",
			COORD_VERSION);
}

/*
 * Returns a third of ttl if the node is idle, otherwise a quarter, so that a lost heartbeat can be
 * repeated before the leases end. Leaders, also idle ones, and nodes that are not idle wait for at
 * most a second: only the answers to heartbeats report changes.
 *
 * A leader's lease lasts for a ttl from the moment when the engine gets the heartbeat. The leader
 * counts from the earlier moment when it sent the heartbeat, and stops leading at .8 ttl (in the
 * function `step`). Two nodes lead at once only if the leader's clock is slower than the engine's
 * by more than a fifth. Even then the engine accepts samples from only one of them.
 */
static uint64_t pause_between_beats(const struct coord *coord)
{
	bool quiet = coord_is_quiet(coord);
	uint64_t pause = coord->ttl_ns / (quiet ? 3 : 4);
	if ((!quiet || coord->leads) && pause > SECOND_NS)
		pause = SECOND_NS;
	return pause;
}

static void answered(
	struct coord *coord, const struct coord_beat *beat, const struct coord_view *view)
{
	coord->refused = false;
	coord->status.message[0] = '\0';
	for (size_t i = 0; i < beat->n; i++)
		granted(coord, coord_find_job(coord, beat->leases[i].job),
			beat->leases[i].rank, &beat->leases[i]);
	viewed(coord, view);
	if (beat->look)
		coord_take_look(coord, beat->look);
	coord->beaten_ns = coord->now_ns;
	coord->beat_ns = coord->now_ns + pause_between_beats(coord);
}

int coord_beat(struct coord *coord)
{
	const struct coord_engine *engine = coord->engine;
	struct coord_look look = {0};
	struct coord_view view;
	struct coord_beat beat = {.self = &coord->self,
		.ttl_ms = ttl_ms(coord),
		.n = list_leases(coord, NULL),
		.token = coord->leads ? &coord->token : NULL,
		.look = coord->now_ns >= coord->look_ns ? &look : NULL};
	auto_free struct coord_lease *leases = calloc(beat.n + 1, sizeof(*leases));
	if (!leases)
		return -ENOMEM;
	beat.leases = leases;
	list_leases(coord, leases);
	int err = engine->beat(engine->context, &beat, &view);
	if (!err && !are_possible(coord, leases, beat.n))
		err = -EBADE;
	if (!err)
		answered(coord, &beat, &view);
	coord_look_free(&look);
	if (err == -EEXIST || err == -EPROTO) {
		refuse(coord, err);
		coord->beat_ns = coord->now_ns + coord->ttl_ns / 4;
		return 0;
	}
	return err;
}

/* --- the step --------------------------------------------------------------------------- */

static bool any_not_entered(const struct coord *coord)
{
	const struct held_job *job;
	LIST_FOREACH (job, &coord->jobs, link)
		if (!job->entered && coord->now_ns >= job->enter_ns)
			return true;
	return false;
}

static int step(struct coord *coord)
{
	int err = 0;
	/* the leader's lease may end soon, and then another node may lead */
	if (coord->leads && coord->now_ns - coord->renewed_ns > coord->ttl_ns / 10 * 8)
		coord_resign(coord);
	if (coord->now_ns >= coord->beat_ns)
		err = coord_beat(coord);
	due_at(coord, coord->beat_ns);
	if (err || !coord->joined)
		return err;
	if (any_not_entered(coord))
		err = coord_enter_jobs(coord);
	/* This heartbeat also requests the ranks of jobs that were just entered. */
	if (!err && coord->now_ns >= coord->look_ns)
		err = coord_beat(coord);
	if (err || !coord->joined)
		return err;
	due_at(coord, coord->beat_ns);
	if (any_not_entered(coord)) {
		/* A heartbeat has just told that the engine lost jobs. A report now would lack
		 * their samples, so the next step first enters these jobs again. */
		due_at(coord, coord->now_ns + coord->pace_ns / 64);
		return 0;
	}
	if (!coord->view.ready && !coord->view.reported)
		err = coord_report(coord);
	if (!err && coord->view.ready && !coord->compared)
		err = coord_compare(coord);
	if (err)
		return err;
	err = coord_tell_resident(coord);
	if (err)
		return err;
	/* A broken log stops the leader, but ranks can still read. */
	int broken = coord_lead(coord);
	if (broken && broken != -EBADMSG)
		return broken;
	if (coord->view.ready)
		err = coord_open_wanted(coord);
	if (!err)
		err = coord_read_feeds(coord);
	return err ? err : broken;
}

static void away(struct coord *coord, int err)
{
	const struct coord_engine *engine = coord->engine;
	const char *refused = engine->refused ? engine->refused(engine->context) : "";
	if (!coord->status.away_since_ns)
		coord->status.away_since_ns = coord->now_ns ? coord->now_ns : 1;
	coord->status.away_errno = -err;
	if (err == -EBADMSG)
		snprintf(coord->status.message, sizeof(coord->status.message),
			"the engine's log has a sample twice, or a sample that is not "
			"the job's");
	else if (err == -EBADE)
		snprintf(coord->status.message, sizeof(coord->status.message),
			"the engine's answer to %s is invalid",
			engine->asked ? engine->asked(engine->context) : "this node");
	else if (err == -E2BIG)
		snprintf(coord->status.message, sizeof(coord->status.message),
			"the group's jobs have more samples than this node has memory "
			"for");
	else if (refused[0])
		snprintf(coord->status.message, sizeof(coord->status.message),
			"the engine %.*s", (int)sizeof(coord->status.message) - 32,
			refused);
	else
		snprintf(coord->status.message, sizeof(coord->status.message),
			"the engine does not answer: %s", strerror(-err));
	coord->patience_ns = coord->patience_ns * 2 + coord->ttl_ns / 64;
	if (coord->patience_ns > coord->ttl_ns / 4)
		coord->patience_ns = coord->ttl_ns / 4;
	/* A heartbeat comes next, and shows whether the engine answers again. */
	coord->beat_ns = coord->now_ns + coord->patience_ns;
	coord->due_ns = coord->beat_ns;
}

uint64_t coord_step(struct coord *coord, uint64_t now_ns)
{
	coord->now_ns = now_ns;
	if (!coord->moved_ns)
		coord->moved_ns = now_ns;
	coord->due_ns = now_ns + coord->ttl_ns / 4;
	if (coord->status.away_since_ns && now_ns < coord->beat_ns)
		return coord->beat_ns;
	int err = step(coord);
	if (err == -ESTALE || err == -ENOENT || err == -EBUSY || err == -EAGAIN) {
		coord_drop_streams(coord);
		coord_doubt(coord);
		err = 0;
	}
	if (err) {
		coord_drop_streams(coord);
		away(coord, err);
	} else {
		coord->status.away_since_ns = 0;
		coord->status.away_errno = 0;
		coord->patience_ns = 0;
	}
	return coord->due_ns;
}
