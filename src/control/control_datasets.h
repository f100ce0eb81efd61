// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>

struct control;
struct request;

/*
 * Adds, removes and rescans datasets while the daemon runs.
 *
 *   Flow: a new dataset is scanned, and its ini is saved in <state>/datasets. Then jobs may use the
 *         dataset. A failure undoes all steps. During a rescan no job can begin to use the dataset;
 *         afterwards the new scan replaces the earlier scan.
 *   Threads: one at a time.
 */

#define CONTROL_DATASET_USAGE                                                            \
	"dataset ls | dataset add FILE TEXT | dataset rm DATASET | dataset rescan "      \
	"DATASET"

/* Carries out a dataset command. A scan ends when control->ends becomes true. Returns
 * false if the command failed; the answer has the reason. */
bool control_dataset(const struct request *request);

/* Scans the datasets for which the daemon's start only opened the last scan's lists of samples, to
 * serve readers sooner. If a scan finds changes, jobs use the new scan from their next epochs on.
 * If a scan fails, or jobs can't use its result, the failure is logged, and the daemon's next start
 * scans the dataset before it serves readers. */
void control_look_for_changes(struct control *control);
