// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdint.h>
#include <stdio.h>

struct sched_job;

/*
 * The trace of a job's readers' opens and closes, as joaderctl trace prints it.
 *
 *   Threads: any.   Errors: -ENOMEM.
 */

/*
 * Prints "next N lost M", then tab-separated lines of events from number `from` on, at most some
 * thousand. from NULL: prints no event, and N is the number of the next event.
 */
must_check int trace_lines(FILE *out, struct sched_job *job, const uint64_t *from);
