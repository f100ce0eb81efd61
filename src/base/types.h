// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdint.h>

/* Identifiers that several modules share. */

typedef uint32_t sample_id; /* from 0 on without gaps, within one dataset */
typedef uint32_t job_id;    /* belongs to a job's name, also after a restart */
typedef uint32_t stream_id; /* number of a stream: one epoch of one job, in the sampler */

#define SAMPLE_NONE UINT32_MAX /* no sample; in an order file: position not bound */
