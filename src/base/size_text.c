// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/size_text.h"

#include <inttypes.h>
#include <stdio.h>

struct size_text size_text(uint64_t bytes)
{
	static const char units[] = "TGMK";
	struct size_text size;
	unsigned shift = 40;
	for (const char *unit = units; *unit; unit++, shift -= 10) {
		uint64_t n = bytes >> shift;
		if (n < 10 && (n == 0 || n << shift != bytes))
			continue;
		snprintf(size.text, sizeof(size.text), "%" PRIu64 "%c", n, *unit);
		return size;
	}
	snprintf(size.text, sizeof(size.text), "%" PRIu64 " bytes", bytes);
	return size;
}
