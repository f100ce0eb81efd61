// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"

#include <stdio.h>
#include <stdlib.h>

void ensure_failed(
	const char *condition, const char *file, int line, const char *function)
{
	fprintf(stderr, "joaderfs: bug: %s:%d: %s: %s does not hold\n", file, line,
		function, condition);
	abort();
}
