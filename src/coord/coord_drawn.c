// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "coord/coord_facts.h"
#include "coord/coord_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The jobs for which the leader draws, including jobs that only other nodes run. Their state can be
 * dropped at any time: coord_survey rebuilds it from the engine. */

#define SUBTRACT_MOST 8192	     /* most samples of a rank in one read of the log */
#define MOST_IDS (UINT32_C(1) << 28) /* all ids of a dataset are less than this number */

/* --- streams ---------------------------------------------------------------------------- */

static void drop_stream(struct drawn_job *job)
{
	if (job->streams)
		sampler_remove(job->pool->sampler, job->stream);
	job->streams = false;
}

void coord_drop_streams(struct coord *coord)
{
	struct drawn_job *job;
	LIST_FOREACH (job, &coord->drawn, link)
		drop_stream(job);
}

static void free_drawn(struct drawn_job *job)
{
	drop_stream(job);
	if (job->joined)
		sampler_leave(job->pool->sampler, job->id);
	LIST_REMOVE(job, link);
	coord_facts_free(&job->facts);
	free(job->ids);
	free(job->log.owners);
	free(job->log.cursors);
	free(job);
}

void coord_drop_drawn(struct coord *coord)
{
	while (!LIST_EMPTY(&coord->drawn))
		free_drawn(LIST_FIRST(&coord->drawn));
	while (!LIST_EMPTY(&coord->pools)) {
		struct pool *pool = LIST_FIRST(&coord->pools);
		LIST_REMOVE(pool, link);
		sampler_free(&pool->sampler);
		bitmap_free(&pool->resident);
		bitmap_free(&pool->fresh);
		bitmap_free(&pool->older);
		bitmap_free(&pool->lacked);
		free(pool);
	}
}

int coord_subtract_log(struct coord *coord, const struct coord_job *facts, uint32_t epoch,
	uint32_t next, roaring_bitmap_t *ids)
{
	const struct coord_engine *engine = coord->engine;
	auto_free sample_id *part = reallocarray(NULL, SUBTRACT_MOST, sizeof(*part));
	if (!part)
		return -ENOMEM;
	for (uint32_t r = 0; r < facts->ranks; r++) {
		uint32_t end = rank_length(facts, next, r);
		for (uint32_t at = 0; at < end;) {
			uint32_t left = end - at;
			struct coord_read read = {.job = facts->name,
				.epoch = epoch,
				.rank = r,
				.ranks = facts->ranks,
				.batch = facts->batch,
				.from = at,
				.most = left < SUBTRACT_MOST ? left : SUBTRACT_MOST,
				.ids = part};
			int err =
				engine->read(engine->context, coord->view.run, &read, 1);
			if (err)
				return err;
			if (read.ret_n == 0) {
				/* The log has changed, or a part of it was lost. */
				err = coord_mend(coord, facts->name);
				return err ? err : -ESTALE;
			}
			for (uint32_t i = 0; i < read.ret_n; i++)
				roaring_bitmap_remove(ids, part[i]);
			at += read.ret_n;
		}
	}
	return 0;
}

/* Gives the sampler a stream of the samples that the job has yet to draw (remaining_j in coord.h).
 * The stream gets a number that was not used before. */
static int rebuild(struct coord *coord, struct drawn_job *job)
{
	auto_bitmap roaring_bitmap_t *remaining = roaring_bitmap_copy(job->facts.ids);
	if (!remaining)
		return -ENOMEM;
	int err = coord_subtract_log(
		coord, &job->facts, job->log.epoch, job->log.next, remaining);
	if (!err &&
		roaring_bitmap_get_cardinality(remaining) != job->log.n - job->log.next)
		/* the log has a sample twice, or a sample that is not the job's */
		err = -EBADMSG;
	if (err)
		return err;
	job->stream = coord->next_stream++;
	err = sampler_insert(job->pool->sampler, job->stream, job->id, remaining);
	remaining = NULL; /* the sampler has taken it over */
	job->streams = err == 0;
	return err;
}

/* --- jobs ------------------------------------------------------------------------------- */

static int need_pool(
	struct coord *coord, const struct coord_job *facts, struct pool **ret)
{
	struct pool *pool;
	LIST_FOREACH (pool, &coord->pools, link)
		if (pool->kind == facts->kind &&
			strcmp(pool->dataset, facts->dataset) == 0) {
			*ret = pool;
			return 0;
		}
	pool = calloc(1, sizeof(*pool));
	if (!pool)
		return -ENOMEM;
	uint64_t seed = rng_mix(coord->seed, rng_next(&coord->rng));
	int err = sampler_new(facts->kind, seed, &pool->sampler);
	if (err) {
		free(pool);
		return err;
	}
	pool->kind = facts->kind;
	strcpy(pool->dataset, facts->dataset);
	LIST_INSERT_HEAD(&coord->pools, pool, link);
	*ret = pool;
	return 0;
}

/* Checks the samplers' memory, which grows with each job's largest id. -EBADE: an id that no
 * dataset can have; -E2BIG: the sum of the largest ids exceeds most_ids. */
static int check_size(const struct coord *coord)
{
	uint64_t ids = 0;
	const struct drawn_job *job;
	LIST_FOREACH (job, &coord->drawn, link) {
		uint32_t last =
			job->facts.ids ? roaring_bitmap_maximum(job->facts.ids) : 0;
		if (last >= MOST_IDS)
			return -EBADE;
		ids += (uint64_t)last + 1;
	}
	return ids <= coord->most_ids ? 0 : -E2BIG;
}

static int get_facts(
	struct coord *coord, const struct coord_engine_job *log, struct coord_job *ret)
{
	const struct held_job *here = coord_find_job(coord, log->name);
	if (here && here->entered && coord_is_same_job(&here->facts, log)) {
		struct coord_job facts = here->facts;
		facts.n_log = 0; /* the engine has the log */
		return coord_facts_copy(&facts, ret);
	}
	int err = coord->engine->facts(coord->engine->context, log->name, ret);
	if (err)
		return err;
	err = coord_is_same_job(ret, log) ? check_size(coord) : -EBADE;
	if (err)
		coord_facts_free(ret);
	return err;
}

static int make_drawn(
	struct coord *coord, const struct coord_engine_job *log, struct drawn_job **ret)
{
	struct drawn_job *job = calloc(1, sizeof(*job));
	if (!job)
		return -ENOMEM;
	LIST_INSERT_HEAD(&coord->drawn, job, link);
	int err = get_facts(coord, log, &job->facts);
	if (!err)
		err = need_pool(coord, &job->facts, &job->pool);
	if (!err) {
		job->id = coord->next_id++;
		job->met_ns = coord->now_ns;
		err = sampler_join(job->pool->sampler, job->id, 0, job->facts.ids);
		job->joined = err == 0;
	}
	if (err)
		free_drawn(job);
	else
		*ret = job;
	return err;
}

static struct drawn_job *find_drawn(struct coord *coord, const char *name)
{
	struct drawn_job *job;
	LIST_FOREACH (job, &coord->drawn, link)
		if (strcmp(job->facts.name, name) == 0)
			return job;
	return NULL;
}

static void measure(struct coord *coord, struct drawn_job *job)
{
	const struct coord_engine_job *log = &job->log;
	uint64_t consumed = 0;
	for (uint32_t r = 0; r < log->ranks; r++)
		consumed += (uint64_t)log->cursors[r].epoch *
				    rank_length(&job->facts, log->n, r) +
			    log->cursors[r].position;
	uint64_t ns = coord->now_ns - job->measured_ns;
	if (job->measured_ns && ns < coord->ttl_ns / 4)
		return;
	if (job->measured_ns && consumed >= job->consumed)
		job->rate = job->rate / 2 + (double)(consumed - job->consumed) *
						    (double)SECOND_NS / (double)ns / 2;
	if (consumed != job->consumed)
		coord_moved(coord);
	job->consumed = consumed;
	job->measured_ns = coord->now_ns;
}

static uint32_t find_ahead(const struct drawn_job *job)
{
	const struct coord_engine_job *log = &job->log;
	uint32_t first = 0;
	for (uint32_t r = 0; r < log->ranks; r++) {
		uint32_t share = ranks_share(log->batch, log->ranks, r);
		if (log->cursors[r].epoch < log->epoch)
			continue;
		if (log->cursors[r].epoch > log->epoch)
			return 0;
		uint64_t global =
			(uint64_t)(log->cursors[r].position / share) * log->batch;
		if (global > log->n)
			global = log->n;
		if (global > first)
			first = (uint32_t)global;
	}
	return log->next > first ? log->next - first : 0;
}

/* Sets the window to the number of samples that the readers consume within 3 ttl, the time in which
 * a dead leader is replaced. The window has at least coord->mini_batches mini-batches. */
static void set_window(struct coord *coord, struct drawn_job *job)
{
	double seconds = 3.0 * (double)coord->ttl_ns / (double)SECOND_NS;
	double need = job->rate * seconds;
	uint64_t least = (uint64_t)coord->mini_batches * job->facts.batch;
	uint64_t window = need < 1e9 ? (uint64_t)need : 1000000000;
	if (window < least)
		window = least;
	job->window = window < job->log.n ? (uint32_t)window : job->log.n;
}

static bool is_over(const struct drawn_job *job)
{
	const struct coord_engine_job *log = &job->log;
	for (uint32_t r = 0; r < log->ranks; r++)
		if (log->cursors[r].epoch < log->epoch &&
			(log->cursors[r].epoch + 1 < log->epoch ||
				log->cursors[r].position <
					rank_length(&job->facts, log->n, r)))
			return false;
	return log->epoch > 0;
}

/* Deletes the previous epoch's feeds if all ranks have read that epoch to its end. */
static int forget_read(struct coord *coord, struct drawn_job *job)
{
	const struct coord_engine *engine = coord->engine;
	uint32_t epoch = job->log.epoch;
	if (job->forgotten == epoch || !is_over(job))
		return 0;
	int err = engine->forget(
		engine->context, &coord->token, job->facts.name, epoch - 1);
	if (!err)
		job->forgotten = epoch;
	return err;
}

static int survey_job(struct coord *coord, struct coord_engine_job *log)
{
	struct drawn_job *job = find_drawn(coord, log->name);
	/* The group may have forgotten the job, and have another job of this name. */
	if (job && !coord_is_same_job(&job->facts, log)) {
		free_drawn(job);
		job = NULL;
	}
	bool is_new = !job;
	int err = is_new ? make_drawn(coord, log, &job) : 0;
	if (err)
		return err;
	if (is_new)
		/* The job may wait until its ranks have nodes, so look again soon. */
		coord_moved(coord);
	job->seen = true;
	if (job->log.epoch != log->epoch || job->log.next != log->next) {
		coord_moved(coord);
		drop_stream(job);
	}
	/* `before` goes to *log, so the caller frees the arrays of the job's previous log */
	struct coord_engine_job before = job->log;
	job->log = *log;
	*log = before;
	measure(coord, job);
	job->ahead = find_ahead(job);
	set_window(coord, job);
	err = job->streams ? 0 : rebuild(coord, job);
	return err ? err : forget_read(coord, job);
}

int coord_survey(struct coord *coord)
{
	const struct coord_engine *engine = coord->engine;
	struct coord_engine_jobs jobs;
	struct drawn_job *job, *following;
	int err = engine->jobs(engine->context, coord->view.run, &jobs);
	if (err)
		return err;
	LIST_FOREACH (job, &coord->drawn, link)
		job->seen = false;
	for (size_t i = 0; i < jobs.n && !err; i++)
		err = survey_job(coord, &jobs.jobs[i]);
	for (job = LIST_FIRST(&coord->drawn); job && !err; job = following) {
		following = LIST_NEXT(job, link);
		if (!job->seen)
			free_drawn(job);
	}
	coord_engine_jobs_free(&jobs);
	return err;
}
