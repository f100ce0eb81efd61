// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "sched/sched_internal.h"

#include <string.h>

/* The programs that read a job, and which of them have ended. */

/* The program that reads comes first; the one that has not for longest is forgotten. */
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

/* Copies the programs of scripts that read current/, and gives their number. */
static size_t copy_programs(struct sched_job *job, struct sched_program *ret)
{
	size_t n = 0;
	LOCK_SCOPE(&job->sched->lock);
	if (!epochs_current_is_read(job->epochs, clock_now_ns()))
		return 0;
	while (n < SCHED_PROGRAMS && job->programs[n].id) {
		ret[n] = job->programs[n];
		n++;
	}
	return n;
}

void sched_look(struct sched_job *job)
{
	struct sched_program programs[SCHED_PROGRAMS];
	if (!job->sched->lives)
		return;
	bool lives[SCHED_PROGRAMS];
	size_t n = copy_programs(job, programs);
	for (size_t i = 0; i < n; i++)
		lives[i] = job->sched->lives(&programs[i]);
	for (size_t i = 0; i < n; i++) {
		bool any = false;
		for (size_t k = 0; k < n; k++)
			any = any ||
			      (programs[k].script == programs[i].script && lives[k]);
		LOCK_SCOPE(&job->sched->lock);
		if (!any)
			epochs_script_ended(job->epochs, programs[i].script);
	}
}

void programs_look(struct sched *sched)
{
	jobs_visit(sched, sched_look);
}

void sched_on_look(struct sched *sched, sched_lives *lives)
{
	sched->lives = lives;
}
