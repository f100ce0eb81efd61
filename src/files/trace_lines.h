// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdint.h>
#include <stdio.h>

struct sched_job;

/* Prints opens and closes by a job's readers for `joaderctl trace`: a line "next N lost M", then at
 * most a few thousand events from number *from on, with fields separated by tabs. N: number of the
 * event after the printed ones; M: number of lost events. from NULL: prints no events, and N is the
 * number of the next event. Any thread. -ENOMEM. */
must_check int trace_lines(FILE *out, struct sched_job *job, const uint64_t *from);
