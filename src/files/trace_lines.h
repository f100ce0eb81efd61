// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdint.h>
#include <stdio.h>

struct sched_job;

/*
 * What a job's readers open and close, as joaderctl trace prints it.
 *
 *   Threads: any.   Errors: -ENOMEM.
 */

/*
 * "next N lost M", then a line with tabs for each event from the number `from` on, at most
 * some thousand. from: NULL: it begins with the next event.
 */
must_check int trace_lines(FILE *out, struct sched_job *job, const uint64_t *from);
