// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"
#include "dataset/dataset.h"

/* Adds, removes and replaces the scheduler's datasets, and lists them. */

struct sched;
struct sched_edition;

#define SCHED_JOB_NAMES 1024

/* Adds a dataset: takes a reference to it, and copies config. -EEXIST: the name is taken;
 * -ENFILE, -ENOMEM. The calling thread must be allowed to wait, here and in the functions
 * below. */
must_check int sched_dataset_add(struct sched *sched, struct dataset *dataset,
	const struct dataset_config *config);
/*
 * Takes a dataset that no job uses: no job can begin to use it until the dataset is given back,
 * removed or replaced. *ret_config: a copy of its configuration, which the caller frees. -ENOENT;
 * -EBUSY: ret_jobs names the jobs that use the dataset, or is "" if another caller has taken it;
 * -EINVAL: its configuration is not known.
 */
must_check int sched_dataset_take(struct sched *sched, const char *name,
	struct dataset_config *ret_config, char ret_jobs[static SCHED_JOB_NAMES]);
/* Takes a dataset even if jobs use it, and names the jobs in ret_jobs. The caller must then call
 * sched_dataset_move or sched_dataset_give_back. */
must_check int sched_dataset_take_used(struct sched *sched, const char *name,
	struct dataset_config *ret_config, char ret_jobs[static SCHED_JOB_NAMES]);
void sched_dataset_give_back(struct sched *sched, const char *name);
void sched_dataset_remove(struct sched *sched, const char *name);
/* Replaces a taken dataset by another catalogue of the same name. If this fails, the dataset is
 * still taken. */
must_check int sched_dataset_replace(struct sched *sched, struct dataset *dataset,
	const struct dataset_config *config);

/* Returns the reason why files of the job that belong to no epoch (current/, listings) would change
 * with the next edition; NULL: they would not change. */
typedef const char *sched_edition_change(const struct job_config *config,
	const struct sched_edition *now, const struct sched_edition *next);
/* Replaces a taken dataset by its next edition (dataset_scan_next), and installs the edition: each
 * job of the dataset uses it for epochs that begin from now on. -EINVAL, reported: one of the jobs
 * can't use the edition. After any error the dataset is still taken. */
must_check int sched_dataset_move(struct sched *sched, struct dataset *dataset,
	const struct dataset_config *config, sched_edition_change *change,
	config_report *report, void *context);

/* Returns the names of the datasets whose jobs can't move to the result of a later scan, with a
 * newline before and after each name. The caller frees the text; NULL: no memory. */
char *sched_datasets_that_stay(const struct daemon_config *daemon);

/* Returns a number that is higher than the numbers of all datasets. A dataset keeps its number as
 * long as it exists. *ret_mark changes when datasets come or go; ret_mark may be NULL. */
uint32_t sched_datasets(struct sched *sched, uint64_t *ret_mark);
/* Takes a reference to the dataset of this number; NULL: there is none. */
struct dataset *sched_dataset_hold(struct sched *sched, uint32_t number);
/* Finds the number of a dataset. -ENOENT */
must_check int sched_dataset_find(struct sched *sched, const char *name, uint32_t *ret);

/* Returns the sampler that the dataset's configuration names. */
enum sampler_kind sched_dataset_sampler(struct sched *sched, const char *name);
/* Counts the jobs that read the dataset. */
uint32_t sched_dataset_jobs(struct sched *sched, const struct dataset *dataset);

/* Returns the samples in quarantine (quarantine.h), which are never prepared. The caller frees
 * them; NULL: no memory. */
roaring_bitmap_t *sched_quarantined(struct sched *sched, const struct dataset *dataset);
