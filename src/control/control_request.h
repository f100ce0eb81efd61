// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "control/control_internal.h"
#include "fuse/fuse.h"

struct sched_job;

#define MAX_ARGUMENTS 1024 /* most arguments, including the command */

struct request {
	const struct files_context *context;
	struct session *session;
	struct control *control;
	const char *argument[MAX_ARGUMENTS]; /* the first one is the command */
	size_t n_arguments;
	struct client *client; /* NULL: the daemon itself looks for changes of datasets */
	FILE *out;	       /* receives the text of the answer */
};

/* Answers with the reason why the request fails. Returns false. */
bool request_refuse(const struct request *request, const char *format, ...)
	printf_like(2, 3);

/* Adds a line to the answer. out: request->out. */
void request_report(void *out, const char *message);

struct request_jobs {
	struct sched_job **job;
	const char **name;
	size_t n;
};

#define auto_request_jobs __attribute__((cleanup(request_jobs_put)))
void request_jobs_put(struct request_jobs *jobs);
/* Lists all jobs but those that are being removed. The caller calls request_jobs_put, also after
 * -ENOMEM. */
must_check int request_jobs(const struct request *request, struct request_jobs *ret);

/* Answers that the job does not exist, and suggests the existing name that is most similar.
 * Returns false. */
bool request_unknown_job(const struct request *request, const char *name);

/* Returns a reference to the job if the sender may change it; NULL: the answer has the reason. */
must_check struct sched_job *request_job_to_change(
	const struct request *request, const char *name);
/* Returns a reference to the job if the sender may read it; NULL: the answer has the reason. */
must_check struct sched_job *request_job_to_read(
	const struct request *request, const char *name);
bool request_may_change(const struct request *request, const struct sched_job *job);
bool request_may_read(const struct request *request, const struct sched_job *job);
bool request_has_group(const struct client *client, gid_t group);

/* --- control_jobs.c ----------------------------------------------------------------------- */

#define CONTROL_ADD_USAGE                                                                \
	"add [--import NAME [--at EPOCH:POSITION]] [--template NAME] "                   \
	"[--set SECTION.KEY=VALUE]... FILE TEXT..."

/* Adds all jobs of a request, or none: all inis are parsed, compared with the existing jobs, added,
 * and saved in the state directory; a failure undoes the steps before it. An ordinary user who
 * sends the request becomes the owner of the jobs. client->descriptor is the file to import, if
 * there is one. A job that exists with the same configuration stays as it is. Returns false after a
 * failure; the answer has the reason. */
bool control_add(const struct request *request);

/* Finds the ini in `directory` from which the daemon's next start would add the job. NULL: there is
 * none, or `directory` is NULL. The caller frees the path. */
char *control_ini_of(const char *directory, const char *name);

/* --- control_datasets.c ------------------------------------------------------------------- */

#define CONTROL_DATASET_USAGE                                                            \
	"dataset ls | dataset add FILE TEXT | dataset rm DATASET | dataset rescan "      \
	"DATASET"

/* Carries out a dataset command, which lists, adds, removes or rescans datasets while the daemon
 * runs. A new dataset is scanned, and its ini is saved in <state>/datasets; then jobs may use it. A
 * failure undoes all steps for this dataset, but not for datasets that the same ini has added
 * before. Jobs can't begin to use a dataset during its rescan; afterwards the new scan replaces the
 * earlier scan. A scan ends when control->ends becomes true. Returns false if the command failed;
 * the answer has the reason. */
bool control_dataset(const struct request *request);

/* Scans the datasets with LOOK_BEHIND. The daemon's start has opened their catalogues without a
 * scan. Jobs use a new scan that finds changes from their next epochs on. A failure is logged if
 * the scan fails, or if jobs can't use its result; the daemon's next start then scans the dataset
 * before it serves readers. */
void control_look_for_changes(struct control *control);

/* --- control_upgrade.c -------------------------------------------------------------------- */

/* `joaderctl upgrade [PROGRAM]`: this engine process ends, and the supervisor starts the next one,
 * possibly from another program. The next engine takes over as after a crash (supervisor.h), so
 * readers notice nothing. Asks the program whether it can take over. Returns false if it can't; the
 * answer has the reason. Otherwise the client gets its answer, and then control_hand_over ends the
 * process. */
bool control_upgrade(const struct request *request);
_Noreturn void control_hand_over(void);

/* --- control_list.c ----------------------------------------------------------------------- */

/* Answers that the dataset does not exist, and suggests the existing name that is most similar.
 * Returns false. */
bool control_unknown_dataset(const struct request *request, const char *name);
/* Prints a table with one line per dataset. Returns false if there is no memory. */
bool control_dataset_table(const struct request *request);
bool show_ls(const struct request *request);
bool show_datasets(const struct request *request);

/* --- control_show.c: commands that change nothing ---------------------------------------- */

bool show_cluster(const struct request *request);
bool show_status(const struct request *request);
bool show_order(const struct request *request);
bool show_stats(const struct request *request);
bool show_trace(const struct request *request);
bool show_top(const struct request *request);
bool show_explain(const struct request *request);
