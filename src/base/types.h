// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stddef.h>
#include <stdint.h>

typedef uint32_t sample_id; /* within one dataset, from 0 without gaps */
/* after a restart a job has the same number */
typedef uint32_t job_id;
typedef uint32_t stream_id; /* one for each epoch of a job */

/* The struct that has the pointed-to member. */
#define struct_of(pointer, type, member)                                                 \
	((type *)((char *)(pointer)-offsetof(type, member)))

#define SAMPLE_NONE UINT32_MAX /* no sample; in an order file: position not bound */
