// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/jobs.h"
#include "sched/sched_internal.h"
#include "state/checkpoint.h"
#include "state/state.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* The clerk restores and exports jobs, so no other thread makes streams or saves orders of the job
 * meanwhile. The steps of a restore:
 *
 *   restore_check
 *   epochs_hold      from now on opens wait
 *   restore_make     makes the restored epochs, and saves their orders
 *   epochs_restored  opens continue */

struct clerk_restore {
	struct restoring to;
	/* An export, not a restore: the job stays where it is, its orders are saved, and *to.from
	 * becomes a checkpoint. */
	bool export;
	int err;
};

static int hold_opens(struct sched_job *job)
{
	struct effects effects;
	effects_init(&effects);
	SECTION_SCOPE(job->sched, aftermath);
	if (job->removed || job->sched->stopping)
		return -ENODEV;
	epochs_hold(job->is.epochs, &effects);
	effects_execute_locked(job, &effects, &aftermath);
	return 0;
}

static void let_opens_go(struct sched_job *job)
{
	SECTION_SCOPE(job->sched, aftermath);
	epochs_unhold(job->is.epochs);
	effects_resume_locked(job, &aftermath);
}

/* Gives the restored epochs and orders to the engine. */
static int install(struct sched_job *job, const struct restored *restored)
{
	struct effects effects;
	effects_init(&effects);
	SECTION_SCOPE(job->sched, aftermath);
	if (job->removed || job->sched->stopping)
		return -ENODEV;
	int err = journal_reserve(job->is.journal);
	if (err)
		return err;
	epochs_restored(job->is.epochs, restored->running, restored->draining, &effects);
	epochs_has_orders(job->is.epochs, restored->orders, restored->n_orders);
	effects_execute_locked(job, &effects, &aftermath);
	effects_resume_locked(job, &aftermath);
	aftermath.flush = job;
	return 0;
}

static int make_and_install(struct sched_job *job, struct restoring *to)
{
	struct restored restored;
	int err = restore_make(&job->is, to, &restored);
	if (err)
		return err;
	err = install(job, &restored);
	if (!err)
		return 0;
	restored_free(&restored);
	return restore_failed(to, job->is.config.name, err);
}

/* Syncs the journal, and removes records that are not needed after the restore. */
static int sync_restored(struct sched_job *job, struct restoring *to)
{
	uint32_t epoch = to->at ? to->at_epoch : to->from->place.running.epoch;
	int err = sched_job_sync(job);
	if (err)
		return restore_failed(to,
			"the job is restored, but the journal can't be synced to the "
			"disk",
			err);
	journal_forget(job->is.journal, epoch);
	return 0;
}

/* Restores without checks. Called by the clerk, or by the thread that adds the job. */
static int restore_job(struct sched_job *job, struct restoring *to)
{
	int err = hold_opens(job);
	if (err)
		return restore_failed(to, job->is.config.name, err);
	err = make_and_install(job, to);
	if (err) {
		let_opens_go(job);
		return err;
	}
	return sync_restored(job, to);
}

/* Takes a checkpoint, and saves the orders in memory. Opens wait meanwhile. */
static int save_for_export(struct sched_job *job, struct restoring *to)
{
	int err = hold_opens(job);
	if (err)
		return restore_failed(to, job->is.config.name, err);
	restore_take_checkpoint(&job->is, to->from);
	err = restore_save_live(&job->is, to);
	let_opens_go(job);
	return err;
}

static int restore(struct sched_job *job, struct clerk_restore *work)
{
	if (work->export)
		return save_for_export(job, &work->to);
	int err = restore_check(&job->is, &work->to);
	return err ? err : restore_job(job, &work->to);
}

void restore_if_wanted(struct sched_job *job)
{
	lock_take(&job->sched->lock);
	struct clerk_restore *work = job->restoring;
	lock_release(&job->sched->lock);
	if (!work)
		return;
	work->err = restore(job, work);
	LOCK_SCOPE(&job->sched->lock);
	job->restoring = NULL;
	pthread_cond_broadcast(&job->sched->clerk_done_cond);
}

/* Passes the work to the clerk, and waits until the clerk has done it. -ENODEV: the job is removed,
 * or the scheduler stops; -EBUSY: another restore is under way */
static int restore_by_clerk(struct sched_job *job, struct clerk_restore *work)
{
	struct sched *sched = job->sched;
	LOCK_SCOPE(&sched->lock);
	if (job->removed || sched->stopping || !sched->has_clerk)
		return -ENODEV;
	if (job->restoring)
		return -EBUSY;
	job->restoring = work;
	clerk_request_locked(job);
	while (job->restoring == work)
		lock_wait(&sched->lock, &sched->clerk_done_cond);
	return work->err;
}

void sched_job_print_state(struct sched_job *job, FILE *out)
{
	struct checkpoint checkpoint;
	restore_take_checkpoint(&job->is, &checkpoint);
	checkpoint_print(out, &checkpoint);
}

int sched_job_sync(struct sched_job *job)
{
	journal_flush(job->is.journal);
	return journal_sync(job->is.journal);
}

static void warn_of_new_ini(struct sched_job *job, const struct restoring *to,
	config_report *report, void *context)
{
	if (to->from->ini != job->is.ini_hash)
		config_report_text(report, context,
			CONFIG_WARNING "job %s: its ini has changed since the "
				       "checkpoint, so files may differ in content",
			job->is.config.name);
}

int sched_job_restore(struct sched_job *job, const char *text, const char *at,
	config_report *report, void *context)
{
	struct checkpoint from;
	const char *end;
	struct clerk_restore work = {.to = {.from = &from, .at = at != NULL}};
	char message[200] = "";
	int err = checkpoint_parse(text, &from, &end, message);
	if (err) {
		config_report_text(
			report, context, "not a checkpoint of joaderfs: %s", message);
		return err;
	}
	if (at && checkpoint_parse_at(at, &work.to.at_epoch, &work.to.at_position) != 0) {
		config_report_text(report, context, IMPORT_AT, at);
		return -EINVAL;
	}
	err = restore_by_clerk(job, &work);
	if (err)
		config_report_text(report, context, "job %s: %s", job->is.config.name,
			work.to.message[0] ? work.to.message : strerror(-err));
	else
		warn_of_new_ini(job, &work.to, report, context);
	return err;
}

int sched_job_export(struct sched_job *job, int fd, config_report *report, void *context)
{
	struct checkpoint from = {0};
	struct clerk_restore work = {.to = {.from = &from}, .export = true};
	struct stat st;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		report(context, "export: the descriptor is not of a regular file");
		return -EINVAL;
	}
	if (config_is_mixed(&job->is.config)) {
		config_report_text(report, context,
			"job %s is a mixture, whose orders can't be exported, because "
			"they belong to several datasets",
			job->is.config.name);
		return -EOPNOTSUPP;
	}
	int err = job_kind(&job->is) == EPOCHS_MIRRORED ? -EOPNOTSUPP
							: restore_by_clerk(job, &work);
	if (!err)
		err = export_orders(&job->is, fd, &from);
	if (err)
		config_report_text(report, context, "job %s: can't be exported: %s",
			job->is.config.name,
			work.to.message[0] ? work.to.message : strerror(-err));
	return err;
}

int job_import(struct sched_job *job, const struct adding *adding)
{
	struct checkpoint from = {0};
	struct restoring to = {.from = &from};
	int err = import_for_job(&job->is, adding, &to);
	if (err || !from.has_journal || restore_job(job, &to) == 0)
		return err;
	import_undo(&job->is);
	return import_refuse(adding, "job %s: %s", job->is.config.name, to.message);
}

int sched_job_log(
	struct sched_job *job, uint32_t *ret_epoch, sample_id **ret, uint32_t *ret_n)
{
	return import_log(&job->is, ret_epoch, ret, ret_n);
}
