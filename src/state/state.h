// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "epoch/epoch.h"
#include "epoch/order.h"
#include "sched/jobs.h"
#include "sched/after.h"

/*
 * Saves and restores a job's progress. The progress is kept in the job's directory, printed as a
 * text (a checkpoint), and written to files for other machines.
 *
 *   job_files.c        keeps files in <state>/jobs/<name>
 *   checkpoint.c       prints and parses checkpoints
 *   restore.c          takes checkpoints, and restores a job to one
 *   restore_orders.c   makes the epochs of a restored job from orders
 *   import*.c          writes a job and its orders for other machines, and reads them
 */

struct checkpoint;
struct edition;

struct restoring {
	struct checkpoint *from;
	/* go to at_epoch and at_position: the positions before at_position count as
	 * read */
	bool at;
	/* the job is not moved: its orders are saved, and `from` receives its
	 * checkpoint */
	bool export;
	uint32_t at_epoch, at_position;
	int err;
	char message[600];
};

/* --- restore.c: back to a checkpoint --- */

/* Restores the job in the calling thread, without checks. The caller is the clerk, or the
 * thread that adds the job, before any other thread knows it. */
must_check int restore_new(struct sched_job *job, struct restoring *restoring);
/* Checks that the job can go to the checkpoint's epoch, or to `at`. -EINVAL, with a message. */
must_check int restore_check_target(struct sched_job *job, struct restoring *restoring);
/* Has the clerk check and restore the job, and waits for the result. -ENODEV: the job is
 * removed, or the scheduler stops; -EBUSY: another restore is under way. */
must_check int restore_by_clerk(struct sched_job *job, struct restoring *restoring);

/* --- import.c: orders of other machines --- */

#define IMPORT_AT "--at: found \"%s\", allowed: EPOCH:POSITION"

/* The import of a job that is being added, and the receiver of error messages. */
struct adding {
	const struct sched_import *import; /* NULL: none */
	config_report *report;
	void *context;
};

/* Imports orders for a job that is being added: from adding->import, or from FILE if the
 * job has order = replay:FILE. A job that has epochs already ignores FILE and refuses
 * adding->import. -EBADMSG: refused, and reported. */
must_check int import_for_job(struct sched_job *job, const struct adding *adding);

/* Returns a hash of the configuration; 0: no memory. */
uint64_t restore_hash_ini(const struct job_config *config);
/* Does the restore that a caller of restore_by_clerk waits for, if there is one. Called
 * by the clerk. */
void restore_if_wanted(struct sched_job *job);
/* Writes the message of a failure. Returns -EINVAL. */
int restore_refuse(struct restoring *restoring, const char *format, ...)
	printf_like(2, 3);
/* Writes the message of an error. Returns err. */
int restore_failed(struct restoring *restoring, const char *what, int err);

/* --- restore_orders.c: the orders of a restored job --- */

/* Returns the epoch's edition, not held. Only the clerk may call it, or the thread that
 * adds the job: no edition can be freed meanwhile. */
struct edition *restore_edition(struct sched_job *job, uint32_t epoch);

/* Saves the orders of live epochs. The caller has called epochs_hold, here and for the
 * next two functions. */
must_check int restore_save_live(struct sched_job *job, struct restoring *restoring);
/* Makes the epoch that is to run, and saves its order for the journal's next segment. */
must_check int restore_make_running(
	struct sched_job *job, struct restoring *restoring, struct epoch **ret);
/* Makes the epoch that is to drain, and saves its order for the journal's next segment. *ret
 * stays NULL if none drains. */
must_check int restore_make_draining(
	struct sched_job *job, struct restoring *restoring, struct epoch **ret);
/* Lists the orders in the job's directory; the caller frees *ret. */
must_check int restore_list_orders(
	struct sched_job *job, struct epochs_order_file **ret, size_t *ret_n);
/* Makes an epoch from the order at `path`. NULL: from the order that was saved when the epoch
 * ended. -EINVAL: the order is missing, or can't be used (*ret_reason). */
must_check int restore_load(struct sched_job *job, const char *path, uint32_t epoch,
	uint32_t bound, uint32_t consumed, const char **ret_reason, struct epoch **ret);

/* Replaces `auto` in the mapping of a job that is added by the mapping of the imported orders.
 * -EBADMSG: refused, and reported. */
must_check int mapping_of_import(const struct adding *adding, enum view_mapping *mapping);

/* --- job_files.c: files in <state>/jobs/<name> --- */

/* Makes the directory, and reads the id of the job of this name; 0: it has none yet. */
must_check int keep_begin(const struct sched_job *job, uint32_t *ret_id);
/* Opens the journal, and rebuilds the engine from it and from the orders. */
must_check int keep_restore(struct sched_job *job);
/* Writes the job's id. */
must_check int keep_id(const struct sched_job *job);
/* Writes job.ini. */
must_check int keep_ini(const struct sched_job *job);
/* Removes job.ini. */
void keep_no_ini(const struct sched_job *job);
/* Opens the list of bad samples (skip.c). NULL: there is none, or it can't be read. */
FILE *keep_bad_open(const struct sched_job *job);
/* Replaces the list of bad samples. */
must_check int keep_bad(const struct sched_job *job, const char *text);
/* Returns the first epoch whose order is kept after the order of this epoch is saved. */
uint32_t keep_from(const struct sched_job *job, uint32_t epoch);
/* Saves the order of an epoch that has ended, and removes the orders before keep_from. No
 * lock held. */
must_check int keep_order(
	struct sched_job *job, uint32_t epoch, const struct order *order);
/* Removes the job's files, and the directory too unless it has files of others. */
void keep_nothing(const struct sched_job *job);
