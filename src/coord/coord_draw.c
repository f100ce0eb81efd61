// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "coord/coord_internal.h"

#include "base/ensure.h"

#include <errno.h>
#include <stdlib.h>

/* A job's window is the number of samples that should be drawn ahead of its readers. A pool has the
 * jobs of one dataset with the same kind of sampler. When half of a job's window or less is left,
 * the leader draws for all jobs of the job's pool whose window is not full. These jobs draw in
 * common rounds, because only jobs of the same round share samples. The leader appends whole
 * mini-batches. */

#define DRAW_MOST 8192 /* most samples drawn at once for a job */

static uint32_t room_of(const struct drawn_job *job)
{
	uint32_t batch = job->facts.batch, left = job->log.n - job->log.next;
	uint32_t most = batch < DRAW_MOST ? DRAW_MOST / batch * batch : batch;
	uint32_t room = job->ahead < job->window ? job->window - job->ahead : 0;
	room = (room + batch - 1) / batch * batch;
	if (room > most)
		room = most;
	/* The draw first completes a mini-batch of which the log has only a part, so that the log
	 * ends with a whole mini-batch. */
	if (room > 0)
		room -= job->log.next % batch;
	return room < left ? room : left;
}

/* The leader assigns samples to a rank by the node that serves the rank. So a training's first draw
 * waits until each rank has a node, for one ttl at most. */
static bool waits_for_ranks(const struct coord *coord, const struct drawn_job *job)
{
	if (job->log.epoch > 0 || job->log.next > 0 || coord->n_live < 2 ||
		coord->now_ns - job->met_ns >= coord->ttl_ns)
		return false;
	for (uint32_t r = 0; r < job->facts.ranks; r++)
		if (!job->log.owners[r])
			return true;
	return false;
}

static bool is_low(const struct coord *coord, const struct drawn_job *job)
{
	return job->log.next < job->log.n && job->ahead * 2 <= job->window &&
	       !waits_for_ranks(coord, job);
}

/* Sets `wants` of each job: the number of samples to draw for the job now. Jobs of other pools get
 * 0, because each pool is drawn by itself. Returns false if no job of the pool needs samples
 * now. */
static bool plan(struct coord *coord, const struct pool *pool)
{
	struct drawn_job *job;
	bool low = false;
	LIST_FOREACH (job, &coord->drawn, link)
		low |= job->pool == pool && is_low(coord, job);
	LIST_FOREACH (job, &coord->drawn, link)
		job->wants = low && job->pool == pool && !waits_for_ranks(coord, job)
				     ? room_of(job)
				     : 0;
	return low;
}

static int make_room(struct coord *coord)
{
	struct drawn_job *job;
	LIST_FOREACH (job, &coord->drawn, link) {
		job->n_ids = 0;
		free(job->ids);
		job->ids = reallocarray(NULL, job->wants + 1, sizeof(sample_id));
		if (!job->ids)
			return -ENOMEM;
	}
	return 0;
}

/* --- rounds ----------------------------------------------------------------------------- */

static void draw_rounds(struct coord *coord, struct pool *pool, struct drawn_job **who,
	stream_id *streams, sample_id *samples)
{
	struct drawn_job *job;
	for (;;) {
		size_t n = 0;
		LIST_FOREACH (job, &coord->drawn, link)
			if (job->n_ids < job->wants) {
				streams[n] = job->stream;
				who[n++] = job;
			}
		if (n == 0)
			return;
		sampler_draw(pool->sampler, streams, n, samples);
		for (size_t i = 0; i < n; i++) {
			ensure(samples[i] != SAMPLE_NONE);
			who[i]->ids[who[i]->n_ids++] = samples[i];
		}
	}
}

static int draw(struct coord *coord, struct pool *pool)
{
	const struct drawn_job *job;
	size_t n = 0;
	LIST_FOREACH (job, &coord->drawn, link)
		n++;
	auto_free struct drawn_job **who = reallocarray(NULL, n + 1, sizeof(*who));
	auto_free stream_id *streams = reallocarray(NULL, n + 1, sizeof(*streams));
	auto_free sample_id *samples = reallocarray(NULL, n + 1, sizeof(*samples));
	int err = who && streams && samples ? make_room(coord) : -ENOMEM;
	if (!err)
		err = coord_update_resident(coord, pool);
	if (!err)
		err = coord_update_lacked(coord, pool);
	if (!err)
		draw_rounds(coord, pool, who, streams, samples);
	LIST_FOREACH (job, &coord->drawn, link)
		if (!err && job->pool == pool)
			coord_note_drawn(pool, job->ids, job->n_ids);
	return err;
}

/* --- placement -------------------------------------------------------------------------- */

struct parts {
	sample_id *ids;	   /* as coord_append.ids */
	uint32_t *next;	   /* [ranks]: index in `ids` of the rank's next sample */
	uint32_t *rank_of; /* [batch] */
};

/* Divides n samples of a mini-batch among the ranks. begun: number of the mini-batch's samples that
 * the log has already. If begun is not 0, the n samples are dealt to the ranks in turn. */
static void place_batch(struct coord *coord, const struct drawn_job *job,
	const sample_id *ids, uint32_t n, uint32_t begun, struct parts *parts)
{
	uint32_t ranks = job->facts.ranks;
	const struct coord_batch batch = {.dataset = job->facts.dataset,
		.ids = ids,
		.n = n,
		.ranks = ranks,
		.rank_node = job->log.owners,
		.lacked = job->pool->lacked};
	if (begun || !coord->calls.place ||
		!coord->calls.place(coord->calls.context, &batch, parts->rank_of))
		for (uint32_t i = 0; i < n; i++)
			parts->rank_of[i] = (begun + i) % ranks;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t r = parts->rank_of[i];
		ensure(r < ranks);
		parts->ids[parts->next[r]++] = ids[i];
	}
}

static void place(struct coord *coord, const struct drawn_job *job, struct parts *parts)
{
	uint32_t begun = job->log.next % job->facts.batch;
	for (uint32_t at = 0, n; at < job->n_ids; at += n, begun = 0) {
		uint32_t left = job->n_ids - at, room = job->facts.batch - begun;
		n = left < room ? left : room;
		place_batch(coord, job, job->ids + at, n, begun, parts);
	}
}

static int append(struct coord *coord, struct drawn_job *job)
{
	const struct coord_engine *engine = coord->engine;
	uint32_t ranks = job->facts.ranks, begin = 0;
	auto_free sample_id *ids = reallocarray(NULL, job->n_ids, sizeof(*ids));
	auto_free uint32_t *next = calloc(ranks, sizeof(*next));
	auto_free uint32_t *rank_of = calloc(job->facts.batch, sizeof(*rank_of));
	const struct coord_append to = {.job = job->facts.name,
		.epoch = job->log.epoch,
		.base = job->log.next,
		.count = job->n_ids,
		.ranks = ranks,
		.batch = job->facts.batch,
		.ids = ids};
	if (!ids || !next || !rank_of)
		return -ENOMEM;
	for (uint32_t r = 0; r < ranks; begin += append_count(&to, r++))
		next[r] = begin;
	place(coord, job, &(struct parts){ids, next, rank_of});
	for (uint32_t r = 0, end = 0; r < ranks; r++) {
		end += append_count(&to, r);
		ensure(next[r] == end);
	}
	int err = engine->append(engine->context, coord->view.run, &coord->token, &to);
	if (err)
		return err;
	coord_moved(coord);
	job->log.next += job->n_ids;
	job->ahead += job->n_ids;
	coord->status.drawn += job->n_ids;
	return 0;
}

static int draw_pool(struct coord *coord, struct pool *pool, bool *more)
{
	struct drawn_job *job;
	if (!plan(coord, pool))
		return 0;
	int err = draw(coord, pool);
	LIST_FOREACH (job, &coord->drawn, link)
		if (!err && job->n_ids) {
			err = append(coord, job);
			job->n_ids = 0;
			*more |= room_of(job) > 0;
		}
	return err;
}

int coord_draw(struct coord *coord)
{
	struct pool *pool;
	bool more = false;
	if (coord->now_ns < coord->draw_ns) {
		due_at(coord, coord->draw_ns);
		return 0;
	}
	int err = coord_survey(coord);
	LIST_FOREACH (pool, &coord->pools, link)
		if (!err)
			err = draw_pool(coord, pool, &more);
	if (err)
		return err;
	/* An idle leader pauses long. A heartbeat ends the pause if the engine reports a change
	 * (coord_view.news). */
	uint64_t in = coord_is_quiet(coord) ? QUIET_NS : pause_ns(coord, coord->pace_ns);
	coord->draw_ns = coord->now_ns + (more ? 0 : in);
	due_at(coord, coord->draw_ns);
	return 0;
}
