// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/files.h"
#include "files/inode.h"
#include "stats/stats.h"

struct binding;
struct sched_edition;
struct sched_job;

/* The texts that the mount's files and joaderctl show. Names and paths are escaped (escape.h);
 * UTF-8 is not escaped. Threads: any. Errors: if data can't be read, the text says so. */

/* Prints the daemon's counters, as "name value" lines. */
void text_stats(FILE *out, const struct files_context *context);
void text_stats_json(FILE *out, const struct files_context *context);
/* Prints the daemon's counters and the jobs' gauges for Prometheus (text_metrics.c). */
void text_metrics(FILE *out, const struct files_context *context, enum stats_form form);

/* Prints the histograms in stats, stats.json and metrics: of the daemon, of each dataset, and of
 * each measured lock (text_times.c). Some are missing if there is no memory. json: as members of a
 * JSON object. */
void text_times(FILE *out, const struct files_context *context, bool json);
void text_times_metrics(
	FILE *out, const struct files_context *context, enum stats_form form);

/* Prints the dashboard: a page for browsers that loads no other files (text_dashboard.c). Newlines
 * at the end keep its length constant until jobs come or go, because browsers read only as many
 * bytes as the file had at first. -ENOMEM. */
must_check int text_dashboard(FILE *out, const struct files_context *context);

/* Prints the state with which simulations of `joaderctl explain` begin. -ENOMEM. */
must_check int text_explain(FILE *out, const struct files_context *context);
/* Prints the numbers of `joaderctl top` (text_top.c). -ENOMEM. */
must_check int text_top(FILE *out, const struct files_context *context);

/* Prints the dataset's info, as "key value" lines. */
void text_dataset_info(
	FILE *out, const struct files_context *context, const struct dataset *dataset);

void text_job_status(FILE *out, struct sched_job *job);

/* Prints a line of epoch-NNNN.order: "position sample label served path\n", separated by tabs.
 * served: how the job got the sample, such as "decoded". */
void text_order_line(
	FILE *out, const struct sched_edition *edition, const struct binding *binding);
/* Returns the length of text_order_line's line, without reading the catalogue. */
size_t text_order_line_length(
	const struct sched_edition *edition, const struct binding *binding);

/* Tells whether the inode is a text file of the mount. */
bool text_is(enum inode_kind kind);

/* Prints a text file of the mount, except orders (order_lines.h) and shared texts
 * (made_text.h). -ENOENT: the file does not exist any more. */
must_check int text_print(
	FILE *out, const struct files_context *context, struct inode inode);
