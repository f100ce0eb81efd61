// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "control/control_internal.h"
#include "sched/sched.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* The table that "ls" prints. */

#define LS_COLUMNS 5
struct ls_row {
	char cell[LS_COLUMNS][80]; /* names have at most 64 bytes */
};

static void ls_fill(struct ls_row *row, struct sched_job *job)
{
	const struct job_config *config = sched_job_config(job);
	struct sched_job_status status;
	sched_job_status(job, &status);
	snprintf(row->cell[0], sizeof(row->cell[0]), "%s%s", config->name,
		status.notices ? "!" : "");
	snprintf(row->cell[1], sizeof(row->cell[1]), "%s", config->dataset);
	snprintf(row->cell[2], sizeof(row->cell[2]), "%s",
		sched_job_state(config, &status));
	if (!status.started) {
		strcpy(row->cell[3], "-");
		strcpy(row->cell[4], "-");
		return;
	}
	snprintf(row->cell[3], sizeof(row->cell[3]), "%" PRIu32, status.epoch);
	snprintf(row->cell[4], sizeof(row->cell[4]), "%" PRIu32 "/%" PRIu32 " %d%%",
		status.consumed, status.samples,
		status.samples ? (int)(100.0 * status.consumed / status.samples) : 100);
}

static void ls_print(FILE *out, const struct ls_row *rows, size_t n)
{
	int width[LS_COLUMNS] = {0};
	for (size_t i = 0; i < n; i++)
		for (int c = 0; c < LS_COLUMNS; c++)
			if ((int)strlen(rows[i].cell[c]) > width[c])
				width[c] = (int)strlen(rows[i].cell[c]);
	for (size_t i = 0; i < n; i++) {
		for (int c = 0; c < LS_COLUMNS - 1; c++)
			fprintf(out, "%-*s  ", width[c], rows[i].cell[c]);
		fprintf(out, "%s\n", rows[i].cell[LS_COLUMNS - 1]);
	}
}

int control_list(FILE *out, struct sched_job *const *jobs, size_t n)
{
	auto_free struct ls_row *rows = calloc(n + 1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	rows[0] = (struct ls_row){{"NAME", "DATASET", "STATE", "EPOCH", "PROGRESS"}};
	for (size_t i = 0; i < n; i++)
		ls_fill(&rows[i + 1], jobs[i]);
	ls_print(out, rows, n + 1);
	return 0;
}
