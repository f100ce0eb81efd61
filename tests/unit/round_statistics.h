// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "sampler_twin.h"

/*
 * Numbers the joint decision of a round for up to four streams of up to seven elements as a cell
 * of a table, and compares the counts of cells with exact probabilities, or with other counts.
 */

#define ROUND_CELLS (8 * 8 * 8 * 8)

/* Element -1 (none) counts as 7. */
static inline size_t round_cell(const int *ret)
{
	size_t index = 0;
	for (int j = 0; j < 4; j++)
		index = index * 8 + ((unsigned)ret[j] & 7);
	return index;
}

/* A twin_visit whose context is the table. */
static inline void round_add(void *context, const int *ret, double probability)
{
	((double *)context)[round_cell(ret)] += probability;
}

/* Cells with an expectation below 5 are counted as one. */
static inline double round_z(
	const unsigned *counts, const double *probability, unsigned rounds)
{
	double chi_square = 0, rare = 0;
	unsigned rare_count = 0, cells = 0;
	for (size_t i = 0; i < ROUND_CELLS; i++) {
		double expected = probability[i] * rounds;
		if (expected < 1e-9 && counts[i])
			return INFINITY;
		if (expected < 5) {
			rare += expected;
			rare_count += counts[i];
			continue;
		}
		chi_square += (counts[i] - expected) * (counts[i] - expected) / expected;
		cells++;
	}
	if (rare >= 1) {
		chi_square += (rare_count - rare) * (rare_count - rare) / rare;
		cells++;
	}
	return cells > 1 ? chi_square_z(chi_square, cells - 1) : 0;
}

/*
 * Tests whether two tables of counts may have the same distribution: chi-square of homogeneity.
 * Cells with less than 10 in both tables are counted as one.
 */
static inline double round_z_of_two(const unsigned *a, const unsigned *b, size_t n)
{
	double chi_square = 0, rare_a = 0, rare_b = 0;
	unsigned cells = 0;
	for (size_t i = 0; i < n; i++) {
		double sum = (double)a[i] + b[i], difference = (double)a[i] - b[i];
		if (sum < 10) {
			rare_a += a[i];
			rare_b += b[i];
			continue;
		}
		chi_square += difference * difference / sum;
		cells++;
	}
	if (rare_a + rare_b >= 10) {
		chi_square += (rare_a - rare_b) * (rare_a - rare_b) / (rare_a + rare_b);
		cells++;
	}
	return cells > 1 ? chi_square_z(chi_square, cells - 1) : 0;
}
