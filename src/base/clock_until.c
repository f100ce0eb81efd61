// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"

int clock_ms_until(uint64_t when_ns)
{
	uint64_t now_ns = clock_now_ns();
	if (when_ns == UINT64_MAX)
		return -1;
	if (when_ns <= now_ns)
		return 0;
	uint64_t ms = (when_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS;
	return ms > 60000 ? 60000 : (int)ms;
}
