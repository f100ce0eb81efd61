// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdint.h>

typedef uint32_t sample_id; /* within one dataset, from 0 without gaps */
/* after a restart a job has the same number */
typedef uint32_t job_id;
typedef uint32_t stream_id; /* one for each epoch of a job */

#define SAMPLE_NONE UINT32_MAX /* no sample; in an order file: position not bound */
