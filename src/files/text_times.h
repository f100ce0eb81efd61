// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/files.h"
#include "stats/stats.h"

/* Prints the histograms in stats, stats.json and metrics: of the daemon, of each dataset, and of
 * each measured lock. Threads: any. Errors: without memory some histograms are missing. */

void text_times(FILE *out, const struct files_context *context);
/* Prints members of a JSON object. */
void text_times_json(FILE *out, const struct files_context *context);
void text_times_metrics(
	FILE *out, const struct files_context *context, enum stats_form form);
