// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdint.h>

/* Identifiers that several modules share. */

/* number of a sample: from 0 on without gaps, within one dataset */
typedef uint32_t sample_id;
/* number of a job; a job of the same name keeps it after a restart */
typedef uint32_t job_id;
typedef uint32_t stream_id; /* number of a stream: one epoch of one job, in the sampler */

#define SAMPLE_NONE UINT32_MAX /* no sample; in an order file: position not bound */
