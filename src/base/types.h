// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdint.h>

/* Identifiers that several modules share. */

/* number of a sample: from 0 on without gaps, within one dataset */
typedef uint32_t sample_id;
/* number of a job; after a restart the job of this name has this number again */
typedef uint32_t job_id;
typedef uint32_t stream_id; /* number of a stream, that is of one epoch of one job */

#define SAMPLE_NONE UINT32_MAX /* no sample; in an order file: position not bound */
