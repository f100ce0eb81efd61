// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/types.h"
#include "config/config.h"
#include "dataset/dataset.h"
#include "edition/samples.h"

struct sched;
struct sched_job; /* references are counted: see sched_job_find */
struct sched_reader;

/* Adds a job. persist: keeps the job's ini in the state directory, so that a restart adds the job
 * again. -EEXIST, -EINVAL (unknown dataset, bad predicate, nothing selected): reported. */
must_check int sched_job_add(struct sched *sched, const struct job_config *config,
	bool persist, config_report *report, void *context);

/* Ends the job's waiting opens with -ENODEV, lets the cache evict its samples, and deletes its
 * state files. Open files stay readable until they are closed. -ENOENT */
must_check int sched_job_remove(struct sched *sched, const char *name);

/* Prints a checkpoint (checkpoint.h): at most 4 KiB, within microseconds. */
void sched_job_print_state(struct sched_job *job, FILE *out);
/* Makes printed checkpoints survive a power failure. May wait for the disk. */
must_check int sched_job_sync(struct sched_job *job);

/* Takes the job back to the checkpoint in `text`. Samples that were read after the checkpoint are
 * unread again, at the same positions. at: NULL, or "EPOCH:POSITION", where the job continues
 * instead; the positions before this position count as read. Opens wait during the restore, and so
 * may the caller. -EINVAL and others: reported; the job stays as it was. */
must_check int sched_job_restore(struct sched_job *job, const char *text, const char *at,
	config_report *report, void *context);

/* Writes a checkpoint to `fd`, a regular file for machines with the same data
 * (sched_job_add_import). The saved orders of all epochs with the running epoch's edition follow
 * the checkpoint. Errors are reported; -EOPNOTSUPP: the job is a mixture, or has layout = mirror.
 * May wait for the clerk and the disk. */
must_check int sched_job_export(
	struct sched_job *job, int fd, config_report *report, void *context);

/* a file that sched_job_export has written, and its name for messages */
struct sched_import {
	int fd;
	const char *name;
	/* "EPOCH:POSITION" at which the job continues (sched_job_restore); or NULL */
	const char *at;
};

/* Adds a job with the state of an exported job. The job must not have epochs here yet. The job
 * continues where the exported job was, with the same samples at the same positions. For a rank,
 * the file has the exports of all ranks of a training, one after the other, and the training
 * continues, even with another number of ranks (sched_job_log). -EBADMSG, reported: the file can't
 * be used for the job. */
must_check int sched_job_add_import(struct sched *sched, const struct job_config *config,
	bool persist, const struct sched_import *import, config_report *report,
	void *context);

/* Tells where an imported training continues: in epoch *ret_epoch, after the *ret_n samples at
 * *ret, which its ranks have read. The caller frees *ret. *ret_n = 0 and epoch 0: the training
 * begins. */
must_check int sched_job_log(
	struct sched_job *job, uint32_t *ret_epoch, sample_id **ret, uint32_t *ret_n);

/* Keeps the job's ini, as sched_job_add does with persist. */
must_check int sched_job_keep(struct sched_job *job);

/* Undoes sched_job_add: removes the job and its ini. Its other files stay, because they may belong
 * to an earlier job of this name. -ENOENT. */
must_check int sched_job_withdraw(struct sched *sched, const char *name);

/* Adds the jobs whose inis are in the state directory. Logs errors, and adds the other jobs. */
void sched_jobs_restore(struct sched *sched);

/* Adds the jobs of joaderfs --try (config_try.h) if `tries` is set, and the jobs of the jobs
 * directory and of the state directory. Mistakes in inis of the jobs directory are errors. -errno,
 * logged. */
must_check int sched_jobs_begin(
	struct sched *sched, const struct daemon_config *daemon, bool tries);

/* Warns if the cache is smaller than the look-ahead of all jobs. */
void sched_report_cache(struct sched *sched, config_report *report, void *context);

/* Finds the job of this name, or NULL. The caller gives the reference back by sched_job_put. */
struct sched_job *sched_job_find(struct sched *sched, const char *name);
/* Finds the job of this id, or NULL. The caller gives the reference back. */
struct sched_job *sched_job_find_id(struct sched *sched, job_id id);
void sched_job_put(struct sched_job *job);
struct sched_job *sched_job_hold(struct sched_job *job); /* takes a reference */
static inline void sched_job_put_(struct sched_job **job)
{
	if (*job)
		sched_job_put(*job);
}
/* a pointer to a job, or NULL; the reference is given back at the end of the scope */
#define auto_job __attribute__((cleanup(sched_job_put_))) struct sched_job

/* Lists the ids of all jobs, the oldest job first; the caller frees *ret. -ENOMEM */
must_check int sched_job_ids(struct sched *sched, job_id **ret, size_t *ret_n);

job_id sched_job_id(const struct sched_job *job);
const struct job_config *sched_job_config(const struct sched_job *job);

/* Returns the epoch's edition (its samples and labels, from one scan). The edition is not freed
 * before sched_edition_put, which the caller calls before sched_job_put. SCHED_CURRENT: the edition
 * that a script would read if it began now. */
const struct sched_edition *sched_edition(struct sched_job *job, uint32_t epoch);
/* Returns the epoch's edition, as sched_edition does. SCHED_CURRENT: the edition with the most
 * positions, among those to which files of current/ may belong now. */
const struct sched_edition *sched_widest_edition(struct sched_job *job, uint32_t epoch);
void sched_edition_put(const struct sched_edition *edition);
static inline void sched_edition_put_(const struct sched_edition **edition)
{
	sched_edition_put(*edition);
}
#define auto_edition                                                                     \
	__attribute__((cleanup(sched_edition_put_))) const struct sched_edition
/* Returns the number of positions in the epoch. */
uint32_t sched_job_samples(struct sched_job *job, uint32_t epoch);
/* Returns the version of the file names in the epoch (sched_edition.names). */
uint32_t sched_job_names(struct sched_job *job, uint32_t epoch);
/* Returns the epoch that a file of current/ would have if the reader opened it now. Changes
 * nothing. */
uint32_t sched_current(
	struct sched_job *job, const struct sched_reader *reader, uint32_t position);
/* Returns a number that changes when the epoch, or SCHED_CURRENT, gets another edition. 0: the
 * epoch has the dataset's first edition. */
uint32_t sched_edition_mark(struct sched_job *job, uint32_t epoch);

/* one dataset's part of a mixture */
struct sched_part {
	char dataset[65];
	uint32_t in_epoch; /* samples of this dataset in each epoch */
	uint32_t samples;  /* samples that the job selects from this dataset */
};
/* Lists the parts of a mixture, and returns their number; 0: the job is no mixture. */
size_t sched_job_parts(
	struct sched_job *job, struct sched_part ret[static CONFIG_MOST_MIXED]);
