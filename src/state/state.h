// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "edition/job.h"
#include "epoch/order.h"

/*
 * Saves and restores a job's progress. The progress is kept in the job's directory, printed as a
 * text (a checkpoint), and written to files for other machines.
 *
 *   job_files.c        keeps files in <state>/jobs/<name>
 *   checkpoint.c       prints and parses checkpoints (checkpoint.h)
 *   restore.c          takes checkpoints, and checks whether a job can go back to one
 *   restore_orders.c   makes the epochs of a restored job from orders
 *   import*.c          writes a job and its orders for other machines, and reads them
 *
 *   Flow: the scheduler adds a job: keep_begin -> keep_restore -> import_for_job.
 *         It restores one: restore_check -> restore_make -> epochs_restored.
 *   Owns: the files of the job's directory.
 *   Threads: the clerk, or the thread that adds the job, before any other thread knows it;
 *            unless a comment says otherwise.
 *   Locks: takes job->lock.   Errors: -errno.
 */

struct checkpoint;

/* A job that goes back to a checkpoint. */
struct restoring {
	struct checkpoint *from;
	/* go to at_epoch and at_position: the positions before at_position count as
	 * read */
	bool at;
	uint32_t at_epoch, at_position;
	char message[600]; /* reason of a failure, or "" */
};

/* --- restore.c --- */

/* Returns a hash of the configuration; 0: no memory. */
uint64_t restore_hash_ini(const struct job_config *config);
/* Takes a checkpoint of the job. Called by any thread. */
void restore_take_checkpoint(struct job *job, struct checkpoint *ret);
/* Checks that the job can go to the checkpoint, or to `at`. -EINVAL, with a message. */
must_check int restore_check(struct job *job, struct restoring *restoring);
/* Writes the message of an error. Returns err. */
int restore_failed(struct restoring *restoring, const char *what, int err);

/* --- restore_orders.c: the orders of a restored job --- */

/* The epochs with which a restored job continues, and the orders in its directory. */
struct restored {
	struct epoch *running, *draining; /* draining NULL: none */
	struct epochs_order_file *orders;
	size_t n_orders;
};

/* Saves the orders of live epochs. The caller has called epochs_hold, here and for the
 * next function. */
must_check int restore_save_live(struct job *job, struct restoring *restoring);
/* Makes the epochs, and saves their orders for the journal's next segment. The caller frees
 * *ret, or gives all of it to the engine. */
must_check int restore_make(
	struct job *job, struct restoring *restoring, struct restored *ret);
void restored_free(struct restored *restored);
/* Makes an epoch from the order at `path`. NULL: from the order that was saved when the epoch
 * ended. -EINVAL: the order is missing, or can't be used (*ret_reason). */
must_check int restore_load(struct job *job, const char *path, uint32_t epoch,
	uint32_t bound, uint32_t consumed, const char **ret_reason, struct epoch **ret);

/* --- import.c: orders of other machines --- */

#define IMPORT_AT "--at: found \"%s\", allowed: EPOCH:POSITION"

/* The import of a job that is being added, and the receiver of error messages. */
struct adding {
	int fd;
	const char *file; /* its name in messages; NULL: nothing is imported */
	const char *at;	  /* NULL, or EPOCH:POSITION */
	config_report *report;
	void *context;
};

/* Imports orders for a job that is being added: from adding->file, or from FILE if the
 * job has order = replay:FILE. A job that has epochs already ignores FILE and refuses
 * adding->file. *ret, with room for a checkpoint: the place to which the caller then restores
 * the job, if the checkpoint has a journal. -EBADMSG: refused, and reported. */
must_check int import_for_job(
	struct job *job, const struct adding *adding, struct restoring *ret);
/* Removes the orders of a job that has not begun, since it had none before the import. */
void import_undo(struct job *job);
/* Reports the message. Returns -EBADMSG. */
must_check int import_refuse(const struct adding *adding, const char *format, ...)
	printf_like(2, 3);
/* Replaces `auto` in the mapping of a job that is added by the mapping of the imported orders.
 * -EBADMSG: refused, and reported. */
must_check int mapping_of_import(const struct adding *adding, enum view_mapping *mapping);
/* Writes the checkpoint, and all orders of its edition, to fd. The orders of live epochs are
 * saved. */
must_check int export_orders(struct job *job, int fd, const struct checkpoint *from);

/* --- import_ranks.c --- */

/* Reads the place at which the imported training of a rank continues; see sched_job_log. */
must_check int import_log(
	const struct job *job, uint32_t *ret_epoch, sample_id **ret, uint32_t *ret_n);

/* --- job_files.c: files in <state>/jobs/<name> --- */

/* Makes the directory, and reads the id of the job of this name; 0: it has none yet. */
must_check int keep_begin(const struct job *job, uint32_t *ret_id);
/* Opens the journal, and rebuilds the engine from it and from the orders. */
must_check int keep_restore(struct job *job);
/* Writes the job's id. */
must_check int keep_id(const struct job *job);
/* Writes job.ini. */
must_check int keep_ini(const struct job *job);
/* Removes job.ini. */
void keep_no_ini(const struct job *job);
/* Opens the list of bad samples (skip.c). NULL: there is none, or it can't be read. */
FILE *keep_bad_open(const struct job *job);
/* Replaces the list of bad samples. */
must_check int keep_bad(const struct job *job, const char *text);
/* Returns the first epoch whose order is kept after the order of this epoch is saved. */
uint32_t keep_from(const struct job *job, uint32_t epoch);
/* Saves the order of an epoch that has ended, and removes the orders before keep_from. No
 * lock held. */
must_check int keep_order(struct job *job, uint32_t epoch, const struct order *order);
/* Removes the job's files, and the directory too unless it has files of others. */
void keep_nothing(const struct job *job);
