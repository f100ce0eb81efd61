// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "../../tools/sim/statistics.h"

#include <criterion/criterion.h>
#include <math.h>

/* The statistics are compared with tables; expectations that are formulas are compared with all
 * orders. */

static void near(double value, double expected, double tolerance)
{
	cr_assert_lt(fabs(value - expected), tolerance, "%.9f, expected %.9f", value,
		expected);
}

/* Tables of Abramowitz and Stegun, 26.8. */
Test(statistics, chi_square_has_the_tails_of_the_tables)
{
	near(chi_square_p(3.84146, 1), .05, 1e-6);
	near(chi_square_p(9.21034, 2), .01, 1e-7);
	near(chi_square_p(18.3070, 10), .05, 1e-6);
	near(chi_square_p(149.449, 100), .001, 1e-6);
	near(chi_square_bound(.05, 10), 18.3070, 1e-4);
}

Test(statistics, chi_square_of_two_degrees_is_exponential_far_out_too)
{
	near(chi_square_p(100, 2) / exp(-50), 1, 1e-9);
	near(chi_square_bound(1e-6, 2), -2 * log(1e-6), 1e-6);
}

Test(statistics, normal_p_counts_both_sides)
{
	struct expected e = {3, 2};
	near(normal_p(e, 3 + 2 * 1.959964), .05, 1e-7);
	near(normal_p(e, 3 - 2 * 1.959964), .05, 1e-7);
	near(normal_p(e, 3), 1, 1e-12);
	near(normal_bound(e, .05), 2 * 1.959964, 1e-6);
}

Test(statistics, what_can_not_vary_is_expected_or_impossible)
{
	struct expected e = {1, 0};
	near(normal_p(e, 1), 1, 1e-12);
	near(normal_p(e, 1.5), 0, 1e-12);
}

Test(statistics, correlation_is_pearsons)
{
	const uint32_t a[] = {1, 2, 3, 4, 5}, up[] = {10, 20, 30, 40, 50};
	const uint32_t down[] = {9, 7, 5, 3, 1}, b[] = {2, 1, 4, 3, 5};
	const uint32_t flat[] = {7, 7, 7, 7, 7};
	near(correlation(a, up, 5), 1, 1e-12);
	near(correlation(a, down, 5), -1, 1e-12);
	near(correlation(a, b, 5), .8, 1e-12);
	near(correlation(a, flat, 5), 0, 1e-12);
}

Test(statistics, serial_correlation_goes_round)
{
	const uint32_t wave[] = {0, 1, 0, 1};
	near(serial_correlation(wave, 4), -1, 1e-12);
	const uint32_t steps[] = {0, 1, 2, 3};
	near(serial_correlation(steps, 4), (.75 - .25 + .75 - 2.25) / 5, 1e-12);
}

Test(statistics, the_mean_of_several_is_as_expected_and_varies_less)
{
	struct expected e = expected_mean((struct expected){2, 3}, 9);
	near(e.mean, 2, 1e-12);
	near(e.deviation, 1, 1e-12);
}

/* --- all orders of a few values ----------------------------------------------------- */

#define N 6

/* Values that are not evenly spaced and not symmetric. */
static const uint32_t values[N] = {0, 1, 4, 5, 9, 17};

struct moments {
	double sum;
	double squares;
	unsigned n;
};

typedef double of_order(const uint32_t order[N]);

/* Heap's algorithm. */
static void each_order(
	uint32_t order[N], size_t n, of_order *figure, struct moments *moments)
{
	if (n == 1) {
		double value = figure(order);
		moments->sum += value;
		moments->squares += value * value;
		moments->n++;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		each_order(order, n - 1, figure, moments);
		size_t k = n % 2 ? 0 : i;
		uint32_t swapped = order[k];
		order[k] = order[n - 1];
		order[n - 1] = swapped;
	}
}

static void check(struct expected expected, of_order *figure)
{
	struct moments moments = {0};
	uint32_t order[N] = {0, 1, 2, 3, 4, 5};
	each_order(order, N, figure, &moments);
	cr_assert_eq(moments.n, 720);
	double mean = moments.sum / moments.n;
	near(expected.mean, mean, 1e-9);
	near(expected.deviation * expected.deviation,
		moments.squares / moments.n - mean * mean, 1e-9);
}

static double correlation_with_values(const uint32_t order[N])
{
	return correlation(values, order, N);
}

static double serial_correlation_of_values(const uint32_t order[N])
{
	uint32_t x[N];
	for (size_t i = 0; i < N; i++)
		x[i] = values[order[i]];
	return serial_correlation(x, N);
}

static double score(const void *context, size_t i, size_t j)
{
	const uint32_t *weights = context;
	return (double)((weights[i] * 7 + j * j * weights[N - 1 - j]) % 11);
}

static double sum_of_scores(const uint32_t order[N])
{
	double sum = 0;
	for (size_t i = 0; i < N; i++)
		sum += score(values, i, order[i]);
	return sum;
}

Test(statistics, correlation_is_expected_as_over_all_orders)
{
	check(correlation_expected(N), correlation_with_values);
}

Test(statistics, serial_correlation_is_expected_as_over_all_orders)
{
	check(serial_correlation_expected(values, N), serial_correlation_of_values);
}

Test(statistics, a_match_is_expected_as_over_all_orders)
{
	check(match_expected(score, values, N), sum_of_scores);
}
