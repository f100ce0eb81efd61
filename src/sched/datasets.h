// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"
#include "dataset/dataset.h"

/* The datasets of the scheduler: those of sched_new, and those that come later. */

struct sched;
struct sched_edition;

#define SCHED_MOST_DATASETS 256 /* at a time */
#define SCHED_JOB_NAMES 1024

/* -EEXIST: there is one of the name; -ENFILE, -ENOMEM. The reference stays the caller's; a
 * copy of config is kept. By a thread that may wait, as the next ones. */
must_check int sched_dataset_add(struct sched *sched, struct dataset *dataset,
	const struct dataset_config *config);
/*
 * No job uses the dataset, and none begins until it is given back, removed or replaced.
 * *ret_config: its own, which the caller frees. -ENOENT; -EBUSY: the jobs that do, or "":
 * somebody else has taken it; -EINVAL: its configuration is not known.
 */
must_check int sched_dataset_take(struct sched *sched, const char *name,
	struct dataset_config *ret_config, char ret_jobs[static SCHED_JOB_NAMES]);
/* The same while jobs use it, which ret_jobs tells: for sched_dataset_move, or to be given
 * back. */
must_check int sched_dataset_take_used(struct sched *sched, const char *name,
	struct dataset_config *ret_config, char ret_jobs[static SCHED_JOB_NAMES]);
void sched_dataset_give_back(struct sched *sched, const char *name);
void sched_dataset_remove(struct sched *sched, const char *name);
/* By another catalogue of the same name. If that fails it is still taken. */
must_check int sched_dataset_replace(struct sched *sched, struct dataset *dataset,
	const struct dataset_config *config);

/* What would be another one for the files of a job that are not of one epoch; NULL: nothing. */
typedef const char *sched_edition_change(const struct job_config *config,
	const struct sched_edition *now, const struct sched_edition *next);
/*
 * By the next edition (dataset_scan_next), which is installed: all of its jobs get it with the
 * next epoch that begins. -EINVAL: a job can't, which is reported; it is still taken then, as
 * upon any failure.
 */
must_check int sched_dataset_move(struct sched *sched, struct dataset *dataset,
	const struct dataset_config *config, sched_edition_change *change,
	config_report *report, void *context);

/* Names, each between ends of lines: of datasets whose jobs can't take what a scan finds
 * later. The caller frees it; NULL: no memory. */
char *sched_datasets_that_stay(const struct daemon_config *daemon);

/* Each has a number below that of sched_datasets as long as it is there. *ret_mark (may be
 * NULL): another one when datasets came or went. */
uint32_t sched_datasets(struct sched *sched, uint64_t *ret_mark);
/* One more reference; NULL: no dataset has the number. */
struct dataset *sched_dataset_hold(struct sched *sched, uint32_t number);
must_check int sched_dataset_find(struct sched *sched, const char *name, uint32_t *ret);

/* Number of jobs that have the dataset. */
uint32_t sched_dataset_jobs(struct sched *sched, const struct dataset *dataset);

/* The samples that are not prepared any more: quarantine.h. The caller frees them; NULL: no
 * memory. */
roaring_bitmap_t *sched_quarantined(struct sched *sched, const struct dataset *dataset);
