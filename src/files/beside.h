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
 * Files that come along with samples: those that lie beside them in the source (beside = txt json),
 * and the text of a column (text = COLUMN), each with an ending of its own. A job numbers them
 * from 0. They are read when they are asked for: nothing is kept of them.
 *
 *   Threads: workers, since printing one reads a file.
 *   Errors: -EIO, logged: it has changed since the scan, or can't be read.
 */

#define BESIDE_MOST (CONFIG_MOST_ENDINGS + 1)

unsigned beside_count(const struct job_config *config);
const char *beside_ending(const struct job_config *config, unsigned i);
/* Finds the number of an ending; false: no file with it comes along. */
bool beside_number(const struct job_config *config, const char *ending, unsigned *ret);

/* Prints the bytes of a sample's i-th such file; none if the sample does not have it. */
must_check int beside_print(
	FILE *out, struct sched_job *job, uint32_t epoch, sample_id sample, unsigned i);
