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
 * json), the text of a column of the catalogue (text = COLUMN), and the row of the catalogue as
 * JSON (json = yes). A job numbers the endings of the files and texts from 0. A file is read when a
 * reader asks for it, and is not cached.
 *
 *   Threads: workers, because printing a file reads it; json_bytes: any.
 *   Errors: -EIO, logged: the file has changed since the scan, or can't be read. -ENOMEM.
 */

unsigned beside_count(const struct job_config *config);
const char *beside_ending(const struct job_config *config, unsigned i);
bool beside_number(const struct job_config *config, const char *ending, unsigned *ret);

/* Prints the sample's file with ending number i, or nothing if the sample has no such file. */
must_check int beside_print(
	FILE *out, struct sched_job *job, uint32_t epoch, sample_id sample, unsigned i);

/* Prints the .json beside a sample: one JSON object, then spaces up to the length of the dataset's
 * longest object, and a newline. All .json files of an epoch thus have one size, json_bytes, which
 * readers can be told before a position has a sample. */
must_check int json_print(
	FILE *out, struct sched_job *job, uint32_t epoch, sample_id sample);
must_check int json_bytes(struct sched_job *job, uint32_t epoch, uint64_t *ret);
