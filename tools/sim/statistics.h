// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * What a figure would be by chance. GSL knows the distributions; here is which of them
 * belongs to which figure of a random order.
 *
 *   Threads: no state.   Errors: none; arguments out of range are bugs.
 */

/* A figure is N(mean, deviation^2), nearly, if the order is what it should be. */
struct expected {
	double mean;
	double deviation;
};

/* The chance that |figure - mean| is at least this large. No deviation: 1 or 0. */
double normal_p(struct expected expected, double figure);
/* How far from the mean a figure may be, which chance exceeds with probability p. */
double normal_bound(struct expected expected, double p);

/* The chance that a chi-square of so many degrees is at least this large, and back. */
double chi_square_p(double chi_square, double degrees);
double chi_square_bound(double p, double degrees);

/* Pearson's; 0 when one of the two does not vary. */
double correlation(const uint32_t *a, const uint32_t *b, size_t n);
/* Of n pairs that chance has matched, whatever the two sets of values are (Pitman). */
struct expected correlation_expected(size_t n);

/*
 * Of neighbours, the last one's being the first: correlation of x[i] and x[(i + 1) % n].
 * Expected for the order of x by chance (Wald and Wolfowitz, 1943); n >= 3.
 */
double serial_correlation(const uint32_t *x, size_t n);
struct expected serial_correlation_expected(const uint32_t *x, size_t n);

/* The sum of n terms score(i, j) over a random matching of all i to all j below n
 * (Hoeffding, 1951). O(n^2). */
typedef double match_score(const void *context, size_t i, size_t j);
struct expected match_expected(match_score *score, const void *context, size_t n);

/* The mean of n figures that do not correlate. */
struct expected expected_mean(struct expected expected, size_t n);
