// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/types.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct job_config;
struct sched_job;

/*
 * What comes along with samples: files that lie beside them in the source (beside = txt json),
 * and the text of a column (text = COLUMN), each with an ending of its own. A job numbers them
 * from 0. They are read when they are asked for: nothing is kept of them.
 *
 *   Threads: workers, since printing one reads a file.
 *   Errors: -EIO, logged: it has changed since the scan, or can't be read.
 */

#define BESIDE_MOST (CONFIG_MOST_ENDINGS + 1)

unsigned beside_count(const struct job_config *config);
const char *beside_ending(const struct job_config *config, unsigned i);
/* The number of an ending; false: nothing of it comes along. */
bool beside_number(const struct job_config *config, const char *ending, unsigned *ret);

/* Prints a sample's bytes; none if the sample has no such file. */
must_check int beside_print(
	FILE *out, struct sched_job *job, uint32_t epoch, sample_id sample, unsigned i);
