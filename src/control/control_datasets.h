// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/files.h"

#include <stdatomic.h>

/*
 * Adds, removes and rescans datasets while the daemon runs.
 *
 *   Flow: a new dataset is scanned, and its ini is saved in <state>/datasets. Then jobs
 *         may use the dataset. A failure undoes all steps. During a rescan no job can
 *         begin to use the dataset; afterwards the new scan replaces the earlier scan.
 *   Threads: one at a time.
 */

struct session;

#define CONTROL_DATASET_USAGE                                                            \
	"dataset ls | dataset add FILE TEXT | dataset rm DATASET | dataset rescan "      \
	"DATASET"

/* Carries out a dataset command. arguments: those after "dataset"; out: gets the
 * messages. A scan ends when *stop becomes true. session may be NULL. Returns false if
 * the command failed; out has the reason. */
bool control_dataset(const struct files_context *context, struct session *session,
	const atomic_bool *stop, const char *const *arguments, size_t n, FILE *out);

/* Scans the datasets that the daemon did not scan at its start: to serve readers sooner,
 * the start only opened the lists of samples of the last scan. If a scan finds changes,
 * jobs use the new scan from their next epochs on. If a scan fails, or jobs can't use
 * its result, the failure is logged, and the daemon's next start scans the dataset
 * before it serves readers. */
void control_look_for_changes(const struct files_context *context,
	struct session *session, const atomic_bool *stop);
