// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/types.h"
#include "config/config.h"
#include "dataset/dataset.h"
#include "edition/samples.h"

/* Adds, removes, saves and restores jobs, and tells which samples their epochs have. */

struct sched;
struct sched_job; /* references are counted: see sched_job_find */
struct sched_reader;

/*
 * Adds a job. persist: keeps its ini in the state directory, so that a restart adds the job
 * again. -EEXIST, -EINVAL (unknown dataset, bad predicate, nothing selected): reported.
 */
must_check int sched_job_add(struct sched *sched, const struct job_config *config,
	bool persist, config_report *report, void *context);

/*
 * Removes a job: removes its pins and need from the cache, answers parked opens with -ENODEV, and
 * deletes the job's state files. Open handles stay readable until they are released. -ENOENT.
 */
must_check int sched_job_remove(struct sched *sched, const char *name);

/*
 * Prints a checkpoint of the job (checkpoint.h): a text of at most 4 KiB, within microseconds. If
 * the checkpoint has to survive a power failure, the caller must then call sched_job_sync, which
 * may wait for the disk.
 */
void sched_job_print_state(struct sched_job *job, FILE *out);
must_check int sched_job_sync(struct sched_job *job);

/*
 * Takes the job back to a checkpoint: samples read since then are unread again, at the same
 * positions. at: NULL, or "EPOCH:POSITION": the job then continues at this position of the epoch,
 * and the positions before it count as read. Opens wait meanwhile. -EINVAL and others: reported;
 * the job stays as it was. The calling thread must be allowed to wait.
 */
must_check int sched_job_restore(struct sched_job *job, const char *text, const char *at,
	config_report *report, void *context);

/*
 * Writes a checkpoint of the job with all orders that are kept, for other machines with the same
 * data, to fd, a regular file. Errors are reported. The calling thread must be allowed to wait.
 */
must_check int sched_job_export(
	struct sched_job *job, int fd, config_report *report, void *context);

/* A file that sched_job_export has written, and its name for messages. */
struct sched_import {
	int fd;
	const char *name;
	/* NULL, or the point "EPOCH:POSITION" at which the job continues (sched_job_restore) */
	const char *at;
};

/*
 * Adds a job (sched_job_add) that has no epochs here yet. The job continues where the exported
 * job was, and its positions hold the same samples as those of the exported job. If the job is a
 * rank, the file has all ranks of a training, one after the other; the training continues where
 * the exported training was, even with another number of ranks (sched_job_log). -EBADMSG,
 * reported: the file can't be used for the job.
 */
must_check int sched_job_add_import(struct sched *sched, const struct job_config *config,
	bool persist, const struct sched_import *import, config_report *report,
	void *context);

/* Tells where the imported training of a rank continues: in epoch *ret_epoch, after the *ret_n
 * samples at *ret, which the ranks have read. The caller frees *ret. *ret_n = 0 and epoch 0: the
 * training begins. */
must_check int sched_job_log(
	struct sched_job *job, uint32_t *ret_epoch, sample_id **ret, uint32_t *ret_n);

/* Keeps the ini of a job in the state directory, as sched_job_add does with persist. */
must_check int sched_job_keep(struct sched_job *job);

/* Undoes sched_job_add: removes the job and its ini in the state directory. Leaves the job's other
 * files there, which may belong to an earlier job of the name. -ENOENT. */
must_check int sched_job_withdraw(struct sched *sched, const char *name);

/* Adds the jobs whose inis are in the state directory. Errors are logged; the other jobs are
 * added. */
void sched_jobs_restore(struct sched *sched);

/* Adds the jobs with which the daemon starts: if `tries`, the jobs of config_try.h; the jobs whose
 * inis are in the jobs directory; and the jobs whose inis are in the state directory. A mistake in
 * an ini of the jobs directory is an error. -errno, logged. */
must_check int sched_jobs_begin(
	struct sched *sched, const struct daemon_config *daemon, bool tries);

/* Warns if the cache is smaller than the look-ahead of all jobs together. */
void sched_report_cache(struct sched *sched, config_report *report, void *context);

/* Finds a job by its name; NULL: there is none. The caller gives the reference back with
 * sched_job_put. */
struct sched_job *sched_job_find(struct sched *sched, const char *name);
/* Finds a job by its id; NULL: there is none. The caller gives the reference back. */
struct sched_job *sched_job_find_id(struct sched *sched, job_id id);
void sched_job_put(struct sched_job *job);
struct sched_job *sched_job_hold(struct sched_job *job); /* takes a reference */
static inline void sched_job_put_(struct sched_job **job)
{
	if (*job)
		sched_job_put(*job);
}
/* Declares a pointer to a job, or NULL, whose reference is given back at the end of the scope. */
#define auto_job __attribute__((cleanup(sched_job_put_))) struct sched_job

/* Lists the ids of all jobs in the order in which they were added; the caller frees *ret.
 * -ENOMEM */
must_check int sched_job_ids(struct sched *sched, job_id **ret, size_t *ret_n);

job_id sched_job_id(const struct sched_job *job);
const struct job_config *sched_job_config(const struct sched_job *job);

/* Returns the edition of an epoch. For SCHED_CURRENT this is the edition that a script which begins
 * now would read. The caller must call sched_edition_put before it puts the job; until then the
 * edition does not change. */
const struct sched_edition *sched_edition(struct sched_job *job, uint32_t epoch);
/* Returns the edition of an epoch, as sched_edition does. For SCHED_CURRENT, returns the largest of
 * the editions to which files of current/ may belong now. */
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
/* Returns the number of the file names of the epoch's edition (sched_edition.names). */
uint32_t sched_job_names(struct sched_job *job, uint32_t epoch);
/* Returns the epoch to which a file of current/ would belong if the reader opened it now.
 * Changes nothing. */
uint32_t sched_current(
	struct sched_job *job, const struct sched_reader *reader, uint32_t position);
/* Returns a number that changes when the epoch gets another edition; epoch may be SCHED_CURRENT. 0:
 * the dataset has had only one edition. */
uint32_t sched_edition_mark(struct sched_job *job, uint32_t epoch);

/* The part of one dataset in each epoch of a mixture. */
struct sched_part {
	char dataset[65];
	uint32_t in_epoch; /* number of samples of this dataset in each epoch */
	/* number of samples that the job selects from this dataset */
	uint32_t samples;
};
/* Lists the parts of a mixture, and returns their number. 0: the job is no mixture. */
size_t sched_job_parts(
	struct sched_job *job, struct sched_part ret[static CONFIG_MOST_MIXED]);
