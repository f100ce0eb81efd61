// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdint.h>
#include <time.h>

#define NS_PER_MS UINT64_C(1000000)
#define SECOND_NS UINT64_C(1000000000)

/* Returns the time of CLOCK_MONOTONIC. */
uint64_t clock_now_ns(void);
/* Returns a timeout for poll: the ms until when_ns, rounded up, at most a minute. Returns -1, which
 * means no timeout, if when_ns is UINT64_MAX. */
int clock_ms_until(uint64_t when_ns);

static inline int64_t timespec_ns(struct timespec time)
{
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static inline struct timespec timespec_of_ns(uint64_t ns)
{
	return (struct timespec){
		.tv_sec = (time_t)(ns / SECOND_NS), .tv_nsec = (long)(ns % SECOND_NS)};
}

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)timespec_ns(now);
}
