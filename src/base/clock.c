// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"

uint64_t clock_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}
