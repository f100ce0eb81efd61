// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stddef.h>
#include <stdint.h>

/* Computes the values that figures would have by chance. GSL provides the distributions; this file
 * chooses the right one for each figure of a random order. Arguments out of range are bugs. */

/* The approximate distribution of a figure of a random order: N(mean, deviation^2). */
struct expected {
	double mean;
	double deviation;
};

/* Returns the probability that chance gives a value at least as far from the mean as `figure`.
 * Returns for deviation 0: 1 if `figure` equals the mean, otherwise 0. */
double normal_p(struct expected expected, double figure);
/* Returns the distance from the mean that chance exceeds with probability p. */
double normal_bound(struct expected expected, double p);

/* Returns the probability that a chi-square is at least this large. */
double chi_square_p(double chi_square, double degrees);
/* Returns the chi-square that chance exceeds with probability p. */
double chi_square_bound(double p, double degrees);

/* Returns Pearson's correlation; 0 if one of the two does not vary. */
double correlation(const uint32_t *a, const uint32_t *b, size_t n);
/* Returns the distribution of the correlation of n randomly matched pairs (Pitman). n >= 2. */
struct expected correlation_expected(size_t n);

/* Returns the correlation of the neighbours x[i] and x[(i + 1) % n], and the distribution of this
 * correlation if the values of x are in a random order. n >= 3. */
double serial_correlation(const uint32_t *x, size_t n);
struct expected serial_correlation_expected(const uint32_t *x, size_t n);

typedef double match_score(const void *context, size_t i, size_t j);
/* Returns the distribution of the sum of n terms score(i, j), one for each i. A random permutation
 * gives each i its j; i and j are 0 .. n - 1 (Hoeffding, 1951). n >= 2. O(n^2). */
struct expected match_expected(match_score *score, const void *context, size_t n);

/* Returns the distribution of the mean of n uncorrelated figures. */
struct expected expected_mean(struct expected expected, size_t n);
