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

/* Lists all jobs but those that are being removed. The caller calls request_jobs_put. -ENOMEM. */
must_check int request_jobs(const struct request *request, struct request_jobs *ret);
void request_jobs_put(struct request_jobs *jobs);

/* Answers that there is no such job, with the most similar name. Returns false. */
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

/* --- control_show.c: commands that change nothing ---------------------------------------- */

bool show_ls(const struct request *request);
bool show_cluster(const struct request *request);
bool show_status(const struct request *request);
bool show_order(const struct request *request);
bool show_stats(const struct request *request);
bool show_datasets(const struct request *request);
bool show_trace(const struct request *request);
bool show_top(const struct request *request);
bool show_explain(const struct request *request);
