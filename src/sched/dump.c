// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/sched_internal.h"

#include <inttypes.h>

static const char *state_of(const struct epochs_status *status)
{
	if (!status->started)
		return "new";
	if (!status->running)
		return "ended";
	return status->idle ? "parked" : "running";
}

static void dump_job_locked(const struct sched_job *job, FILE *out)
{
	struct epochs_status status;
	lock_assert_held(&job->sched->lock);
	epochs_status(job->epochs, &status);
	fprintf(out,
		"job %s: dataset %s, %s, epoch %" PRIu32 ", %" PRIu32 " bound, %" PRIu32
		" consumed, %" PRIu32 " drawn ahead, of %" PRIu32 " samples, %" PRIu64
		" errors\n",
		job->config.name, job->config.dataset, state_of(&status), status.epoch,
		status.bound, status.consumed, status.ahead, job->samples,
		job->totals.errors);
}

void sched_dump(struct sched *sched, FILE *out)
{
	const struct sched_job *job;
	if (!lock_seize(&sched->lock)) {
		fputs("jobs: not known, another thread keeps the lock\n", out);
		return;
	}
	TAILQ_FOREACH (job, &sched->jobs, link)
		dump_job_locked(job, out);
	sched_stats_locked(sched);
}
