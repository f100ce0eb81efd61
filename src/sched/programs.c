// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "sched/gauges.h"
#include "sched/positions.h"
#include "sched/sched_internal.h"

#include <string.h>

void program_note_locked(struct sched_job *job, const struct sched_reader *reader)
{
	struct sched_program *all = job->programs;
	size_t i = 0;
	lock_assert_held(&job->sched->lock);
	while (i < SCHED_PROGRAMS - 1 && all[i].id && all[i].number != reader->who.rank)
		i++;
	memmove(all + 1, all, i * sizeof(*all));
	all[0] = (struct sched_program){
		reader->program, reader->who.rank, reader->who.script};
}

void sched_look(struct sched_job *job)
{
	struct sched_program programs[SCHED_PROGRAMS];
	if (!job->sched->lives)
		return;
	bool lives[SCHED_PROGRAMS];
	size_t n = 0;
	lock_take(&job->sched->lock);
	memcpy(programs, job->programs, sizeof(programs));
	lock_release(&job->sched->lock);
	for (; n < SCHED_PROGRAMS && programs[n].id; n++)
		lives[n] = job->sched->lives(&programs[n]);
	for (size_t i = 0; i < n; i++) {
		bool any = false;
		for (size_t k = 0; k < n; k++)
			any = any ||
			      (programs[k].script == programs[i].script && lives[k]);
		LOCK_SCOPE(&job->sched->lock);
		if (!any)
			epochs_script_ended(job->is.epochs, programs[i].script);
	}
}

static void look_if_read(struct sched_job *job)
{
	lock_take(&job->sched->lock);
	bool read = epochs_current_is_read(job->is.epochs, clock_now_ns());
	lock_release(&job->sched->lock);
	if (read)
		sched_look(job);
}

void programs_look(struct sched *sched)
{
	jobs_visit(sched, look_if_read);
}

/* Returns the last script of a job with `script = one`; zeros: there is none. Such a job numbers
 * its scripts itself: 2, 4, 6 and so on. A script with an odd number does not count: it was
 * recognized by its processes, before the job got `script = one`. */
static struct epochs_script last_script_locked(
	const struct sched_job *job, const struct sched_reader *reader)
{
	lock_assert_held(&job->sched->lock);
	struct epochs_script last = epochs_last_script(job->is.epochs, reader->who.rank);
	return last.id % 2 == 0 ? last : (struct epochs_script){0};
}

static bool is_new(struct sched_job *job, const struct sched_reader *reader)
{
	LOCK_SCOPE(&job->sched->lock);
	struct epochs_script last = last_script_locked(job, reader);
	return last.id != 0 && !last.has_rank && !last.ended;
}

void program_meet(struct sched_job *job, const struct sched_reader *reader)
{
	if (job->is.config.one_script && is_new(job, reader))
		sched_look(job);
}

/* A process belongs to the last script if it has already read for this script, or if another
 * process of the script lives. Otherwise it begins a new script. No other process counts as
 * living until a process of this job has read from this daemon. */
struct reader program_who_locked(
	const struct sched_job *job, const struct sched_reader *reader)
{
	struct reader who = reader->who;
	lock_assert_held(&job->sched->lock);
	if (!job->is.config.one_script)
		return who;
	struct epochs_script last = last_script_locked(job, reader);
	bool lives = last.has_rank || (!last.ended && job->programs[0].id);
	who.script = last.id == 0 || !lives ? last.id + 2 : last.id;
	return who;
}

void sched_on_look(struct sched *sched, sched_lives *lives)
{
	sched->lives = lives;
}
