// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "edition/edition.h"
#include "sched/datasets.h"
#include "sched/supplying.h"
#include "supply/supply.h"
#include "tier/tier.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void note_user(char *names, size_t size, const char *name)
{
	size_t n = strlen(names);
	snprintf(names + n, size - n, "%s%s", n ? ", " : "", name);
}

int sched_dataset_take(struct sched *sched, const char *name, bool used,
	struct dataset_config *ret_config, char ret_jobs[static SCHED_JOB_NAMES])
{
	LOCK_SCOPE(&sched->lock);
	struct sched_source *source = source_find_locked(sched, name);
	const struct sched_job *job;
	ret_jobs[0] = '\0';
	if (!source)
		return -ENOENT;
	TAILQ_FOREACH (job, &sched->jobs, link)
		if (edition_part_of(job->is.now, source->is.dataset))
			note_user(ret_jobs, SCHED_JOB_NAMES, job->is.config.name);
	if (source->taken)
		ret_jobs[0] = '\0';
	if (source->taken || (ret_jobs[0] && !used))
		return -EBUSY;
	int err = source->config.name ? config_dataset_copy(&source->config, ret_config)
				      : -EINVAL;
	source->taken = err == 0;
	return err;
}

void sched_dataset_give_back(struct sched *sched, const char *name)
{
	LOCK_SCOPE(&sched->lock);
	source_taken_locked(sched, name)->taken = false;
}

void sched_dataset_remove(struct sched *sched, const char *name)
{
	LOCK_SCOPE(&sched->lock);
	struct sched_source *source = source_taken_locked(sched, name);
	source->removed = true;
	tier_leave(source->is.tier);
	source->is.tier = NULL;
	sched->sources_changed++;
}

enum sampler_kind sched_dataset_sampler(struct sched *sched, const char *name)
{
	LOCK_SCOPE(&sched->lock);
	const struct sched_source *source = source_find_locked(sched, name);
	return source ? source->config.sampler : SAMPLER_DSA;
}
