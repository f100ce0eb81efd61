// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/log.h"
#include "edition/edition.h"
#include "sched/gauges.h"
#include "sched/jobs.h"
#include "sched/positions.h"
#include "sched/sched_internal.h"
#include "watch/watch.h"
#include "stats/stats.h"
#include "epoch/questions.h"

#include <inttypes.h>

/* Notices warn about scripts that probably do not do what their authors mean. Each kind
 * is logged once for each job. */

static const char *const texts[NOTICES] = {
	[NOTICE_EARLY] =
		"an epoch was opened by its number before more than half of the epoch "
		"before it was read, or while a script that reads current/ had not begun "
		"it: EAGAIN; please read current/, or give each script a job of its own",
	[NOTICE_LAST] = "all epochs were read: current/ gives the last one again, in the "
			"same order; please raise `epochs` in the job's ini",
	[NOTICE_SCRIPTS] =
		"two scripts read current/, more than an epoch apart: one of them reads "
		"an epoch twice, or only a part of an epoch; please give each a job of "
		"its own, or if they are ranks of one training `script = one`",
	[NOTICE_PARTS] =
		"files are divided by their positions (random_split, Subset, k-fold): a "
		"position holds another sample in each epoch, so the training gets "
		"samples of the validation; please divide by samples, where = hash(path) "
		"% 5 != 0 and = 0, or use layout = mirror",
	[NOTICE_LABELS] =
		"the labels of all positions were read, and later images without their "
		"labels: labels differ from epoch to epoch; please read each with its "
		"image, or use labels = fixed or layout = classes",
	[NOTICE_HANDLES] =
		"half of all files or more are kept open: an open file keeps its sample, "
		"so each epoch has the same order; please open each file when it is read",
	[NOTICE_READERS] =
		"the daemon has a name space of processes of its own, so scripts that "
		"read current/ can't be told apart; please share the name space of the "
		"readers: docker run --pid, shareProcessNamespace in Kubernetes",
	[NOTICE_MACHINES] =
		"ranks of the training run on other machines, too, where files hold "
		"other samples: some samples would come twice, and others never; please "
		"give each rank a job with ranks, rank and training, or each machine one "
		"with local_ranks, too, or use layout = mirror, or classes with "
		"mapping = fixed",
};

const char *sched_notice_text(enum notice notice)
{
	return texts[notice];
}

/* A critical section has room for one notice. If another one is dropped, it occurs
 * again. */
void notice_locked(struct sched_job *job, enum notice notice, uint32_t epoch,
	struct aftermath *aftermath)
{
	lock_assert_held(&job->sched->lock);
	if (job->totals.notices & 1u << notice || aftermath->noticed)
		return;
	job->totals.notices |= 1u << notice;
	stats_add(STAT_NOTICES, 1);
	aftermath->noticed = sched_job_hold(job);
	aftermath->notice = notice;
	aftermath->noticed_epoch = epoch;
}

#define KEPT_LEAST 64

/* NOTICE_HANDLES concerns files that hold one sample each, a different one in each
 * epoch. */
void notice_open_locked(struct sched_handle *handle, struct aftermath *aftermath)
{
	struct sched_job *job = handle->job;
	uint32_t epoch = handle->request.found_epoch;
	enum epochs_kind kind = job_kind(&job->is);
	bool drawn = kind == EPOCHS_DRAWN || kind == EPOCHS_DRAWN_AT_OPEN;
	bool single = job->is.config.layout == LAYOUT_FLAT ||
		      job->is.config.layout == LAYOUT_CLASSES;
	lock_assert_held(&job->sched->lock);
	if (drawn && single && job->open >= KEPT_LEAST &&
		epochs_set(job->is.epochs, epoch)->positions <= 2 * (uint64_t)job->open)
		notice_locked(job, NOTICE_HANDLES, epoch, aftermath);
	if (drawn && handle->callbacks.reader.unknown &&
		handle->request.epoch == SCHED_CURRENT)
		notice_locked(job, NOTICE_READERS, epoch, aftermath);
}

bool notice_is_refused_locked(struct sched_handle *handle, struct aftermath *aftermath)
{
	const struct sched_job *job = handle->job;
	enum epochs_kind kind = job_kind(&job->is);
	struct epochs_status status;
	lock_assert_held(&job->sched->lock);
	if (!handle->callbacks.reader.elsewhere || job->is.config.ranks > 0 ||
		(kind != EPOCHS_DRAWN && kind != EPOCHS_DRAWN_AT_OPEN))
		return false;
	epochs_status(job->is.epochs, &status);
	notice_locked(handle->job, NOTICE_MACHINES, status.epoch, aftermath);
	return kind == EPOCHS_DRAWN_AT_OPEN && job->is.config.refuses_machines;
}

void notice_say(struct sched_job *job, enum notice notice, uint32_t epoch)
{
	struct sched_job_status status;
	sched_job_status(job, &status);
	log_warn("job %s: epoch %" PRIu32 ": %s (%" PRIu32 " of %" PRIu32
		 " samples of epoch %" PRIu32 " are given)",
		job->is.config.name, epoch, texts[notice], status.bound, status.samples,
		status.epoch);
}
