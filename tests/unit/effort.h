// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdlib.h>

/*
 * How often a test repeats a random experiment with other seeds: `few` times in `make check`,
 * `many` times in `make check-long`, which sets JOADERFS_LONG=1. Few repetitions suffice to reject
 * each mutant of the test; a comment there names the smallest fault that they notice.
 *
 * A chi-square of n samples in k cells against Z_LIMIT notices, nine times out of ten,
 * probabilities with a relative error of sqrt((20 + 7.5 * sqrt(k)) / n) (root mean square over all
 * cells). Four times as many repetitions halve this error.
 */
static inline unsigned effort(unsigned few, unsigned many)
{
	const char *word = getenv("JOADERFS_LONG");
	return word && *word == '1' ? many : few;
}
