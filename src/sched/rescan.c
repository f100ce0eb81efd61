// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/log.h"
#include "sched/admit.h"
#include "sched/datasets.h"
#include "edition/edition.h"
#include "sched/jobs.h"
#include "sched/positions.h"
#include "sched/supplying.h"
#include "supply/supply.h"

#include <errno.h>

/*
 * Moves the jobs of a dataset to a new scan of this dataset:
 *
 *     each job's next edition is made beside the present one, and readers notice nothing;
 *                    |         if a job can't move, the new scan is discarded
 *     dataset_install: a restarted daemon finds the new scan
 *                    |
 *     epochs_use_set for all jobs at once: later epochs have the new edition
 *
 * Epochs that have begun keep their edition. If the daemon dies between the last two steps, the
 * jobs' journals tell to which scan each epoch belongs (editions_restore).
 */

struct moving {
	struct sched *sched;
	struct sched_source *from, *to;
	sched_edition_change *change;
	config_report *report;
	void *context;
	struct sched_job **jobs; /* a reference to each job of the dataset */
	/* the next edition of each job; NULL: not made, or the job has begun to use it */
	struct edition **editions;
	size_t n;
};

const char *move_obstacle(const struct job_config *config)
{
	if (config_is_mixed(config))
		return "is a mixture, whose samples never change";
	if (config->ranks > 0)
		return "is a rank of a training";
	if (config->layout == LAYOUT_MIRROR)
		return "has layout = mirror, which has the same samples in all epochs";
	if (config_replay(config))
		return "has order = replay, which has the samples of another run";
	if (config->fixed_labels)
		return "has labels = fixed, which are the same in all epochs";
	if (config->skips_bad)
		return "has bad_sample = skip";
	return NULL;
}

/* Tells whether a script reads a job with layout = classes now. A rescan would make the script's
 * list of files wrong. */
static bool is_read_by_class(struct sched_job *job)
{
	LOCK_SCOPE(&job->sched->lock);
	return job->is.config.layout == LAYOUT_CLASSES &&
	       epochs_current_is_read(job->is.epochs, clock_now_ns());
}

static int refuse(const struct moving *moving, const struct sched_job *job,
	const char *what, const char *why)
{
	config_report_text(moving->report, moving->context, "job %s %s%s",
		job->is.config.name, what, why);
	return -EINVAL;
}

/* Checks whether the job can use the next edition. This check needs the edition itself, because
 * only the edition tells which samples the job selects. */
static int check(const struct moving *moving, const struct edition *next)
{
	struct sched_job *job = sched_job_of(next->job);
	auto_edition *now = sched_edition(job, SCHED_CURRENT);
	const char *change = moving->change(&job->is.config, now, &next->is);
	int err = admit_batch(next, moving->report, moving->context);
	if (!err)
		err = admit_channels(next, moving->report, moving->context);
	if (err)
		return err;
	if (change)
		return refuse(moving, job,
			"has files of one size for all epochs, and the size would "
			"change: ",
			change);
	return admit_view(next);
}

/* Makes the next edition of the i-th job. */
static int prepare(const struct moving *moving, size_t i)
{
	struct sched_job *job = moving->jobs[i];
	struct edition **next = &moving->editions[i];
	struct source *to = &moving->to->is;
	const char *why = move_obstacle(&job->is.config);
	if (!why && is_read_by_class(job))
		why = "has layout = classes, and a script reads its current/: the "
		      "script's list of files would be wrong; scan again when the script "
		      "has not read for a minute";
	if (why)
		return refuse(moving, job, why, "");
	int err = edition_new(&job->is, &to, 1, moving->report, moving->context, next);
	if (!err)
		err = check(moving, *next);
	if (!err)
		err = join(*next, 0);
	if (!err)
		measured_save(*next);
	return err;
}

/* Lists the dataset's jobs. No job is added meanwhile, since the dataset is taken. */
static int list_jobs(struct moving *moving)
{
	struct sched_job *job;
	LOCK_SCOPE(&moving->sched->lock);
	size_t most = moving->sched->n_jobs + 1;
	moving->jobs = calloc(most, sizeof(struct sched_job *));
	moving->editions = calloc(most, sizeof(struct edition *));
	if (!moving->jobs || !moving->editions)
		return -ENOMEM;
	TAILQ_FOREACH (job, &moving->sched->jobs, link)
		if (edition_part_of(job->is.now, moving->from->is.dataset))
			moving->jobs[moving->n++] = sched_job_hold(job);
	return 0;
}

static bool is_removed(struct sched_job *job)
{
	LOCK_SCOPE(&job->sched->lock);
	return job->removed;
}

static int prepare_all(struct moving *moving)
{
	int err = list_jobs(moving);
	for (size_t i = 0; i < moving->n && !err; i++)
		if (!is_removed(moving->jobs[i]))
			err = prepare(moving, i);
	return err;
}

/* Waits for all restores, which are for epochs of the old scan. Releases the lock meanwhile. */
static void wait_for_restores_locked(const struct moving *moving)
{
	struct sched *sched = moving->sched;
	size_t i = 0;
	lock_assert_held(&sched->lock);
	while (i < moving->n)
		if (moving->jobs[i]->restoring && !sched->stopping) {
			lock_wait(&sched->lock, &sched->clerk_done_cond);
			i = 0;
		} else {
			i++;
		}
}

/* A tier allows one dataset of each name, so the old source leaves the tier before the new one
 * joins. If the new one can't join, its samples are read from the dataset. */
static void move_source_locked(const struct moving *moving)
{
	struct sched_source *from = moving->from, *to = moving->to;
	lock_assert_held(&moving->sched->lock);
	tier_leave(from->is.tier);
	from->is.tier = NULL;
	if (tier_join_locked(to) != 0)
		log_error("dataset %s: no memory for its tier",
			dataset_name(to->is.dataset));
	to->quarantined = from->quarantined;
	from->removed = true;
	from->taken = false;
	to->removed = false;
	moving->sched->sources_changed++;
}

static void move_all(struct moving *moving)
{
	LOCK_SCOPE(&moving->sched->lock);
	wait_for_restores_locked(moving);
	move_source_locked(moving);
	for (size_t i = 0; i < moving->n; i++) {
		struct edition *next = moving->editions[i];
		struct sched_job *job = moving->jobs[i];
		if (job->removed)
			continue;
		epochs_use_set(
			job->is.epochs, epochs_first_new(job->is.epochs), &next->set);
		TAILQ_INSERT_TAIL(&job->is.editions, next, link);
		job->is.now = next;
		edition_choose_heads_locked(next);
		moving->editions[i] = NULL;
	}
}

/* Removes files of unused scans, which a daemon that died may have left. */
static void prune(const struct moving *moving)
{
	struct sched *sched = moving->sched;
	const char *name = dataset_name(moving->to->is.dataset);
	auto_free struct dataset **used =
		calloc(CONFIG_MOST_DATASETS, sizeof(struct dataset *));
	size_t n = 0;
	if (!used)
		return;
	lock_take(&sched->lock);
	for (size_t i = 0; i < sched->supply.n_sources; i++)
		if (sched->sources[i].is.dataset)
			used[n++] = dataset_hold(sched->sources[i].is.dataset);
	lock_release(&sched->lock);
	dataset_prune(sched->config->state, name, used, n);
	for (size_t i = 0; i < n; i++)
		dataset_close(&used[i]);
}

static void end(struct moving *moving)
{
	for (size_t i = 0; i < moving->n; i++) {
		if (moving->editions[i])
			edition_free(moving->editions[i]);
		sched_job_put(moving->jobs[i]);
	}
	free(moving->editions);
	free(moving->jobs);
	sched_after(moving->sched);
	atomic_fetch_sub(&moving->to->is.jobs, 1);
}

int sched_dataset_move(struct sched *sched, struct dataset *dataset,
	const struct dataset_config *config, sched_edition_change *change,
	config_report *report, void *context)
{
	struct moving moving = {
		.sched = sched, .change = change, .report = report, .context = context};
	lock_take(&sched->lock);
	moving.from = source_taken_locked(sched, dataset_name(dataset));
	lock_release(&sched->lock);
	int err = source_put_beside(sched, dataset, config, &moving.to);
	if (err)
		return err;
	err = prepare_all(&moving);
	if (!err)
		err = dataset_install(
			sched->config->state, moving.from->is.dataset, dataset);
	if (!err) {
		move_all(&moving);
		prune(&moving);
	} else {
		/* The housekeeper would discard the new catalogue too late: the next scan writes
		 * the same files. */
		dataset_discard(dataset);
	}
	end(&moving);
	return err;
}
