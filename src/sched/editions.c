// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "edition/edition.h"
#include "sched/jobs.h"
#include "sched/positions.h"
#include "sched/supplying.h"
#include "supply/supply.h"

const struct sched_edition *sched_edition(struct sched_job *job, uint32_t epoch)
{
	return &edition_hold(&job->is, epoch)->is;
}

const struct sched_edition *sched_widest_edition(struct sched_job *job, uint32_t epoch)
{
	if (epoch != SCHED_CURRENT)
		return sched_edition(job, epoch);
	LOCK_SCOPE(&job->sched->lock);
	struct edition *edition = epochs_widest_set(job->is.epochs)->owner;
	atomic_fetch_add(&edition->holds, 1);
	return &edition->is;
}

void sched_edition_put(const struct sched_edition *is)
{
	_Static_assert(offsetof(struct edition, is) == 0, "it is the edition");
	if (is)
		edition_let_go((struct edition *)(uintptr_t)is);
}

uint32_t sched_job_samples(struct sched_job *job, uint32_t epoch)
{
	LOCK_SCOPE(&job->sched->lock);
	return epochs_set(job->is.epochs, epoch)->positions;
}

uint32_t sched_job_names(struct sched_job *job, uint32_t epoch)
{
	LOCK_SCOPE(&job->sched->lock);
	return epochs_set(job->is.epochs, epoch)->names;
}

uint32_t sched_edition_mark(struct sched_job *job, uint32_t epoch)
{
	LOCK_SCOPE(&job->sched->lock);
	return dataset_edition(edition_of_locked(&job->is, epoch)->is.dataset);
}

size_t sched_job_parts(
	struct sched_job *job, struct sched_part ret[static CONFIG_MOST_MIXED])
{
	LOCK_SCOPE(&job->sched->lock);
	size_t n = job->is.now->mixed ? job->is.now->n_parts : 0;
	for (size_t i = 0; i < n; i++) {
		const struct part *part = &job->is.now->parts[i];
		ret[i] = (struct sched_part){.in_epoch = part->in_epoch,
			.samples = (uint32_t)roaring_bitmap_get_cardinality(
				part->selection)};
		snprintf(ret[i].dataset, sizeof(ret[i].dataset), "%s",
			dataset_name(part->source->dataset));
	}
	return n;
}

/* If the job has several editions, returns false for current/, whose epoch is not known yet. */
bool sched_label(struct sched_job *job, uint32_t epoch, uint32_t position, uint32_t *ret)
{
	LOCK_SCOPE(&job->sched->lock);
	bool one = TAILQ_FIRST(&job->is.editions) == job->is.now;
	return (epoch != SCHED_CURRENT || one) &&
	       edition_label(edition_of_locked(&job->is, epoch), position, ret);
}

/* Inserts an earlier edition, whose files were kept. Leaves it out if it can't be opened. */
static void open_kept(struct sched_job *job, uint32_t number)
{
	struct edition *edition = NULL;
	struct source *source = NULL;
	if (source_open_kept(job->is.now->parts[0].source, number, &source) != 0)
		return;
	if (edition_new(&job->is, &source, 1, config_report_to_log, NULL, &edition) == 0)
		TAILQ_INSERT_BEFORE(job->is.now, edition, link);
	atomic_fetch_sub(&source->jobs, 1);
}

static int open_all_kept(struct sched_job *job)
{
	auto_free uint32_t *numbers = NULL;
	size_t n;
	/* A mixture has no earlier editions. */
	if (config_is_mixed(&job->is.config))
		return 0;
	int err = dataset_kept(
		job->sched->config->state, job->is.config.dataset, &numbers, &n);
	for (size_t i = 0; i < n && !err; i++)
		open_kept(job, numbers[i]);
	return err;
}

int job_restore_editions(struct sched_job *job)
{
	struct editions_found found;
	int err = editions_find(&job->is, &found);
	if (!err && !editions_are_there(&job->is, &found))
		err = open_all_kept(job);
	if (!err)
		err = editions_restore(&job->is, &found);
	editions_found_free(&found);
	return err;
}
