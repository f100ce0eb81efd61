// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/files.h"
#include "files/inode.h"

/*
 * The text that the mount's files and joaderctl show.
 *
 *   Threads: any.   Errors: what can't be read appears in the text itself.
 * Names and paths are escaped: backslash, control characters and newline as \\, \n, \t,
 * \xHH; UTF-8 stays as it is.
 */

void text_readme(FILE *out, const struct files_context *context);
void text_stats(FILE *out, const struct files_context *context); /* name value */
void text_stats_json(FILE *out, const struct files_context *context);
void text_metrics(FILE *out, const struct files_context *context); /* Prometheus */

/* info of a dataset: "key value" lines (name, samples, classes, bytes, source, jobs) */
void text_dataset_info(
	FILE *out, const struct files_context *context, const struct dataset *dataset);
void text_classes(FILE *out, const struct dataset *dataset); /* line i: name of label i */

void text_job_status(FILE *out, struct sched_job *job); /* "key value" lines */

/* One line of epoch-NNNN.order: "position sample label served path\n", tab separated. */
void text_order_line(FILE *out, struct sched_job *job, const struct binding *binding);
/* The bytes of that line, without reading the catalogue. */
size_t text_order_line_length(const struct sched_job *job, const struct binding *binding);

/* The whole order of an epoch so far. */
void text_order(FILE *out, struct sched_job *job, uint32_t epoch);

/* Whether the inode is a text file of the mount: text_print writes it. */
bool text_is(enum inode_kind kind);

/*
 * The text of such a file, or of the .json of a position, which is bound by it. -ENOENT:
 * it is not there any more; else as sched_bind.
 */
must_check int text_print(
	FILE *out, const struct files_context *context, struct inode inode);
