// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/log.h"
#include "base/rng.h"
#include "state/checkpoint.h"
#include "edition/edition.h"
#include "sched/jobs.h"
#include "sched/positions.h"
#include "sched/sched_internal.h"
#include "state/state.h"
#include "epoch/questions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

/*
 * Takes checkpoints, and restores a job to a checkpoint. The clerk does it, so that no
 * other thread makes streams or saves orders of the job meanwhile:
 *
 *   check the checkpoint -> epochs_hold: opens wait -> orders of live epochs to files ->
 *   the order that runs, with what had been read, to a file -> epochs_restored
 */

/* --- checkpoints ---------------------------------------------------------------------- */

static uint64_t hash_of(const char *text, size_t n)
{
	uint64_t hash = n;
	for (size_t i = 0; i < n; i++)
		hash = rng_mix(hash, (unsigned char)text[i]);
	return hash;
}

uint64_t restore_hash_ini(const struct job_config *config)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	if (!out)
		return 0;
	config_print_job(out, config);
	uint64_t hash = fclose(out) == 0 ? hash_of(text, n) : 0;
	free(text);
	return hash;
}

static void take_checkpoint(struct sched_job *job, struct checkpoint *ret)
{
	*ret = (struct checkpoint){.ini = job->is.ini_hash};
	snprintf(ret->job, sizeof(ret->job), "%s", job->is.config.name);
	LOCK_SCOPE(&job->sched->lock);
	ret->journal = journal_id(job->is.journal);
	epochs_place(job->is.epochs, &ret->place);
	const struct edition *edition =
		edition_of_locked(&job->is, ret->place.running.epoch);
	ret->samples = edition->set.positions;
	ret->fingerprint = edition->fingerprint;
	ret->has_journal = ret->place.started;
	ret->n_runs = epochs_read_runs(job->is.epochs, ret->place.running.epoch,
		ret->runs, CHECKPOINT_RUNS, &ret->all_runs);
}

void sched_job_print_state(struct sched_job *job, FILE *out)
{
	struct checkpoint checkpoint;
	take_checkpoint(job, &checkpoint);
	checkpoint_print(out, &checkpoint);
}

int sched_job_sync(struct sched_job *job)
{
	journal_flush(job->is.journal);
	return journal_sync(job->is.journal);
}

/* --- checks ---------------------------------------------------------------------------- */

int restore_refuse(struct restoring *restoring, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(restoring->message, sizeof(restoring->message), format, args);
	va_end(args);
	return -EINVAL;
}

int restore_failed(struct restoring *restoring, const char *what, int err)
{
	(void)restore_refuse(restoring, "%s: %s", what, strerror(-err));
	return err;
}

static uint64_t journal_of(struct sched_job *job)
{
	LOCK_SCOPE(&job->sched->lock);
	return journal_id(job->is.journal);
}

static int check_identity(struct sched_job *job, struct restoring *restoring)
{
	const struct checkpoint *from = restoring->from;
	if (job_is_fed(&job->is))
		return restore_refuse(restoring,
			"a rank gets its samples from its training, and "
			"continues where the training is; `joaderctl add "
			"--import` moves a whole training");
	if (job_kind(&job->is) == EPOCHS_MIRRORED)
		return restore_refuse(restoring,
			"layout = mirror has no order, and nothing is consumed: there is "
			"nothing to restore");
	const struct edition *edition = restore_edition(job, from->place.running.epoch);
	uint32_t samples = edition->set.positions;
	if (from->samples != samples || from->fingerprint != edition->fingerprint)
		return restore_refuse(restoring,
			"the checkpoint is of other samples: found %" PRIu32
			" with fingerprint %016" PRIx64 ", allowed: the %" PRIu32
			" with %016" PRIx64 " that the job selects (its dataset, its "
			"layout, `where` or files have changed)",
			from->samples, from->fingerprint, samples, edition->fingerprint);
	if (from->has_journal && from->journal != journal_of(job))
		return restore_refuse(restoring,
			"the checkpoint is of another journal: found %016" PRIx64
			", allowed: %016" PRIx64 " (the job was removed and added again "
			"since, or is on another machine: there `joaderctl add "
			"--import` takes what `joaderctl export` has written)",
			from->journal, journal_of(job));
	return 0;
}

/* Refuses an epoch with another list of files: scripts that read current/ would suddenly
 * see another list. */
static int check_names(struct sched_job *job, struct restoring *restoring, uint32_t epoch)
{
	uint32_t names = sched_job_names(job, epoch);
	if (names == sched_job_names(job, SCHED_CURRENT))
		return 0;
	return restore_refuse(restoring,
		"epoch %" PRIu32 " is of the dataset before it was scanned again, and "
		"layout = classes has other files since: read epoch-%04" PRIu32
		"/, or restore to a later epoch",
		epoch, epoch);
}

int restore_check_target(struct sched_job *job, struct restoring *restoring)
{
	const struct epochs_place *place = &restoring->from->place;
	uint32_t last = place->running.epoch, epoch = restoring->at_epoch;
	if (!restoring->at)
		return check_names(job, restoring, last);
	uint32_t samples = restore_edition(job, epoch)->set.positions;
	if (restoring->at_position > samples)
		return restore_refuse(restoring,
			"--at: found position %" PRIu32 ", allowed: up to %" PRIu32,
			restoring->at_position, samples);
	bool next = epoch == last + 1 && restoring->at_position == 0;
	if ((epoch > last && !next) || epoch >= config_job_epochs(&job->is.config))
		return restore_refuse(restoring,
			"--at: found epoch %" PRIu32 ", allowed: up to %" PRIu32
			", the epoch of the checkpoint%s",
			epoch, last,
			last + 1 < config_job_epochs(&job->is.config)
				? ", or the begin of the next epoch"
				: "");
	return check_names(job, restoring, epoch);
}

/* --- restoring -------------------------------------------------------------------------- */

static int hold(struct sched_job *job)
{
	struct aftermath aftermath;
	struct effects effects;
	aftermath_init(&aftermath);
	effects_init(&effects);
	lock_take(&job->sched->lock);
	int err = job->removed || job->sched->stopping ? -ENODEV : 0;
	if (!err)
		epochs_hold(job->is.epochs, &effects);
	effects_execute_locked(job, &effects, &aftermath);
	sched_unlock(job->sched, &aftermath);
	return err;
}

static void give_up(struct sched_job *job)
{
	struct aftermath aftermath;
	aftermath_init(&aftermath);
	lock_take(&job->sched->lock);
	epochs_unhold(job->is.epochs);
	effects_resume_locked(job, &aftermath);
	sched_unlock(job->sched, &aftermath);
}

/* Gives the epochs and the list of orders to the engine. Takes ownership of them, also on
 * failure. */
static int go(struct sched_job *job, struct epoch *running, struct epoch *draining,
	struct epochs_order_file *orders, size_t n)
{
	struct aftermath aftermath;
	struct effects effects;
	aftermath_init(&aftermath);
	effects_init(&effects);
	lock_take(&job->sched->lock);
	int err = job->removed || job->sched->stopping ? -ENODEV
						       : journal_reserve(job->is.journal);
	if (!err) {
		epochs_restored(job->is.epochs, running, draining, &effects);
		epochs_has_orders(job->is.epochs, orders, n);
		effects_execute_locked(job, &effects, &aftermath);
		effects_resume_locked(job, &aftermath);
		aftermath.flush = job;
	}
	sched_unlock(job->sched, &aftermath);
	if (err) {
		epoch_reaped_free(running);
		epoch_reaped_free(draining);
		free(orders);
	}
	return err;
}

static int make_all(struct sched_job *job, struct restoring *restoring)
{
	struct epoch *running = NULL, *draining = NULL;
	struct epochs_order_file *orders = NULL;
	size_t n = 0;
	int err = restore_save_live(job, restoring);
	if (!err)
		err = restore_make_running(job, restoring, &running);
	if (!err)
		err = restore_make_draining(job, restoring, &draining);
	if (!err) {
		err = restore_list_orders(job, &orders, &n);
		if (err)
			(void)restore_failed(restoring, job->is.directory, err);
	}
	if (err) {
		epoch_reaped_free(running);
		epoch_reaped_free(draining);
		return err;
	}
	err = go(job, running, draining, orders, n);
	return err ? restore_failed(restoring, job->is.config.name, err) : 0;
}

/* Syncs the journal to the disk. Its records from before the restore are not needed after
 * that. */
static int finish(struct sched_job *job, struct restoring *restoring)
{
	uint32_t epoch = restoring->at ? restoring->at_epoch
				       : restoring->from->place.running.epoch;
	int err = sched_job_sync(job);
	if (err)
		return restore_failed(restoring,
			"the job is restored, but the journal can't be synced to the "
			"disk",
			err);
	journal_forget(job->is.journal, epoch);
	return 0;
}

int restore_new(struct sched_job *job, struct restoring *restoring)
{
	int err = hold(job);
	if (err)
		return restore_failed(restoring, job->is.config.name, err);
	err = make_all(job, restoring);
	if (err) {
		give_up(job);
		return err;
	}
	return finish(job, restoring);
}

/* Takes a checkpoint and saves live orders. Opens wait meanwhile. */
static int save_for_export(struct sched_job *job, struct restoring *restoring)
{
	int err = hold(job);
	if (err)
		return restore_failed(restoring, job->is.config.name, err);
	take_checkpoint(job, restoring->from);
	err = restore_save_live(job, restoring);
	give_up(job);
	return err;
}

static int restore(struct sched_job *job, struct restoring *restoring)
{
	if (restoring->export)
		return save_for_export(job, restoring);
	int err = check_identity(job, restoring);
	if (!err)
		err = restore_check_target(job, restoring);
	return err ? err : restore_new(job, restoring);
}

static struct restoring *wanted(struct sched_job *job)
{
	LOCK_SCOPE(&job->sched->lock);
	return job->restoring;
}

void restore_if_wanted(struct sched_job *job)
{
	struct restoring *restoring = wanted(job);
	if (!restoring)
		return;
	restoring->err = restore(job, restoring);
	LOCK_SCOPE(&job->sched->lock);
	job->restoring = NULL;
	pthread_cond_broadcast(&job->sched->clerk_done_cond);
}

/* --- for control ------------------------------------------------------------------------ */

int restore_by_clerk(struct sched_job *job, struct restoring *restoring)
{
	struct sched *sched = job->sched;
	LOCK_SCOPE(&sched->lock);
	if (job->removed || sched->stopping || !sched->has_clerk)
		return -ENODEV;
	if (job->restoring)
		return -EBUSY;
	job->restoring = restoring;
	clerk_request_locked(job);
	while (job->restoring == restoring)
		lock_wait(&sched->lock, &sched->clerk_done_cond);
	return restoring->err;
}

static void tell(struct sched_job *job, const struct restoring *restoring,
	config_report *report, void *context)
{
	if (restoring->from->ini != job->is.ini_hash)
		config_report_text(report, context,
			CONFIG_WARNING "job %s: its ini has changed since the "
				       "checkpoint, so files may have other contents",
			job->is.config.name);
}

int sched_job_restore(struct sched_job *job, const char *text, const char *at,
	config_report *report, void *context)
{
	struct checkpoint from;
	const char *end;
	struct restoring restoring = {.from = &from, .at = at != NULL};
	char message[200] = "";
	int err = checkpoint_parse(text, &from, &end, message);
	if (err) {
		config_report_text(
			report, context, "not a checkpoint of joaderfs: %s", message);
		return err;
	}
	if (at && checkpoint_parse_at(at, &restoring.at_epoch, &restoring.at_position) !=
			  0) {
		config_report_text(report, context, IMPORT_AT, at);
		return -EINVAL;
	}
	err = restore_by_clerk(job, &restoring);
	if (err)
		config_report_text(report, context, "job %s: %s", job->is.config.name,
			restoring.message[0] ? restoring.message : strerror(-err));
	else
		tell(job, &restoring, report, context);
	return err;
}
