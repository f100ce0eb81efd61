// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/gauges.h"
#include "sched/sched.h"
#include "sched/sched_internal.h"

#include <inttypes.h>

const char *sched_job_state(
	const struct job_config *config, const struct sched_job_status *status)
{
	if (!status->started)
		return "new";
	if (status->running)
		return status->parked_idle ? "parked" : "running";
	return status->epoch + 1 < config_job_epochs(config) ? "waiting" : "finished";
}

static void dump_job_locked(struct sched_job *job, FILE *out)
{
	struct sched_job_status status;
	lock_assert_held(&job->sched->lock);
	job_status_locked(job, &status);
	fprintf(out,
		"job %s: dataset %s, %s, epoch %" PRIu32 ", %" PRIu32 " bound, %" PRIu32
		" consumed, %" PRIu32 " drawn ahead, of %" PRIu32 " samples, %" PRIu64
		" errors\n",
		job->config.name, job->config.dataset,
		sched_job_state(&job->config, &status), status.epoch, status.bound,
		status.consumed, status.drawn, status.samples, status.errors);
}

void sched_dump(struct sched *sched, FILE *out)
{
	struct sched_job *job;
	if (!lock_seize(&sched->lock)) {
		fputs("jobs: not known, another thread keeps the lock\n", out);
		return;
	}
	TAILQ_FOREACH (job, &sched->jobs, link)
		dump_job_locked(job, out);
	sched_stats_locked(sched);
}
