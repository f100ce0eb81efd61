// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "coord/coord_facts.h"
#include "coord/coord_local_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void local_job_free(struct local_job *job)
{
	LIST_REMOVE(job, link);
	while (!LIST_EMPTY(&job->feeds))
		local_feed_free(LIST_FIRST(&job->feeds));
	while (!LIST_EMPTY(&job->runners)) {
		struct local_runner *runner = LIST_FIRST(&job->runners);
		LIST_REMOVE(runner, link);
		free(runner);
	}
	bitmap_free(&job->ids);
	free(job->ranks);
	free(job);
}

/* Begins a job with facts->log, and sets the cursors of all ranks to the end of this log. */
static int begin_there(struct local_job *job, const struct coord_job *facts)
{
	auto_free sample_id *ids = coord_log_parts(facts);
	const struct coord_append log = {.epoch = facts->epoch,
		.count = facts->n_log,
		.ranks = facts->ranks,
		.batch = facts->batch,
		.ids = ids};
	job->epoch = facts->epoch;
	int err = ids ? 0 : -ENOMEM;
	if (!err && facts->n_log)
		err = local_append_to(job, &log);
	for (uint32_t r = 0; r < facts->ranks && !err; r++)
		job->ranks[r].cursor = (struct coord_position){facts->epoch,
			ranks_position(facts->n_log, facts->batch, facts->ranks, r)};
	return err;
}

static struct local_job *make_job(
	struct coord_local *local, const struct coord_job *facts)
{
	struct local_job *job = calloc(1, sizeof(*job));
	if (!job)
		return NULL;
	LIST_INSERT_HEAD(&local->jobs, job, link);
	strcpy(job->name, facts->name);
	strcpy(job->dataset, facts->dataset);
	job->facts = *facts;
	job->facts.name = job->name;
	job->facts.dataset = job->dataset;
	job->facts.ids = job->ids = roaring_bitmap_copy(facts->ids);
	job->facts.log = NULL;
	job->facts.epoch = job->facts.n_log = 0;
	job->n = (uint32_t)roaring_bitmap_get_cardinality(facts->ids);
	job->ranks = calloc(facts->ranks, sizeof(*job->ranks));
	if (job->ids && job->ranks && begin_there(job, facts) == 0)
		return job;
	local_job_free(job);
	return NULL;
}

struct local_runner *local_runner(const struct local_runners *list, const char *node)
{
	struct local_runner *runner;
	LIST_FOREACH (runner, list, link)
		if (strcmp(runner->node, node) == 0)
			return runner;
	return NULL;
}

int local_add_runner(struct local_runners *list, const char *node)
{
	if (local_runner(list, node))
		return 0;
	struct local_runner *runner = calloc(1, sizeof(*runner));
	if (!runner)
		return -ENOMEM;
	strcpy(runner->node, node);
	LIST_INSERT_HEAD(list, runner, link);
	return 0;
}

static bool is_another(
	const struct coord_job *facts, const struct local_job *job, char *differs)
{
	return coord_facts_differ(facts, &job->facts, job->n, differs) ||
	       coord_is_behind(facts, job->epoch, job->next, differs);
}

int local_enter(
	void *context, const char *node, const struct coord_job *facts, char *differs)
{
	struct coord_local *local = context;
	struct local_job *job = local_find(local, facts->name);
	if (job && is_another(facts, job, differs)) {
		/* The jobs differ, so this node no longer runs the group's job. */
		(void)local_leave(local, node, facts->name);
		job = local_find(local, facts->name);
		if (job)
			return -EINVAL;
		differs[0] = '\0';
	}
	if (!job) {
		job = make_job(local, facts);
		local->news++;
	}
	return job ? local_add_runner(&job->runners, node) : -ENOMEM;
}

int local_leave(void *context, const char *node, const char *name)
{
	struct coord_local *local = context;
	struct local_job *job = local_find(local, name);
	if (!job)
		return 0;
	struct local_runner *runner = local_runner(&job->runners, node);
	if (runner) {
		LIST_REMOVE(runner, link);
		free(runner);
	}
	if (LIST_EMPTY(&job->runners)) {
		local_job_free(job);
		local->news++;
	}
	return 0;
}

static int show_job(const struct coord_local *local, const struct local_job *job,
	struct coord_engine_job *ret)
{
	*ret = (struct coord_engine_job){.epoch = job->epoch,
		.next = job->next,
		.n = job->n,
		.ranks = job->facts.ranks,
		.batch = job->facts.batch,
		.fingerprint = job->facts.fingerprint};
	memcpy(ret->name, job->name, sizeof(ret->name));
	ret->cursors = calloc(job->facts.ranks, sizeof(*ret->cursors));
	ret->owners = calloc(job->facts.ranks, sizeof(*ret->owners));
	if (!ret->cursors || !ret->owners)
		return -ENOMEM;
	for (uint32_t i = 0; i < job->facts.ranks; i++) {
		const struct local_rank *rank = &job->ranks[i];
		bool lives = rank->until_ns > local->now_ns(local->clock);
		ret->cursors[i] = rank->cursor;
		ret->owners[i] = lives ? rank->owner : 0;
	}
	return 0;
}

int local_jobs(void *context, const char *run, struct coord_engine_jobs *ret)
{
	struct coord_local *local = context;
	struct local_job *job;
	size_t n = 0;
	*ret = (struct coord_engine_jobs){0};
	if (strcmp(local->run, run) != 0)
		return -ESTALE;
	LIST_FOREACH (job, &local->jobs, link)
		n++;
	ret->jobs = calloc(n + 1, sizeof(*ret->jobs));
	if (!ret->jobs)
		return -ENOMEM;
	LIST_FOREACH (job, &local->jobs, link)
		if (show_job(local, job, &ret->jobs[ret->n++])) {
			coord_engine_jobs_free(ret);
			return -ENOMEM;
		}
	qsort(ret->jobs, ret->n, sizeof(*ret->jobs), coord_jobs_by_name);
	return 0;
}

int local_facts(void *context, const char *name, struct coord_job *ret)
{
	const struct local_job *job = local_find(context, name);
	return job ? coord_facts_copy(&job->facts, ret) : -ENOENT;
}

/* --- sets of samples that nodes report -------------------------------------------------- */

void local_told_free(struct local_told *told)
{
	LIST_REMOVE(told, link);
	bitmap_free(&told->ids);
	free(told);
}

int local_tell(void *context, const char *node, const char *what,
	const roaring_bitmap_t *ids, uint32_t ttl_ms)
{
	struct coord_local *local = context;
	struct local_told *told;
	LIST_FOREACH (told, &local->told, link)
		if (strcmp(told->node, node) == 0 && strcmp(told->what, what) == 0)
			break;
	if (told)
		local_told_free(told);
	told = calloc(1, sizeof(*told));
	if (!told)
		return -ENOMEM;
	LIST_INSERT_HEAD(&local->told, told, link);
	strcpy(told->node, node);
	strcpy(told->what, what);
	told->until_ns = local->now_ns(local->clock) + ttl_ms * UINT64_C(1000000);
	told->ids = roaring_bitmap_copy(ids);
	if (told->ids)
		return 0;
	local_told_free(told);
	return -ENOMEM;
}

int local_told(void *context, const char *what, roaring_bitmap_t *ret)
{
	struct coord_local *local = context;
	const struct local_told *told;
	LIST_FOREACH (told, &local->told, link)
		if (told->until_ns > local->now_ns(local->clock) &&
			local_is_live(local, told->node) && strcmp(told->what, what) == 0)
			roaring_bitmap_or_inplace(ret, told->ids);
	return 0;
}
