// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "edition/edition.h"
#include "sched/sched_internal.h"
#include "supply/supply.h"

static bool has_space(const struct sched_job *job, const struct space *space)
{
	const struct edition *edition;
	TAILQ_FOREACH (edition, &job->is.editions, link)
		if (edition_part_in(edition, space))
			return true;
	return false;
}

/* Chooses the head with which the files of the space's tensors begin. It is the head of the first
 * job that can read the files through the kernel. If there is no such job, the tensors are not
 * copied to files. */
static void choose_head_locked(struct space *space)
{
	const struct sched *sched = sched_of_source(space->source);
	const struct sched_job *job;
	lock_assert_held(&sched->lock);
	space->in_files = false;
	if (!sched->backings)
		return;
	TAILQ_FOREACH (job, &sched->jobs, link) {
		if (!has_space(job, space) ||
			!sched->head_of(&job->is.config, &space->head))
			continue;
		space->in_files = true;
		return;
	}
}

void edition_choose_heads_locked(const struct edition *edition)
{
	lock_assert_held(edition->job->lock);
	for (size_t i = 0; i < edition->n_parts; i++)
		choose_head_locked(edition->parts[i].space);
}
