// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdlib.h>

/*
 * How often a test does again what another seed makes different: `few` times in `make
 * check`, `many` times in `make check-long`, which sets JOADERFS_LONG=1. Few is enough to
 * reject each mutant of the test, and says beside it what else it notices.
 *
 * A chi-square of n samples in k cells against Z_LIMIT notices, nine times out of ten,
 * probabilities that are off by sqrt((20 + 7.5 * sqrt(k)) / n) of themselves (the root of
 * the mean square of all cells). Four times as often halves that.
 */
static inline unsigned effort(unsigned few, unsigned many)
{
	const char *word = getenv("JOADERFS_LONG");
	return word && *word == '1' ? many : few;
}
