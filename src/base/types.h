// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdint.h>

/* Identifiers that several modules share. */

typedef uint32_t sample_id; /* dense from 0 within one dataset */
typedef uint32_t job_id;    /* stable for a job's name, also after a restart */
typedef uint32_t stream_id; /* one epoch of one job, as the sampler sees it */

#define SAMPLE_NONE UINT32_MAX /* no sample; also "unbound" in an order file */
