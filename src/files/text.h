// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/files.h"
#include "files/inode.h"
#include "stats/stats.h"

struct binding;
struct sched_edition;
struct sched_job;

/*
 * The texts that the mount's files and joaderctl show. Names and paths are escaped
 * (escape.h); UTF-8 stays as it is.
 *
 *   Threads: any.   Errors: if something can't be read, the text says so.
 */

void text_readme(FILE *out, const struct files_context *context);
void text_stats(FILE *out, const struct files_context *context); /* name value */
void text_stats_json(FILE *out, const struct files_context *context);
/* Prints the daemon's counters and gauges of the jobs for Prometheus (text_metrics.c). */
void text_metrics(FILE *out, const struct files_context *context, enum stats_form form);

/* Prints a page for browsers, which needs nothing else (text_dashboard.c). It keeps its length
 * until jobs come or go, by newlines at its end: browsers read as much of a file as it had when
 * they looked first. -ENOMEM */
must_check int text_dashboard(FILE *out, const struct files_context *context);

/* Prints the state that joaderctl explain simulates (text_explain.c). -ENOMEM */
must_check int text_explain(FILE *out, const struct files_context *context);
/* Prints the numbers that joaderctl top shows (text_top.c). -ENOMEM */
must_check int text_top(FILE *out, const struct files_context *context);

/* Prints the info of a dataset: "key value" lines (name, samples, classes, bytes, source,
 * jobs). */
void text_dataset_info(
	FILE *out, const struct files_context *context, const struct dataset *dataset);
void text_classes(FILE *out, const struct dataset *dataset); /* line i: name of label i */

void text_job_status(FILE *out, struct sched_job *job); /* "key value" lines */

/* Prints one line of epoch-NNNN.order: "position sample label served path\n", tab separated. */
void text_order_line(
	FILE *out, const struct sched_edition *edition, const struct binding *binding);
/* Returns the length of that line; the catalogue is not read. */
size_t text_order_line_length(
	const struct sched_edition *edition, const struct binding *binding);

/* Tells whether the inode is a text file of the mount, which text_print prints. */
bool text_is(enum inode_kind kind);

/*
 * Prints a text file of the mount, unless all readers share it: made_text.h. -ENOENT: there is
 * no such file any more.
 */
must_check int text_print(
	FILE *out, const struct files_context *context, struct inode inode);
