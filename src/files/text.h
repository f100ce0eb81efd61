// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/files.h"

/*
 * The text that the mount's files and joaderctl show.
 *
 *   Threads: any.   Errors: what can't be read appears in the text itself.
 * Names and paths are escaped: backslash, control characters and newline as \\, \n, \t,
 * \xHH; UTF-8 stays as it is.
 */

void text_readme(FILE *out, const struct view_context *context);
void text_stats(FILE *out, const struct view_context *context); /* name value */
void text_stats_json(FILE *out, const struct view_context *context);
void text_metrics(FILE *out, const struct view_context *context); /* Prometheus */

/* info of a dataset: "key value" lines (name, samples, classes, bytes, source, jobs) */
void text_dataset_info(
	FILE *out, const struct view_context *context, const struct dataset *dataset);
void text_classes(FILE *out, const struct dataset *dataset); /* line i: name of label i */

void text_job_status(FILE *out, struct sched_job *job); /* "key value" lines */

/* One line of epoch-NNNN.order: "position sample label served path\n", tab separated. */
void text_order_line(FILE *out, struct sched_job *job, const struct binding *binding);
/* The bytes of that line, without reading the catalogue. */
size_t text_order_line_length(const struct sched_job *job, const struct binding *binding);

/* The whole order of an epoch so far. */
void text_order(FILE *out, struct sched_job *job, uint32_t epoch);

void text_escaped(FILE *out, const char *text);
