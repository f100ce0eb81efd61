// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stddef.h>
#include <stdint.h>

/* number of a sample within one dataset, from 0 without gaps */
typedef uint32_t sample_id;
/* number of a job; after a restart a job of the same name has the same number */
typedef uint32_t job_id;
typedef uint32_t stream_id; /* number of a stream; each epoch of a job has its own */

/* The struct that has the pointed-to member. */
#define struct_of(pointer, type, member)                                                 \
	((type *)((char *)(pointer)-offsetof(type, member)))

#define SAMPLE_NONE UINT32_MAX /* no sample; in an order file: position not bound */
