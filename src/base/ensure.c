// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "base/crash.h"
#include "base/log.h"

#include <stdlib.h>

void ensure_failed(
	const char *condition, const char *file, int line, const char *function)
{
	log_error("bug: %s:%d: %s: %s does not hold", file, line, function, condition);
	crash_tell_bug();
	abort();
}
