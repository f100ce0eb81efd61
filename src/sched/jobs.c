// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "base/clock.h"
#include "edition/edition.h"
#include "sched/admit.h"
#include "sched/sched_handle.h"
#include "sched/jobs.h"
#include "sched/skipping.h"
#include "sched/supplying.h"
#include "state/state.h"
#include "supply/supply.h"
#include "watch/watch.h"
#include "epoch/questions.h"

#include <errno.h>
#include <string.h>

#define MAX_JOB_ID ((1u << 14) - 1) /* An inode number has 14 bits for the job's id. */

/* Returns the source of this name, or NULL. Counts the caller as a job of the source, so that the
 * source is not freed. */
static struct source *find_source(struct sched *sched, const char *name)
{
	LOCK_SCOPE(&sched->lock);
	struct sched_source *source = source_find_locked(sched, name);
	if (!source)
		return NULL;
	atomic_fetch_add(&source->is.jobs, 1);
	return &source->is;
}

/* Returns the dataset name that is most similar to `name`, or any dataset's name if none is
 * similar. The caller frees the result. NULL: there is no dataset, or no memory. */
static char *nearest_dataset(struct sched *sched, const char *name)
{
	auto_free const char **names = calloc(CONFIG_MOST_DATASETS, sizeof(*names));
	size_t n = 0;
	LOCK_SCOPE(&sched->lock);
	for (size_t i = 0; names && i < sched->supply.n_sources; i++)
		if (sched->sources[i].is.dataset && !sched->sources[i].removed)
			names[n++] = dataset_name(sched->sources[i].is.dataset);
	const char *near = n > 0 ? config_nearest(name, names, n) : NULL;
	return n > 0 ? strdup(near ? near : names[0]) : NULL;
}

static int unknown_dataset(struct sched *sched, const struct job_config *config,
	const char *name, config_report *report, void *context)
{
	auto_free char *near = nearest_dataset(sched, name);
	config_report_text(report, context,
		"%s:[job]:dataset: found \"%s\", allowed: a [dataset NAME] of the "
		"daemon's ini, or one that joaderctl dataset add has added; did you mean "
		"\"%s\"?",
		config->file, name, near ? near : "");
	return -EINVAL;
}

static int make_edition(struct sched_job *job, config_report *report, void *context)
{
	struct source *sources[CONFIG_MOST_MIXED];
	struct config_mixed mixed;
	const char *text = job->is.config.dataset;
	size_t n = 0;
	int err = 0;
	while (!err && config_next_mixed(&text, &mixed)) {
		sources[n] = find_source(job->sched, mixed.name);
		if (sources[n])
			n++;
		else
			err = unknown_dataset(
				job->sched, &job->is.config, mixed.name, report, context);
	}
	if (!err)
		err = edition_new(&job->is, sources, n, report, context, &job->is.now);
	for (size_t i = 0; i < n; i++)
		atomic_fetch_sub(&sources[i]->jobs, 1);
	return err;
}

static int job_new(struct sched *sched, const struct job_config *config,
	config_report *report, void *context, struct sched_job **ret)
{
	struct sched_job *job = calloc(1, sizeof(*job));
	if (!job)
		return -ENOMEM;
	job->sched = sched;
	atomic_init(&job->references, 1);
	TAILQ_INIT(&job->parked);
	TAILQ_INIT(&job->is.editions);
	job->is.lock = &sched->lock;
	job->watch.job = &job->is;
	job->is.supply = &sched->supply;
	job->is.directory = aprintf("%s/jobs/%s", sched->config->state, config->name);
	int err = job->is.directory ? config_job_copy(config, &job->is.config) : -ENOMEM;
	if (!err)
		job->is.ini_hash = restore_hash_ini(&job->is.config);
	if (!err)
		err = make_edition(job, report, context);
	if (!err)
		TAILQ_INSERT_TAIL(&job->is.editions, job->is.now, link);
	if (err)
		sched_job_put(job);
	else
		*ret = job;
	return err;
}

/* Returns an id for a new job. known: the id of an earlier job of this name; 0: there is none.
 * Returns `known` unless a job has this id now; otherwise returns the next free id after the last
 * one that was given to a job. */
static job_id choose_id(struct sched *sched, job_id known)
{
	LOCK_SCOPE(&sched->lock);
	if (known != 0 && known <= MAX_JOB_ID && !job_find_locked(sched, NULL, known)) {
		if (known > sched->last_id)
			sched->last_id = known;
		return known;
	}
	do
		sched->last_id = sched->last_id % MAX_JOB_ID + 1;
	while (job_find_locked(sched, NULL, sched->last_id));
	return sched->last_id;
}

/* Tells whether a dataset of the edition is being scanned or removed. */
static bool is_taken(const struct edition *edition)
{
	for (size_t i = 0; i < edition->n_parts; i++)
		if (sched_source_of(edition->parts[i].source)->taken ||
			sched_source_of(edition->parts[i].source)->removed)
			return true;
	return false;
}

/* Adds the job to the sampler of `part`, the last one that it joins, and makes the job known to
 * other threads. join_part calls this function (join_finish). -EAGAIN: see join_finish_locked;
 * -EEXIST, -EBUSY. */
static int try_install(struct part *part, struct sampler_joining *joining)
{
	struct sched_job *job = sched_job_of(part->edition->job);
	struct sched *sched = job->sched;
	const struct sched_job *other;
	const char *key;
	uint32_t epoch;
	LOCK_SCOPE(&sched->lock);
	if (sched->stopping)
		return -ENODEV;
	if (job_find_locked(sched, job->is.config.name, 0) ||
		job_find_locked(sched, NULL, job->is.id) ||
		admit_conflict_locked(sched, &job->is.config) ||
		!admit_rank_locked(sched, &job->is.config, &other, &key))
		return -EEXIST;
	if (is_taken(job->is.now))
		return -EBUSY;
	int err = join_finish_locked(part, joining);
	if (err)
		return err;
	(void)sched_job_hold(job);
	TAILQ_INSERT_TAIL(&sched->jobs, job, link);
	sched->n_jobs++;
	shares_join_locked(job);
	past_join_locked(sched->past, &job->is);
	edition_choose_heads_locked(job->is.now);
	if (epochs_wants(job->is.epochs, EFFECT_SAVE, &epoch))
		clerk_request_locked(job);
	return 0;
}

/* Adds the job to its samplers, and then makes the job known to other threads (try_install).
 * Joining a sampler takes long with millions of samples. So the joining is prepared without the
 * lock, and prepared again if another job was added meanwhile. */
static int install(struct sched_job *job)
{
	struct edition *edition;
	int err = 0;
	/* The job is unknown to other threads, so no lock is needed. */
	TAILQ_FOREACH (edition, &job->is.editions, link)
		if (!err && edition != job->is.now)
			err = join(edition, 0);
	if (!err)
		err = join(job->is.now, 1);
	return err ? err : join_part(&job->is.now->parts[0], try_install);
}

static bool name_is_taken(struct sched *sched, const char *name)
{
	LOCK_SCOPE(&sched->lock);
	return job_find_locked(sched, name, 0) != NULL;
}

/* Gives the job its id, files and saved state, and then makes the job known to other threads
 * (install). */
static int add_job(struct sched *sched, struct sched_job *job, bool persist,
	const struct adding *adding)
{
	job_id known = 0;
	lock_take(&sched->lock);
	bool full = sched->n_jobs >= MAX_JOB_ID;
	lock_release(&sched->lock);
	int err = full ? -ENFILE : keep_begin(&job->is, &known);
	if (err)
		return err;
	job->is.id = choose_id(sched, known);
	if (job->is.id != known)
		err = keep_id(&job->is);
	if (!err)
		err = mapping_keep(&job->is);
	if (!err)
		err = job_restore_editions(job);
	if (!err)
		err = skip_begin(job);
	if (!err)
		err = keep_restore(&job->is);
	if (!err)
		err = job_import(job, adding);
	if (!err && persist)
		err = keep_ini(&job->is);
	if (!err)
		measured_save(job->is.now);
	return err ? err : install(job);
}

int sched_job_add(struct sched *sched, const struct job_config *config, bool persist,
	config_report *report, void *context)
{
	return sched_job_add_import(sched, config, persist, NULL, report, context);
}

int sched_job_add_import(struct sched *sched, const struct job_config *config,
	bool persist, const struct sched_import *import, config_report *report,
	void *context)
{
	struct adding adding = {.fd = import ? import->fd : -1,
		.file = import ? import->name : NULL,
		.at = import ? import->at : NULL,
		.report = report,
		.context = context};
	struct sched_job *job = NULL;
	if (name_is_taken(sched, config->name)) {
		config_report_text(report, context,
			"%s:[job]:name: found \"%s\", which is the name of a running "
			"job, allowed: any other",
			config->file, config->name);
		return -EEXIST;
	}
	struct job_config own = *config;
	int err = program_adopt(sched, &own, report, context);
	if (!err)
		err = admit_path(sched, config, report, context);
	if (!err)
		err = admit_rank(sched, config, report, context);
	if (!err && import)
		err = mapping_of_import(&adding, &own.mapping);
	if (!err)
		err = job_new(sched, &own, report, context, &job);
	if (err)
		return err;
	err = admit_batch(job->is.now, report, context);
	if (!err)
		err = admit_channels(job->is.now, report, context);
	if (err) {
		sched_job_put(job);
		return err;
	}
	err = admit_view(job->is.now);
	if (!err)
		err = add_job(sched, job, persist, &adding);
	if (err == -EBUSY)
		config_report_text(report, context,
			"job %s: dataset %s is being scanned or removed at the moment",
			config->name, config->dataset);
	else if (err && err != -EBADMSG)
		config_report_text(report, context, "job %s: %s: %s", config->name,
			job->is.directory, strerror(-err));
	sched_job_put(job);
	return err;
}

void job_leave_locked(struct sched_job *job, struct aftermath *aftermath)
{
	struct sched_handle *handle, *next;
	struct edition *edition;
	struct effects effects;
	lock_assert_held(&job->sched->lock);
	job->removed = true;
	job_count_waits_locked(job, clock_now_ns());
	past_leave_locked(job->sched->past, &job->watch);
	TAILQ_REMOVE(&job->sched->jobs, job, link);
	job->sched->n_jobs--;
	TAILQ_FOREACH (edition, &job->is.editions, link)
		edition_choose_heads_locked(edition);
	for (handle = TAILQ_FIRST(&job->parked); handle; handle = next) {
		next = TAILQ_NEXT(handle, job_link);
		handle_give_up_locked(handle, -ENODEV, aftermath);
	}
	effects_init(&effects);
	epochs_leave(job->is.epochs, &effects);
	effects_execute_locked(job, &effects, aftermath);
	effects_resume_locked(job, aftermath);
	TAILQ_FOREACH (edition, &job->is.editions, link)
		edition_leave_samplers_locked(edition);
	share_leave(&job->share);
}

/* Ends the job, and waits until the clerk has done its work for the job. Returns a reference, which
 * the caller gives back; NULL: no such job. */
static struct sched_job *take_out(struct sched *sched, const char *name)
{
	struct aftermath aftermath;
	sched_lock(sched, &aftermath);
	struct sched_job *job = job_find_locked(sched, name, 0);
	if (job)
		job_leave_locked(job, &aftermath);
	sched_unlock(&aftermath);
	if (job)
		clerk_wait_for_last(job); /* The clerk may be making files. */
	return job;
}

/* Removes a job. forget: removes some or all of the job's files. -ENOENT */
static int remove_job(
	struct sched *sched, const char *name, void (*forget)(const struct job *job))
{
	struct sched_job *job = take_out(sched, name);
	if (!job)
		return -ENOENT;
	journal_abandon(job->is.journal);
	forget(&job->is);
	sched_job_put(job);
	return 0;
}

int sched_job_remove(struct sched *sched, const char *name)
{
	return remove_job(sched, name, keep_nothing);
}

int sched_job_keep(struct sched_job *job)
{
	return keep_ini(&job->is);
}

int sched_job_withdraw(struct sched *sched, const char *name)
{
	return remove_job(sched, name, keep_no_ini);
}
