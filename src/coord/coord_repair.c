// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "coord/coord_facts.h"
#include "coord/coord_internal.h"

#include "base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * Repairs the log after the engine has begun a new life, and may have lost the end of the log.
 *
 *   all nodes    offer the samples that their journals have beyond the log, and report
 *   the leader   waits for all reports, 3 ttl at most, and fills the logs (coord_fill.c)
 *   all nodes    compare their readers' samples with the repaired log
 */

#define OFFER_MOST 4096 /* most samples in one offer */

static const struct coord_engine_job *find(
	const struct coord_engine_jobs *jobs, const char *name)
{
	for (size_t i = 0; i < jobs->n; i++)
		if (strcmp(jobs->jobs[i].name, name) == 0)
			return &jobs->jobs[i];
	return NULL;
}

/* --- journals --------------------------------------------------------------------------- */

/* A function that visit_all calls. `run` has the samples at consecutive positions of a journal. If
 * the function returns an error, visit_all ends and returns this error. */
typedef int visit(struct coord *coord, const struct coord_offer *run);

static int visit_rank(struct coord *coord, const struct held_job *job, uint32_t epoch,
	uint32_t rank, uint32_t from, sample_id *ids, visit *each)
{
	struct coord_tail tail = {job->facts.name, rank, epoch, from};
	uint32_t n;
	int err = 0;
	while (!err && (n = coord->calls.tail(
				coord->calls.context, &tail, ids, OFFER_MOST)) > 0) {
		struct coord_offer run = {.epoch = epoch,
			.rank = rank,
			.base = tail.base,
			.n = n,
			.ids = ids};
		strcpy(run.job, job->facts.name);
		err = each(coord, &run);
		tail.base += n;
	}
	return err;
}

/* Calls `each` for the positions of the job in this node's journals. from_end: only for positions
 * behind the log's end; otherwise for all positions from the epoch before the running one on. */
static int visit_job(struct coord *coord, const struct held_job *job,
	const struct coord_engine_job *log, bool from_end, sample_id *ids, visit *each)
{
	uint32_t known = coord->calls.known(coord->calls.context, job->facts.name);
	uint32_t epoch = from_end || log->epoch == 0 ? log->epoch : log->epoch - 1;
	int err = 0;
	for (; epoch < known && !err; epoch++)
		for (uint32_t r = 0; r < job->facts.ranks && !err; r++) {
			uint32_t from = 0;
			if (from_end && epoch == log->epoch)
				from = rank_length(&job->facts, log->next, r);
			err = visit_rank(coord, job, epoch, r, from, ids, each);
		}
	return err;
}

static int visit_all(struct coord *coord, bool from_end, visit *each)
{
	const struct coord_engine *engine = coord->engine;
	struct coord_engine_jobs jobs;
	if (!coord->calls.tail || !coord->calls.known)
		return 0;
	int err = engine->jobs(engine->context, coord->view.run, &jobs);
	if (err)
		return err;
	auto_free sample_id *ids = reallocarray(NULL, OFFER_MOST, sizeof(*ids));
	struct held_job *job;
	if (!ids)
		err = -ENOMEM;
	LIST_FOREACH (job, &coord->jobs, link) {
		const struct coord_engine_job *log = find(&jobs, job->facts.name);
		if (!err && log && job->entered && coord_is_same_job(&job->facts, log))
			err = visit_job(coord, job, log, from_end, ids, each);
	}
	coord_engine_jobs_free(&jobs);
	return err;
}

static int offer(struct coord *coord, const struct coord_offer *run)
{
	return coord->engine->repair(coord->engine->context, coord->view.run, run);
}

int coord_report(struct coord *coord)
{
	const struct coord_engine *engine = coord->engine;
	int err = mutant(MUTANT_NO_REPAIR) ? 0 : visit_all(coord, true, offer);
	if (!err)
		err = engine->repaired(
			engine->context, coord->view.run, coord->self.name);
	if (!err)
		coord->view.reported = true;
	return err;
}

int coord_mend(struct coord *coord, const char *job)
{
	const struct coord_engine *engine = coord->engine;
	return engine->mend(engine->context, coord->view.run, job);
}

/* --- comparison ------------------------------------------------------------------------- */

/* Reads the log's samples at the positions of `run` to `ids`. Sets *ret_n to the number of samples
 * read, which is less than run->n if the log ends earlier. */
static int read_log(struct coord *coord, const struct held_job *job,
	const struct coord_offer *run, sample_id *ids, uint32_t *ret_n)
{
	const struct coord_engine *engine = coord->engine;
	for (*ret_n = 0; *ret_n < run->n;) {
		struct coord_read read = {.job = run->job,
			.epoch = run->epoch,
			.rank = run->rank,
			.ranks = job->facts.ranks,
			.batch = job->facts.batch,
			.from = run->base + *ret_n,
			.most = run->n - *ret_n,
			.ids = ids + *ret_n};
		int err = engine->read(engine->context, coord->view.run, &read, 1);
		if (err || read.ret_n == 0)
			return err;
		*ret_n += read.ret_n;
	}
	return 0;
}

static int compare(struct coord *coord, const struct coord_offer *run)
{
	struct held_job *job = coord_find_job(coord, run->job);
	auto_free sample_id *ids = reallocarray(NULL, run->n, sizeof(*ids));
	uint32_t n;
	if (!ids || !job)
		return ids ? 0 : -ENOMEM;
	int err = read_log(coord, job, run, ids, &n);
	if (err)
		return err;
	/* The log is too short, or the feeds were deleted because the epoch is over. Deleted feeds
	 * can't be compared. */
	if (n < run->n) {
		err = coord_mend(coord, run->job);
		if (!err)
			err = coord_ask_lengths(coord);
		if (err || run->epoch < job->log.epoch)
			return err;
	}
	for (uint32_t i = 0, end; i < run->n; i = end + 1) {
		for (end = i; end < run->n && (end >= n || ids[end] != run->ids[end]);)
			end++;
		if (end == i)
			continue;
		coord->status.rebound += end - i;
		/* the log no longer has these samples, so the rank may receive them again */
		bitmap_free(&job->came[run->rank].ids);
		coord->calls.forget(coord->calls.context, run->job, run->rank, run->epoch,
			run->base + i, end - i);
	}
	return 0;
}

int coord_compare(struct coord *coord)
{
	uint64_t before = coord->status.rebound;
	int err = visit_all(coord, false, compare);
	coord->compared = err == 0;
	if (coord->status.rebound > before)
		log_error("cluster: the group's log was repaired while this node was "
			  "away: at %" PRIu64 " positions readers of this node got other "
			  "samples than the log has now",
			coord->status.rebound - before);
	return err;
}

/* --- the leader ------------------------------------------------------------------------- */

/* Sets *ret to a node that has not reported. The node may be known only from an earlier life of the
 * engine. If all nodes have reported, ret->name is "". */
static int find_silent(struct coord *coord, struct coord_node *ret)
{
	const struct coord_engine *engine = coord->engine;
	size_t n = coord->n_members + coord->n_expected;
	auto_free struct coord_node *nodes = calloc(n + 1, sizeof(*nodes));
	auto_free bool *reported = calloc(n + 1, sizeof(*reported));
	int err = -ENOMEM;
	if (nodes && reported) {
		if (coord->n_members)
			memcpy(nodes, coord->members, coord->n_members * sizeof(*nodes));
		if (coord->n_expected)
			memcpy(nodes + coord->n_members, coord->expected,
				coord->n_expected * sizeof(*nodes));
		err = engine->reported(
			engine->context, coord->view.run, nodes, n, reported);
	}
	*ret = (struct coord_node){.name = ""};
	for (size_t i = 0; i < n && !err && !ret->name[0]; i++)
		if (!reported[i])
			*ret = nodes[i];
	return err;
}

/* Sets *ret to true if the leader may repair the log now, and *silent to a node that has not
 * reported. The leader repairs the log when all known nodes have reported, but at the earliest
 * after one ttl, because unknown nodes may appear. If the engine is `alone`, no node can appear, so
 * the leader need not wait. After three ttl the leader waits for no node. The time since the last
 * step counts as ttl / 8 at most, because the clock may jump. */
static int waited_enough(struct coord *coord, bool *ret, struct coord_node *silent)
{
	uint64_t more = coord->now_ns - coord->waits_since_ns;
	if (!coord->waits_since_ns) {
		coord->waited_ns = more = 0;
		coord->look_ns = 0;
	}
	coord->waits_since_ns = coord->now_ns ? coord->now_ns : 1;
	coord->waited_ns += more < coord->ttl_ns / 8 ? more : coord->ttl_ns / 8;
	int err = find_silent(coord, silent);
	bool known = !silent->name[0] &&
		     (coord->engine->alone || coord->waited_ns >= coord->ttl_ns);
	*ret = !err && (known || coord->waited_ns >= 3 * coord->ttl_ns);
	return err;
}

static int fill_all(struct coord *coord)
{
	const struct coord_engine *engine = coord->engine;
	struct coord_offers offers;
	struct coord_engine_jobs jobs;
	int err = engine->offers(engine->context, coord->view.run, &offers);
	if (err)
		return err;
	err = engine->jobs(engine->context, coord->view.run, &jobs);
	if (!err) {
		for (size_t i = 0; i < jobs.n && !err; i++)
			err = coord_fill(coord, &jobs.jobs[i], &offers);
		coord_engine_jobs_free(&jobs);
	}
	coord_offers_free(&offers);
	return err;
}

int coord_repair(struct coord *coord)
{
	const struct coord_engine *engine = coord->engine;
	struct coord_node silent;
	bool enough;
	int err = waited_enough(coord, &enough, &silent);
	if (err)
		return err;
	if (!enough) {
		due_at(coord, coord->now_ns + coord->ttl_ns / 16);
		return 0;
	}
	err = fill_all(coord);
	if (!err)
		err = engine->ready(engine->context, coord->view.run, &coord->token);
	if (err)
		return err;
	if (silent.name[0])
		log_warn("cluster: the group's log is repaired without node %s, which "
			 "has not reported for three times ttl: readers of this node may "
			 "read samples twice",
			silent.name);
	coord->status.repairs++;
	coord_doubt(coord); /* the next heartbeat shows that the log is complete */
	return 0;
}
