// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/types.h"

#include <stdint.h>
#include <stdio.h>

struct sched_job;

/* The .json beside a sample: one JSON object, then spaces up to the length of the dataset's longest
 * object, and a newline. So all .json files have one size, which readers can be told before a
 * position has a sample. Threads: any. Errors: -ENOMEM, -EIO. */

/* Finds the common size of the epoch's .json files. */
must_check int json_bytes(struct sched_job *job, uint32_t epoch, uint64_t *ret);
must_check int json_print(
	FILE *out, struct sched_job *job, uint32_t epoch, sample_id sample);
