// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "epoch/epoch.h"
#include "epoch/order.h"
#include "sched/jobs.h"
#include "section/section.h"

/*
 * Where a job is: in its directory, as a text, and on other machines.
 *
 *   job_files.c        what is kept in <state>/jobs/<name>
 *   restore.c          where a job is, and back there; checkpoint.c: that as a text
 *   restore_orders.c   the orders that it goes back with
 *   import*.c          a job with its orders, to other machines and from there
 */

struct checkpoint;
struct edition;

struct restoring {
	struct checkpoint *from;
	bool at;     /* there instead, in the order of positions */
	bool export; /* it stays there: only its orders go to files, and `from` is filled */
	uint32_t at_epoch, at_position;
	int err;
	char message[600];
};

/* --- restore.c: back to a checkpoint --- */

/* All but the checks, and without the clerk: of a job that nobody knows yet. */
must_check int restore_new(struct sched_job *job, struct restoring *restoring);
/* Whether the job can go where `at` says. */
must_check int restore_check_target(struct sched_job *job, struct restoring *restoring);
/* By the clerk, while the caller waits. */
must_check int restore_by_clerk(struct sched_job *job, struct restoring *restoring);

/* --- import.c: orders of other machines --- */

#define IMPORT_AT "--at: found \"%s\", allowed: EPOCH:POSITION"

/* How a job is added. */
struct adding {
	const struct sched_import *import; /* or NULL */
	config_report *report;
	void *context;
};

/* What order = replay:FILE or an import asks for, if the job has no epochs yet. -EBADMSG:
 * refused, and reported. */
must_check int import_for_job(struct sched_job *job, const struct adding *adding);

uint64_t restore_hash_ini(const struct job_config *config);
/* By the clerk. */
void restore_if_wanted(struct sched_job *job);
/* The message of a failure; -EINVAL, and err. */
int restore_refuse(struct restoring *restoring, const char *format, ...)
	printf_like(2, 3);
int restore_failed(struct restoring *restoring, const char *what, int err);

/* --- restore_orders.c: the orders that it goes back with --- */

/* By the clerk, or of a job that nobody knows yet. */
struct edition *restore_edition(struct sched_job *job, uint32_t epoch);

/* Those of live epochs go to files. The job is held, as for the next two. */
must_check int restore_save_live(struct sched_job *job, struct restoring *restoring);
/* The epoch that is to run; to drain: *ret stays NULL where none is. Both are in files of
 * the next segment of the journal, too. */
must_check int restore_make_running(
	struct sched_job *job, struct restoring *restoring, struct epoch **ret);
must_check int restore_make_draining(
	struct sched_job *job, struct restoring *restoring, struct epoch **ret);
/* What the files of the job's directory hold; the caller frees it. */
must_check int restore_list_orders(
	struct sched_job *job, struct epochs_order_file **ret, size_t *ret_n);
/* An epoch as the file has it; path NULL: that of an epoch that has ended. -EINVAL: there
 * is none that can be used. */
must_check int restore_load(struct sched_job *job, const char *path, uint32_t epoch,
	uint32_t bound, uint32_t consumed, const char **ret_reason, struct epoch **ret);

/* *mapping: of the job that is added, `auto` becomes that of the imported orders. -EBADMSG:
 * refused, and reported. */
must_check int mapping_of_import(const struct adding *adding, enum view_mapping *mapping);

/* --- job_files.c: what is kept in <state>/jobs/<name> --- */

/* The directory is made; *ret_id: the id that the name had before, 0: none. */
must_check int keep_begin(const struct sched_job *job, uint32_t *ret_id);
/* The engine is rebuilt from orders and journal, which is open then. */
must_check int keep_restore(struct sched_job *job);
must_check int keep_id(const struct sched_job *job);
must_check int keep_ini(const struct sched_job *job);
void keep_no_ini(const struct sched_job *job);
/* The bad samples: for skip.c. NULL: there is no such file. */
FILE *keep_bad_open(const struct sched_job *job);
must_check int keep_bad(const struct sched_job *job, const char *text);
/* The first epoch that is kept when this one has been saved. */
uint32_t keep_from(const struct sched_job *job, uint32_t epoch);
/* The order of an epoch that has ended goes to a file, older ones are removed. No lock
 * held. */
must_check int keep_order(
	struct sched_job *job, uint32_t epoch, const struct order *order);
void keep_nothing(const struct sched_job *job);
