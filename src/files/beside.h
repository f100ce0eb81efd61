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
 * Files that come with each sample: files beside the sample's file in the source (beside = txt
 * json), and the text of a column of the catalogue (text = COLUMN). A job numbers the endings of
 * these files from 0. A file is read when a reader asks for it, and is not cached.
 *
 *   Threads: workers, because printing a file reads it.
 *   Errors: -EIO, logged: the file has changed since the scan, or can't be read.
 */

unsigned beside_count(const struct job_config *config);
const char *beside_ending(const struct job_config *config, unsigned i);
bool beside_number(const struct job_config *config, const char *ending, unsigned *ret);

/* Prints the sample's file with ending number i, or nothing if the sample has no such file. */
must_check int beside_print(
	FILE *out, struct sched_job *job, uint32_t epoch, sample_id sample, unsigned i);
