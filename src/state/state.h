// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "edition/job.h"
#include "epoch/order.h"

/*
 * Saves and restores a job's progress. The progress is kept in the job's directory, printed as a
 * text (a checkpoint), and written to files for other machines.
 *
 *   Flow: the scheduler adds a job: keep_begin -> keep_restore -> import_for_job. It restores a
 *         job: restore_check -> restore_make -> epochs_restored.
 *   Owns: the files of the job's directory.
 *   Threads: the clerk, a thread of the scheduler. Before other threads know a job, the thread that
 *            adds the job. Exceptions are noted at the functions.
 *   Locks: takes job->lock.   Errors: -errno.
 */

struct checkpoint;

struct restoring {
	struct checkpoint *from;
	/* If `at` is true, the job goes to at_epoch and at_position, not to the point of the
	 * checkpoint. Earlier positions that have a sample then count as read. */
	bool at;
	uint32_t at_epoch, at_position;
	char message[600]; /* reason of a failure, or "" */
};

/* --- restore.c --- */

/* Returns a hash of the job's configuration; 0: no memory. */
uint64_t restore_hash_ini(const struct job_config *config);
/* Sets *ret to a checkpoint of the job's present state. Any thread may call this function. */
void restore_take_checkpoint(struct job *job, struct checkpoint *ret);
/* Checks whether the job can go to the point that `restoring` names. -EINVAL, with a message */
must_check int restore_check(struct job *job, struct restoring *restoring);
/* Sets restoring->message to "WHAT: reason of err". Returns err. */
int restore_failed(struct restoring *restoring, const char *what, int err);

/* --- restore_orders.c: the orders of a restored job --- */

/* The epochs with which a restored job continues, and the orders in the job's directory. draining:
 * NULL if only the running epoch continues. */
struct restored {
	struct epoch *running, *draining;
	struct epochs_order_file *orders;
	size_t n_orders;
};

/* Saves in the job's directory the orders of the epochs that are in memory. The caller has called
 * epochs_hold, so opens wait. */
must_check int restore_save_live(struct job *job, struct restoring *restoring);
/* Makes the epochs with which the job continues, and saves their orders for the journal's next
 * segment. The caller has called epochs_hold, and afterwards passes the fields of *ret to
 * epochs_restored, or calls restored_free. */
must_check int restore_make(
	struct job *job, struct restoring *restoring, struct restored *ret);
void restored_free(struct restored *restored);
/* Makes an epoch from the first `bound` bindings and the first `consumed` reads of an order. path:
 * the order's file; NULL: the file that was saved when the epoch ended. -EINVAL: the order is
 * missing or can't be used; *ret_reason says why. */
must_check int restore_load(struct job *job, const char *path, uint32_t epoch,
	uint32_t bound, uint32_t consumed, const char **ret_reason, struct epoch **ret);

/* --- import*.c: orders of other machines --- */

#define IMPORT_AT "--at: found \"%s\", allowed: EPOCH:POSITION"

/* The file that is imported, and the receiver of error messages. */
struct adding {
	int fd;
	const char *file; /* the file's name in messages; NULL: nothing is imported */
	const char *at;	  /* EPOCH:POSITION where the job continues; NULL: as exported */
	config_report *report;
	void *context;
};

/* Imports orders for a job that is being added, from adding->file or, with order = replay:FILE,
 * from FILE. If the job already has epochs, adding->file is refused, and FILE is ignored.
 * ret->from: memory of the caller, into which a checkpoint in the file is read. If
 * ret->from->has_journal is true afterwards, the caller has to restore the job to the state *ret.
 * -EBADMSG: refused, and reported. */
must_check int import_for_job(
	struct job *job, const struct adding *adding, struct restoring *ret);
/* Removes the job's orders if no epoch has begun, because then all of them were imported. */
void import_undo(struct job *job);
/* Reports the message, and returns -EBADMSG. */
#define import_refuse(adding, ...)                                                       \
	(config_report_text((adding)->report, (adding)->context, __VA_ARGS__), -EBADMSG)
/* If *mapping is MAPPING_AUTO, replaces it by the mapping of the orders that the job imports.
 * -EBADMSG: refused, and reported. */
must_check int mapping_of_import(const struct adding *adding, enum view_mapping *mapping);
/* Writes to fd the checkpoint, and the saved orders of all epochs with the same edition as the
 * checkpoint's running epoch. The caller has called restore_save_live. */
must_check int export_orders(struct job *job, int fd, const struct checkpoint *from);

/* Reads what import_ranks has saved: the epoch in which the training continues, and the *ret_n
 * samples of it that the ranks have already read. The caller frees *ret; NULL: nothing was saved
 * for this training. */
must_check int import_log(
	const struct job *job, uint32_t *ret_epoch, sample_id **ret, uint32_t *ret_n);

/* --- job_files.c: files in <state>/jobs/<name> --- */

/* Makes the job's directory. Sets *ret_id to the saved id of the job's name; 0: none was saved. */
must_check int keep_begin(const struct job *job, uint32_t *ret_id);
/* Opens the journal, and rebuilds job->epochs from the journal and the saved orders. */
must_check int keep_restore(struct job *job);
must_check int keep_id(const struct job *job);
must_check int keep_ini(const struct job *job);
void keep_no_ini(const struct job *job);
/* Opens the list of bad samples, for the caller to close. NULL: no list, or a logged error */
FILE *keep_bad_open(const struct job *job);
/* Replaces the list of bad samples. */
must_check int keep_bad(const struct job *job, const char *text);
/* Returns the number of the oldest epoch whose order stays when the order of `epoch` is saved. */
uint32_t keep_from(const struct job *job, uint32_t epoch);
/* Saves the order of an epoch that has ended, and removes the orders of epochs before keep_from.
 * The caller must not hold the lock. */
must_check int keep_order(struct job *job, uint32_t epoch, const struct order *order);
/* Removes the job's files, and then the directory, unless other files are in it. */
void keep_nothing(const struct job *job);
