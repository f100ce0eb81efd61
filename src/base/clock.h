// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdint.h>
#include <time.h>

#define SECOND_NS UINT64_C(1000000000)

/* Returns the time of CLOCK_MONOTONIC. */
uint64_t clock_now_ns(void);

static inline int64_t timespec_ns(struct timespec time)
{
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)timespec_ns(now);
}
