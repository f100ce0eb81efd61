// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stddef.h>
#include <stdint.h>

/* number of a sample within one dataset, from 0 without gaps */
typedef uint32_t sample_id;
/* a job's number; the same name has the same number after a restart */
typedef uint32_t job_id;
typedef uint32_t stream_id;

/* Returns the struct that contains the member that `pointer` points to. */
#define struct_of(pointer, type, member)                                                 \
	((type *)((char *)(pointer)-offsetof(type, member)))

/* no sample; in an order file: the position has no sample yet */
#define SAMPLE_NONE UINT32_MAX
