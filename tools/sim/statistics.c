// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "statistics.h"
#include "base/ensure.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

double normal_p(struct expected expected, double figure)
{
	double distance = fabs(figure - expected.mean);
	if (expected.deviation == 0)
		return distance > 1e-9 ? 0 : 1;
	return 2 * gsl_cdf_ugaussian_Q(distance / expected.deviation);
}

double normal_bound(struct expected expected, double p)
{
	return expected.deviation * gsl_cdf_ugaussian_Qinv(p / 2);
}

double chi_square_p(double chi_square, double degrees)
{
	return gsl_cdf_chisq_Q(chi_square, degrees);
}

double chi_square_bound(double p, double degrees)
{
	return gsl_cdf_chisq_Qinv(p, degrees);
}

static double mean(const uint32_t *x, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return sum / (double)n;
}

double correlation(const uint32_t *a, const uint32_t *b, size_t n)
{
	double mean_a = mean(a, n), mean_b = mean(b, n);
	double aa = 0, bb = 0, ab = 0;
	for (size_t i = 0; i < n; i++) {
		aa += (a[i] - mean_a) * (a[i] - mean_a);
		bb += (b[i] - mean_b) * (b[i] - mean_b);
		ab += (a[i] - mean_a) * (b[i] - mean_b);
	}
	return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : 0;
}

struct expected correlation_expected(size_t n)
{
	ensure(n >= 2);
	return (struct expected){0, sqrt(1 / ((double)n - 1))};
}

double serial_correlation(const uint32_t *x, size_t n)
{
	double centre = mean(x, n), squares = 0, products = 0;
	for (size_t i = 0; i < n; i++) {
		double d = x[i] - centre;
		squares += d * d;
		products += d * (x[(i + 1) % n] - centre);
	}
	return squares > 0 ? products / squares : 0;
}

struct expected serial_correlation_expected(const uint32_t *x, size_t n)
{
	ensure(n >= 3);
	double centre = mean(x, n), s2 = 0, s4 = 0, size = (double)n;
	for (size_t i = 0; i < n; i++) {
		double square = (x[i] - centre) * (x[i] - centre);
		s2 += square;
		s4 += square * square;
	}
	double variance = (s2 * s2 - s4) / (size - 1) -
			  s2 * s2 / (size - 1) / (size - 1) +
			  (s2 * s2 - 2 * s4) / (size - 1) / (size - 2);
	return (struct expected){-1 / (size - 1), sqrt(fmax(variance, 0)) / s2};
}

/* Returns the mean of a row of the matrix score(i, j): of all j for i = line. If `column` is set,
 * returns the mean of a column: of all i for j = line. */
static double line_mean(
	match_score *score, const void *context, size_t n, size_t line, int column)
{
	double sum = 0;
	for (size_t k = 0; k < n; k++)
		sum += column ? score(context, k, line) : score(context, line, k);
	return sum / (double)n;
}

/* The variance is the sum over all i and j of (score - row mean - column mean + mean)^2, divided by
 * n - 1. This sum equals A - B - C. A, B and C are the sums over all i and j of (score - mean)^2,
 * (row mean - mean)^2 and (column mean - mean)^2. */
struct expected match_expected(match_score *score, const void *context, size_t n)
{
	ensure(n >= 2);
	double rows = 0, row_squares = 0, column_squares = 0, squares = 0;
	double size = (double)n;
	for (size_t i = 0; i < n; i++)
		rows += line_mean(score, context, n, i, 0);
	double average = rows / size;
	for (size_t i = 0; i < n; i++) {
		double row = line_mean(score, context, n, i, 0) - average;
		double column = line_mean(score, context, n, i, 1) - average;
		row_squares += size * row * row;
		column_squares += size * column * column;
		for (size_t j = 0; j < n; j++) {
			double d = score(context, i, j) - average;
			squares += d * d;
		}
	}
	double variance = (squares - row_squares - column_squares) / (size - 1);
	double deviation = sqrt(fmax(variance, 0));
	return (struct expected){size * average, deviation};
}

struct expected expected_mean(struct expected expected, size_t n)
{
	ensure(n > 0);
	expected.deviation /= sqrt((double)n);
	return expected;
}
