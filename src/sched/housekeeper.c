// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/fault.h"
#include "base/kept.h"
#include "sched/supplying.h"
#include "supply/supply.h"
#include "watch/watch.h"

/* The housekeeper does delayed and periodic work, and sends the heartbeat to the supervisor. */

static void look_after_jobs(struct sched *sched)
{
	struct effects effects;
	struct sched_job *job;
	uint64_t now = clock_now_ns();
	SECTION_SCOPE(sched, aftermath);
	TAILQ_FOREACH (job, &sched->jobs, link) {
		effects_init(&effects);
		epochs_time(job->is.epochs, now, &effects);
		effects_execute_locked(job, &effects, &aftermath);
		clerk_second_locked(job);
	}
}

/* Writes the job's decisions to the disk. The housekeeper calls this once a second, so a power
 * failure loses only the decisions of about the last second. */
static void sync_journal(struct sched_job *job)
{
	journal_flush(job->is.journal);
	journal_compact(job->is.journal);
	(void)!journal_sync(job->is.journal); /* journal_sync logs errors. */
}

static void watch_job(struct sched_job *job)
{
	trace_forget(&job->watch);
	lap_measure(&job->watch);
}

/* Sleeps until second_ns, or until other work is due, and does this work. Returns false if the
 * scheduler stops. */
static bool sleep_until(struct sched *sched, uint64_t second_ns)
{
	struct aftermath aftermath;
	sched_lock(sched, &aftermath);
	uint64_t retry_ns = supply_first_due(&sched->supply);
	uint64_t due_ns = postponed_first_due_locked(sched);
	due_ns = retry_ns < due_ns ? retry_ns : due_ns;
	uint64_t wake_ns = due_ns < second_ns ? due_ns : second_ns;
	if (!sched->stopping && !sched->room_made)
		(void)lock_wait_until(&sched->lock, &sched->house_cond, wake_ns);
	supply_time(&sched->supply, clock_now_ns());
	if (sched->room_made)
		supply_has_room(&sched->supply);
	supply_execute_locked(sched, &aftermath);
	sched->room_made = false;
	bool stopping = sched->stopping;
	sched_unlock(&aftermath);
	postponed_run_due(sched);
	return !stopping;
}

void *sched_keep_house(void *context)
{
	struct sched *sched = context;
	uint64_t second_ns = clock_now_ns() + SECOND_NS;
	kept_beat();
	while (sleep_until(sched, second_ns)) {
		if (clock_now_ns() < second_ns)
			continue;
		(void)fault_hit("sched.house");
		programs_look(sched);
		look_after_jobs(sched);
		shares_pass_window(sched);
		/* The disk of the log or of a journal may hang: no heartbeat is due meanwhile. */
		kept_beat_none();
		storages_report(sched);
		prepared_report(sched);
		reading_take(sched, clock_now_ns());
		jobs_visit(sched, watch_job);
		sources_sweep(sched);
		jobs_visit(sched, sync_journal);
		kept_beat();
		second_ns = clock_now_ns() + SECOND_NS;
	}
	kept_beat_none();
	return NULL;
}
