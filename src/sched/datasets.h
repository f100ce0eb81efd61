// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"
#include "dataset/dataset.h"

struct sched;
struct sched_edition;

#define SCHED_JOB_NAMES 1024

/* Adds a dataset. Takes a reference to the dataset, and copies `config`. This function,
 * sched_dataset_replace and sched_dataset_move may wait for the disk. -EEXIST: another dataset has
 * the name; -ENFILE: too many datasets; -ENOMEM. */
must_check int sched_dataset_add(struct sched *sched, struct dataset *dataset,
	const struct dataset_config *config);
/* Takes a dataset: no job can begin to use the dataset until it is given back, removed or replaced.
 * used: the dataset is taken even if jobs use it; the caller then calls sched_dataset_move or
 * sched_dataset_give_back. *ret_config: a copy of the configuration, which the caller frees.
 * ret_jobs: the names of the jobs that use the dataset. -ENOENT; -EBUSY: jobs use the dataset, or,
 * if ret_jobs is "", another caller has taken it; -EINVAL: the configuration is not known. */
must_check int sched_dataset_take(struct sched *sched, const char *name, bool used,
	struct dataset_config *ret_config, char ret_jobs[static SCHED_JOB_NAMES]);
void sched_dataset_give_back(struct sched *sched, const char *name);
void sched_dataset_remove(struct sched *sched, const char *name);
/* Replaces a taken dataset by another catalogue of the same name. After an error the old catalogue
 * is still in use, and taken. */
must_check int sched_dataset_replace(struct sched *sched, struct dataset *dataset,
	const struct dataset_config *config);

/* Tells whether the next edition would change files that are not those of one epoch, such as files
 * in current/ and listings. Returns the reason; NULL: none of these files would change. */
typedef const char *sched_edition_change(const struct job_config *config,
	const struct sched_edition *now, const struct sched_edition *next);
/* Installs the next edition (dataset_scan_next) of a taken dataset, for epochs that begin later.
 * -EINVAL, reported: a job can't use this edition. After an error the dataset is still taken. */
must_check int sched_dataset_move(struct sched *sched, struct dataset *dataset,
	const struct dataset_config *config, sched_edition_change *change,
	config_report *report, void *context);

/* Returns the names of the datasets whose jobs can't move to a later scan, with a newline before
 * and after each name. The caller frees the text; NULL: no memory. */
char *sched_datasets_that_stay(const struct daemon_config *daemon);

/* Returns a number above the numbers of all datasets. sched_dataset_replace and sched_dataset_move
 * give a dataset another number; a dataset that is added later may get the old number. *ret_mark
 * changes when datasets come, go or change their number; ret_mark may be NULL. */
uint32_t sched_datasets(struct sched *sched, uint64_t *ret_mark);
/* Takes a reference to the dataset of this number; NULL: there is none. */
struct dataset *sched_dataset_hold(struct sched *sched, uint32_t number);
/* Finds the dataset's number. -ENOENT: no such dataset. */
must_check int sched_dataset_find(struct sched *sched, const char *name, uint32_t *ret);

enum sampler_kind sched_dataset_sampler(struct sched *sched, const char *name);
uint32_t sched_dataset_jobs(struct sched *sched, const struct dataset *dataset);

/* Returns the samples that are never prepared (quarantine.h). The caller frees them; NULL: no
 * memory. */
roaring_bitmap_t *sched_quarantined(struct sched *sched, const struct dataset *dataset);
