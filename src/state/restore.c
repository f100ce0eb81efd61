// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "epoch/questions.h"
#include "state/state_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

uint64_t restore_hash_ini(const struct job_config *config)
{
	auto_free char *text = config_job_text(config);
	return text ? rng_mix_text(strlen(text), text) : 0;
}

void restore_take_checkpoint(struct job *job, struct checkpoint *ret)
{
	*ret = (struct checkpoint){.ini = job->ini_hash};
	snprintf(ret->job, sizeof(ret->job), "%s", job->config.name);
	LOCK_SCOPE(job->lock);
	ret->journal = journal_id(job->journal);
	epochs_place(job->epochs, &ret->place);
	const struct edition *edition = edition_of_locked(job, ret->place.running.epoch);
	ret->samples = edition->set.positions;
	ret->fingerprint = edition->fingerprint;
	ret->has_journal = ret->place.started;
	ret->n_runs = epochs_read_runs(job->epochs, ret->place.running.epoch, ret->runs,
		CHECKPOINT_RUNS, &ret->all_runs);
}

/* Returns the epoch's edition. The epoch keeps this edition after the lock is released, because a
 * rescan gives no new edition to a job that is being restored. */
struct edition *restore_edition(struct job *job, uint32_t epoch)
{
	LOCK_SCOPE(job->lock);
	return edition_of_locked(job, epoch);
}

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

static uint64_t journal_of(struct job *job)
{
	LOCK_SCOPE(job->lock);
	return journal_id(job->journal);
}

static int check_identity(struct job *job, struct restoring *restoring)
{
	const struct checkpoint *from = restoring->from;
	if (job_is_fed(job))
		return restore_refuse(restoring,
			"a rank can't be restored alone: it continues where its training "
			"is; `joaderctl add --import` moves a whole training");
	if (job_kind(job) == EPOCHS_MIRRORED)
		return restore_refuse(restoring,
			"layout = mirror has no order and consumes nothing, "
			"so there is nothing to restore");
	const struct edition *edition = restore_edition(job, from->place.running.epoch);
	uint32_t samples = edition->set.positions;
	if (from->samples != samples || from->fingerprint != edition->fingerprint)
		return restore_refuse(restoring,
			"the checkpoint belongs to other samples: found %" PRIu32
			" with fingerprint %016" PRIx64 ", allowed: the %" PRIu32
			" with %016" PRIx64 " that the job selects (the dataset, the "
			"layout, where or files have changed)",
			from->samples, from->fingerprint, samples, edition->fingerprint);
	if (from->has_journal && from->journal != journal_of(job))
		return restore_refuse(restoring,
			"the checkpoint belongs to another journal: found %016" PRIx64
			", allowed: %016" PRIx64
			" (the job was removed and added again, or is on another "
			"machine; `joaderctl export` and `joaderctl add --import` move a "
			"job)",
			from->journal, journal_of(job));
	return 0;
}

/* Refuses an epoch whose files have other names than current/ now shows to scripts. */
static int check_names(struct job *job, struct restoring *restoring, uint32_t epoch)
{
	if (restore_edition(job, epoch)->set.names ==
		restore_edition(job, EPOCH_CURRENT)->set.names)
		return 0;
	return restore_refuse(restoring,
		"epoch %" PRIu32 " is older than a rescan of the dataset, which changed "
		"the files of layout = classes: read epoch-%04" PRIu32
		"/, or restore to a later epoch",
		epoch, epoch);
}

int restore_check_target(struct job *job, struct restoring *restoring)
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
	if ((epoch > last && !next) || epoch >= config_job_epochs(&job->config))
		return restore_refuse(restoring,
			"--at: found epoch %" PRIu32 ", allowed: up to %" PRIu32
			", the epoch of the checkpoint%s",
			epoch, last,
			last + 1 < config_job_epochs(&job->config)
				? ", or the begin of the next epoch"
				: "");
	return check_names(job, restoring, epoch);
}

int restore_check(struct job *job, struct restoring *restoring)
{
	int err = check_identity(job, restoring);
	return err ? err : restore_check_target(job, restoring);
}
